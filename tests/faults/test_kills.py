"""Nothing acknowledged is lost or doubled when a program is killed in the middle of work.

FAULT_ROUNDS (default 20) rounds; each kills one program with SIGKILL at a seeded moment (FAULT_SEED) while 32 callers write.
"""

import asyncio
import os
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest
from hindsight_local.trial import Instance, running
from hindsight_memory import Hindsight, HindsightError, NewMemory, WriteResult

ROUNDS = int(os.environ.get("FAULT_ROUNDS", "20"))
SEED = int(os.environ.get("FAULT_SEED", "4471"))
WRITES = int(os.environ.get("FAULT_WRITES", "2000"))
CALLERS = 32
READERS = 2
REPEATED = 200
VICTIMS = ("ingest", "embed", "recall", "postgres")
PATIENCE_S = 180
PASSING = {"UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"}
T = TypeVar("T")


@dataclass
class Round:
    """What one round acknowledged."""

    agent_id: str
    acknowledged: dict[int, WriteResult] = field(default_factory=dict)
    interruptions: Counter[str] = field(default_factory=Counter)


def text(number: int) -> str:
    """One of the texts every round writes, so that their embeddings are in the cache."""
    subject = ("order", "invoice", "ticket", "订单")[number % 4]
    return f"{subject} {number} was handled by clerk {number * 7919 % 1000}."


async def insist(call: Callable[[], Awaitable[T]], interruptions: Counter[str]) -> T:
    """Repeat a call until it is answered, as a client that cares would."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                return await call()
            except HindsightError as error:
                if error.code not in PASSING:
                    raise
                interruptions[error.code] += 1
                await asyncio.sleep(0.1)
    raise AssertionError


def memory(number: int) -> NewMemory:
    """The memory of one number; forty share a key, so that writers meet at its lock."""
    return NewMemory(f"case {number % 50}", text(number))


async def write_all(client: Hindsight, done: Round, numbers: Iterator[int], progress: asyncio.Event, at: int) -> None:
    """One caller: write until there is nothing left; set the event when `at` writes are acknowledged."""
    for number in numbers:
        request_id = f"{done.agent_id}-{number}"

        def write(number: int = number, request_id: str = request_id) -> Awaitable[WriteResult]:
            return client.write(memory(number), agent_id=done.agent_id, request_id=request_id)

        done.acknowledged[number] = await insist(write, done.interruptions)
        if len(done.acknowledged) >= at:
            progress.set()


async def read_on(client: Hindsight, done: Round, stop: asyncio.Event) -> None:
    """One reader: recall until told to stop; only passing errors are allowed."""
    rng = random.Random(1)
    while not stop.is_set():
        question = text(rng.randrange(WRITES))
        await insist(lambda q=question: client.recall(q, agent_id=done.agent_id), done.interruptions)


async def run_round(instance: Instance, client: Hindsight, number: int, rng: random.Random) -> Round:
    """Write with 32 callers, kill one program on the way, and check what is there."""
    done = Round(f"round-{number}")
    victim, at = VICTIMS[number % len(VICTIMS)], rng.randrange(WRITES // 10, WRITES * 3 // 4)
    progress, stop = asyncio.Event(), asyncio.Event()
    numbers = iter(range(WRITES))
    began = time.monotonic()
    async with asyncio.TaskGroup() as readers:
        for _ in range(READERS):
            readers.create_task(read_on(client, done, stop))
        async with asyncio.TaskGroup() as writers:
            for _ in range(CALLERS):
                writers.create_task(write_all(client, done, numbers, progress, at))
            await progress.wait()
            instance.process(victim).kill()
        stop.set()
    took_s = time.monotonic() - began
    await check(client, done, rng)
    print(
        f"round {number}: killed {victim} after {at} writes; {WRITES} acknowledged in {took_s:.1f} s, {dict(done.interruptions)}"
    )
    return done


async def check(client: Hindsight, done: Round, rng: random.Random) -> None:
    """Every acknowledged write is there exactly once, and a repeated request id gives the same answer."""
    stored = await insist(lambda: _collect(client, done.agent_id), done.interruptions)
    assert Counter(stored.values()) == Counter(text(n) for n in range(WRITES))
    assert {n: stored[r.memory_id] for n, r in done.acknowledged.items()} == {n: text(n) for n in range(WRITES)}
    for n in rng.sample(range(WRITES), REPEATED):
        again = await client.write(memory(n), agent_id=done.agent_id, request_id=f"{done.agent_id}-{n}")
        assert again == done.acknowledged[n]
    same = NewMemory("same", "Everybody writes this one.")
    results = await asyncio.gather(*(client.write(same, agent_id=done.agent_id) for _ in range(CALLERS)))
    assert len({r.memory_id for r in results}) == 1
    assert sorted(r.outcome for r in results) == ["created"] + ["updated"] * (CALLERS - 1)
    hits = (await client.recall(text(7), agent_id=done.agent_id)).hits
    assert hits[0].memory.value == text(7)


async def _collect(client: Hindsight, agent_id: str) -> dict[str, str]:
    return {m.id: m.value async for m in client.list(agent_id=agent_id)}


@pytest.fixture(scope="module")
async def instance() -> Any:
    """A whole hindsight, as make run starts it."""
    async with running() as started:
        yield started


async def test_no_acknowledged_write_is_lost_or_doubled_by_a_kill(instance: Instance, capsys: pytest.CaptureFixture[str]):
    rng = random.Random(SEED)
    first = rng.randrange(len(VICTIMS))
    async with instance.client() as client:
        for number in range(first, first + ROUNDS):
            with capsys.disabled():
                await run_round(instance, client, number, rng)
