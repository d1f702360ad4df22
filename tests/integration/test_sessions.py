"""Sessions: where their tasks end, what looking back leaves, what silence means, and what is kept of a round."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
from hindsight_memory import Filter, Hindsight, HindsightError, Memory, NewKey, NewMemory, Turn
from hindsight_store.pool import open_pool
from hindsight_store.sessions import remove_old

Work = Callable[[], Awaitable[None]]
TASK = (
    Turn("user", "Count the orders of customer 4711 in the orders table."),
    Turn("tool_call", tool="sql_query", arguments={"uid": 4711, "table": "orders"}),
    Turn("tool_result", tool="sql_query", result='{"error": "unknown column uid"}', is_error=True),
    Turn("tool_call", tool="sql_query", arguments={"user_id": 4711, "table": "orders"}),
    Turn("tool_result", tool="sql_query", result='{"count": 12}'),
    Turn("assistant", "Customer 4711 has 12 orders."),
)
OTHER = Turn("user", "Which flights leave for Lisbon tomorrow morning?")


@pytest.fixture
async def age(services):
    """Lets time pass for every session: so many seconds of silence."""
    connection = await asyncpg.connect(services.database.owner)

    async def pass_(seconds: float) -> None:
        await connection.execute(
            "UPDATE sessions SET heard_at = heard_at - make_interval(secs => $1), due_at = due_at - make_interval(secs => $1)",
            seconds,
        )

    yield pass_
    await connection.close()


async def of_kind(client: Hindsight, kind: str) -> list[Memory]:
    return [m async for m in client.list(Filter(kinds=(kind,)))]  # pyright: ignore[reportArgumentType]


async def test_a_completed_task_becomes_one_experience(client: Hindsight, worker: Work):
    await client.observe("s1", TASK)
    ended = await client.complete_task("s1", outcome="success", request_id="r1")
    assert await client.complete_task("s1", outcome="success", request_id="r1") == ended
    await worker()
    [found] = await of_kind(client, "experience")
    assert "`user_id` worked" in found.value
    assert (found.source.kind, found.source.session_id, found.source.turn) == ("retrospective", "s1", 0)
    assert found.confidence <= 0.7
    assert found.metadata["outcome"] == "success"
    [task] = (await client.get_session("s1")).tasks
    assert (task.id, task.state, task.experience_id, task.boundary) == (ended.task_id, "remembered", found.id, "client")
    assert (task.first_turn, task.end_turn, task.judged_by) == (0, 6, "rules")


@pytest.mark.parametrize(
    ("own", "quoted"),
    [
        ("By the way, my parking spot is number 12.", "My locker is number 9."),
        ("对了，我的车位是12号。", "我的柜子是9号。"),
    ],
)
async def test_what_the_user_says_on_the_way_is_his_word_and_what_he_quotes_is_not(
    client: Hindsight, worker: Work, own: str, quoted: str
):
    await client.observe("s1", [TASK[0], Turn("user", own), Turn("user", f"> {quoted}\nOk."), *TASK[1:]])
    await client.complete_task("s1", outcome="success")
    await worker()
    told = {m.value: (m.source.kind, m.source.session_id, m.source.turn) for m in await of_kind(client, "fact")}
    assert told[own] == ("user", "s1", 1)
    assert told[f"> {quoted}"][0] == "retrospective"


async def test_small_talk_yields_nothing_and_says_so(client: Hindsight, worker: Work):
    await client.observe("s1", [Turn("user", "How is the weather over there?"), Turn("assistant", "Sunny, I am told.")])
    await client.complete_task("s1")
    await worker()
    [task] = (await client.get_session("s1")).tasks
    assert (task.state, task.experience_id) == ("nothing", "")
    assert task.reason
    assert not await of_kind(client, "experience")


async def test_the_next_request_ends_a_task_that_met_an_error_and_resolved_it(client: Hindsight, worker: Work):
    await client.observe("s1", [*TASK, OTHER])
    await worker()
    session = await client.get_session("s1")
    assert [(t.boundary, t.first_turn, t.end_turn) for t in session.tasks] == [("resolved", 0, 6)]
    assert len(await of_kind(client, "experience")) == 1


async def test_the_same_turns_in_one_call_or_one_by_one_end_the_same_tasks(client: Hindsight):
    turns = [*TASK, OTHER, Turn("assistant", "There are three."), Turn("user", "Perfect, thank you!")]
    await client.observe("together", turns)
    for turn in turns:
        await client.observe("apart", [turn])
    together, apart = [(await client.get_session(name)).tasks for name in ("together", "apart")]
    assert [(t.boundary, t.first_turn, t.end_turn) for t in together] == [("resolved", 0, 6), ("done", 6, 9)]
    assert [(t.boundary, t.first_turn, t.end_turn) for t in apart] == [(t.boundary, t.first_turn, t.end_turn) for t in together]


async def test_silence_ends_a_round_then_a_task_then_the_session(client: Hindsight, worker: Work, age):
    await client.observe("s1", TASK[:-1])
    await age(31)
    await worker()
    session = await client.get_session("s1")
    assert (session.tasks, session.ended_at) == ((), None)
    await age(270)
    await worker()
    session = await client.get_session("s1")
    assert ([t.boundary for t in session.tasks], session.ended_at) == (["idle"], None)
    await age(1500)
    await worker()
    assert (await client.get_session("s1")).ended_at is not None


async def test_a_round_that_closes_in_silence_ends_an_answered_chain(client: Hindsight, worker: Work, age):
    await client.observe("s1", TASK)
    await age(31)
    await worker()
    assert [t.boundary for t in (await client.get_session("s1")).tasks] == ["resolved"]


async def test_a_task_that_goes_on_after_its_end_is_looked_back_on_again_in_the_same_memory(client: Hindsight, worker: Work, age):
    await client.observe("s1", TASK)
    await age(31)
    await worker()
    [first] = await of_kind(client, "experience")
    more = [
        Turn("user", "No, that's wrong, use the table orders_v2."),
        Turn("tool_call", tool="sql_query", arguments={"user_id": 4711, "table": "orders_v2"}),
        Turn("tool_result", tool="sql_query", result='{"count": 14}'),
        Turn("assistant", "In orders_v2 there are 14."),
    ]
    await client.observe("s1", more)
    await client.complete_task("s1")
    await worker()
    [second] = await of_kind(client, "experience")
    assert (second.id, second.revision) == (first.id, 2)
    assert "orders_v2" in second.value
    [task] = (await client.get_session("s1")).tasks
    assert (task.first_turn, task.end_turn, task.looks, task.boundary) == (0, 10, 2, "client")


async def test_the_clients_word_about_a_task_that_was_taken_for_ended_tells_its_experience_anew(client: Hindsight, worker: Work):
    await client.observe("s1", [*TASK, Turn("user", "Perfect, thank you!")])
    await worker()
    ended = await client.complete_task("s1", outcome="partial", note="The shop's time zone is UTC+8.")
    await worker()
    [found] = await of_kind(client, "experience")
    assert (found.metadata["outcome"], "UTC+8" in found.value) == ("partial", True)
    [task] = (await client.get_session("s1")).tasks
    assert (task.id, task.boundary, task.looks) == (ended.task_id, "client", 2)


async def test_looking_back_again_changes_nothing_where_nothing_is_new(client: Hindsight, worker: Work):
    await client.observe("s1", TASK)
    await client.complete_task("s1")
    await worker()
    assert await client.look_back("s1") == 1
    await worker()
    [found] = await of_kind(client, "experience")
    assert found.revision == 1


async def test_an_experience_that_was_forgotten_does_not_come_back(client: Hindsight, worker: Work):
    await client.observe("s1", TASK)
    await client.complete_task("s1")
    await worker()
    [found] = await of_kind(client, "experience")
    await client.forget(memory_id=found.id)
    await client.look_back("s1")
    await worker()
    assert not await of_kind(client, "experience")
    [task] = (await client.get_session("s1")).tasks
    assert (task.state, task.experience_id) == ("nothing", "")


async def test_a_session_that_ends_is_summed_up_once_and_may_go_on(client: Hindsight, worker: Work):
    await client.observe("s1", [*TASK, Turn("user", "Thanks. We decided to report 12 orders to the board.")])
    ended = await client.end_session("s1")
    assert (await client.end_session("s1")).task_id == ended.task_id
    await worker()
    [summary] = await of_kind(client, "summary")
    session = await client.get_session("s1")
    assert (session.summary_id, session.ended_at is None) == (summary.id, False)
    await client.observe("s1", [Turn("user", "Please also count the orders of customer 4712 for the report."), TASK[-1]])
    assert (await client.get_session("s1")).ended_at is None
    await client.end_session("s1")
    await worker()
    [again] = await of_kind(client, "summary")
    assert again.id == summary.id


async def test_a_session_is_not_there_for_those_who_may_not_use_it(services, client: Hindsight):
    await client.observe("s1", TASK, scope="user:42")
    limited = await services.connect(NewKey(tenant="acme", default_agent_id="ada", scopes=("user:7",)))
    foreign = await services.connect(NewKey(tenant="other", default_agent_id="ada"))
    for other in (limited, foreign):
        async with other:
            for ask in (other.complete_task, other.end_session, other.look_back, other.get_session):
                with pytest.raises(HindsightError) as refused:
                    await ask("s1")
                assert refused.value.reason == "NOT_FOUND"


async def test_what_was_recalled_is_not_learned_again(client: Hindsight, worker: Work, age):
    await client.write(NewMemory("user preference", "I always want reports as PDF.", kind="preference"))
    first = (await of_kind(client, "preference"))[0]
    await client.recall("how should the report look?")
    async with asyncio.timeout(10):
        while not (await client.get(first.id)).hit_count:  # noqa: ASYNC110 - hits are counted off the path of the recall
            await asyncio.sleep(0.05)
    await client.observe(
        "s1", [Turn("assistant", "You told me: I always want reports as PDF."), Turn("user", "I always want reports as PDF.")]
    )
    await client.end_session("s1")
    await worker()
    assert [(m.id, m.revision) for m in await of_kind(client, "preference")] == [(first.id, first.revision)]


async def test_a_lasting_wish_waits_for_the_round_and_a_correction_does_not(client: Hindsight, worker: Work, age):
    observed = await client.observe("s1", [Turn("user", "I always want reports as PDF."), Turn("assistant", "Noted.")])
    assert [(c.trigger, c.timing) for c in observed.candidates] == [("preference", "round")]
    await worker()
    assert not await of_kind(client, "preference")
    await age(31)
    await worker()
    [kept] = await of_kind(client, "preference")
    assert (kept.source.kind, kept.source.session_id, kept.source.turn, kept.confidence >= 0.9) == ("user", "s1", 0, True)
    await client.observe("s1", [Turn("user", "No, it should be the table orders_v2, not orders.")])
    await worker()
    assert len(await of_kind(client, "correction")) == 1


async def test_a_key_that_may_not_speak_for_its_user_is_believed_less(services, worker: Work):
    key = NewKey(tenant="acme", default_agent_id="bob", sources=("inference",))
    async with await services.connect(key) as client:
        await client.observe("s1", [Turn("user", "I always want reports as PDF."), Turn("assistant", "Noted.")])
        await client.end_session("s1")
        await worker()
        [kept] = await of_kind(client, "preference")
        assert (kept.source.kind, kept.confidence) == ("inference", 0.7)


async def test_turns_are_removed_when_they_are_old_and_what_they_taught_stays(services, client: Hindsight, worker: Work, age):
    await client.observe("old", TASK)
    await client.observe("goes on", TASK)
    await client.complete_task("old")
    await worker()
    connection = await asyncpg.connect(services.database.owner)
    await connection.execute("UPDATE turns SET known_from = known_from - interval '31 days'")
    await connection.execute("UPDATE sessions SET heard_at = heard_at - interval '31 days' WHERE session_id = 'old'")
    await connection.close()
    async with open_pool(services.database.maintenance) as pool:
        assert await remove_old(pool, datetime.now(UTC) - timedelta(days=30)) == (11, 1)
    with pytest.raises(HindsightError):
        await client.get_session("old")
    assert (await client.observe("goes on", [OTHER])).first_turn == 6
    assert len(await of_kind(client, "experience")) == 1


CHANGES = {
    "preference, en": ("I prefer window seats on flights.", "I no longer prefer window seats on flights."),
    "preference, zh": ("我喜欢喝咖啡。", "我不再喜欢喝咖啡了。"),
    "city, en": ("I live in Turin.", "I moved to Lisbon, so I live in Lisbon now."),
    "order, en": ("Order R-20931 has been paid.", "Order R-20931 has shipped."),
    "order, zh": ("订单R-20931已付款。", "订单R-20931已发货。"),
}


@pytest.mark.parametrize("change", [name for name in CHANGES if not name.startswith("city")])
async def test_what_is_heard_later_takes_the_place_of_what_was_heard_before(client: Hindsight, worker: Work, change: str):
    earlier, later = CHANGES[change]
    then = datetime(2026, 1, 1, tzinfo=UTC)
    for session, (text, at) in enumerate(((earlier, then), (later, then + timedelta(days=7)))):
        await client.observe(f"s{session}", [Turn("user", text, at=at), Turn("assistant", "OK.", at=at)])
        await client.end_session(f"s{session}")
        await worker()
    active = [m async for m in client.list() if m.kind != "summary"]
    assert [m.value for m in active] == [later]
    before = await client.recall(earlier, as_of=then + timedelta(days=1))
    assert earlier in [h.memory.value for h in before.hits]


@pytest.mark.parametrize(
    ("said", "other", "request_"),
    [
        ("I am allergic to peanuts.", "The parcel goes to Lisbon by ship.", "Please count the orders of customer 4711."),
        ("我对花生过敏。", "包裹寄往上海，走海运。", "请统计客户4711的订单数量。"),
    ],
)
async def test_what_was_forgotten_in_a_session_is_told_by_none_of_its_accounts(
    client: Hindsight, worker: Work, said: str, other: str, request_: str
):
    await client.observe("s1", [Turn("user", f"{said}{other}"), Turn("assistant", "Noted.")])
    await client.complete_task("s1")
    await worker()
    forgotten = [m for m in [m async for m in client.list(Filter())] if said in m.value]
    assert forgotten
    for memory in forgotten:
        await client.forget(memory_id=memory.id)
    await client.observe("s1", [Turn("user", request_), *TASK[1:]])
    await client.complete_task("s1", outcome="success")
    await client.end_session("s1")
    await worker()
    accounts = [*await of_kind(client, "summary"), *await of_kind(client, "experience")]
    assert "experience" in {memory.kind for memory in accounts}
    assert not [memory.value for memory in accounts if said.rstrip(".。") in f"{memory.key}{memory.query}{memory.value}"]
