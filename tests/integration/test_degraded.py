"""Recall while what it needs is away or slow: what can be answered is answered, and what is missing is named."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from hindsight.v1 import embedding_pb2_grpc
from hindsight_embedding.batching import Batcher
from hindsight_embedding.cache import EmbeddingCache
from hindsight_embedding.cross_encoder import CrossEncoder
from hindsight_embedding.embedder import Embedder
from hindsight_embedding.fake_model import FakeModel
from hindsight_embedding.reranking import Reranker
from hindsight_embedding.servicer import SERVICE_NAME, EmbeddingServicer
from hindsight_memory import Hindsight, NewMemory, Turn
from hindsight_runtime.identity import ServiceTokenAuthenticator
from hindsight_runtime.serving import Service, serving

from tests.cross_encoder import build_cross_encoder

MEMORIES = [NewMemory(f"pier {n}", f"Tour {n} of the harbour begins at pier {n}.") for n in range(30)]


class StalledModel(FakeModel):
    """Takes as long for a pass as it is told to."""

    stall_s = 0.0

    def forward(self, windows: Any) -> Any:
        time.sleep(self.stall_s)
        return super().forward(windows)


class StalledCrossEncoder(CrossEncoder):
    """Takes as long for a pass as it is told to, or fails."""

    stall_s = 0.0
    is_broken = False

    def relevances(self, pairs: Any) -> Any:
        time.sleep(self.stall_s)
        if self.is_broken:
            raise ValueError("not a number")
        return super().relevances(pairs)


class EmbedService:
    """A real embed service that can be slowed down, stopped and started again."""

    def __init__(self, address: str, token: str, rerank_folder: Path) -> None:
        self.address = address
        self.cross_encoder = StalledCrossEncoder(rerank_folder)
        self.model = StalledModel(window_tokens=512, pass_tokens=8192)
        self._token = token
        self._stack = AsyncExitStack()

    async def start(self) -> None:
        batcher = await self._stack.enter_async_context(Batcher(self.model, threads=1, queue_tokens=131_072))
        reranker = await self._stack.enter_async_context(Reranker(self.cross_encoder, queue_tokens=131_072))
        servicer = EmbeddingServicer(Embedder(batcher, EmbeddingCache(20_000)), self.model, reranker)

        def register(server) -> None:
            embedding_pb2_grpc.add_EmbeddingServiceServicer_to_server(servicer, server)

        service = Service(ServiceTokenAuthenticator(self._token), register, [SERVICE_NAME], {"model": batcher.check})
        await self._stack.enter_async_context(serving(service, self.address, max_calls=512, grace_s=0))

    async def stop(self) -> None:
        await self._stack.aclose()
        self._stack = AsyncExitStack()


@pytest.fixture
async def embed_service(embed_token: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[EmbedService]:
    folder = build_cross_encoder(tmp_path_factory.mktemp("r"), ("pier", "harbour", "29"))
    service = EmbedService(f"unix:{tmp_path_factory.mktemp('s')}/embed", embed_token, folder)
    await service.start()
    yield service
    service.model.stall_s = service.cross_encoder.stall_s = 0
    await service.stop()


@pytest.fixture
async def embed_address(embed_service: EmbedService) -> str:
    """The address of the embed service of this test."""
    return embed_service.address


async def ids(client: Hindsight, **options: Any) -> list[str]:
    return [h.memory.id for h in (await client.recall("harbour tour 7 pier 7", **options)).hits]


async def test_with_the_embedder_stopped_keywords_answer_marked_degraded(client: Hindsight, embed_service: EmbedService):
    results = await client.write_batch(MEMORIES)
    await embed_service.stop()
    answer = await client.recall("harbour tour 7 pier 7")
    assert answer.hits[0].memory.id == results[7].memory_id
    assert (answer.is_degraded, answer.is_partial) == (True, False)
    assert answer.missing_channels == ("content", "trigger")
    assert {f.channel for h in answer.hits for f in h.findings} == {"lexical"}
    semantic = await client.recall("harbour tour 7 pier 7", mode="semantic")
    assert semantic.hits[0].memory.id == results[7].memory_id
    assert semantic.is_degraded
    await embed_service.start()
    async with asyncio.timeout(30):
        while answer.missing_channels:
            await asyncio.sleep(0.05)
            answer = await client.recall("harbour tour 7 pier 7")
    assert not answer.is_degraded


async def test_turns_are_found_by_words_while_the_embedder_is_stopped(client: Hindsight, embed_service: EmbedService):
    await client.write_batch(MEMORIES)
    await embed_service.stop()
    await client.observe("s", [Turn("user", "The tide is late today.")])
    answer = await client.recall("late tide", include_turns=True)
    assert isinstance(answer.hits[0].subject, Turn)
    assert answer.is_degraded


async def test_a_deadline_gives_a_partial_answer_that_says_what_is_missing(client: Hindsight, embed_service: EmbedService):
    results = await client.write_batch(MEMORIES)
    embed_service.model.stall_s = 3
    answer = await client.recall("harbour tour 7 pier 7", deadline_ms=1000)
    assert answer.hits[0].memory.id == results[7].memory_id
    assert (answer.is_degraded, answer.is_partial) == (False, True)
    assert answer.missing_channels == ("content", "trigger")
    receipt = None
    async with asyncio.timeout(10):
        while receipt is None:
            await asyncio.sleep(0.2)
            receipt = await client.receipt(answer.receipt_id)
    assert {c.channel: c.missing for c in receipt.channels if c.missing} == {"content": "deadline", "trigger": "deadline"}
    again, is_identical = await client.replay(answer.receipt_id)
    assert is_identical
    assert len(again) == len(answer.hits)


async def test_reranking_is_dropped_where_its_share_of_the_deadline_is_over(client: Hindsight, embed_service: EmbedService):
    await client.write_batch(MEMORIES)
    plain = await client.recall("harbour tour 7 pier 7")
    embed_service.cross_encoder.stall_s = 3
    began = time.perf_counter()
    answer = await client.recall("harbour tour 7 pier 7", deadline_ms=1000, rerank=True)
    assert time.perf_counter() - began < 2.5
    assert [(h.memory.id, h.similarity) for h in answer.hits] == [(h.memory.id, h.similarity) for h in plain.hits]
    assert (answer.missing_channels, answer.is_partial, answer.is_degraded) == (("rerank",), True, False)


async def test_reranking_that_fails_or_is_away_costs_no_answer(client: Hindsight, embed_service: EmbedService):
    await client.write_batch(MEMORIES)
    embed_service.cross_encoder.is_broken = True
    broken = await client.recall("harbour tour 7 pier 7", rerank=True)
    embed_service.cross_encoder.is_broken = False
    well = await client.recall("harbour tour 7 pier 7", rerank=True)
    await embed_service.stop()
    away = await client.recall("harbour tour 7 pier 7", rerank=True)
    assert (broken.missing_channels, well.missing_channels) == (("rerank",), ())
    assert set(away.missing_channels) == {"content", "trigger", "rerank"}
    assert all(answer.hits for answer in (broken, well, away))
    assert (broken.is_degraded, broken.is_partial) == (away.is_degraded, away.is_partial) == (True, False)


@pytest.mark.parametrize("deadline_ms", [1, 5, 30])
async def test_however_short_the_deadline_there_is_an_answer_and_no_error(client: Hindsight, deadline_ms: int):
    await client.write_batch(MEMORIES)
    await client.observe("s", [Turn("user", "The tide is late today.")])
    whole = await client.recall("harbour tour 7 pier 7", top_k=50)
    for mode in ("hybrid", "semantic"):
        answer = await client.recall("harbour tour 7 pier 7", mode=mode, deadline_ms=deadline_ms, include_turns=True, top_k=50)
        assert answer.is_partial == bool(answer.missing_channels)
        assert not answer.is_degraded
        assert (
            answer.is_partial
            or mode == "semantic"
            or {h.memory.id for h in whole.hits} <= {h.memory.id for h in answer.hits if not isinstance(h.subject, Turn)}
        )
