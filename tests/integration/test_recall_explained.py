"""Every recall can be explained, replayed and asked again, and its hits are counted."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
from hindsight_memory import Filter, Hindsight, HindsightError, Hit, NewKey, NewMemory, Receipt, Turn
from hindsight_store.pool import open_pool
from hindsight_store.receipts import remove_old

PAUSE_S = 0.02


async def receipt_of(client: Hindsight, receipt_id: str) -> Receipt:
    """The receipt, which is kept a moment after the answer."""
    async with asyncio.timeout(10):
        while True:
            try:
                return await client.receipt(receipt_id)
            except HindsightError as error:
                assert error.code == "NOT_FOUND"  # noqa: PT017 - the loop ends with the receipt
                await asyncio.sleep(PAUSE_S)


async def write_some(client: Hindsight) -> None:
    await client.write_batch(
        [
            NewMemory("seat", "Ada prefers a window seat on long flights.", kind="preference", importance=0.7),
            NewMemory("flight", "The flight to Lisbon leaves at nine in the morning.", query="when does the flight leave"),
            NewMemory("语言", "以后都用中文回答小林。", kind="preference"),
            *(NewMemory(f"fact {n}", f"Warehouse {n} holds {n * 17} crates of oranges.") for n in range(60)),
        ]
    )


async def test_the_numbers_of_every_hit_and_near_miss_add_up(client: Hindsight):
    await write_some(client)
    await client.observe("s1", [Turn("user", "When does my flight to Lisbon leave?"), Turn("assistant", "At nine.")])
    answer = await client.recall("flight to Lisbon, window seat", top_k=6, include_turns=True)
    receipt = await receipt_of(client, answer.receipt_id)
    assert [c.memory_id for c in receipt.hits] == [
        h.memory.id if h.rank and not isinstance(h.subject, Turn) else "" for h in answer.hits
    ]
    assert receipt.near_misses
    for considered in (*receipt.hits, *receipt.near_misses):
        similarity = min(1.0, max(0.0, sum(c.value * c.weight for c in considered.contributions)))
        stored, stage, retention, utility = considered.importance
        importance = min(1.0, max(0.0, stored * stage * retention * utility))
        assert considered.similarity == pytest.approx(similarity, abs=1e-12)
        assert considered.final_score == pytest.approx(
            receipt.weight_similarity * similarity + receipt.weight_importance * importance, abs=1e-12
        )
    assert [(h.similarity, h.final_score, h.reason) for h in answer.hits] == [
        (c.similarity, c.final_score, c.reason) for c in receipt.hits
    ]
    found = {c.channel: c.found for c in receipt.channels}
    assert {"content", "trigger", "lexical", "standing", "episodic"} <= found.keys()
    assert all(c.missing == "" for c in receipt.channels)


@pytest.mark.parametrize(
    "query", ["window seat", "小林用什么语言？", "oranges", "nothing like it", "how many crates were there before?"]
)
async def test_a_replay_is_identical(client: Hindsight, query: str):
    await write_some(client)
    answer = await client.recall(query, top_k=10)
    await receipt_of(client, answer.receipt_id)
    again, is_identical = await client.replay(answer.receipt_id)
    assert is_identical
    assert [(c.memory_id, c.final_score) for c in again] == [(h.memory.id, h.final_score) for h in answer.hits]


async def test_a_recall_as_of_then_shows_what_has_changed_since(client: Hindsight):
    first = await client.write(NewMemory("gate", "The flight to Lisbon leaves from gate 12."))
    moved = await client.write(NewMemory("bus", "The bus to the flight leaves from platform 4."))
    gone = await client.write(NewMemory("train", "The train to the flight leaves from platform 9."))
    answer = await client.recall("Where does the flight to Lisbon leave from?")
    receipt = await receipt_of(client, answer.receipt_id)
    await client.forget(memory_id=gone.memory_id)
    await client.update(first.memory_id, {"value": "The flight to Lisbon leaves from gate 40."})
    await client.update(moved.memory_id, {"key": "coach", "value": "Nobody knows where the coach stops."})
    new = await client.write(NewMemory("lounge", "The lounge for the flight to Lisbon is beside gate 40."))
    both = await client.recall_as_of_then(answer.receipt_id)
    assert {c.memory_id for c in receipt.hits} == {first.memory_id, moved.memory_id, gone.memory_id}
    assert {h.memory.id: h.memory.value for h in both.then} == {
        first.memory_id: "The flight to Lisbon leaves from gate 12.",
        moved.memory_id: "The bus to the flight leaves from platform 4.",
    }
    assert {h.memory.id for h in both.now} == {first.memory_id, moved.memory_id, new.memory_id}
    changes = {d.memory_id: (d.rank_then, d.rank_now) for d in both.differences}
    assert changes[new.memory_id][0] == 0 < changes[new.memory_id][1]


async def test_what_is_deleted_is_gone_from_every_moment(client: Hindsight):
    written = await client.write(NewMemory("bus", "The bus leaves from platform 4."))
    answer = await client.recall("bus platform")
    await receipt_of(client, answer.receipt_id)
    then = datetime.now(UTC)
    await client.forget(memory_id=written.memory_id)
    for mode in ("hybrid", "semantic", "tag"):
        for as_of in (None, then):
            assert (await client.recall("bus platform before", mode=mode, known_at=then, as_of=as_of)).hits == ()
    both = await client.recall_as_of_then(answer.receipt_id)
    assert (both.then, both.now) == ((), ())
    await client.restore(written.memory_id, 1)
    assert [h.memory.id for h in (await client.recall("bus platform", known_at=then)).hits] == [written.memory_id]


async def test_a_receipt_is_for_the_key_that_asked_and_for_admins(services, client: Hindsight):
    await write_some(client)
    answer = await client.recall("window seat")
    await receipt_of(client, answer.receipt_id)
    other = await services.connect(NewKey(tenant="acme", default_agent_id="ada", rights=["read"]))
    admin = await services.connect(NewKey(tenant="acme", default_agent_id="ada", rights=["read", "admin"]))
    stranger = await services.connect(NewKey(tenant="other", default_agent_id="ada", rights=["read", "admin"]))
    async with other, admin, stranger:
        assert (await admin.receipt(answer.receipt_id)).query == "window seat"
        for reader in (other, stranger):
            for call in (reader.receipt, reader.replay, reader.recall_as_of_then):
                with pytest.raises(HindsightError) as refusal:
                    await call(answer.receipt_id)
                assert (refusal.value.code, refusal.value.reason) == ("NOT_FOUND", "NOT_FOUND")


async def test_an_admin_of_one_scope_reads_receipts_of_that_scope_only(services, client: Hindsight):
    await client.write(NewMemory("seat", "A window seat, says one.", scope="user:1"))
    await client.write(NewMemory("seat", "A window seat, says two.", scope="user:2"))
    asked = {scope: await client.recall("window seat", where=Filter(scope=scope)) for scope in ("", "agent", "user:1", "user:2")}
    for answer in asked.values():
        await receipt_of(client, answer.receipt_id)
    async with await services.connect(
        NewKey(tenant="acme", default_agent_id="ada", rights=["read", "admin"], scopes=["user:1"])
    ) as one:
        for scope in ("agent", "user:1"):
            assert (await one.receipt(asked[scope].receipt_id)).query == "window seat"
        both = await one.recall_as_of_then(asked["user:1"].receipt_id)
        assert [h.memory.scope for h in (*both.then, *both.now)] == ["user:1"] * 2
        for scope in ("", "user:2"):
            for call in (one.receipt, one.replay, one.recall_as_of_then):
                with pytest.raises(HindsightError) as refusal:
                    await call(asked[scope].receipt_id)
                assert refusal.value.code == "NOT_FOUND"


async def test_hits_are_counted_once_each_and_make_a_memory_fresh(client: Hindsight):
    written = await client.write(NewMemory("seat", "Ada prefers a window seat."))
    for _ in range(3):
        await receipt_of(client, (await client.recall("window seat")).receipt_id)
    memory = await client.get(written.memory_id)
    assert memory.hit_count == 3
    assert memory.last_hit_at
    assert datetime.now(UTC) - memory.last_hit_at < timedelta(minutes=1)


async def test_with_no_reranking_model_named_the_answer_is_complete_and_says_what_is_missing(client: Hindsight):
    await write_some(client)
    plain = await client.recall("window seat", top_k=10)
    asked = await client.recall("window seat", top_k=10, rerank=True)
    assert [(h.memory.id, h.final_score) for h in asked.hits] == [(h.memory.id, h.final_score) for h in plain.hits]
    assert (asked.missing_channels, asked.is_partial, asked.is_degraded) == (("rerank",), False, True)
    assert (plain.missing_channels, plain.is_degraded) == ((), False)
    receipt = await receipt_of(client, asked.receipt_id)
    assert {c.channel: c.missing for c in receipt.channels if c.missing} == {"rerank": "unavailable"}
    assert (await client.replay(asked.receipt_id))[1]


async def test_a_receipt_is_kept_for_seven_days(services, client: Hindsight):
    await client.write(NewMemory("seat", "Ada prefers a window seat."))
    answer = await client.recall("window seat")
    at = (await receipt_of(client, answer.receipt_id)).at
    assert at
    async with open_pool(services.database.maintenance) as pool:
        await remove_old(pool, at + timedelta(days=7))
        assert (await client.receipt(answer.receipt_id)).query == "window seat"
        await remove_old(pool, at + timedelta(days=7, seconds=1))
    with pytest.raises(HindsightError) as refusal:
        await client.receipt(answer.receipt_id)
    assert refusal.value.code == "NOT_FOUND"
    assert (await client.recall("window seat")).hits[0].memory.hit_count >= 1


async def test_tag_mode_leaves_no_receipt(client: Hindsight):
    await client.write(NewMemory("seat", "Ada prefers a window seat.", tags=["travel"]))
    assert (await client.recall(mode="tag", where=Filter(tags=["travel"]))).receipt_id == ""


async def test_what_was_known_then_is_not_what_is_known_now(client: Hindsight):
    written = await client.write(NewMemory("gate", "The flight leaves from gate 12."))
    then = datetime.now(UTC)
    await client.update(written.memory_id, {"value": "The flight leaves from gate 40."})
    await client.write(NewMemory("belt", "The luggage of the flight is on belt 3."))
    known = await client.recall("Where does the flight leave from?", known_at=then)
    assert [h.memory.value for h in known.hits] == ["The flight leaves from gate 12."]
    assert len((await client.recall("Where does the flight leave from?")).hits) == 2
    with pytest.raises(HindsightError) as refusal:
        await client.recall("x", known_at=datetime.now(UTC) + timedelta(days=1))
    assert refusal.value.fields.keys() == {"known_at"}


async def test_what_is_deleted_is_gone_from_what_was_known_before_too(client: Hindsight):
    written = await client.write(NewMemory("gate", "The flight leaves from gate 12."))
    then = datetime.now(UTC)
    await client.forget(memory_id=written.memory_id)
    for known_at, as_of in ((then, None), (None, then), (then, then)):
        hits = (await client.recall("Where does the flight leave from?", known_at=known_at, as_of=as_of)).hits
        assert hits == (await client.recall(mode="tag", known_at=known_at, as_of=as_of)).hits == ()


async def test_as_of_answers_with_what_held_at_that_moment(client: Hindsight):
    spring, autumn = datetime(2025, 3, 1, tzinfo=UTC), datetime(2025, 9, 1, tzinfo=UTC)
    early = await client.write(NewMemory("badge", "The blue badge opens the lab.", valid_from=spring, valid_to=autumn))
    late = await client.write(NewMemory("badge since autumn", "The red badge opens the lab.", valid_from=autumn))

    async def held(moment: datetime | None) -> list[str]:
        return [h.memory.id for h in (await client.recall("Which badge opens the lab?", as_of=moment)).hits]

    assert await held(spring + timedelta(days=30)) == [early.memory_id]
    assert await held(autumn) == [late.memory_id]
    assert await held(spring - timedelta(days=1)) == []
    assert await held(None) == [late.memory_id]


async def test_a_named_time_is_counted_from_the_moment_asked_about(client: Hindsight):
    moment = datetime(2025, 9, 17, 12, tzinfo=UTC)
    monday = await client.write(NewMemory("talk", "The bank offered 3.1 percent.", valid_from=moment - timedelta(days=1)))
    await client.write(NewMemory("earlier talk", "The bank offered 3.4 percent.", valid_from=moment - timedelta(days=9)))
    hits = (await client.recall("What did the bank offer yesterday?", as_of=moment)).hits
    assert hits[0].memory.id == monday.memory_id
    assert "temporal" in {f.channel for f in hits[0].findings}


def found_by_relation(hits: Sequence[Hit]) -> set[str]:
    """The ids of those that a relation led to."""
    return {h.memory.id for h in hits if "relation" in {f.channel for f in h.findings}}


async def test_what_was_related_later_was_not_related_then(client: Hindsight):
    await write_some(client)
    gate = await client.write(NewMemory("gate", "The flight to Paris leaves from gate 12."))
    bakery = await client.write(NewMemory("bakery", "Quarterly turnover of the bakery rose."))
    answer = await client.recall("gate of the flight to Paris", top_k=100)
    await receipt_of(client, answer.receipt_id)
    await client.relate((gate.memory_id, bakery.memory_id), "supports")
    both = await client.recall_as_of_then(answer.receipt_id)
    assert bakery.memory_id not in found_by_relation(both.then)
    assert bakery.memory_id in found_by_relation(both.now)


async def test_relations_to_what_is_not_looked_at_crowd_out_no_other(client: Hindsight):
    gate = await client.write(NewMemory("gate", "The flight to Paris leaves from gate 12."))
    bakery = await client.write(NewMemory("bakery", "Quarterly turnover of the bakery rose."))
    await client.relate((gate.memory_id, bakery.memory_id), "supports", weight=0.5)
    foreign = [NewMemory(f"tower {n}", f"Tower {n} has {n * 13} steps.", scope="user:2") for n in range(70)]
    for other in await client.write_batch(foreign):
        await client.relate((other.memory_id, gate.memory_id), "supports")
    answer = await client.recall("gate of the flight to Paris", where=Filter(scope="user:1"))
    assert bakery.memory_id in found_by_relation(answer.hits)
    assert {h.memory.scope for h in answer.hits} == {"agent"}


@pytest.mark.parametrize(
    ("table", "missing"),
    [("embeddings", {"content", "trigger"}), ("turn_embeddings", {"episodic"}), ("memory_relations", {"relation"})],
)
async def test_what_the_database_is_slow_with_is_left_out_at_a_deadline(
    services, client: Hindsight, table: str, missing: set[str]
):
    await write_some(client)
    await client.observe("s1", [Turn("user", "When does my flight to Lisbon leave?"), Turn("assistant", "At nine.")])
    owner = await asyncpg.connect(services.database.owner)
    try:
        async with owner.transaction():
            await owner.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
            asking = asyncio.create_task(client.recall("flight to Lisbon", deadline_ms=2000, include_turns=True))
            await asyncio.wait({asking}, timeout=1.7)  # until the stage has been given up
        answer = await asking
    finally:
        await owner.close()
    assert answer.hits
    assert answer.is_partial
    assert missing <= set(answer.missing_channels)


async def test_an_older_statement_stands_behind_the_one_that_took_its_place_and_no_other_of_its_key(client: Hindsight):
    spring = datetime(2024, 3, 1, tzinfo=UTC)
    values = ["Ada lives in Turin.", "Ada lives in Lisbon.", "The cellar door squeaks."]
    since = [spring, spring + timedelta(days=30), spring + timedelta(days=60)]
    for value, moment in zip(values, since, strict=True):
        await client.write(NewMemory("ada", value, valid_from=moment))
    hits = (await client.recall("Did Ada live in Turin before?")).hits
    assert [(h.memory.value, h.reason) for h in hits] == [(values[1], "topic"), (values[0], "history"), (values[2], "topic")]


async def test_what_was_hit_later_had_not_been_hit_then(client: Hindsight):
    long_ago = datetime(2024, 3, 1, tzinfo=UTC)
    for n in range(3):
        await client.write(NewMemory(f"gate {n}", f"The flight to city {n} leaves from gate {n}.", valid_from=long_ago))
    answer = await client.recall("flight to city 2 and its gate")
    await receipt_of(client, answer.receipt_id)
    for _ in range(3):
        await receipt_of(client, (await client.recall("gate 1")).receipt_id)
    both = await client.recall_as_of_then(answer.receipt_id)
    assert [(h.memory.id, h.final_score) for h in both.then] == [(h.memory.id, h.final_score) for h in answer.hits]
    assert [h.final_score for h in both.now] > [h.final_score for h in both.then]
