"""A hostile source is withdrawn in one call, all of it and nothing else, and comes back exactly."""

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any

import asyncpg
import numpy as np
import pytest
from hindsight_memory import Filter, Hindsight, HindsightError, MemorySource, NewKey, NewMemory, Source, Turn
from hindsight_store.ids import uuid7
from hindsight_store.pool import open_pool
from hindsight_store.reader import active_generation, find_tenant
from hindsight_store.records import Embedded, Memory, Relation
from hindsight_store.writer import writing

TASK = (
    Turn("user", "Count the orders of customer 4711 in the orders table."),
    Turn("tool_call", tool="sql_query", arguments={"uid": 4711, "table": "orders"}),
    Turn("tool_result", tool="sql_query", result='{"error": "unknown column uid"}', is_error=True),
    Turn("tool_call", tool="sql_query", arguments={"user_id": 4711, "table": "orders"}),
    Turn("tool_result", tool="sql_query", result='{"count": 12}'),
    Turn("assistant", "Customer 4711 has 12 orders."),
)


def day(month: int) -> datetime:
    return datetime(2025, month, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Writers:
    """Two keys that write, and an admin."""

    good: Hindsight
    bad: Hindsight
    admin: Hindsight
    bad_id: str

    @property
    def source(self) -> MemorySource:
        return MemorySource(principal=self.bad_id)


@pytest.fixture
async def writers(services) -> AsyncIterator[Writers]:
    common: dict[str, Any] = {"tenant": "acme", "default_agent_id": "ada"}
    async with (
        await services.connect(NewKey(**common)) as good,
        await services.connect(NewKey(**common)) as bad,
        await services.connect(NewKey(**common, rights=["read", "write", "admin"])) as admin,
    ):
        yield Writers(good, bad, admin, (await bad.describe_caller()).id)


async def stored(client: Hindsight) -> dict[str, Any]:
    """What stands: by id, the value, status and valid time of everything that is not hidden."""
    statuses = ("active", "superseded", "archived")
    return {m.id: (m.value, m.status, m.valid_from, m.valid_to) async for m in client.list(statuses=statuses)}


async def turns_found(client: Hindsight) -> int:
    answer = await client.recall("count the orders of customer 4711", include_turns=True, relevance_floor=0.0, top_k=20)
    return sum(isinstance(h.subject, Turn) for h in answer.hits)


async def test_what_a_source_wrote_and_what_was_derived_from_it_is_gone_from_every_read_path(writers: Writers, worker):
    good, bad, admin = writers.good, writers.bad, writers.admin
    kept = await good.write(NewMemory("cat", "The cat is called Momo."))
    root = await bad.write(NewMemory("refunds", "Refunds are paid in gift cards.", kind="preference"))
    chain = [root.memory_id]
    for level in range(4):
        fresh = NewMemory(f"level {level}", f"At level {level} refunds are gift cards.", derived_from=chain[-1:])
        chain.append((await good.write(fresh)).memory_id)
    await good.relate((kept.memory_id, root.memory_id), "mentions")
    await bad.observe("s1", TASK)
    await bad.complete_task("s1", outcome="success")
    await worker()
    [experience] = [m.id async for m in good.list(Filter(kinds=("experience",)))]
    before = await stored(good)

    withdrawal = await admin.revoke_source(writers.source)
    assert (withdrawal.withdrawn, withdrawal.rolled_back, withdrawal.turns) == (len(before) - 1, 0, len(TASK))
    assert set(await stored(good)) == {kept.memory_id}
    assert [h.memory.id for h in (await good.recall("how are refunds paid", relevance_floor=0.0)).hits] == [kept.memory_id]
    assert [r async for r in good.list_relations(kept.memory_id)] == []
    evidence = (await good.recall("orders of customer 4711", include_turns=True)).hits
    assert [h for h in evidence if isinstance(h.subject, Turn) or h.memory.id != kept.memory_id] == []
    for hidden in (*chain, experience):
        with pytest.raises(HindsightError) as refusal:
            await good.get(hidden)
        assert refusal.value.code == "NOT_FOUND"

    assert await admin.reinstate(withdrawal.id) == (withdrawal.withdrawn, 0)
    assert await stored(good) == before
    assert [r.to_id async for r in good.list_relations(kept.memory_id)] == [root.memory_id]
    assert [h for h in (await good.recall("orders of customer 4711", include_turns=True)).hits if isinstance(h.subject, Turn)]
    assert [(w.id, w.reinstated_at is not None) async for w in admin.list_withdrawals()] == [(withdrawal.id, True)]


async def test_what_a_source_superseded_holds_again_and_what_superseded_it_stays(writers: Writers):
    good, bad, admin = writers.good, writers.bad, writers.admin
    turin = await good.write(NewMemory("home city", "Ada lives in Turin.", valid_from=day(1)))
    await bad.write(NewMemory("home city", "Ada moved to Lisbon.", valid_from=day(6)))
    states = [
        (good, "The visa application is being drafted.", 1),
        (bad, "The visa application has been filed.", 3),
        (good, "The visa application has been granted.", 5),
    ]
    visa = [await c.write(NewMemory("visa state", value, kind="state", valid_from=day(m))) for c, value, m in states]
    before = await stored(good)
    assert [before[v.memory_id][3] for v in visa] == [day(3), day(5), None]

    withdrawal = await admin.revoke_source(writers.source)
    assert (withdrawal.withdrawn, withdrawal.rolled_back) == (2, 2)
    assert await stored(good) == {
        turin.memory_id: ("Ada lives in Turin.", "active", day(1), None),
        visa[0].memory_id: (states[0][1], "superseded", day(1), day(5)),
        visa[2].memory_id: (states[2][1], "active", day(5), None),
    }
    [home] = (await good.recall("Where does Ada live?", where=Filter(key="home city"))).hits
    assert home.memory.value == "Ada lives in Turin."
    assert await admin.reinstate(withdrawal.id) == (4, 0)
    assert await stored(good) == before


async def test_a_review_of_what_is_withdrawn_names_the_key_that_wrote_it(writers: Writers):
    written = await writers.bad.write(NewMemory("refunds", "Refunds are paid in gift cards."))
    author = (await writers.bad.describe_caller()).id
    await writers.admin.revoke_source(writers.source)
    waiting = [(r.memory.id, r.reason, r.principal) async for r in writers.admin.list_reviews()]
    assert waiting == [(written.memory_id, "source_revoked", author)]


async def test_what_was_born_as_the_past_of_a_withdrawn_memory_holds_without_end(writers: Writers):
    await writers.bad.write(NewMemory("home city", "Ada moved to Lisbon.", valid_from=day(6)))
    turin = await writers.good.write(NewMemory("home city", "Ada lives in Turin.", valid_from=day(1)))
    before = await stored(writers.good)
    assert before[turin.memory_id][1:] == ("superseded", day(1), day(6)) or before[turin.memory_id][3] == day(6)
    withdrawal = await writers.admin.revoke_source(writers.source)
    assert await stored(writers.good) == {turin.memory_id: ("Ada lives in Turin.", "active", day(1), None)}
    await writers.admin.reinstate(withdrawal.id)
    assert await stored(writers.good) == before


async def test_what_a_source_changed_deleted_or_merged_goes_back_to_before(writers: Writers):
    good, bad, admin = writers.good, writers.bad, writers.admin
    changed = await good.write(NewMemory("deploys", "Deploys happen on Tuesdays."))
    deleted = await good.write(NewMemory("oncall", "Bea is on call."))
    merged = await good.write(NewMemory("tea", "Ada likes green tea.", importance=0.4))
    lie = await bad.write(NewMemory("lie", "Gift cards are money."))
    await bad.update(changed.memory_id, {"value": "Deploys happen on Sundays."})
    await bad.forget(memory_id=deleted.memory_id)
    twin = await bad.write(NewMemory("tea", "Ada likes green tea!", importance=0.9, derived_from=[lie.memory_id]))
    assert twin.memory_id == merged.memory_id
    withdrawal = await admin.revoke_source(writers.source)
    assert (withdrawal.withdrawn, withdrawal.rolled_back) == (1, 3)
    now = {m.id: (m.value, m.importance, m.status) async for m in good.list()}
    assert now == {
        changed.memory_id: ("Deploys happen on Tuesdays.", 0.5, "active"),
        deleted.memory_id: ("Bea is on call.", 0.5, "active"),
        merged.memory_id: ("Ada likes green tea.", 0.4, "active"),
    }
    hits = (await good.recall("When do deploys happen?")).hits
    assert hits[0].memory.value == "Deploys happen on Tuesdays."


async def test_a_writer_cannot_bring_back_what_was_withdrawn_and_a_reviewer_can(writers: Writers):
    good, bad, admin = writers.good, writers.bad, writers.admin
    lie = await bad.write(NewMemory("refunds", "Refunds are paid in gift cards."))
    gone = await bad.write(NewMemory("fees", "Fees are paid twice."))
    await bad.forget(memory_id=gone.memory_id)
    await admin.revoke_source(writers.source)
    await good.update(lie.memory_id, {"importance": 0.9})
    for memory_id in (lie.memory_id, gone.memory_id):
        with pytest.raises(HindsightError) as refusal:
            await good.restore(memory_id, 1)
        assert refusal.value.code == "NOT_FOUND"
    await good.forget(memory_id=lie.memory_id)
    with pytest.raises(HindsightError) as refusal:
        await good.restore(lie.memory_id, 1)
    assert refusal.value.code == "NOT_FOUND"
    assert await stored(good) == {}


async def test_what_somebody_changed_since_stays_as_it_is(writers: Writers):
    first = await writers.bad.write(NewMemory("refunds", "Refunds are paid in gift cards."))
    second = await writers.bad.write(NewMemory("fees", "Fees are paid twice."))
    withdrawal = await writers.admin.revoke_source(writers.source)
    await writers.good.forget(memory_id=first.memory_id)
    assert await writers.admin.reinstate(withdrawal.id) == (1, 1)
    assert set(await stored(writers.good)) == {second.memory_id}
    assert await writers.admin.reinstate(withdrawal.id) == (0, 0)


async def test_of_two_withdrawals_the_later_holds_what_the_earlier_gives_back(writers: Writers, worker):
    good, bad, admin = writers.good, writers.bad, writers.admin
    lie = await bad.write(NewMemory("refunds", "Refunds are paid in gift cards."))
    await bad.observe("s1", TASK)
    await worker()
    before, found = await stored(good), await turns_found(good)
    first = await admin.revoke_source(writers.source)
    assert (await admin.revoke_source(writers.source)).id == ""  # nothing more
    memory = await admin.revoke_source(MemorySource(memory_id=lie.memory_id))
    session = await admin.revoke_source(MemorySource(session_id="s1"))
    assert await admin.reinstate(first.id) == (0, 1)
    assert await stored(good) == {}
    assert await turns_found(good) == 0
    assert await admin.reinstate(memory.id) == (1, 0)
    assert await stored(good) == before
    await admin.reinstate(session.id)
    assert await turns_found(good) == found > 0


async def test_a_session_a_tool_and_a_span_of_time_are_sources_too(writers: Writers, worker):
    good, bad, admin = writers.good, writers.bad, writers.admin
    kept = await good.write(NewMemory("cat", "The cat is called Momo."))
    early = await bad.write(NewMemory("refunds", "Refunds are paid in gift cards."))
    middle = datetime.now(UTC)
    late = await bad.write(NewMemory("fees", "Fees are paid twice."))
    await good.observe("s1", TASK)
    await good.complete_task("s1", outcome="success")
    await worker()
    everything = await stored(good)
    since = await admin.revoke_source(replace(writers.source, since=middle))
    assert set(everything) - set(await stored(good)) == {late.memory_id}
    await admin.reinstate(since.id)
    [experience] = [m.id async for m in good.list(Filter(kinds=("experience",)))]
    heard = {m.id async for m in good.list() if m.source.session_id == "s1"}
    for source, gone in ((MemorySource(session_id="s1"), heard), (MemorySource(tool="sql_query"), {experience})):
        withdrawal = await admin.revoke_source(source)
        assert set(await stored(good)) == everything.keys() - gone >= {kept.memory_id, early.memory_id, late.memory_id}
        await admin.reinstate(withdrawal.id)
        assert await stored(good) == everything


async def test_a_repeat_of_the_call_answers_the_same_withdrawal(writers: Writers):
    await writers.bad.write(NewMemory("refunds", "Refunds are paid in gift cards."))
    first = await writers.admin.revoke_source(writers.source, request_id="r1")
    assert await writers.admin.revoke_source(writers.source, request_id="r1") == first
    assert [w async for w in writers.admin.list_withdrawals()] == [first]


@pytest.mark.parametrize("limits", [{"rights": ["read", "write"]}, {"rights": ["admin"], "scopes": ["user:1"]}])
async def test_a_key_without_the_right_or_limited_to_scopes_cannot_revoke(services, writers: Writers, limits):
    async with await services.connect(NewKey(tenant="acme", **limits)) as other:
        with pytest.raises(HindsightError) as refusal:
            await other.revoke_source(writers.source)
        assert refusal.value.code == "PERMISSION_DENIED"


async def test_a_source_among_ten_thousand_memories_is_withdrawn_in_seconds(services, writers: Writers):
    good, admin = writers.good, writers.admin
    await good.write(NewMemory("first", "The first memory."))
    good_id = (await good.describe_caller()).id
    hostile = await fill(services, good_id, writers.bad_id, memories=10_000)
    before = await stored(good)
    began = time.monotonic()
    withdrawal = await admin.revoke_source(writers.source)
    revoked_s = time.monotonic() - began
    assert withdrawal.withdrawn == len(hostile)
    after = await stored(good)
    assert set(before) - set(after) == hostile
    assert {i: before[i] for i in after} == after
    began = time.monotonic()
    assert await admin.reinstate(withdrawal.id) == (len(hostile), 0)
    print(f"revoked {len(hostile)} of 10,000 in {revoked_s:.2f} s, reinstated in {time.monotonic() - began:.2f} s")
    assert await stored(good) == before
    assert revoked_s < 20


async def fill(services, good: str, bad: str, *, memories: int) -> set[str]:
    """Memories of two keys, a fifth of them in chains derived up to four deep from either; the ids that come from the bad one."""
    rng, now = np.random.default_rng(7), datetime.now(UTC) - timedelta(hours=1)
    made: list[Memory] = []
    tainted: set[Any] = set()
    for number in range(memories):
        depth = number % 5
        origin = made[-1].memory_id if depth else None
        is_bad = rng.random() < 0.3 and not depth
        memory = Memory(
            *(uuid7(), 1, "agent", "fact", f"key {number}", "", f"Value {number} of {'bad' if is_bad else 'good'}.", ()),
            *(0.5, 0.8, "user", "", None, bad if is_bad else good, 1.0, {}, False, "active", (origin,) if origin else ()),
            *(now, None, now, None, now, None),
        )
        made.append(memory)
        if is_bad or (origin in tainted):
            tainted.add(memory.memory_id)
    async with open_pool(services.database.ingest) as pool:
        tenant_id, generation = await find_tenant(pool, "acme"), await active_generation(pool)
        assert tenant_id
        assert generation
        for first in range(0, memories, 1000):
            part = made[first : first + 1000]
            vectors = rng.standard_normal((len(part), generation.dimension)).astype(np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            async with writing(pool, tenant_id) as writer:
                bank_id = await writer.ensure_bank("ada")
                await writer.insert(bank_id, part)
                embedded = [(m, Embedded(v, None)) for m, v in zip(part, vectors, strict=True)]
                await writer.insert_embeddings(bank_id, generation.generation, embedded)
                links = [Relation(m.memory_id, "derived_from", i) for m in part for i in m.derived_from]
                await writer.relate(bank_id, links, good, now)
    return {str(i) for i in tainted}


async def refused_values(client: Hindsight) -> list[str]:
    return [conflict.value async for conflict in client.list_conflicts()]


@pytest.mark.parametrize("kind", ["principal", "session_id", "tool"])
async def test_refused_statements_of_a_source_are_an_admins_to_see_until_it_is_reinstated(writers: Writers, kind: str):
    good, bad, admin = writers.good, writers.bad, writers.admin
    await good.write(NewMemory("home city", "Ada lives in Turin.", confidence=0.95))
    await bad.observe("s1", [Turn("tool_result", tool="mail", result="Ada lives in Lisbon.")])
    hostile = NewMemory("home city", "Ada lives in Lisbon.", confidence=0.8, source=Source("tool", "s1", 0))
    assert (await bad.write(hostile)).outcome == "conflict"
    assert (await good.write(NewMemory("home city", "Ada lives in Porto.", confidence=0.7))).outcome == "conflict"
    before = ["Ada lives in Porto.", "Ada lives in Lisbon."]
    assert await refused_values(good) == before
    source = replace(MemorySource(), **{kind: {"principal": writers.bad_id, "session_id": "s1", "tool": "mail"}[kind]})
    first = await admin.revoke_source(source)
    assert (await admin.revoke_source(source)).id == ""
    assert await refused_values(good) == ["Ada lives in Porto."]
    assert await refused_values(admin) == before
    await admin.reinstate(first.id)
    assert await refused_values(good) == before


async def test_a_source_of_refused_statements_alone_can_be_withdrawn_and_reinstated(writers: Writers):
    await writers.good.write(NewMemory("home city", "Ada lives in Turin.", confidence=0.95))
    await writers.bad.write(NewMemory("home city", "Ada lives in Lisbon.", confidence=0.8))
    until = datetime.now(UTC)
    await writers.bad.write(NewMemory("home city", "Ada lives in Porto.", confidence=0.8))
    withdrawal = await writers.admin.revoke_source(replace(writers.source, until=until))
    assert (withdrawal.id != "", withdrawal.withdrawn, withdrawal.turns) == (True, 0, 0)
    assert await refused_values(writers.good) == ["Ada lives in Porto."]
    await writers.admin.reinstate(withdrawal.id)
    assert await refused_values(writers.good) == ["Ada lives in Porto.", "Ada lives in Lisbon."]


async def test_what_two_withdrawals_hold_back_is_shown_once_both_are_reinstated(writers: Writers):
    await writers.good.write(NewMemory("home city", "Ada lives in Turin.", confidence=0.95))
    said = NewMemory("home city", "Ada lives in Lisbon.", confidence=0.8, source=Source("user", "s1"))
    await writers.bad.write(said)
    both = [await writers.admin.revoke_source(source) for source in (writers.source, MemorySource(session_id="s1"))]
    for withdrawal in both:
        assert await refused_values(writers.good) == []
        await writers.admin.reinstate(withdrawal.id)
    assert await refused_values(writers.good) == ["Ada lives in Lisbon."]


async def test_refused_statements_of_what_was_withdrawn_before_an_upgrade_are_held_back_after_it(services, writers: Writers):
    await writers.good.write(NewMemory("home city", "Ada lives in Turin.", confidence=0.95))
    await writers.bad.write(NewMemory("cat", "The cat is called Momo."))
    for client, city in ((writers.bad, "Lisbon"), (writers.good, "Porto")):
        await client.write(NewMemory("home city", f"Ada lives in {city}.", confidence=0.7))
    withdrawal = await writers.admin.revoke_source(writers.source)
    upgrade = files("hindsight_store") / "migrations" / "0012_withheld_conflicts.sql"
    connection = await asyncpg.connect(services.database.owner)
    await connection.execute("ALTER TABLE conflicts DROP COLUMN withdrawals")
    await connection.execute(upgrade.read_text())
    await connection.close()
    assert await refused_values(writers.good) == ["Ada lives in Porto."]
    await writers.admin.reinstate(withdrawal.id)
    assert await refused_values(writers.good) == ["Ada lives in Porto.", "Ada lives in Lisbon."]
