"""Recall while a program does not answer: stopped in its tracks, as a hung or overloaded one would be."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from hindsight_local.trial import Instance, running
from hindsight_memory import Answer, Hindsight, NewMemory

QUERY = "Where does the harbour tour begin?"
MEMORIES = [NewMemory(f"tour {n}", f"The harbour tour number {n} begins at pier {n}.") for n in range(20)]


@contextmanager
def stopped(instance: Instance, name: str) -> Iterator[None]:
    """Stop a program for the length of the block."""
    process = instance.process(name)
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


def places(answer: Answer) -> list[tuple[str, float]]:
    return [(hit.memory.id, round(hit.similarity, 9)) for hit in answer.hits]


async def ask(client: Hindsight, deadline_ms: int = 0) -> Answer:
    return await client.recall(QUERY, top_k=10, deadline_ms=deadline_ms)


async def test_what_is_away_costs_its_part_of_an_answer_and_no_more():
    async with running() as instance, instance.client() as client:
        await client.write_batch(MEMORIES)
        whole = await ask(client)
        assert not whole.missing_channels
        with stopped(instance, "valkey"):
            assert places(await ask(client)) == places(whole)
        with stopped(instance, "ingest"):
            without_ingest = await ask(client)
            assert places(without_ingest) == places(whole)
        with stopped(instance, "embed"):
            degraded = await ask(client)
            assert (degraded.is_degraded, degraded.missing_channels) == (True, ("content", "trigger"))
            assert degraded.hits
            partial = await ask(client, deadline_ms=300)
            assert (partial.is_partial, partial.missing_channels) == (True, ("content", "trigger"))
            assert places(partial) == places(degraded)
        short = await ask(client, deadline_ms=30)
        assert short.is_partial == bool(short.missing_channels)
        assert places(await ask(client)) == places(whole)
