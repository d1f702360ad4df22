"""Recall with a cross-encoder that the operator named: a real embed service, and a tiny model whose mind is known."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from hindsight_embedding import main as embed
from hindsight_embedding.settings import EmbedSettings
from hindsight_memory import Hindsight, HindsightError, NewMemory, Receipt, Turn
from hindsight_recall.reranking import RERANKED
from hindsight_runtime.embedder import RerankModel, open_embedder
from hindsight_runtime.serving import serving
from pydantic import SecretStr

from tests.conftest import model_dir, socket_folder
from tests.cross_encoder import build_cross_encoder

PAUSE_S = 0.02
QUERY = "Where does the boat to Capri leave? quay pier seven"
MEMORIES = [
    NewMemory("boat", "The boat to Capri leaves at nine."),
    NewMemory("boat fare", "The boat to Capri costs nineteen euros."),
    NewMemory("mooring", "It is moored at quay seven."),
    NewMemory("tram", "The tram passes pier four."),
    *(NewMemory(f"cabin {n}", f"Cabin {n} of the boat sleeps {n + 1} guests.") for n in range(40)),
]


@pytest.fixture(scope="module")
async def embed_address(embed_token: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The embed service as its main module opens it, with a cross-encoder that knows three words."""
    folder = build_cross_encoder(tmp_path_factory.mktemp("r") / "overlap", ("quay", "pier", "seven"))
    settings = EmbedSettings(port=0, embed_token=SecretStr(embed_token), model_dir=model_dir(), rerank_model=str(folder))
    async with AsyncExitStack() as stack:
        service = await embed.open_service(stack, settings)
        address = f"unix:{socket_folder(tmp_path_factory)}/embed"
        await stack.enter_async_context(serving(service, address, max_calls=512, grace_s=1))
        yield address


async def receipt_of(client: Hindsight, receipt_id: str) -> Receipt:
    """The receipt, which is kept a moment after the answer."""
    async with asyncio.timeout(10):
        while True:
            try:
                return await client.receipt(receipt_id)
            except HindsightError as error:
                assert error.code == "NOT_FOUND"  # noqa: PT017 - the loop ends with the receipt
                await asyncio.sleep(PAUSE_S)


def feature(hit, name: str) -> tuple[float, float] | None:
    """A contribution's value and weight."""
    return next(((c.value, c.weight) for c in hit.contributions if c.feature == name), None)


async def test_the_embed_service_says_which_reranking_model_there_is(embed_address: str, embed_token: str):
    async with open_embedder(embed_address, embed_token) as embedder:
        model = await embedder.describe_rerank_model()
        relevances = await embedder.rerank("quay seven", ["tram", "Quay Seven", "seven"])
    assert isinstance(model, RerankModel)
    assert (model.id, len(model.revision)) == ("overlap", 12)
    assert relevances.tolist() == pytest.approx([0.0474, 0.7311, 0.2689], abs=1e-3)


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
async def test_what_the_model_finds_to_answer_comes_first(client: Hindsight, mode):
    written = await client.write_batch(MEMORIES)
    plain = await client.recall(QUERY, mode=mode)
    judged = await client.recall(QUERY, mode=mode, rerank=True)
    assert plain.hits[0].memory.id == written[0].memory_id
    assert judged.hits[0].memory.id == written[2].memory_id
    assert (judged.missing_channels, judged.is_partial, judged.is_degraded) == ((), False, False)
    (finding,) = [f for f in judged.hits[0].findings if f.channel == "rerank"]
    assert (finding.rank, finding.score) == (1, pytest.approx(0.7311, abs=1e-3))
    assert not [f for h in plain.hits for f in h.findings if f.channel == "rerank"]


async def test_the_best_thirty_are_judged_and_none_behind_them_passes_by(client: Hindsight):
    await client.write_batch(MEMORIES)
    answer = await client.recall(QUERY, top_k=40, rerank=True, mode="semantic")
    judged = [feature(hit, "rerank") is not None for hit in answer.hits]
    assert judged == [True] * RERANKED + [False] * 10
    assert sorted(f.rank for h in answer.hits for f in h.findings if f.channel == "rerank") == list(range(1, RERANKED + 1))
    assert {c.weight for hit in answer.hits for c in hit.contributions if c.feature == "rerank"} == {0.5}


async def test_turns_are_judged_beside_memories(client: Hindsight):
    await client.write_batch(MEMORIES[:2])
    turns = [Turn("user", "The boat to Capri, where is it?"), Turn("assistant", "Quay seven, or pier seven.")]
    await client.observe("s", turns)
    answer = await client.recall(QUERY, include_turns=True, rerank=True)
    assert isinstance(answer.hits[0].subject, Turn)
    assert answer.hits[0].subject.content == "Quay seven, or pier seven."


async def test_a_floor_drops_what_the_model_finds_irrelevant(client: Hindsight):
    written = await client.write_batch(MEMORIES[:4])
    plain = await client.recall(QUERY, relevance_floor=0.3)
    judged = await client.recall(QUERY, relevance_floor=0.45, rerank=True)
    assert written[0].memory_id in {h.memory.id for h in plain.hits}
    assert [h.memory.id for h in judged.hits] == [written[2].memory_id]
    assert all(0.45 <= h.similarity <= 1 for h in judged.hits)


async def test_a_receipt_adds_up_and_its_replay_is_identical(client: Hindsight):
    await client.write_batch(MEMORIES)
    await client.observe("s", [Turn("user", "Is it quay seven?")])
    answer = await client.recall(QUERY, top_k=10, include_turns=True, rerank=True)
    receipt = await receipt_of(client, answer.receipt_id)
    assert {c.channel: (c.found, c.missing) for c in receipt.channels}["rerank"][1] == ""
    for considered in (*receipt.hits, *receipt.near_misses):
        similarity = min(1.0, max(0.0, sum(c.value * c.weight for c in considered.contributions)))
        stored, stage, retention, utility = considered.importance
        importance = min(1.0, max(0.0, stored * stage * retention * utility))
        assert considered.similarity == pytest.approx(similarity, abs=1e-12)
        assert considered.final_score == pytest.approx(
            receipt.weight_similarity * similarity + receipt.weight_importance * importance, abs=1e-12
        )
    assert "rerank" in receipt.took_ms
    again, is_identical = await client.replay(answer.receipt_id)
    assert is_identical
    assert [(c.memory_id, c.final_score) for c in again] == [(c.memory_id, c.final_score) for c in receipt.hits]


async def test_equal_input_gives_equal_output_also_asked_again_as_of_then(client: Hindsight):
    await client.write_batch(MEMORIES)
    first, second = [await client.recall(QUERY, top_k=10, rerank=True) for _ in range(2)]
    assert [(h.memory.id, h.similarity) for h in first.hits] == [(h.memory.id, h.similarity) for h in second.hits]
    await receipt_of(client, first.receipt_id)
    both = await client.recall_as_of_then(first.receipt_id)
    assert [h.memory.id for h in both.then] == [h.memory.id for h in first.hits]
    assert all(feature(h, "rerank") for h in both.then[:3])


async def test_the_end_of_a_very_long_memory_is_left_unread_and_harms_nothing(client: Hindsight):
    written = await client.write(NewMemory("boat", "The boat to Capri. " + "港" * 10_000 + " quay pier seven"))
    answer = await client.recall(QUERY + " " + "w" * 8_000, rerank=True)
    assert answer.hits[0].memory.id == written.memory_id
    assert feature(answer.hits[0], "rerank") == (pytest.approx(0.0474, abs=1e-3), 0.5)


async def test_an_empty_bank_and_tag_mode_need_no_model(client: Hindsight):
    assert (await client.recall(QUERY, rerank=True)).hits == ()
    await client.write(MEMORIES[0])
    tagged = await client.recall(mode="tag", rerank=True)
    assert (len(tagged.hits), tagged.missing_channels) == (1, ())
