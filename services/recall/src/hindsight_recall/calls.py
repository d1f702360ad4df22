"""What the calls of the recall service begin and end with: who reads whose bank, and how much fits into an answer."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import asyncpg
from google.protobuf.message import Message
from hindsight_runtime import checks
from hindsight_runtime.identity import Principal, caller
from hindsight_store.banks import KnownBanks
from hindsight_store.reader import reading
from hindsight_store.records import Kept

from hindsight_recall.recalling import Hit
from hindsight_recall.sharing import without_hidden_origins

PAGE_BYTES = 16 * 2**20  # a page of large memories ends early, below what clients receive at once
M = TypeVar("M", bound=Message)


class Banks:
    """Finds the banks of agents; remembers those it found."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool
        self._known = KnownBanks()

    async def find(self, principal: Principal, agent_id: str) -> int | None:
        """The bank of an agent of the caller's tenant, or None where it has none yet."""
        known = self._known.get(principal.tenant_id, agent_id)
        if known is not None:
            return known
        async with reading(self._pool, principal.tenant_id) as reader:
            bank_id = await reader.find_bank(principal.tenant_id, agent_id)
        if bank_id is not None:
            self._known.remember(principal.tenant_id, agent_id, bank_id)
        return bank_id


def reader_of(request: Any) -> tuple[Principal, str]:
    """The caller and the agent whose memories it reads."""
    principal = caller()
    principal.require("read")
    checks.check_label("agent_id", request.agent_id, max_chars=checks.AGENT_ID_CHARS)
    return principal, principal.resolve_agent(request.agent_id)


def fit(messages: Sequence[M]) -> list[M]:
    """The first messages that a page holds, at least one."""
    sizes = itertools.accumulate(m.ByteSize() for m in messages)
    return [m for n, (m, size) in enumerate(zip(messages, sizes, strict=True)) if not n or size <= PAGE_BYTES]


async def show(pool: asyncpg.Pool, principal: Principal, bank_id: int, hits: Sequence[Hit]) -> list[Hit]:
    """The hits as the caller may see them: without the ids of what it may not read."""
    found = [hit.subject for hit in hits if isinstance(hit.subject, Kept)]
    if not any(kept.memory.derived_from and (kept.grant or principal.scopes) for kept in found):
        return list(hits)
    async with reading(pool, principal.tenant_id) as reader:
        shown = iter(await without_hidden_origins(reader, bank_id, principal, found))
    return [replace(hit, subject=next(shown)) if isinstance(hit.subject, Kept) else hit for hit in hits]
