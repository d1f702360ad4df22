"""Observe: keep the turns of a session as evidence, at once, whatever the embed service does."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import asyncpg
from hindsight_runtime.errors import AlreadyExists, InvalidField, PermissionDenied
from hindsight_runtime.identity import Principal
from hindsight_store.turns import Turn, TurnWriter
from hindsight_store.writer import PastRequest, Writer, writing

from hindsight_ingest.masking import mask_turn
from hindsight_ingest.pipeline import Call, check_repeat, lock_key

EMBED_TURNS = "embed_turns"
JOB_TURNS = 64  # a job embeds at most this many, so that no job is long


@dataclass(frozen=True, slots=True)
class Observed:
    """What an observe kept."""

    first_turn: int
    added: int


class Observer:
    """Keeps turns. One for the life of a process."""

    def __init__(self, pool: asyncpg.Pool, *, clock: Callable[[], datetime]) -> None:
        self._pool = pool
        self.clock = clock

    async def observe(self, call: Call, session_id: str, scope: str, turns: Sequence[Turn], first_turn: int | None) -> Observed:
        """Keep turns of a session, given with numbers from 0, behind its last turn or from `first_turn` on; without secrets.

        Raises:
            RequestIdReused: the request id stands for other content.
            AlreadyExists: another turn has one of the numbers.
            InvalidField: the session concerns another scope, or a number would leave a gap.
        """
        turns = [mask_turn(turn) for turn in turns]
        async with writing(self._pool, call.principal.tenant_id) as writer:
            bank_id = await writer.ensure_bank(call.agent_id)
            locks = [lock_key(bank_id, "session", session_id)]
            if call.request_id:
                locks.append(lock_key(bank_id, "request", call.principal.key_id, call.request_id))
            await writer.lock(locks)
            if call.request_id:
                past = await writer.find_request(bank_id, call.principal.key_id, call.request_id)
                if past is not None:
                    check_repeat(past, call)
                    return Observed(**past.outcome)
            session_scope = await self._enter(writer.turns, bank_id, session_id, scope, call.principal, turns[0].at)
            observed = await self._keep(writer, bank_id, [replace(t, scope=session_scope) for t in turns], first_turn)
            if call.request_id:
                outcome = {"first_turn": observed.first_turn, "added": observed.added}
                past_request = PastRequest(call.content_hash, outcome)
                await writer.record_request(bank_id, call.principal.key_id, call.request_id, past_request)
        return observed

    async def _enter(
        self, turns: TurnWriter, bank_id: int, session_id: str, scope: str, principal: Principal, at: datetime
    ) -> str:
        """The session's scope; the session is begun if it is new."""
        session = await turns.find_session(bank_id, session_id)
        if session is None:
            began = principal.writable_scope(scope)
            await turns.create_session(bank_id, session_id, began, at)
            return began
        if not principal.may_use(session[0]):
            raise PermissionDenied("the key may not add to this session; name another session_id")
        if scope and scope != session[0]:
            raise InvalidField("scope", "the session was begun with another scope; leave it out")
        return session[0]

    async def _keep(self, writer: Writer, bank_id: int, turns: Sequence[Turn], first_turn: int | None) -> Observed:
        session_id = turns[0].session_id
        end = await writer.turns.last_turn(bank_id, session_id) + 1
        first = end if first_turn is None else first_turn
        if first > end:
            raise InvalidField("first_turn", f"the session has {end} turns; the next is {end}")
        numbered = [replace(t, turn=first + i) for i, t in enumerate(turns)]
        there = await writer.turns.between(bank_id, session_id, first, first + len(turns))
        for kept, given in zip(there, numbered, strict=False):
            if _said(kept) != _said(given):
                raise AlreadyExists(f"turn {kept.turn} of the session has other content; send the turns that follow")
        fresh = numbered[len(there) :]
        if fresh:
            await writer.turns.insert(bank_id, fresh)
        for start in range(0, len(fresh), JOB_TURNS):
            part = fresh[start : start + JOB_TURNS]
            payload = {"session_id": session_id, "first": part[0].turn, "end": part[-1].turn + 1}
            await writer.enqueue(bank_id, EMBED_TURNS, payload)
        return Observed(first, len(fresh))


def _said(turn: Turn) -> tuple[object, ...]:
    """What makes two turns the same."""
    return turn.role, turn.content, turn.tool, turn.arguments, turn.result, turn.is_error
