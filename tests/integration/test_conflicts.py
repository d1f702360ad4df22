"""Supersession and conflicts through the real services: what holds when, what is refused, and what is kept of it."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hindsight.v1 import recall_pb2
from hindsight_memory import Conflict, Hindsight, HindsightError, Memory, NewKey, NewMemory, Source

GOLDEN = Path(__file__).parents[2] / "bench" / "sets" / "golden_recall.yaml"
RULES = ("supersession", "negation")


def day(month: int, number: int = 1) -> datetime:
    return datetime(2025, month, number, tzinfo=UTC)


TURIN = NewMemory("home city", "Ada lives in Turin.", scope="user:ada", valid_from=day(1))
LISBON = NewMemory("home city", "Ada moved to Lisbon.", scope="user:ada", valid_from=day(6))
CHAINS = {
    "en": [
        NewMemory("visa application state", f"The visa application {step}.", kind="state", valid_from=day(month))
        for month, step in ((1, "is being drafted"), (3, "has been filed"), (5, "has been granted"))
    ],
    "zh": [
        NewMemory("签证办理状态", value, kind="state", valid_from=day(month))
        for month, value in ((1, "签证材料正在准备。"), (3, "签证材料已经递交。"), (5, "签证已经批下来了。"))
    ],
}


async def conflicts(client: Hindsight) -> list[Conflict]:
    return [c async for c in client.list_conflicts()]


async def edges(client: Hindsight, memory_id: str) -> set[tuple[str, str, str]]:
    return {(r.from_id, r.type, r.to_id) async for r in client.list_relations(memory_id)}


async def spans(client: Hindsight, ids: Sequence[str]) -> list[tuple[str, datetime, datetime | None]]:
    """Status and valid time of memories."""
    memories = [await client.get(i) for i in ids]
    return [(m.status, m.valid_from, m.valid_to) for m in memories]


async def active(client: Hindsight) -> list[Memory]:
    return [m async for m in client.list()]


async def test_a_newer_statement_ends_the_older_ones_valid_time_and_overwrites_nothing(client: Hindsight):
    older = await client.write(TURIN)
    newer = await client.write(LISBON)
    assert (newer.outcome, newer.superseded_ids, newer.revision) == ("superseded", (older.memory_id,), 1)
    history = [m async for m in client.revisions(older.memory_id)]
    assert [(m.revision, m.status, m.valid_to, m.value) for m in history] == [
        (2, "superseded", day(6), TURIN.value),
        (1, "active", None, TURIN.value),
    ]
    assert await spans(client, [newer.memory_id]) == [("active", day(6), None)]
    assert await edges(client, older.memory_id) == {(newer.memory_id, "supersedes", older.memory_id)}
    found = await client.recall("Where does Ada live?")
    assert [h.memory.id for h in found.hits] == [newer.memory_id]


@pytest.mark.parametrize("language", CHAINS)
async def test_a_chain_leaves_contiguous_valid_times(client: Hindsight, language: str):
    results = [await client.write(step) for step in CHAINS[language]]
    assert [r.outcome for r in results] == ["created", "superseded", "superseded"]
    assert await spans(client, [r.memory_id for r in results]) == [
        ("superseded", day(1), day(3)),
        ("superseded", day(3), day(5)),
        ("active", day(5), None),
    ]


@pytest.mark.parametrize("order", [(2, 1, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2)])
@pytest.mark.parametrize("is_batch", [False, True])
async def test_history_written_out_of_order_ends_up_the_same(client: Hindsight, order: Sequence[int], is_batch: bool):
    steps = [CHAINS["en"][i] for i in order]
    results = await client.write_batch(steps) if is_batch else [await client.write(s) for s in steps]
    ids = [r.memory_id for _, r in sorted(zip(order, results, strict=True), key=lambda pair: pair[0])]
    assert await spans(client, ids) == [
        ("superseded", day(1), day(3)),
        ("superseded", day(3), day(5)),
        ("active", day(5), None),
    ]


async def test_history_written_late_says_what_had_taken_its_place(client: Hindsight):
    newer = await client.write(LISBON)
    older = await client.write(TURIN)
    assert (older.outcome, older.superseded_by_id, older.superseded_ids) == ("created", newer.memory_id, ())
    assert await edges(client, newer.memory_id) == {(newer.memory_id, "supersedes", older.memory_id)}


async def test_history_written_twice_is_kept_once(client: Hindsight):
    first = await client.write_batch(CHAINS["en"])
    again = await client.write_batch(CHAINS["en"])
    assert [r.memory_id for r in again] == [r.memory_id for r in first]
    assert {r.outcome for r in again} == {"updated"}


async def test_what_becomes_true_later_leaves_the_older_in_force_until_then(client: Hindsight):
    start = datetime(2999, 1, 1, tzinfo=UTC)
    older = await client.write(TURIN)
    newer = await client.write(replace(LISBON, valid_from=start))
    assert newer.outcome == "superseded"
    assert await spans(client, [older.memory_id]) == [("active", day(1), start)]


async def test_a_less_sure_contradiction_is_refused_and_kept_as_a_conflict(client: Hindsight):
    kept = await client.write(replace(TURIN, confidence=0.9))
    refused = await client.write(replace(LISBON, confidence=0.8, source=Source("user", "s-1", 3)))
    assert (refused.outcome, refused.memory_id, refused.revision) == ("conflict", kept.memory_id, 1)
    assert [m.value for m in await active(client)] == [TURIN.value]
    (record,) = await conflicts(client)
    assert (record.kept_id, record.rule, record.scope, record.key, record.value) == (
        kept.memory_id, "value", "user:ada", "home city", LISBON.value,
    )  # fmt: skip
    assert (record.confidence, record.source, record.valid_from) == (0.8, Source("user", "s-1", 3), day(6))


async def test_a_surer_contradiction_wins_even_against_a_source_trusted_more(client: Hindsight):
    await client.write(replace(TURIN, confidence=0.6))
    newer = await client.write(replace(LISBON, confidence=0.7, source=Source("inference")))
    assert newer.outcome == "superseded"


async def test_as_sure_but_less_trusted_is_refused(client: Hindsight):
    kept = await client.write(replace(TURIN, confidence=0.7))
    refused = await client.write(replace(LISBON, confidence=0.7, source=Source("inference")))
    assert (refused.outcome, refused.memory_id) == ("conflict", kept.memory_id)


async def test_as_sure_and_no_later_is_refused(client: Hindsight):
    kept = await client.write(TURIN)
    refused = await client.write(replace(LISBON, valid_from=TURIN.valid_from))
    assert (refused.outcome, refused.memory_id) == ("conflict", kept.memory_id)


async def test_surer_since_the_same_time_leaves_the_older_no_time_at_all(client: Hindsight):
    older = await client.write(replace(TURIN, confidence=0.6))
    newer = await client.write(replace(LISBON, confidence=0.9, valid_from=TURIN.valid_from))
    assert newer.superseded_ids == (older.memory_id,)
    ((status, since, until),) = await spans(client, [older.memory_id])
    assert (status, (until or since) - since) == ("superseded", datetime.resolution)


async def test_at_the_last_moment_there_is_a_surer_contradiction_is_refused_without_an_error(client: Hindsight):
    last = datetime.max.replace(tzinfo=UTC)
    older = await client.write(NewMemory("home city", "Ada lives in Turin.", valid_from=last, confidence=0.8))
    surer = await client.write(NewMemory("home city", "Ada lives in Lisbon.", valid_from=last, confidence=0.9))
    assert (surer.outcome, surer.memory_id) == ("conflict", older.memory_id)


async def test_a_passing_statement_ends_nothing(client: Hindsight):
    await client.write(TURIN)
    visit = replace(TURIN, value="Ada lives in Rome.", valid_from=day(2), valid_to=day(3))
    assert (await client.write(visit)).outcome == "created"
    assert len(await active(client)) == 1 + (day(3) > datetime.now(UTC))


async def test_of_two_in_a_batch_the_second_takes_the_place_of_the_first(client: Hindsight):
    pair = [replace(m, valid_from=None) for m in (TURIN, LISBON)]
    first, second = await client.write_batch(pair)
    assert (first.outcome, second.outcome, second.superseded_ids) == ("created", "superseded", (first.memory_id,))
    assert [m.value for m in await active(client)] == [LISBON.value]
    assert [m.revision async for m in client.revisions(first.memory_id)] == [1]


async def test_in_a_batch_the_valid_times_decide_and_not_the_order(client: Hindsight):
    second, first = await client.write_batch([LISBON, TURIN])
    assert (first.outcome, first.superseded_by_id) == ("created", second.memory_id)
    assert [m.value for m in await active(client)] == [LISBON.value]


async def test_eight_writers_who_contradict_each_other_leave_one(client: Hindsight):
    cities = ("Turin", "Lisbon", "Graz", "Oslo", "Bergen", "Porto", "Lyon", "Ghent")
    writes = (client.write(NewMemory("home city", f"Ada lives in {city}.", scope="user:ada")) for city in cities)
    results = await asyncio.gather(*writes)
    assert {r.outcome for r in results} <= {"created", "superseded"}
    assert len(await active(client)) == 1
    memories = [m async for m in client.list(statuses=["active", "superseded"])]
    ends = [*sorted((m.valid_from, m.valid_to) for m in memories if m.valid_to), (max(m.valid_from for m in memories), None)]
    assert [until for _, until in ends[:-1]] == [since for since, _ in ends[1:]]


async def test_a_repeat_by_request_id_answers_the_same_once(client: Hindsight):
    await client.write(replace(TURIN, confidence=0.9))
    won = await client.write(replace(LISBON, confidence=0.95), request_id="won")
    lost = await client.write(replace(TURIN, value="Ada lives in Graz.", valid_from=day(9)), request_id="lost")
    assert (won.outcome, lost.outcome) == ("superseded", "conflict")
    assert await client.write(replace(LISBON, confidence=0.95), request_id="won") == won
    assert await client.write(replace(TURIN, value="Ada lives in Graz.", valid_from=day(9)), request_id="lost") == lost
    assert len(await conflicts(client)) == 1


async def test_deleting_the_newer_does_not_bring_the_older_back(client: Hindsight):
    older = await client.write(TURIN)
    newer = await client.write(LISBON)
    await client.forget(memory_id=newer.memory_id)
    assert await active(client) == []
    assert (await client.get(older.memory_id)).status == "superseded"
    assert await edges(client, older.memory_id) == set()


async def test_restoring_the_older_makes_it_active_as_a_new_revision(client: Hindsight):
    older = await client.write(TURIN)
    newer = await client.write(LISBON)
    restored = await client.restore(older.memory_id, 1)
    assert restored.revision == 3
    assert await spans(client, [older.memory_id]) == [("active", day(1), None)]
    assert await edges(client, newer.memory_id) == set()


async def test_a_superseded_statement_can_be_changed_and_stays_superseded(client: Hindsight):
    older = await client.write(TURIN)
    await client.write(LISBON)
    await client.update(older.memory_id, {"importance": 0.9})
    assert await spans(client, [older.memory_id]) == [("superseded", day(1), day(6))]


async def test_additions_and_other_subjects_stay_beside_each_other(client: Hindsight):
    written = [
        NewMemory("order status", "Order 17 is packed and waits for the courier."),
        NewMemory("order status", "Order 18 is packed and waits for the courier."),
        NewMemory("订单状态", "17 号订单已打包，等快递来取。"),
        NewMemory("订单状态", "18 号订单已签收。"),
        NewMemory("home town", "Ana lives in Braga."),
        NewMemory("home town", "João lives in Évora."),
        NewMemory("drinks", "Ada likes coffee."),
        NewMemory("drinks", "Ada likes tea."),
        NewMemory("饮料", "小林喜欢咖啡。"),
        NewMemory("饮料", "小林喜欢茶。"),
    ]
    assert [(await client.write(m)).outcome for m in written] == ["created"] * len(written)


async def test_another_tenant_or_scope_is_never_contradicted_and_sees_no_conflict(services, client: Hindsight):
    await client.write(replace(TURIN, confidence=1.0))
    assert (await client.write(LISBON)).outcome == "conflict"
    assert (await client.write(replace(LISBON, scope="user:bob"))).outcome == "created"
    others = [
        NewKey(tenant="other", default_agent_id="ada"),
        NewKey(tenant="acme", default_agent_id="bob"),
        NewKey(tenant="acme", default_agent_id="ada", scopes=["user:bob", "user:a"]),
    ]
    for key in others:
        async with await services.connect(key) as other:
            assert await conflicts(other) == []
    async with await services.connect(NewKey(tenant="acme", default_agent_id="ada", scopes=["user:a*"])) as prefixed:
        assert len(await conflicts(prefixed)) == 1


async def test_conflicts_come_newest_first_in_pages(client: Hindsight, monkeypatch: pytest.MonkeyPatch):
    await client.write(replace(TURIN, confidence=1.0))
    cities = ("Graz", "Oslo", "Bergen")
    for city in cities:
        assert (await client.write(replace(TURIN, value=f"Ada lives in {city}.", valid_from=day(7)))).outcome == "conflict"
    monkeypatch.setattr("hindsight_recall.servicer.PAGE", 2)
    assert [c.value for c in await conflicts(client)] == [f"Ada lives in {city}." for city in reversed(cities)]


def golden() -> list[Any]:
    return [c for c in yaml.safe_load(GOLDEN.read_text(encoding="utf-8")) if c["rule"] in RULES]


@pytest.mark.parametrize("case", golden(), ids=lambda c: c["name"])
async def test_the_labelled_cases_supersede_what_is_to_be_absent_and_nothing_else(client: Hindsight, case: Any):
    ids = {}
    for m in case["write"]:
        said = datetime(m["at"].year, m["at"].month, m["at"].day, tzinfo=UTC)
        memory = NewMemory(m["key"], m["value"], kind=m.get("kind"), scope=m.get("scope", ""), valid_from=said)
        ids[m["name"]] = (await client.write(memory)).memory_id
    absent = {name for r in case["recall"] if "as_of" not in r for name in r.get("absent", ())}
    status = {name: (await client.get(i)).status for name, i in ids.items()}
    assert status == {name: "superseded" if name in absent else "active" for name in ids}


async def test_a_relation_is_stated_once_changed_and_taken_back(client: Hindsight):
    a, b = [(await client.write(NewMemory(k, f"Something of {k}."))).memory_id for k in ("one", "two")]
    assert await client.relate((a, b), "supports", request_id="r") == 1.0
    assert await client.relate((a, b), "supports", request_id="r") == 1.0
    assert await client.relate((a, b), "supports", weight=0.5) == 0.5
    assert [(r.type, r.weight) async for r in client.list_relations(b)] == [("supports", 0.5)]
    assert await client.unrelate((a, b), "supports") is True
    assert await client.unrelate((a, b), "supports") is False
    assert await edges(client, a) == set()


async def test_what_is_derived_is_related_to_its_origins(client: Hindsight):
    origin = await client.write(NewMemory("trip", "Ada flies to Oslo in May."))
    derived = await client.write(NewMemory("summary", "Ada travels north.", derived_from=[origin.memory_id]))
    assert await edges(client, origin.memory_id) == {(derived.memory_id, "derived_from", origin.memory_id)}


@pytest.mark.parametrize("gone", [0, 1])
async def test_deleting_either_end_removes_a_relation_for_good(client: Hindsight, gone: int):
    ids = [(await client.write(NewMemory(k, f"Something of {k}."))).memory_id for k in ("one", "two")]
    await client.relate((ids[0], ids[1]), "同一件事")
    await client.forget(memory_id=ids[gone])
    assert await edges(client, ids[1 - gone]) == set()
    with pytest.raises(HindsightError) as refusal:
        await client.relate((ids[0], ids[1]), "follows")
    assert list(refusal.value.fields) == [("from_id", "to_id")[gone]]
    await client.restore(ids[gone], 1)
    assert await edges(client, ids[gone]) == set()


async def test_relations_respect_scopes_in_both_directions(services, client: Hindsight):
    keys = {scope: NewMemory("k", f"Something of {scope}.", scope=scope) for scope in ("agent", "user:1", "user:2")}
    ids = {scope: (await client.write(m)).memory_id for scope, m in keys.items()}
    await client.relate((ids["agent"], ids["user:2"]), "follows")
    limited = NewKey(tenant="acme", default_agent_id="ada", scopes=["user:1"])
    async with await services.connect(limited) as user:
        assert await user.relate((ids["user:1"], ids["agent"]), "follows") == 1.0
        assert await edges(user, ids["agent"]) == {(ids["user:1"], "follows", ids["agent"])}
        refused = {("agent", "user:1"): "PERMISSION_DENIED", ("user:1", "user:2"): "INVALID_FIELD"}
        for (start, to), reason in refused.items():
            with pytest.raises(HindsightError) as refusal:
                await user.relate((ids[start], ids[to]), "follows")
            assert refusal.value.reason == reason
    assert len(await edges(client, ids["agent"])) == 2


async def test_relations_come_in_pages(client: Hindsight, monkeypatch: pytest.MonkeyPatch):
    hub, *spokes = [r.memory_id for r in await client.write_batch([NewMemory(f"k{n}", f"Item {n}.") for n in range(6)])]
    for n, spoke in enumerate(spokes):
        await client.relate((hub, spoke) if n % 2 else (spoke, hub), "a:b")
    monkeypatch.setattr("hindsight_recall.servicer.PAGE", 2)
    assert len([r async for r in client.list_relations(hub)]) == 5


async def test_pages_of_relations_tell_nothing_of_other_scopes(services, client: Hindsight):
    hub = (await client.write(NewMemory("hub", "The hub."))).memory_id
    written = await client.write_batch([NewMemory(f"k{n}", f"Item {n}.", scope=f"user:{n % 2}") for n in range(12)])
    for spoke in written:
        await client.relate((spoke.memory_id, hub), "follows")
    seen: list[recall_pb2.ListRelationsResponse] = []
    async with await services.connect(NewKey(tenant="acme", default_agent_id="ada", scopes=["user:1"])) as user:
        token = ""
        while not seen or token:
            request = recall_pb2.ListRelationsRequest(memory_id=hub, page_size=2, page_token=token)
            seen.append(await user._call(user._recall.ListRelations, request))
            token = seen[-1].next_page_token
    assert [len(page.relations) for page in seen] == [2, 2, 2]
    own = {r.memory_id for n, r in enumerate(written) if n % 2}
    assert {r.from_id for page in seen for r in page.relations} == own
    assert {page.next_page_token.split(":")[0] for page in seen[:-1]} < own


async def test_many_who_relate_and_delete_at_once_leave_no_loose_end(client: Hindsight):
    ids = [r.memory_id for r in await client.write_batch([NewMemory(f"k{n}", f"Item {n}.") for n in range(4)])]
    work = [client.relate((a, b), "follows") for a in ids for b in ids if a != b]
    await asyncio.gather(client.forget(memory_id=ids[0]), *work, return_exceptions=True)
    loose = [e for i in ids[1:] for e in await edges(client, i) if ids[0] in (e[0], e[2])]
    assert loose == []
