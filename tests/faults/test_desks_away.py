"""Redis killed, flushed and started again in the middle of work: no memory is lost, answers say what is missing."""

import asyncio
import json
import signal
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from hindsight_local.trial import Instance, running
from hindsight_memory import Filter, Hindsight, HindsightError, NewEntry, NewMemory, WriteResult
from redis.asyncio import Redis

USER, SESSION = "user:42", "session:s1"
PATIENCE_S = 60
T = TypeVar("T")


def redis_of(instance: Instance) -> Redis:
    secrets = json.loads((instance.home / "secrets.json").read_text())
    port = json.loads((instance.home / "ports.json").read_text())["redis"]
    return Redis.from_url(f"redis://:{secrets['redis_password']}@127.0.0.1:{port}/0")


async def insist(call: Callable[[], Awaitable[T]]) -> T:
    """Repeat a call until it is answered, as a client that cares would."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                return await call()
            except HindsightError as error:
                if error.code not in ("UNAVAILABLE", "DEADLINE_EXCEEDED"):
                    raise
                await asyncio.sleep(0.1)


def memory(number: int) -> NewMemory:
    return NewMemory(f"order {number}", f"Order {number} goes to pier {number * 7 % 100}.", scope=USER)


async def write_on(client: Hindsight, written: list[WriteResult], done: asyncio.Event) -> None:
    """Write memories, each once and one after the other, whatever becomes of Redis."""
    number = 0
    while not done.is_set():
        written.append(await client.write(memory(number)))
        number += 1


async def put_on(client: Hindsight, put: list[str], done: asyncio.Event) -> None:
    """Put entries; what is refused for want of Redis is put again later."""
    while not done.is_set():
        entry = NewEntry(f"step {len(put)}", f"What step {len(put)} is about.", ttl_s=3600)
        await insist(partial(client.put_entry, SESSION, entry))
        put.append(entry.key)


async def ask(client: Hindsight) -> tuple[bool, bool, int]:
    """Whether a context is degraded and lacks the desk, and how many memories it has."""
    context = await client.recall_context("Where does order 1 go?", session_id="s1", scope=USER)
    memories = sum(item.section == "memory" for item in context.items)
    return context.is_degraded, "working" in context.missing_channels, memories


async def test_redis_killed_flushed_and_started_again_costs_no_memory_and_the_desk_comes_back():
    async with running() as instance, instance.client() as client:
        written: list[WriteResult] = []
        put: list[str] = []
        done = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(write_on(client, written, done))
            tasks.create_task(put_on(client, put, done))
            while len(put) < 20 or len(written) < 20:  # noqa: ASYNC110 - no event tells of it
                await asyncio.sleep(0.05)
            await asyncio.sleep(1.5)  # the append-only file is flushed every second
            safe = list(put)
            before = len(written)
            instance.process("valkey").send_signal(signal.SIGKILL)
            degraded, is_desk_missing, memories = await ask(client)
            assert (degraded, is_desk_missing, memories > 0) in ((True, True, True), (False, False, True))
            while (await ask(client))[0]:  # noqa: ASYNC110 - until the launcher has started it again
                await asyncio.sleep(0.1)
            kept = {entry.key for entry in (await insist(lambda: client.list_entries(SESSION))).entries}
            assert kept.issuperset(safe)
            while len(written) < before + 10:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            async with redis_of(instance) as redis:
                await redis.flushall()
            assert (await ask(client))[:2] == (False, False)
            done.set()
        assert all(result.outcome == "created" for result in written)
        stored = [m.id async for m in client.list(Filter(scope=USER))]
        assert sorted(stored) == sorted(result.memory_id for result in written)


async def test_redis_that_hangs_holds_up_neither_a_write_nor_a_recall():
    async with running() as instance, instance.client() as client:
        await client.write(memory(1))
        await client.put_entry(SESSION, NewEntry("step", "The form is at step 3."))
        process = instance.process("valkey")
        process.send_signal(signal.SIGSTOP)
        try:
            async with asyncio.timeout(10):
                assert (await client.write(memory(2))).outcome == "created"
                answer = await client.recall("Where does order 1 go?", where=Filter(scope=USER), working="first")
            assert (answer.is_degraded, answer.missing_channels, bool(answer.hits)) == (True, ("working",), True)
            async with asyncio.timeout(10):
                assert await ask(client) == (True, True, 2)
        finally:
            process.send_signal(signal.SIGCONT)
        assert await insist(lambda: ask(client)) == (False, False, 2)
