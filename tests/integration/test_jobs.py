"""The queue: one worker a job, finite tries, dead letters, takeover."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
from hindsight_memory import Hindsight, Turn
from hindsight_store import jobs
from hindsight_store.pool import open_pool


@pytest.fixture
async def queue(services, client: Hindsight) -> AsyncIterator[asyncpg.Pool]:
    """A queue with one job in it, as the worker sees it."""
    await client.observe("s1", [Turn("user", "Hello.")])
    async with open_pool(services.database.maintenance) as pool:
        yield pool


async def change(queue: asyncpg.Pool, assignments: str) -> None:
    """Age the job."""
    await queue.execute(f"UPDATE jobs SET {assignments}")


async def leased(queue: asyncpg.Pool) -> list[Any]:
    """The attempts of the jobs that are due now, leased."""
    return [job.attempts for job in await jobs.lease_due(queue, limit=4)]


async def test_a_leased_job_is_not_leased_again(queue: asyncpg.Pool):
    assert await leased(queue) == [1]
    assert await leased(queue) == []


async def test_a_job_of_a_dead_worker_is_taken_over_and_the_dead_cannot_complete_it(queue: asyncpg.Pool):
    first = (await jobs.lease_due(queue, limit=1))[0]
    await change(queue, "leased_until = now() - interval '1 second'")
    assert await leased(queue) == [2]
    async with queue.acquire() as connection:
        assert not await jobs.complete(connection, first)


async def test_a_job_that_fails_every_time_is_a_dead_letter(queue: asyncpg.Pool):
    for attempt in range(1, jobs.TRIES + 1):
        job = (await jobs.lease_due(queue, limit=1))[0]
        assert job.attempts == attempt
        await jobs.fail(queue, job, "ValueError")
        await change(queue, "run_after = now()")
    assert await leased(queue) == []
    assert await jobs.backlog(queue) == {"dead": 1}


async def test_a_job_that_kills_its_worker_every_time_is_a_dead_letter_too(queue: asyncpg.Pool):
    for attempt in range(1, jobs.TRIES + 1):
        assert await leased(queue) == [attempt]
        await change(queue, "leased_until = now() - interval '1 second'")
    assert await leased(queue) == []
    assert await jobs.backlog(queue) == {"dead": 1}


async def test_waiting_for_a_dependency_uses_up_no_try(queue: asyncpg.Pool):
    for _ in range(jobs.TRIES * 2):
        job = (await jobs.lease_due(queue, limit=1))[0]
        assert job.attempts == 1
        await jobs.release(queue, job, timedelta(0))
