"""Many callers at once: the same memory, rings of memories, more calls than connections, calls that are withdrawn."""

import asyncio
import contextlib
import random
import time
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import asyncpg
import pytest
from hindsight_memory import Hindsight, HindsightError, NewMemory

MEMORY = NewMemory("drink", "Ada likes green tea.", scope="user:42")
EXPECTED = {"NOT_FOUND", "REVISION_MISMATCH"}  # what a caller outrun by others is told


async def _storm(actions, *, callers: int, seconds: float) -> Counter[str]:
    """Reasons of the refusals while callers do random actions, beside what is expected."""
    reasons: Counter[str] = Counter()
    end = time.monotonic() + seconds

    async def act(rng: random.Random) -> None:
        while time.monotonic() < end:
            try:
                await rng.choice(actions)(rng)
                reasons["OK"] += 1
            except HindsightError as error:
                reasons[error.reason] += 1

    async with asyncio.TaskGroup() as tasks:
        for number in range(callers):
            tasks.create_task(act(random.Random(number)))
    return reasons


async def test_thirty_two_callers_change_one_memory_and_its_history_stays_whole(client: Hindsight, services):
    memory_id = (await client.write(MEMORY)).memory_id
    actions = [
        lambda r: client.update(memory_id, {"importance": r.random()}),
        lambda r: client.update(memory_id, {"value": f"Ada likes tea {r.randrange(4)}."}),
        lambda r: client.forget(memory_id=memory_id, mode=r.choice(("fade", "delete"))),
        lambda r: client.forget(key="drink", scope="user:42"),
        lambda r: client.restore(memory_id, r.randrange(1, 4)),
        lambda r: client.write(replace(MEMORY, importance=r.random())),
    ]
    reasons = await _storm(actions, callers=32, seconds=3)
    assert set(reasons) <= {"OK", *EXPECTED}, reasons
    assert reasons["OK"] > 20
    owner = await asyncpg.connect(services.database.owner)
    try:
        rows = await owner.fetch("SELECT memory_id, revision, known_from, known_to FROM memories ORDER BY memory_id, revision")
    finally:
        await owner.close()
    histories = {i: [row for row in rows if row["memory_id"] == i] for i in {row["memory_id"] for row in rows}}
    for history in histories.values():
        assert [row["revision"] for row in history] == list(range(1, len(history) + 1))
        assert [row["known_to"] is None for row in history] == [False] * (len(history) - 1) + [True]
        assert all(a["known_to"] == b["known_from"] for a, b in pairwise(history))


async def test_rings_of_derivations_batches_and_forgetting_do_not_lock_each_other(client: Hindsight):
    memories = [replace(MEMORY, key=key, value=f"{key} {n}") for key in ("a", "b", "c") for n in range(3)]
    ids = [r.memory_id for r in await client.write_batch(memories)]

    def batch(r: random.Random):
        chosen = r.sample(memories, 4)
        return client.write_batch([replace(m, importance=r.random(), derived_from=r.sample(ids, 3)) for m in chosen])

    actions = [
        batch,
        lambda r: client.forget(key=r.choice("abc"), scope="user:42", mode="fade"),
        lambda r: client.update(r.choice(ids), {"importance": r.random()}),
    ]
    reasons = await _storm(actions, callers=24, seconds=3)
    assert set(reasons) == {"OK"}, reasons


async def test_more_calls_than_connections_wait_their_turn(client: Hindsight):
    written = await client.write(MEMORY)
    calls = [
        client.get(written.memory_id) if i % 2 else client.update(written.memory_id, {"importance": i / 200}) for i in range(200)
    ]
    refusals = {e.reason for e in await asyncio.gather(*calls, return_exceptions=True) if isinstance(e, HindsightError)}
    assert refusals <= {"REVISION_MISMATCH"}


async def test_withdrawn_calls_leave_nothing_half_done(client: Hindsight):
    written = await client.write(MEMORY)
    for number in range(60):
        with contextlib.suppress(TimeoutError, HindsightError):
            async with asyncio.timeout(number / 3000):
                await client.update(written.memory_id, {"value": f"Ada likes tea {number}."})
    await client.update(written.memory_id, {"value": "Ada likes oolong."})
    history = [m async for m in client.revisions(written.memory_id)]
    assert [m.revision for m in history] == list(range(len(history), 0, -1))
    assert history[0].value == "Ada likes oolong."


@pytest.mark.parametrize("sqlstate", ["40001", "40P01", "53200", "55P03", "57P03"])
async def test_what_postgresql_asks_to_repeat_is_told_as_worth_repeating(database, sqlstate):
    from hindsight_store.pool import StoreUnavailable, open_pool, transaction

    async with open_pool(database.ingest) as pool:
        with pytest.raises(StoreUnavailable):
            async with transaction(pool, 0, readonly=True) as connection:
                await connection.execute(f"DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '{sqlstate}'; END $$")


async def test_a_mistake_of_ours_is_not_told_as_worth_repeating(database):
    from hindsight_store.pool import open_pool, transaction

    async with open_pool(database.ingest) as pool:
        with pytest.raises(asyncpg.DataError):
            async with transaction(pool, 0, readonly=True) as connection:
                await connection.fetchval("SELECT $1::int4", 2**40)


async def test_a_pool_without_a_free_connection_is_worth_repeating(database, monkeypatch):
    from hindsight_store import pool as pools

    monkeypatch.setattr(pools, "MAX_CONNECTIONS", 1)
    monkeypatch.setattr(pools, "ACQUIRE_TIMEOUT_S", 0.05)
    async with pools.open_pool(database.ingest) as pool, pools.transaction(pool, 0, readonly=True):
        with pytest.raises(pools.StoreUnavailable):
            async with pools.transaction(pool, 0, readonly=True):
                pass
