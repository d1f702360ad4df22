"""Observe: keep the turns of a session as evidence, at once, whatever the embed service does; and listen for what follows."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg
from hindsight_runtime.errors import AlreadyExists, InvalidField, NotFound
from hindsight_runtime.identity import Principal
from hindsight_store.audit import Act, count_outcomes
from hindsight_store.banks import KnownBanks
from hindsight_store.sessions import Session
from hindsight_store.turns import Turn, search_text
from hindsight_store.writer import Writer, writing

from hindsight_ingest.errands import Errands
from hindsight_ingest.guard import TextGuard
from hindsight_ingest.listening import Finding, listen
from hindsight_ingest.masking import mask, mask_turn
from hindsight_ingest.pipeline import Call, check_repeat, lock_key
from hindsight_ingest.rounds import KEEP, Rounds

EMBED_TURNS = "embed_turns"
JOB_TURNS, JOB_CHARS = 64, 16_000  # a job embeds at most this much, so that none takes longer than its lease
JUDGED_CHARS = 1_500  # of a turn, at either end, that the guard reads
TURN_CHARS = 8_000  # of a turn, for its embedding; the rest of a long tool result says little more


End = Callable[[Writer, int, Session], Awaitable[tuple[Session, bool]]]


@dataclass(frozen=True, slots=True)
class Observed:
    """What an observe kept, and what it found in the new turns. A repeat of the call finds nothing again."""

    first_turn: int
    added: int
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """What a call ended: the session's last task, if there is one, and whether it will be looked back on now."""

    task_id: UUID | None
    is_new: bool


class Observer:
    """Keeps turns and tells where tasks and sessions end. One for the life of a process."""

    def __init__(
        self, pool: asyncpg.Pool, rounds: Rounds, guard: TextGuard, errands: Errands, *, clock: Callable[[], datetime]
    ) -> None:
        self._pool = pool
        self._errands = errands
        self._guard = guard
        self._rounds = rounds
        self._banks = KnownBanks()
        self.clock = clock

    async def observe(self, call: Call, session_id: str, scope: str, turns: Sequence[Turn], first_turn: int | None) -> Observed:
        """Keep turns of a session, given with numbers from 0, behind its last turn or from `first_turn` on; without secrets.

        Raises:
            RequestIdReused: the request id stands for other content.
            AlreadyExists: another turn has one of the numbers.
            InvalidField: the session concerns another scope, or a number would leave a gap.
        """
        turns = await asyncio.to_thread(lambda: [self._read(turn) for turn in turns])
        async with writing(self._pool, call.principal.tenant_id) as writer:
            known = self._banks.get(call.principal.tenant_id, call.agent_id)
            bank_id = known if known is not None else await writer.ensure_bank(call.agent_id)
            past = await _lock(writer, bank_id, session_id, call)
            if past is not None:
                return Observed(**past)
            session = await self._enter(writer, bank_id, session_id, scope, call.principal, turns[0].at)
            observed, after = await self._keep(writer, bank_id, session, turns, first_turn)
            await _record(writer, bank_id, call, session_id, {"first_turn": observed.first_turn, "added": observed.added})
        self._banks.remember(call.principal.tenant_id, call.agent_id, bank_id)
        if after.task_turn != session.task_turn:
            self._errands.end_task(call.principal.tenant_id, call.agent_id, after, call.principal)
        heard = [(turns[one.turn - observed.first_turn], one) for one in observed.findings]
        trusted = [(turn, one) for turn, one in heard if not turn.is_withheld]
        self._errands.lay_out(call.principal, call.agent_id, session_id, trusted)
        return observed

    async def complete_task(self, call: Call, session_id: str, outcome: str, note: str) -> Ended:
        """End the open task of a session, to be looked back on.

        Raises:
            NotFound: no such session within what the caller may use.
        """

        async def end(writer: Writer, bank_id: int, session: Session) -> tuple[Session, bool]:
            return await self._rounds.complete_task(writer, bank_id, session, (outcome, mask(note)[0]))

        return await self._end(call, session_id, end)

    async def end_session(self, call: Call, session_id: str) -> Ended:
        """End a session, to be summed up; its open task is over as well. One that is over already stays so.

        Raises:
            NotFound: no such session within what the caller may use.
        """

        async def end(writer: Writer, bank_id: int, session: Session) -> tuple[Session, bool]:
            if session.ended_at is not None:
                return session, False
            ended = await self._rounds.end_session(writer, bank_id, session)
            return ended, ended.task_id != session.task_id

        return await self._end(call, session_id, end)

    async def look_back(self, call: Call, session_id: str) -> int:
        """Let every task of a session that has ended be looked back on again; how many there are.

        Raises:
            NotFound: no such session within what the caller may use.
        """
        async with writing(self._pool, call.principal.tenant_id) as writer:
            bank_id, session = await _find(writer, call, session_id)
            past = await _lock(writer, bank_id, session_id, call)
            if past is not None:
                return past["tasks"]
            tasks = await self._rounds.look_again(writer, bank_id, session)
            await _record(writer, bank_id, call, session_id, {"tasks": tasks})
        return tasks

    async def _end(self, call: Call, session_id: str, end: End) -> Ended:
        async with writing(self._pool, call.principal.tenant_id) as writer:
            bank_id, _ = await _find(writer, call, session_id)
            past = await _lock(writer, bank_id, session_id, call)
            if past is not None:
                return Ended(UUID(past["task_id"]) if past["task_id"] else None, past["is_new"])
            session = await writer.sessions.find(bank_id, session_id)
            assert session is not None
            session, is_new = await end(writer, bank_id, session)
            await writer.sessions.update(bank_id, session)
            outcome = {"task_id": str(session.task_id) if session.task_id else "", "is_new": is_new}
            await _record(writer, bank_id, call, session_id, outcome)
        over = self._errands.end_session if session.ended_at else self._errands.end_task
        over(call.principal.tenant_id, call.agent_id, session, call.principal)
        await self._errands.settle()  # what is put once this is answered stays
        return Ended(session.task_id, is_new)

    async def _enter(
        self, writer: Writer, bank_id: int, session_id: str, scope: str, principal: Principal, at: datetime
    ) -> Session:
        """The session; begun if it is new."""
        wanted = principal.writable_scope(scope)
        session = await writer.sessions.find(bank_id, session_id)
        if session is None:
            session = Session(session_id, wanted, at, at, self.clock())
            await writer.sessions.create(bank_id, session)
            return session
        if not principal.may_use(session.scope):
            raise InvalidField("session_id", "this id cannot be used; name another one")
        if scope and scope != session.scope:
            raise InvalidField("scope", "the session was begun with another scope; leave it out")
        return session

    async def _keep(
        self, writer: Writer, bank_id: int, session: Session, turns: Sequence[Turn], first_turn: int | None
    ) -> tuple[Observed, Session]:
        """What was kept, and the session behind it."""
        session_id = session.session_id
        end = session.next_turn
        first = end if first_turn is None else first_turn
        if first > end:
            raise InvalidField("first_turn", f"the session has {end} turns; the next is {end}")
        numbered = [replace(t, turn=first + i, scope=session.scope) for i, t in enumerate(turns)]
        there = await writer.turns.between(bank_id, session_id, max(0, first - 1), first + len(turns), with_withdrawn=True)
        before = [t for t in there if t.turn < first]
        there = there[len(before) :]
        for kept, given in zip(there, numbered, strict=False):
            if _said(kept) != _said(given):
                raise AlreadyExists(f"turn {kept.turn} of the session has other content; send the turns that follow")
        fresh = numbered[len(there) :]
        if not fresh:
            return Observed(first, 0), session
        await writer.turns.insert(bank_id, fresh)
        for part in _split(fresh):
            payload = {"session_id": session_id, "first": part[0].turn, "end": part[-1].turn + 1}
            writer.enqueue(bank_id, EMBED_TURNS, payload)
        last = there[-1] if there else before[-1] if before else None
        findings = await self._listen(writer, bank_id, fresh, last)
        after = await self._rounds.hear(writer, bank_id, session, fresh)
        await writer.sessions.update(bank_id, after)
        return Observed(first, len(fresh), tuple(findings)), after

    def _read(self, turn: Turn) -> Turn:
        """A turn as it is kept: without secrets, and marked where it reads like an order to the agent."""
        masked = mask_turn(turn)
        texts = [ends(text) for text in (masked.content, masked.result)]
        return replace(masked, is_withheld=self._guard.judge_by_rules(texts) is not None)

    async def _listen(self, writer: Writer, bank_id: int, fresh: Sequence[Turn], last: Turn | None) -> list[Finding]:
        """What of fresh turns is worth keeping; what does not wait for the round is kept at once."""
        findings = []
        for turn, before in zip(fresh, [last, *fresh[:-1]], strict=True):
            await asyncio.sleep(0)  # listening takes milliseconds a turn; other calls go on in between
            found = listen(turn, before)
            findings += found
            if any(one.timing == "now" for one in found):
                part = {"first": turn.turn, "end": turn.turn + 1, "at_once": True}
                writer.enqueue(bank_id, KEEP, {"session_id": turn.session_id, **part})
        return findings


def ends(text: str) -> str:
    """Beginning and end of a text, which is where a long one is judged: what stands between costs more than evidence is worth."""
    return text if len(text) <= 2 * JUDGED_CHARS else f"{text[:JUDGED_CHARS]}\n{text[-JUDGED_CHARS:]}"


def _split(turns: Sequence[Turn]) -> list[list[Turn]]:
    """Turns in parts that are embedded in one job each."""
    parts: list[list[Turn]] = [[]]
    size = 0
    for turn in turns:
        chars = min(len(search_text(turn)), TURN_CHARS)
        if len(parts[-1]) == JOB_TURNS or (parts[-1] and size + chars > JOB_CHARS):
            parts.append([])
            size = 0
        parts[-1].append(turn)
        size += chars
    return parts


async def _find(writer: Writer, call: Call, session_id: str) -> tuple[int, Session]:
    bank_id = await writer.find_bank(call.principal.tenant_id, call.agent_id)
    session = await writer.sessions.find(bank_id, session_id) if bank_id is not None else None
    if bank_id is None or session is None or not call.principal.may_use(session.scope):
        raise NotFound("no such session of this agent; it begins with the first observed turn")
    return bank_id, session


async def _lock(writer: Writer, bank_id: int, session_id: str, call: Call) -> Mapping[str, Any] | None:
    """Hold a session and the call's request id; what that answered before, if it did."""
    await writer.enter(bank_id)
    locks = [lock_key(bank_id, "session", session_id)]
    if call.request_id:
        locks.append(lock_key(bank_id, "request", call.principal.key_id, call.request_id))
    await writer.lock(locks)
    past = await writer.find_request(bank_id, call.request) if call.request_id else None
    if past is None:
        return None
    check_repeat(past)
    return past.outcome


async def _record(writer: Writer, bank_id: int, call: Call, session_id: str, outcome: Mapping[str, Any]) -> None:
    if call.request_id:
        await writer.record_request(bank_id, call.request, outcome, session_id=session_id)
    told = count_outcomes(outcome)
    writer.audit(Act(call.principal.key_id, call.action, told, session=session_id, bank_id=bank_id))


def _said(turn: Turn) -> tuple[object, ...]:
    """What makes two turns the same."""
    return turn.role, turn.content, turn.tool, turn.arguments, turn.result, turn.is_error
