"""The queue: one worker a job, finite tries, dead letters, takeover."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import pytest
from hindsight_memory import Hindsight, NewKey, Turn
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


async def test_a_backlog_delays_its_own_tenant_only(services, queue: asyncpg.Pool):
    async with await services.connect(NewKey(tenant="quiet", default_agent_id="ada")) as quiet:
        await quiet.observe("s1", [Turn("user", "Hello.")])
    await queue.execute(
        """INSERT INTO jobs (bank_id, job_id, tenant_id, kind, payload, state, run_after)
        SELECT bank_id, gen_random_uuid(), tenant_id, kind, payload, 'queued', now() - interval '1 hour'
        FROM (SELECT * FROM jobs ORDER BY tenant_id LIMIT 1) AS one, generate_series(1, 5000)"""
    )
    await queue.execute("ANALYZE jobs")
    leases = [await jobs.lease_due(queue, limit=2) for _ in range(2)]
    busy, quiet_one = sorted({job.tenant_id for job in leases[0]})
    assert [sorted(job.tenant_id for job in lease) for lease in leases] == [[busy, quiet_one], [busy, busy]]


async def test_the_queue_is_not_read_whole_to_lease_from_it(queue: asyncpg.Pool):
    await queue.execute(
        """INSERT INTO jobs (bank_id, job_id, tenant_id, kind, payload, state, run_after)
        SELECT bank_id, gen_random_uuid(), tenant_id, kind, payload, 'queued', now() - interval '1 hour'
        FROM jobs, generate_series(1, 5000)"""
    )
    for analysed in (False, True):
        if analysed:
            await queue.execute("ANALYZE jobs")
        async with queue.acquire() as connection:
            plan = await connection.fetch(f"EXPLAIN {jobs.LEASE_DUE}", uuid4(), jobs.LEASE, 4)
        text = "\n".join(row[0] for row in plan)
        assert "Seq Scan on jobs" not in text, text
        assert "jobs_of_tenant" in text
