"""What a change means for desks is done behind the answer, and holds up nothing, least of all the end of the process."""

import asyncio
import os
import random
import signal
import time
from datetime import UTC, datetime

from hindsight_ingest.errands import Errands, open_errands
from hindsight_memory import Hindsight, NewEntry, Turn
from hindsight_store.desks import Desk, open_desks
from redis.asyncio import Redis


def now() -> datetime:
    return datetime.now(UTC)


async def test_errands_end_at_whatever_moment_and_have_all_been_run(valkey: str):
    """A call of Redis that is done in the moment of its cancellation swallows it: what waits for that end waits for ever."""
    chance = random.Random(4471)
    for number in range(60):
        ids = [f"m{n}" for n in range(chance.randint(1, 20))]
        desks = [Desk(number, "ada", f"user:{n}") for n in range(len(ids))]
        async with asyncio.timeout(20), open_desks(valkey, budget_tokens=1000) as store:
            async with open_errands(Errands(store, len, clock=now)) as errands:
                for desk, memory_id in zip(desks, ids, strict=True):
                    errands.warm(desk, [memory_id])
                for _ in range(chance.randint(0, 60)):
                    await asyncio.sleep(0)
            assert [await store.hot(desk, now()) for desk in desks] == [[memory_id] for memory_id in ids]


async def test_errands_end_without_redis():
    async with (
        asyncio.timeout(20),
        open_desks("redis://127.0.0.1:1/0") as store,
        open_errands(Errands(store, len, clock=now)) as e,
    ):
        e.warm(Desk(1, "ada", "user:1"), ["m1"])
    async with asyncio.timeout(5), open_errands(Errands(None, len, clock=now)) as errands:
        errands.warm(Desk(1, "ada", "user:1"), ["m1"])


async def test_a_redis_that_hangs_holds_up_no_crowd_of_sessions_that_end_and_then_it_is_waited_for_again(
    client: Hindsight, valkey: str
):
    for number in range(24):
        await client.observe(f"s{number}", [Turn("user", "Hello.")])
    async with Redis.from_url(valkey) as redis:
        server = (await redis.info("server"))["process_id"]
        began = time.monotonic()
        os.kill(server, signal.SIGSTOP)
        try:
            await asyncio.gather(*(client.end_session(f"s{number}") for number in range(24)))
            took_s = time.monotonic() - began
        finally:
            os.kill(server, signal.SIGCONT)
        assert took_s < 2.5
        for number in range(24, 30):
            desk = f"session:s{number}"
            await client.observe(f"s{number}", [Turn("user", "Hello.")])
            await client.put_entry(desk, NewEntry("step", "The form is at step 3."))
            await client.end_session(f"s{number}")
            async with asyncio.timeout(20):
                while number == 24 and (await client.list_entries(desk)).entries:  # noqa: ASYNC110 - an errand finds Redis back
                    await asyncio.sleep(0.02)
            assert (await client.list_entries(desk)).entries == ()
