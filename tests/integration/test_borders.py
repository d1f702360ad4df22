"""Values at the border of what is accepted are stored, found and given back."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hindsight_memory import Filter, Hindsight, HindsightError, NewKey, NewMemory, Turn
from hindsight_runtime.embedder import Model

from tests.fuzz.conftest import serve_fake_embedder

FIRST, LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
VALUE_BYTES = 32 * 1024


@pytest.fixture(scope="session")
async def embed_address(embed_token: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """A fake model: values of the largest size cost seconds with a real one."""
    async for address in serve_fake_embedder(embed_token, tmp_path_factory):
        yield address


async def test_the_first_and_the_last_moment_come_back(client: Hindsight):
    written = await client.write(NewMemory("time", "All of it.", valid_from=FIRST, valid_to=LAST, expires_at=LAST))
    memory = await client.get(written.memory_id)
    assert (memory.valid_from, memory.valid_to, memory.expires_at) == (FIRST, LAST, LAST)
    spans = Filter(valid_since=FIRST, valid_until=LAST, created_since=FIRST, created_until=LAST)
    assert [m.id async for m in client.list(spans)] == [written.memory_id]
    assert [h.memory.id for h in (await client.recall("time", where=spans)).hits] == [written.memory_id]


async def test_turns_of_the_first_and_the_last_moment_come_back(client: Hindsight):
    await client.observe("s", [Turn("user", "The tide is late.", at=FIRST), Turn("user", "The tide is early.", at=LAST)])
    for moment in (FIRST, LAST, None):
        answer = await client.recall("the tide of yesterday", include_turns=True, as_of=moment)
        assert {h.subject.at for h in answer.hits if isinstance(h.subject, Turn)} <= {FIRST, LAST}


@pytest.mark.parametrize(
    "metadata",
    [
        {"n": [1.7976931348623157e308, -1.7e308, 5e-324, 2**53, -(2**53), 0.1, -0.0, 1e300]},
        {"a.b": {"": [None, True, {}, []]}, "\U0010ffff": "\ufdfa", "引号'\"\\": "%_"},
        {"a": [[[[[[[[[[[[[1]]]]]]]]]]]]]},
    ],
)
async def test_metadata_comes_back_and_filters(client: Hindsight, metadata):
    written = await client.write(NewMemory("k", "v", metadata=metadata))
    assert (await client.get(written.memory_id)).metadata == json.loads(json.dumps(metadata))
    assert [m.id async for m in client.list(Filter(metadata=metadata))] == [written.memory_id]


@pytest.mark.parametrize("text", ["\ufdfa", "㌖", "ﬃ", "中", "👍🏽", "a-", "é ", "'", "\\", "の", "ก", "x.y:z ", "\u200b", "1 "])
async def test_a_value_of_the_largest_size_is_written_and_found(client: Hindsight, text):
    value = text * (VALUE_BYTES // len(text.encode()))
    written = await client.write(NewMemory("largest", value))
    assert (await client.get(written.memory_id)).value == value
    assert [h.memory.id for h in (await client.recall(f"largest {value[:2000]}")).hits] == [written.memory_id]


async def test_a_value_of_as_many_different_words_as_fit_is_written_and_found(client: Hindsight):
    han = "".join(chr(0x4E00 + n) for n in range(VALUE_BYTES // 3))
    identifiers = " ".join(f"{n:x}-{n * 7919:x}_{n}" for n in range(1800))
    for value in (han, identifiers):
        written = await client.write(NewMemory(value[:20], value))
        assert (await client.recall(value[100:130])).hits[0].memory.id == written.memory_id


async def test_what_a_duplicate_adds_stays_within_the_limits(client: Hindsight):
    memory = NewMemory("k", "Ada likes green tea.")
    tags: list[str] = []
    metadata: dict[str, str] = {}
    memory_id = ""
    for number in range(4):
        tags = [f"{number}-{n}" for n in range(64)]
        metadata = {f"{number}": "x" * 12_000}
        memory_id = (await client.write(replace(memory, tags=tags, metadata=metadata))).memory_id
    kept = await client.get(memory_id)
    assert (len(kept.tags), kept.tags[:64]) == (64, tuple(tags))
    assert kept.metadata == metadata
    await client.update(memory_id, {"tags": list(kept.tags), "metadata": dict(kept.metadata)})


async def test_a_page_of_large_memories_ends_early_and_none_is_lost(client: Hindsight, monkeypatch):
    from hindsight_recall import calls

    monkeypatch.setattr(calls, "PAGE_BYTES", 100_000)
    ids = []
    for number in range(12):
        ids.append((await client.write(NewMemory(f"k{number}", "x" * 30_000))).memory_id)
    for number in range(5):
        await client.update(ids[0], {"importance": number / 10})
    assert [m.id async for m in client.list()] == ids
    assert [m.revision async for m in client.revisions(ids[0])] == [6, 5, 4, 3, 2, 1]
    answer, seen = await client.recall(mode="tag", top_k=100), []
    seen += [h.memory.id for h in answer.hits]
    while answer.next_page_token:
        answer = await client.recall(mode="tag", top_k=100, page_token=answer.next_page_token)
        seen += [h.memory.id for h in answer.hits]
    assert seen == ids[::-1]


async def test_a_batch_of_the_largest_texts_fits_the_embedders_queue(client: Hindsight):
    value = "👍" * (VALUE_BYTES // 4)
    results = await client.write_batch([NewMemory(f"{n}", value, query="🙏" * 2048) for n in range(4)])
    assert [r.outcome for r in results] == ["created"] * 4


def test_texts_go_to_the_embedder_in_requests_of_bounded_bytes():
    from hindsight_runtime.embedder import BATCH_BYTES, _batches

    texts = ["👍" * 10_000] * 9 + ["x"] * 200
    batches = list(_batches(texts))
    assert [t for b in batches for t in b] == texts
    assert all(sum(len(t.encode()) for t in b) <= BATCH_BYTES for b in batches)


async def test_an_embedder_that_fails_is_unavailable_and_not_our_fault(tmp_path):
    import grpc
    from hindsight_runtime.embedder import open_embedder
    from hindsight_runtime.errors import DependencyUnavailable

    async def fail(raw, context):
        await context.abort(grpc.StatusCode.INTERNAL, "broken")

    server = grpc.aio.server()
    methods = {"Embed": grpc.unary_unary_rpc_method_handler(fail)}
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("hindsight.v1.EmbeddingService", methods)])
    server.add_insecure_port(f"unix:{tmp_path}/e")
    await server.start()
    async with open_embedder(f"unix:{tmp_path}/e", "") as embedder:
        with pytest.raises(DependencyUnavailable):
            await embedder.embed(["x"], "query", model=Model("m", "1", 4, 4, 0.0, 1.0, 1.0, 0.3))
    await server.stop(0)


@pytest.mark.parametrize("token", ["W1tb" * 1300 + ".e30.e30", "eyJhIjo" * 900 + ".e30.e30", "a.b.c", "x", "hs_" + "x" * 5000])
async def test_a_forged_token_is_unauthenticated_whatever_it_holds(services, token):
    from hindsight_runtime.errors import Unauthenticated
    from hindsight_runtime.identity import KeyAuthenticator, new_assertion_keys

    async def unknown(asked):
        return None

    with pytest.raises(Unauthenticated):
        await KeyAuthenticator(unknown, unknown, new_assertion_keys()[1]).authenticate({"authorization": f"Bearer {token}"})
    async with services.with_key(token) as client:
        with pytest.raises(HindsightError) as refusal:
            await client.get("01890a5d-ac96-774b-bcce-b302099a8057", agent_id="ada")
    assert refusal.value.reason == "UNAUTHENTICATED"


async def test_names_in_metadata_do_not_blow_up_the_answer(client: Hindsight):
    metadata: dict = {"字" * 128: "\0"}
    for _ in range(12):
        metadata = {"字" * 128: metadata}
    with pytest.raises(HindsightError) as refusal:
        await client.write(NewMemory("k", "v", metadata=metadata))
    assert list(refusal.value.fields) == ["memory.metadata"]


async def test_a_key_holds_each_right_once(services):
    wanted = NewKey(tenant="acme", rights=("read", "read", "read"), sources=("user", "user"))
    key, _ = await services.operator.create_key(wanted)
    assert (key.rights, key.sources) == (("read",), ("user",))
