"""Writing: near-duplicates, request ids, batches, sources, limits."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hindsight_memory import Filter, Hindsight, HindsightError, NewKey, NewMemory, Source, Turn
from hindsight_store.pool import open_pool
from hindsight_store.reader import find_tenant
from hindsight_store.stored import measure_stored

MEMORY = NewMemory("drink", "Ada likes green tea.", scope="user:42")


async def test_what_says_the_same_is_updated_and_not_written_twice(client: Hindsight):
    first = await client.write(replace(MEMORY, tags=["a"], importance=0.3))
    again = await client.write(replace(MEMORY, value="Ada likes the green tea", tags=["b"], importance=0.9))
    assert (again.outcome, again.memory_id, again.revision) == ("updated", first.memory_id, 2)
    memory = await client.get(first.memory_id)
    assert (memory.value, memory.importance, memory.tags) == ("Ada likes the green tea", 0.9, ("a", "b"))


async def test_an_identical_write_makes_no_revision(client: Hindsight):
    first = await client.write(MEMORY)
    assert (await client.write(MEMORY)).revision == first.revision == 1


@pytest.mark.parametrize(
    "other",
    [
        replace(MEMORY, value="Ada likes black tea."),
        replace(MEMORY, value="Bob likes green tea."),
        replace(MEMORY, scope="user:43"),
        replace(MEMORY, key="beverage"),
    ],
)
async def test_another_statement_scope_or_key_is_a_memory_of_its_own(client: Hindsight, other: NewMemory):
    first = await client.write(MEMORY)
    second = await client.write(other)
    assert second.outcome == "created"
    assert second.memory_id != first.memory_id


async def test_thirty_two_writers_of_one_memory_leave_one(client: Hindsight):
    results = await asyncio.gather(*(client.write(MEMORY) for _ in range(32)))
    assert len({r.memory_id for r in results}) == 1
    assert sorted(r.outcome for r in results) == ["created"] + ["updated"] * 31
    assert len([m async for m in client.list()]) == 1


async def test_copies_inside_a_batch_become_one_memory(client: Hindsight):
    results = await client.write_batch([MEMORY, replace(MEMORY, importance=0.9), MEMORY])
    assert [r.outcome for r in results] == ["created", "updated", "updated"]
    assert len({r.memory_id for r in results}) == 1
    assert [m.revision async for m in client.revisions(results[0].memory_id)] == [1]


async def test_a_repeated_request_id_answers_the_same_once(client: Hindsight):
    first = await client.write(MEMORY, request_id="r1")
    await client.forget(memory_id=first.memory_id)
    assert await client.write(MEMORY, request_id="r1") == first
    assert [m async for m in client.list()] == []


async def test_a_request_id_with_other_content_is_refused(client: Hindsight):
    await client.write(MEMORY, request_id="r1")
    for attempt in (
        client.write(replace(MEMORY, importance=0.6), request_id="r1"),
        client.write_batch([MEMORY], request_id="r1"),
        client.forget(key="drink", scope="user:42", request_id="r1"),
    ):
        with pytest.raises(HindsightError) as refusal:
            await attempt
        assert (refusal.value.code, refusal.value.reason) == ("ALREADY_EXISTS", "REQUEST_ID_REUSED")


async def test_updates_and_forgetting_are_repeatable_too(client: Hindsight):
    written = await client.write(MEMORY)
    first = await client.update(written.memory_id, {"value": "Ada likes oolong."}, revision=1, request_id="u")
    assert await client.update(written.memory_id, {"value": "Ada likes oolong."}, revision=1, request_id="u") == first
    gone = await client.forget(memory_id=written.memory_id, request_id="f")
    assert await client.forget(memory_id=written.memory_id, request_id="f") == gone == [written.memory_id]


async def test_one_bad_memory_does_not_fail_the_others(client: Hindsight):
    results = await client.write_batch([MEMORY, replace(MEMORY, value=""), replace(MEMORY, key="x" * 129)])
    assert [(r.outcome, r.reason, r.field) for r in results] == [
        ("created", "", ""),
        ("rejected", "INVALID_FIELD", "memories[1].value"),
        ("rejected", "INVALID_FIELD", "memories[2].key"),
    ]


async def test_a_memory_in_a_forbidden_scope_or_with_a_forbidden_source_does_not_fail_the_others(services):
    key = NewKey(tenant="acme", default_agent_id="ada", scopes=["user:1"], sources=["inference"])
    async with await services.connect(key) as client:
        fine, scope, source = NewMemory("k", "Fine."), NewMemory("k", "Elsewhere.", scope="user:2"), Source("user")
        results = await client.write_batch([scope, fine, NewMemory("k", "Claimed.", source=source)])
    assert [(r.outcome, r.reason, r.field) for r in results] == [
        ("rejected", "PERMISSION_DENIED", "memories[0]"),
        ("created", "", ""),
        ("rejected", "PERMISSION_DENIED", "memories[2]"),
    ]


async def test_all_or_nothing_writes_nothing_when_one_is_bad(client: Hindsight):
    with pytest.raises(HindsightError) as refusal:
        await client.write_batch([MEMORY, replace(MEMORY, value=" ")], all_or_nothing=True)
    assert (refusal.value.reason, list(refusal.value.fields)) == ("BATCH_REJECTED", ["memories[1].value"])
    assert [m async for m in client.list()] == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"key": ""}, "memory.key"),
        ({"key": "k\x00"}, "memory.key"),
        ({"value": "é" * 16_385}, "memory.value"),
        ({"importance": 1.01}, "memory.importance"),
        ({"importance": float("nan")}, "memory.importance"),
        ({"confidence": 1.1}, "memory.confidence"),
        ({"scope": "User 42"}, "memory.scope"),
        ({"scope": "user:4*"}, "memory.scope"),
        ({"tags": ["t"] * 65}, "memory.tags"),
        ({"tags": [" "]}, "memory.tags[0]"),
        ({"metadata": {"a": "\x00"}}, "memory.metadata.a"),
        ({"metadata": {"a": "x" * 17_000}}, "memory.metadata"),
        ({"source": Source(turn=-1)}, "memory.source.turn"),
        ({"valid_from": datetime(2026, 1, 2, tzinfo=UTC), "valid_to": datetime(2026, 1, 1, tzinfo=UTC)}, "memory.valid_to"),
        ({"derived_from": ["x"]}, "memory.derived_from[0]"),
        ({"query": "q" * 2049}, "memory.query"),
    ],
)
async def test_a_field_out_of_its_limits_is_named(client: Hindsight, change, field):
    with pytest.raises(HindsightError) as refusal:
        await client.write(replace(MEMORY, **change))
    assert (refusal.value.code, refusal.value.reason) == ("INVALID_ARGUMENT", "INVALID_FIELD")
    assert list(refusal.value.fields) == [field]


async def test_a_number_above_the_sources_ceiling_is_lowered_and_told(client: Hindsight):
    result = await client.write(replace(MEMORY, source=Source("inference"), confidence=0.9, importance=0.2))
    assert [(a.field, a.asked, a.stored) for a in result.adjustments] == [("confidence", 0.9, 0.7)]
    assert (await client.get(result.memory_id)).confidence == 0.7


async def test_a_new_value_does_not_inherit_what_the_old_one_could_claim(services):
    async with (
        await services.connect(NewKey(tenant="acme", default_agent_id="ada")) as user,
        await services.connect(NewKey(tenant="acme", default_agent_id="ada", sources=["inference"])) as agent,
    ):
        written = await user.write(NewMemory("invoices", "Never send invoices without approval.", importance=1, confidence=1))
        result = await agent.update(written.memory_id, {"value": "Always send invoices."})
        memory = await user.get(written.memory_id)
    assert (memory.source.kind, memory.importance, memory.confidence) == ("inference", 0.7, 0.7)
    assert {a.field for a in result.adjustments} == {"importance", "confidence"}


async def test_a_source_the_key_may_not_claim_is_refused(services):
    async with await services.connect(NewKey(tenant="acme", default_agent_id="ada", sources=["inference"])) as client:
        with pytest.raises(HindsightError) as refusal:
            await client.write(replace(MEMORY, source=Source("user")))
        assert refusal.value.code == "PERMISSION_DENIED"
        result = await client.write(MEMORY)
        assert (await client.get(result.memory_id)).source.kind == "inference"


async def test_everything_a_memory_carries_comes_back(client: Hindsight):
    first = await client.write(NewMemory("origin", "Where it began."))
    written = NewMemory(
        key="订单状态",
        value="订单17已发货 📦",
        query="那个订单到了吗？",
        scope="user:小林",
        kind="state",
        tags=["订单", "物流"],
        importance=0.7,
        confidence=0.9,
        source=Source("tool", "s-1", 7),
        metadata={"order": 17, "nested": {"list": [1, 2.5, None, True, "x"]}},
        is_core=True,
        valid_from=datetime(2026, 1, 1, tzinfo=UTC),
        valid_to=datetime(2099, 1, 1, tzinfo=UTC),
        expires_at=datetime(2098, 1, 1, tzinfo=UTC),
        derived_from=[first.memory_id],
    )
    memory = await client.get((await client.write(written)).memory_id)
    for field in NewMemory.__dataclass_fields__:
        expected = getattr(written, field)
        assert getattr(memory, field) == (tuple(expected) if isinstance(expected, list) else expected), field
    assert (memory.status, memory.revision, memory.agent_id, memory.hit_count) == ("active", 1, "ada", 0)


@pytest.mark.parametrize(
    ("where", "found"),
    [
        (Filter(key="order 17"), {"a"}),
        (Filter(key="order*"), {"a", "b"}),
        (Filter(key="order %*"), set()),
        (Filter(tags=["red", "blue"]), {"a", "b", "c"}),
        (Filter(tags=["red", "blue"], all_tags=True), {"b"}),
        (Filter(kinds=["state"]), {"a"}),
        (Filter(scope="user:1"), {"b", "a", "c"}),
        (Filter(scope="user:2"), {"a", "c"}),
        (Filter(min_importance=0.6), {"c"}),
        (Filter(metadata={"n": 1}), {"a"}),
        (Filter(valid_since=datetime(2026, 1, 1, tzinfo=UTC)), {"b", "c"}),
        (Filter(valid_until=datetime(2026, 1, 1, tzinfo=UTC)), {"a"}),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "semantic", "tag"])
async def test_a_filter_is_applied_inside_the_search(client: Hindsight, where, found, mode):
    old = datetime(2025, 1, 1, tzinfo=UTC)
    written = {
        "a": NewMemory("order 17", "The parcel is on its way.", tags=["red"], kind="state", metadata={"n": 1}, valid_from=old),
        "b": NewMemory("order 18", "The parcel has arrived.", tags=["red", "blue"], scope="user:1"),
        "c": NewMemory("note", "A parcel weighs two kilos.", tags=["blue"], importance=0.9),
    }
    results = await client.write_batch(list(written.values()))
    names = {r.memory_id: name for name, r in zip(written, results, strict=True)}
    answer = await client.recall("parcel", where=where, mode=mode, top_k=50)
    assert {names[h.memory.id] for h in answer.hits} == found


async def test_what_a_tenant_stores_is_measured_in_bytes_of_text_all_revisions_and_turns(services, client: Hindsight):

    async with open_pool(services.database.ingest) as pool:
        written = await client.write(NewMemory("key", "四字之值"))
        tenant_id = await find_tenant(pool, "acme") or 0
        assert await measure_stored(pool, tenant_id) == 3 + 12
        await client.update(written.memory_id, {"value": "abc"})
        await client.observe("s1", [Turn("user", "hello")])
        assert await measure_stored(pool, tenant_id) == 15 + 6 + 5
        assert await measure_stored(pool, tenant_id + 1000) == 0
