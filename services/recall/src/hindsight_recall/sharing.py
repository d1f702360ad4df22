"""What other agents have opened to the one that asks, and what of it a call may see."""

from collections.abc import Sequence, Set
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from hindsight_runtime.identity import Principal
from hindsight_store.reader import Reader
from hindsight_store.records import Grant, Kept, Selection

HIDDEN = {"deleted", "pending_review"}  # what is forgotten or held back is for people who look after the bank


async def find_opened(reader: Reader, bank_id: int, selection: Selection, at: datetime) -> list[tuple[Grant, Selection]]:
    """The grants that are open to an agent at a moment, each with the part of a selection that it opens."""
    parts = [(grant, narrow(selection, grant)) for grant in await reader.grants.given_to(bank_id, at)]
    return [(grant, part) for grant, part in parts if part is not None]


def narrow(selection: Selection, grant: Grant) -> Selection | None:
    """The part of a selection that a grant opens; None where it opens nothing of it."""
    statuses = tuple(status for status in selection.statuses if status not in HIDDEN)
    key = _narrow_key(selection.key, grant.key_prefix)
    scopes: tuple[str, ...] | None = None
    if selection.scopes is not None:
        scopes = tuple(scope for scope in selection.scopes if grant.admits_scope(scope))
    elif grant.scope_prefix is None:
        scopes = (grant.scope,)
    if not statuses or key is None or scopes == ():
        return None
    return replace(selection, statuses=statuses, key=key, scopes=scopes, scope_prefix=grant.scope_prefix or "")


def _narrow_key(asked: str, prefix: str) -> str | None:
    """The keys that are asked for (a trailing "*" is a prefix) and begin so."""
    if not prefix or asked.startswith(prefix):
        return asked
    if not asked or (asked.endswith("*") and prefix.startswith(asked[:-1])):
        return f"{prefix}*"
    return None


def merge(pages: Sequence[Sequence[Kept]], *, newest_first: bool, limit: int) -> list[Kept]:
    """Pages of several banks as one, by id, each memory once."""
    found = {kept.memory.memory_id: kept for page in reversed(pages) for kept in page}
    return [found[i] for i in sorted(found, reverse=newest_first)][:limit]


async def find_shared(reader: Reader, bank_id: int, memory_id: UUID, principal: Principal, at: datetime) -> Kept | None:
    """A memory of another agent that is open to an agent at a moment and within what the caller may read, or None."""
    for grant in await reader.grants.given_to(bank_id, at):
        kept = await reader.get(grant.bank_id, memory_id)
        if kept and grant.admits(kept.memory.scope, kept.memory.key) and principal.may_read(kept.memory.scope):
            return replace(kept, grant=grant) if kept.memory.status not in HIDDEN else None
    return None


async def without_hidden_origins(reader: Reader, bank_id: int, principal: Principal, found: Sequence[Kept]) -> list[Kept]:
    """The same memories; of what they are derived from, only what the caller may read. Of another agent's, nothing: what was
    opened may be derived from what was not."""
    own = {i for kept in found if kept.grant is None for i in kept.memory.derived_from}
    if principal.scopes and own:
        scopes = await reader.scopes(bank_id, own)
        own = {i for i in own if principal.may_read(scopes.get(i, ""))}
    return [_with_origins(kept, set() if kept.grant else own) for kept in found]


def _with_origins(kept: Kept, seen: Set[UUID]) -> Kept:
    origins = tuple(i for i in kept.memory.derived_from if i in seen)
    return replace(kept, memory=replace(kept.memory, derived_from=origins))
