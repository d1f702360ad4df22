"""Withdraws what came from a hostile source, and reinstates it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import asyncpg
from hindsight.v1 import admin_pb2
from hindsight_runtime import checks
from hindsight_runtime.errors import InvalidField, NotFound, PermissionDenied, RequestIdReused
from hindsight_runtime.identity import Principal
from hindsight_store import withdrawals
from hindsight_store.audit import Act, count_outcomes
from hindsight_store.ids import uuid7
from hindsight_store.sources import Source
from hindsight_store.withdrawals import Asked, By, Counts, Withdrawal
from hindsight_store.writer import writing

from hindsight_ingest.errands import Errands
from hindsight_ingest.validation import TOOL_CHARS

KEY_ID_CHARS = 128
NAMES = {"principal": KEY_ID_CHARS, "session_id": checks.SESSION_ID_CHARS, "tool": TOOL_CHARS}


@dataclass(frozen=True, slots=True)
class Reinstated:
    """A withdrawal that was taken back: how many memories are as they were, and how many were left as they are."""

    withdrawal: Withdrawal
    reinstated: int
    left: int


class Revoking:
    """Revokes sources. One for the life of a process."""

    def __init__(self, pool: asyncpg.Pool, errands: Errands, clock: Callable[[], datetime]) -> None:
        self._pool = pool
        self._errands = errands
        self._clock = clock

    async def revoke(self, principal: Principal, agent_id: str, source: Source, request_id: str) -> Withdrawal:
        """Withdraw everything of a source, in one transaction, and clear the agents' desks, which do not tell who put what.
        Nothing is recorded where there was nothing more to withdraw.

        Raises:
            NotFound: the agent has no memory yet.
            PermissionDenied: the key is limited to scopes, or may not use the agent.
            RequestIdReused: the request id stands for another source.
        """
        withdrawal = await self._withdraw(principal, agent_id, source, request_id)
        self._errands.clear_all(principal.tenant_id, _agents(principal, agent_id))
        await self._errands.settle()
        return withdrawal

    async def _withdraw(self, principal: Principal, agent_id: str, source: Source, request_id: str) -> Withdrawal:
        by, asked = By(uuid7(), principal.key_id, self._clock()), Asked(agent_id, source)
        async with writing(self._pool, principal.tenant_id) as writer:
            await writer.lock([withdrawals.LOCK_KEY])
            if request_id and (past := await writer.withdrawals.find_request(principal.key_id, request_id, asked)):
                if not past[1]:
                    raise RequestIdReused("this request_id was used for another source; give every change an id of its own")
                return past[0]
            counts = Counts()
            banks = await writer.banks(_agents(principal, agent_id))
            if agent_id and not banks:
                raise NotFound("no such agent")
            for bank_id in banks:
                counts += await writer.withdrawals.withdraw(bank_id, source, by)
            if counts == Counts():
                return Withdrawal(UUID(int=0), source.kind, "", by.principal, by.at, None, 0, 0, 0)
            withdrawal = await writer.withdrawals.record(asked, by, request_id, counts)
            told = count_outcomes({name: getattr(counts, name) for name in Counts.__dataclass_fields__})
            only = banks[0] if len(banks) == 1 else None
            writer.audit(Act(by.principal, "revoke_source", told, str(by.withdrawal_id), bank_id=only))
        return withdrawal

    async def reinstate(self, principal: Principal, withdrawal_id: UUID) -> Reinstated:
        """Take a withdrawal back, in one transaction; one that was taken back before stays so.

        Raises:
            NotFound: no such withdrawal of agents that the key may use.
            PermissionDenied: the key is limited to scopes.
        """
        agent_ids = _agents(principal, "")
        by = By(withdrawal_id, principal.key_id, self._clock())
        async with writing(self._pool, principal.tenant_id) as writer:
            await writer.lock([withdrawals.LOCK_KEY])
            withdrawal = await writer.withdrawals.get(withdrawal_id)
            changed = await writer.withdrawals.banks(withdrawal_id)
            if withdrawal is None or not set(changed) <= set(await writer.banks(agent_ids)):
                raise NotFound("no such withdrawal")
            if withdrawal.reinstated_at:
                return Reinstated(withdrawal, 0, 0)
            reinstated = sum([await writer.withdrawals.reinstate(bank_id, by) for bank_id in changed])
            await writer.withdrawals.close(withdrawal_id, by.at)
            closed = await writer.withdrawals.get(withdrawal_id)
            assert closed is not None
            left = withdrawal.withdrawn + withdrawal.rolled_back - reinstated
            told = count_outcomes({"reinstated": reinstated, "left": left})
            writer.audit(Act(by.principal, "reinstate", told, str(withdrawal_id)))
        return Reinstated(closed, reinstated, left)


def read_source(field: str, message: admin_pb2.MemorySource, span: tuple[datetime | None, datetime | None]) -> Source:
    """The source that a request names, checked; `span` is when."""
    named = [name for name in (*NAMES, "memory_id") if getattr(message, name)]
    if len(named) != 1:
        wrong = named[1] if named else "principal"
        raise InvalidField(f"{field}.{wrong}", "name the source by exactly one of principal, session_id, tool and memory_id")
    name = named[0]
    if name == "memory_id":
        return Source("memory", str(checks.check_id(f"{field}.memory_id", message.memory_id)), *span)
    text = checks.check_text(f"{field}.{name}", getattr(message, name), max_chars=NAMES[name], required=True)
    return Source(name.removesuffix("_id"), text, *span)


def _agents(principal: Principal, agent_id: str) -> list[str]:
    """The agents meant; empty: all of the tenant."""
    if principal.scopes:
        raise PermissionDenied("a source has written to any scope; a key limited to scopes may not withdraw it")
    return [principal.resolve_agent(agent_id)] if agent_id else list(principal.agent_ids)
