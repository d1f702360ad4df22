"""A context that is ready for a prompt, from the real services."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest
from hindsight_language.tokens import token_counter
from hindsight_memory import Context, Filter, Hindsight, HindsightError, Memory, NewEntry, NewKey, NewMemory, Source, Turn

USER, SESSION = "user:42", "session:s1"
COUNT = token_counter("gpt")
FACTS = [
    NewMemory("order 4471", "Order 4471 of Ada goes to Lisbon by ship.", scope=USER),
    NewMemory("订单 4472", "订单 4472 寄往上海，周五前送达。", scope=USER),
    NewMemory("bakery", "The bakery near the office closes at six.", scope="agent"),
]
CORE = NewMemory("allergy", "Ada is allergic to peanuts.", is_core=True, scope=USER)
WISH = NewMemory("answers", "Ada prefers short answers in English.", kind="preference", scope=USER)


def lines(context: Context, section: str) -> list[str]:
    return [item.line.split("] ", 1)[1] for item in context.items if item.section == section]


def values(context: Context, section: str) -> list[str]:
    subjects = [item.hit.subject for item in context.items if item.section == section]
    return [subject.value for subject in subjects if not isinstance(subject, Turn)]


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(20):
        while not await condition():  # noqa: ASYNC110 - what follows behind an answer is told by nothing
            await asyncio.sleep(0.05)


@pytest.fixture
async def ada(client: Hindsight) -> Hindsight:
    """A client whose agent knows a few things, with something on the desks."""
    await client.write_batch([*FACTS, CORE, WISH])
    await client.put_entry(SESSION, NewEntry("step", "The form is at step 3.", is_task_state=True))
    await client.put_entry(USER, NewEntry("称呼", "用户希望被称为阿达。", is_pinned=True))
    return client


async def test_at_the_start_of_a_session_there_are_desks_and_what_holds_always(ada: Hindsight):
    context = await ada.recall_context(session_id="s1", scope=USER)
    assert lines(context, "desk") == ["用户希望被称为阿达。 (称呼)", "The form is at step 3."]
    assert values(context, "core")[:2] == [CORE.value, WISH.value]
    assert values(context, "memory") == []
    assert (context.receipt_id, context.left_out, context.is_degraded) == ("", (), False)
    assert context.tokens == COUNT(context.text) <= context.budget_tokens == 2000
    assert all(f"[{item.citation}] " in context.text for item in context.items)


async def test_with_a_query_what_answers_it_comes_behind_and_is_counted_as_recalled(ada: Hindsight):
    context = await ada.recall_context("Where does order 4471 go?", session_id="s1", scope=USER)
    assert values(context, "core") == [CORE.value]
    assert values(context, "memory")[0] == FACTS[0].value
    again = await ada.recall_context("Where does order 4471 go?", session_id="s1", scope=USER)
    assert (again.text, again.left_out) == (context.text, context.left_out)
    subject = next(i.hit.subject for i in context.items if i.section == "memory")
    assert isinstance(subject, Memory)
    await until(lambda: _is_hit(ada, subject.id))
    receipt = await ada.receipt(context.receipt_id)
    assert receipt.query == "Where does order 4471 go?"


async def _is_hit(client: Hindsight, memory_id: str) -> bool:
    return (await client.get(memory_id)).hit_count > 0


async def test_what_does_not_fit_is_told_and_is_no_hit(ada: Hindsight):
    long = NewMemory("order 4471 in full", "Order 4471, item by item: " + "a crate of green glass bottles; " * 120, scope=USER)
    written = await ada.write(long)
    context = await ada.recall_context("Tell me all of order 4471.", scope=USER, budget_tokens=200)
    assert context.tokens == COUNT(context.text) <= 200
    told = {one.id: (one.section, one.reason) for one in context.left_out}
    assert told[written.memory_id] == ("memory", "budget")
    await until(lambda: _has_receipt(ada, context.receipt_id))  # hits are counted with it
    assert not await _is_hit(ada, written.memory_id)


async def _has_receipt(client: Hindsight, receipt_id: str) -> bool:
    try:
        return (await client.receipt(receipt_id)).receipt_id == receipt_id
    except HindsightError:
        return False


async def test_the_scope_is_the_session_s_where_none_is_named(client: Hindsight):
    await client.observe("s7", [Turn("user", "Hello, this is Ada about my orders.")], scope=USER)
    await client.write_batch([*FACTS, NewMemory("secret", "Order 9999 of Bob goes to Oslo.", scope="user:43")])
    context = await client.recall_context("Where do the orders go?", session_id="s7")
    assert FACTS[0].value in values(context, "memory")
    assert "Oslo" not in context.text


async def test_relations_among_what_is_in_are_told(client: Hindsight):
    ids = [r.memory_id for r in await client.write_batch(FACTS[:2])]
    await client.relate((ids[0], ids[1]), "follows")
    context = await client.recall_context("Which orders of Ada are there? 订单寄往哪里？", scope=USER)
    cited = {str(getattr(i.hit.subject, "id", "")): i.citation for i in context.items}
    assert [(r.from_id, r.type, r.to_id) for r in context.relations] == [(ids[0], "follows", ids[1])]
    assert context.text.endswith(f"[{cited[ids[0]]}] follows [{cited[ids[1]]}]")


async def test_turns_come_where_they_are_asked_for(client: Hindsight):
    await client.observe("s8", [Turn("user", "My locker at the pool has number 118, near the showers.")])
    without = await client.recall_context("Which locker is it?")
    assert lines(without, "turn") == []

    async def has_turn() -> bool:
        context = await client.recall_context("Which locker number is it at the pool?", include_turns=True)
        return any("118" in line for line in lines(context, "turn"))

    await until(has_turn)


async def test_a_weak_source_s_word_on_money_comes_with_a_warning(client: Hindsight):
    claim = NewMemory("supplier account", "The supplier's new account number is DE44 5001.", source=Source("tool"), scope=USER)
    await client.write(claim)
    context = await client.recall_context("What is the supplier's account number?", scope=USER)
    assert [line for line in lines(context, "memory") if line.endswith("; unverified)")]


@pytest.mark.parametrize(("field", "value"), [("budget_tokens", 99), ("budget_tokens", 100_001), ("scope", "User 42")])
async def test_a_bad_field_is_named(client: Hindsight, field: str, value: object):
    with pytest.raises(HindsightError) as failure:
        await client.recall_context("Where?", **{field: value})  # pyright: ignore[reportArgumentType]
    assert failure.value.fields.keys() == {field}


async def test_another_user_s_key_sees_nothing_of_it(services, ada: Hindsight):
    new = NewKey(tenant="acme", name="bob", default_agent_id="ada", scopes=("user:43",))
    other = ada.with_key((await services.operator.create_key(new))[1])
    context = await other.recall_context("Where does order 4471 go?", session_id="s1")
    assert {value for s in ("desk", "core", "memory") for value in values(context, s)} <= {FACTS[2].value}  # the agent's own
    with pytest.raises(HindsightError) as failure:
        await other.recall_context("Where does order 4471 go?", scope=USER)
    assert failure.value.code == "PERMISSION_DENIED"


async def test_an_agent_without_memories_has_a_context_of_its_desk(client: Hindsight):
    await client.put_entry(SESSION, NewEntry("step", "The form is at step 3."))
    context = await client.recall_context("How far is the form?", session_id="s1")
    assert context.text == f"# Desk 手边\n[{context.items[0].citation}] The form is at step 3."


@pytest.mark.parametrize(
    ("asked", "fact"),
    [
        ("What may the trip cost in all?", "The trip may cost 8,000 euros in all, hotels 900 a night."),
        ("这次出差的总预算上限是多少？", "用户说：这次出差的总预算不能超过8000元，酒店每晚不超过900元。"),
    ],
)
async def test_of_a_desk_that_does_not_fit_what_answers_and_matters_comes_in(client: Hindsight, asked: str, fact: str):
    await client.put_entry(SESSION, NewEntry("limit", fact, importance=1.0))
    for number in range(20):
        found = f"Search result {number}: the museum of town {number} opens at nine and closes at five, tickets at the door. " * 2
        await client.put_entry(SESSION, NewEntry(f"result {number}", found, importance=0.1))
    for query in (asked, ""):
        context = await client.recall_context(query, session_id="s1", budget_tokens=400)
        assert values(context, "desk")[0] == fact
    told = {one.key: one for one in context.left_out}["result 0"]
    assert (told.section, told.reason, told.tokens > 20) == ("desk", "budget", True)


async def test_what_is_too_far_from_the_query_is_named(ada: Hindsight):
    context = await ada.recall_context("How high is the Eiffel Tower?", scope=USER)
    assert {(one.section, one.reason) for one in context.left_out} == {("memory", "irrelevant")}
    assert 0 < len(context.left_out) <= 3
    assert not {one.id for one in context.left_out} & {item.hit.memory.id for item in context.items if item.section != "desk"}


async def test_days_are_those_of_the_callers_zone(client: Hindsight):
    evening = NewMemory("parking", "The car is parked on level B2.", valid_from=datetime(2026, 11, 30, 21, 45, tzinfo=UTC))
    date = NewMemory("lease", "The car is leased until spring.", valid_from=datetime(2026, 3, 1, tzinfo=UTC))
    await client.write_batch([evening, date])
    for zone, days in (("Asia/Shanghai", ("2026-12-01", "2026-03-01")), ("America/Lima", ("2026-11-30", "2026-03-01"))):
        context = await client.recall_context("Where is the car parked, and is it leased?", time_zone=zone)
        assert all(any(day in line for line in lines(context, "memory")) for day in days)


async def test_the_receipt_tells_the_flags_of_turns_too(client: Hindsight):
    said = Turn("tool_result", tool="mail", result="Refunds of order Z-77 go to the account 99-1234 from now on.")
    await client.observe("s2", [Turn("user", "Where do refunds of order Z-77 go?"), said])
    answer = await client.recall("Where do refunds of order Z-77 go?", include_turns=True)
    await until(lambda: _has_receipt(client, answer.receipt_id))
    receipt = await client.receipt(answer.receipt_id)
    assert [hit.flags for hit in answer.hits] == [one.flags for one in receipt.hits]
    assert ("unverified",) in [one.flags for one in receipt.hits]


async def test_the_desk_of_one_users_session_is_no_part_of_anothers_context(client: Hindsight):
    await client.observe("s1", [Turn("user", "Hello.")], scope="user:lin")
    await client.put_entry(SESSION, NewEntry("address", "The parcel of Lin goes to Quanzhou."))
    for ask in (
        client.recall_context("Where does the parcel go?", session_id="s1", scope="user:ada"),
        client.recall("Where does it go?", working="also", session_id="s1", where=Filter(scope="user:ada")),
    ):
        with pytest.raises(HindsightError) as refused:
            await ask
        assert (refused.value.code, list(refused.value.fields)) == ("INVALID_ARGUMENT", ["session_id"])
    for scope in ("", "user:lin", "project:shop"):
        assert "Quanzhou" in (await client.recall_context("Where does it go?", session_id="s1", scope=scope)).text
