"""Desks: what a session, or a user, has at hand."""

from dataclasses import dataclass
from datetime import datetime

from hindsight_memory.types.memories import Source


@dataclass(frozen=True, slots=True)
class NewEntry:
    """Something to be put on a desk; limits and defaults as in desk.proto."""

    key: str
    value: str
    query: str = ""
    source: Source | None = None
    confidence: float | None = None
    importance: float | None = None
    ttl_s: int = 0
    is_task_state: bool = False
    is_pinned: bool = False


@dataclass(frozen=True, slots=True)
class DeskEntry:
    """Something on a desk."""

    id: str  # what citations and receipts call it
    scope: str
    key: str
    query: str
    value: str
    source: Source
    confidence: float
    importance: float
    tokens: int
    is_pinned: bool
    is_task_state: bool
    uses: int
    put_at: datetime
    expires_at: datetime | None  # None of what is pinned


@dataclass(frozen=True, slots=True)
class Placed:
    """An entry that was put on a desk, the keys of what was evicted for it, and how full the desk is."""

    entry: DeskEntry
    evicted_keys: tuple[str, ...]
    used_tokens: int
    budget_tokens: int


@dataclass(frozen=True, slots=True)
class Desk:
    """All of a desk: pinned entries first, by key, then the newest."""

    entries: tuple[DeskEntry, ...]
    used_tokens: int
    pinned_tokens: int
    budget_tokens: int
