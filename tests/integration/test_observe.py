"""Turns of observed sessions: kept at once, found by words at once and by meaning soon, seen only where they may be."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
from hindsight_memory import Filter, Hindsight, HindsightError, NewKey, NewMemory, Turn

TALK = [
    Turn("user", "Shall we fix the date for the harbour tour?"),
    Turn("assistant", "How about Saturday the fourth?"),
    Turn("user", "Perfect, book it for six people."),
]
CHINESE = [Turn("user", "下次聚餐别去那家火锅店了"), Turn("assistant", "好的，换成哪家？"), Turn("user", "去湖边的素菜馆吧")]


async def turns(client: Hindsight, query: str, **options) -> list[tuple[str, int]]:
    """The places of the turns a recall finds."""
    answer = await client.recall(query, include_turns=True, **options)
    return [(h.subject.session_id, h.subject.turn) for h in answer.hits if isinstance(h.subject, Turn)]


async def test_a_turn_is_found_by_its_words_at_the_acknowledgement(client: Hindsight):
    observed = await client.observe("s1", TALK)
    assert (observed.first_turn, observed.added) == (0, 3)
    assert ("s1", 0) in await turns(client, "harbour tour")
    await client.observe("s2", CHINESE)
    assert (await turns(client, "素菜馆"))[0] == ("s2", 2)


async def test_a_turn_is_found_by_meaning_once_the_worker_has_been(client: Hindsight, worker):
    await client.observe("s1", TALK)
    await worker()
    first = (await client.recall("how many guests come on the boat trip?", include_turns=True, mode="semantic")).hits[0]
    assert isinstance(first.subject, Turn)
    assert first.subject.session_id == "s1"
    assert {c.feature for c in first.contributions} == {"dense"}


async def test_turns_are_never_found_by_default(client: Hindsight):
    await client.observe("s1", TALK)
    assert (await client.recall("harbour tour")).hits == ()


async def test_memories_and_turns_share_one_ranking(client: Hindsight):
    await client.observe("s1", TALK)
    await client.write(NewMemory("harbour", "The harbour tour begins at pier four."))
    hits = (await client.recall("harbour tour pier", include_turns=True)).hits
    assert {type(h.subject).__name__ for h in hits} == {"Memory", "Turn"}
    assert [h.final_score for h in hits] == sorted((h.final_score for h in hits), reverse=True)


async def test_turns_follow_one_another_and_repeats_are_skipped(client: Hindsight):
    assert (await client.observe("s1", TALK[:2])).first_turn == 0
    again = await client.observe("s1", TALK, first_turn=0)
    assert (again.first_turn, again.added) == (0, 1)
    assert (await client.observe("s1", TALK[:1])).first_turn == 3
    with pytest.raises(HindsightError) as refusal:
        await client.observe("s1", TALK[1:], first_turn=0)
    assert refusal.value.code == "ALREADY_EXISTS"
    call = Turn("tool_call", tool="orders.get", arguments={"id": 7})
    await client.observe("s2", [call])
    with pytest.raises(HindsightError) as refusal:
        await client.observe("s2", [replace(call, arguments={"id": 8})], first_turn=0)
    assert refusal.value.code == "ALREADY_EXISTS"
    with pytest.raises(HindsightError) as refusal:
        await client.observe("s1", TALK, first_turn=9)
    assert list(refusal.value.fields) == ["first_turn"]


async def test_a_repeated_request_id_keeps_turns_once(client: Hindsight):
    first = await client.observe("s1", TALK, request_id="o1")
    assert await client.observe("s1", TALK, request_id="o1") == first
    with pytest.raises(HindsightError) as refusal:
        await client.observe("s1", CHINESE, request_id="o1")
    assert refusal.value.reason == "REQUEST_ID_REUSED"
    assert (await client.observe("s1", TALK[:1])).first_turn == 3


async def test_thirty_two_observers_of_one_session_leave_no_gap_and_lose_no_turn(client: Hindsight):
    observed = await asyncio.gather(*(client.observe("s1", [Turn("user", f"message {n}")]) for n in range(32)))
    assert sorted(o.first_turn for o in observed) == list(range(32))


async def test_observe_goes_on_without_the_embedder(client: Hindsight, services):
    """The words are there at once; only the job waits."""
    await client.observe("s1", TALK)
    connection = await asyncpg.connect(services.database.owner)
    assert await connection.fetchval("SELECT count(*) FROM jobs WHERE kind = 'embed_turns' AND state = 'queued'") == 1
    await connection.close()


async def test_a_period_the_query_names_moves_its_turns_up(client: Hindsight):
    now = datetime.now(UTC)
    await client.observe("old", [Turn("user", "I ran ten kilometres.", at=now - timedelta(days=90))])
    await client.observe("new", [Turn("user", "I ran ten kilometres.", at=now - timedelta(days=1))])
    assert (await turns(client, "How many kilometres did I run yesterday?"))[0] == ("new", 0)
    assert (await turns(client, "三个月前我跑了多少 kilometres？"))[0] == ("old", 0)


async def test_another_scope_agent_or_tenant_sees_no_turn(services, client: Hindsight):
    await client.observe("s1", TALK, scope="user:1")
    assert await turns(client, "harbour tour", where=Filter(scope="user:1"))
    assert not await turns(client, "harbour tour", where=Filter(scope="user:2"))
    for key in (
        NewKey(tenant="acme", default_agent_id="ada", scopes=["user:2"]),
        NewKey(tenant="acme", default_agent_id="bob"),
        NewKey(tenant="thief", default_agent_id="ada"),
    ):
        async with await services.connect(key) as other:
            assert not await turns(other, "harbour tour")
    async with await services.connect(NewKey(tenant="acme", default_agent_id="ada", scopes=["user:2"])) as other:
        with pytest.raises(HindsightError) as refusal:
            await other.observe("s1", TALK)
        assert list(refusal.value.fields) == ["session_id"]


async def test_everything_a_turn_carries_comes_back(client: Hindsight):
    written = Turn(
        role="tool_call",
        content="查订单",
        tool="orders.get",
        arguments={"user_id": 7, "fields": ["state", None]},
        result="unknown column uid",
        is_error=True,
        at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    )
    await client.observe("s1", [written], scope="user:1")
    found = (await client.recall("orders.get uid", include_turns=True)).hits[0].subject
    assert isinstance(found, Turn)
    for field in ("role", "content", "tool", "arguments", "result", "is_error", "at"):
        assert getattr(found, field) == getattr(written, field), field
    assert (found.session_id, found.turn, found.scope) == ("s1", 0, "user:1")


@pytest.mark.parametrize(
    ("turn", "field"),
    [
        (Turn("user", ""), "turns[0].content"),
        (Turn("user", "x\x00"), "turns[0].content"),
        (Turn("tool_call", "x"), "turns[0].tool"),
        (Turn("user", "é" * 16_385), "turns[0].content"),
        (Turn("tool_result", "", "t", result="r" * 32_769), "turns[0].result"),
    ],
)
async def test_a_turn_out_of_its_limits_is_named(client: Hindsight, turn: Turn, field: str):
    with pytest.raises(HindsightError) as refusal:
        await client.observe("s1", [turn])
    assert list(refusal.value.fields) == [field]


async def test_secrets_are_masked_before_a_turn_is_stored(services, client: Hindsight):
    turns = [Turn("user", "My password is hunter2!x and my card 4111 1111 1111 1111."), Turn("assistant", "Noted.")]
    await client.observe("secret", turns)
    assert (await client.observe("secret", turns, first_turn=0)).added == 0  # the same content, masked again
    hit = (await client.recall("password card", include_turns=True)).hits[0].subject
    assert isinstance(hit, Turn)
    assert hit.content == "My password is [masked: password] and my card [masked: card_number]."
    assert set(hit.masked) == {"password", "card_number"}
    owner = await asyncpg.connect(services.database.owner)
    stored = await owner.fetchval("SELECT string_agg(t::text, ' ') FROM turns AS t")
    await owner.close()
    assert "hunter2" not in stored
    assert "1111" not in stored
