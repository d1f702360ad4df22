"""Sessions under hostile use: odd clocks, floods, others' recalls, ends that follow one another, and defects in jobs."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
from hindsight_ingest.observing import JOB_CHARS, TURN_CHARS
from hindsight_ingest.worker import Worker
from hindsight_memory import Filter, Hindsight, Memory, NewMemory, Turn
from hindsight_store import jobs
from hindsight_store.pool import open_pool

Work = Callable[[], Awaitable[None]]
WISH = Turn("user", "I always want reports as PDF.")
NOTED = Turn("assistant", "Noted.")
LONG = " ".join(f"word{n:04x}" for n in range(3000))
MAX_PAUSE_S = 0.5


async def of_kind(client: Hindsight, kind: str) -> list[Memory]:
    return [m async for m in client.list(Filter(kinds=(kind,)))]  # pyright: ignore[reportArgumentType]


async def test_a_turn_said_in_the_year_one_is_kept_and_takes_no_worker_down(client: Hindsight, worker: Work):
    await client.observe("s1", [Turn("user", WISH.content, at=datetime(1, 1, 1, tzinfo=UTC)), NOTED])
    await client.end_session("s1")
    await worker()
    assert [m.value for m in await of_kind(client, "preference")] == [WISH.content]


async def test_a_defect_in_a_job_costs_that_job_only(client: Hindsight, services):
    await client.observe("s1", [WISH])
    done: list[str] = []

    async def fail(job: jobs.Job) -> None:
        done.append(job.kind)
        raise OverflowError

    async with open_pool(services.database.maintenance) as queue, asyncio.timeout(20):
        work = asyncio.create_task(Worker(queue, {"embed_turns": fail, "keep": fail, "settle": fail}).work())
        while not done or (await jobs.backlog(queue)).get("running"):  # noqa: ASYNC110 - the queue tells nobody
            await asyncio.sleep(0.05)
        assert not work.done()
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        assert (await jobs.backlog(queue)) == {"queued": 1}


async def test_a_wish_said_by_a_clock_ahead_holds_since_it_was_heard(client: Hindsight, worker: Work):
    ahead = datetime.now(UTC) + timedelta(days=400)
    await client.observe("s1", [Turn("user", f"{WISH.content} Please sort the inbox.", at=ahead), NOTED])
    await client.complete_task("s1", note="The inbox is large.")
    await client.end_session("s1")
    await worker()
    held = {m.kind: m.valid_from async for m in client.list(Filter())}
    assert {"preference", "experience"} <= held.keys()
    assert max(filter(None, held.values())) <= datetime.now(UTC)


async def test_what_was_recalled_for_one_user_is_learned_of_another(client: Hindsight, worker: Work):
    await client.write(NewMemory("user preference", WISH.content, kind="preference", scope="user:2"))
    [first] = await of_kind(client, "preference")
    await client.recall("how should the report look?")
    async with asyncio.timeout(10):
        while not (await client.get(first.id)).hit_count:  # noqa: ASYNC110 - hits are counted off the path of the recall
            await asyncio.sleep(0.05)
    for name, scope in (("s1", "user:1"), ("s2", "user:2"), ("s3", "agent")):
        await client.observe(name, [WISH, NOTED], scope=scope)
        await client.end_session(name)
    await worker()
    assert sorted(m.scope for m in await of_kind(client, "preference")) == ["user:1", "user:2"]


async def test_a_late_job_of_an_earlier_end_leaves_the_summary_as_it_is(client: Hindsight, services, worker: Work):
    await client.observe(
        "s1", [Turn("user", "Please help me plan the garden party for Saturday."), Turn("assistant", "Of course. " * 20), WISH]
    )
    await client.end_session("s1")
    await client.observe("s1", [Turn("user", "Please book the brass band for the garden party."), Turn("assistant", "Booked.")])
    await client.end_session("s1")
    await worker()
    connection = await asyncpg.connect(services.database.owner)
    await connection.execute(
        """INSERT INTO jobs (bank_id, job_id, tenant_id, kind, payload, state)
        SELECT bank_id, gen_random_uuid(), tenant_id, 'sum_up', '{"session_id": "s1", "end": 3}', 'queued' FROM sessions"""
    )
    await connection.close()
    await worker()
    [summary] = await of_kind(client, "summary")
    assert ("brass band" in summary.value, summary.metadata["turns"]) == (True, 5)
    assert (await client.get_session("s1")).summary_id == summary.id


async def test_a_flood_of_long_turns_is_embedded_in_short_jobs(client: Hindsight, services):
    await client.observe("s1", [Turn("user", LONG) for _ in range(32)])
    connection = await asyncpg.connect(services.database.owner)
    query = "SELECT (payload->>'first')::int, (payload->>'end')::int FROM jobs WHERE kind = 'embed_turns' ORDER BY job_id"
    spans = [tuple(row) for row in await connection.fetch(query)]
    await connection.close()
    step = JOB_CHARS // TURN_CHARS
    assert spans == [(n, n + step) for n in range(0, 32, step)]


@pytest.mark.parametrize("turn", [Turn("user", LONG), Turn("user", "no, that's wrong, from now on I always prefer my " * 36)])
async def test_other_calls_go_on_while_a_flood_is_observed(client: Hindsight, turn: Turn):
    pauses: list[float] = []

    async def beat() -> None:
        last = time.monotonic()
        while True:
            await asyncio.sleep(0)
            now = time.monotonic()
            pauses.append(now - last)
            last = now

    await client.observe("warm", [turn])
    pulse = asyncio.create_task(beat())
    await client.observe("s1", [turn] * 100)
    pulse.cancel()
    assert max(pauses) < MAX_PAUSE_S
