"""Memories: what is written, how it stands, and what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Kind = Literal["preference", "fact", "entity", "state", "correction", "summary", "experience"]
SourceKind = Literal["user", "tool", "inference", "retrospective", "import"]
Status = Literal["active", "pending_review", "superseded", "archived", "deletable", "deleted"]
ForgetMode = Literal["fade", "delete"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a memory comes from; without a kind the server decides by the key."""

    kind: SourceKind | None = None
    session_id: str = ""
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory to be written; limits and defaults as in ingest.proto."""

    key: str
    value: str
    query: str = ""
    scope: str = ""
    kind: Kind | None = None
    tags: Sequence[str] = ()
    importance: float | None = None
    confidence: float | None = None
    source: Source | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    is_core: bool = False
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    derived_from: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory as it stands in one revision."""

    id: str
    agent_id: str
    scope: str
    kind: Kind
    key: str
    query: str
    value: str
    tags: tuple[str, ...]
    importance: float
    confidence: float
    source: Source
    metadata: Mapping[str, Any]
    is_core: bool
    status: Status
    revision: int
    valid_from: datetime
    valid_to: datetime | None
    known_from: datetime
    known_to: datetime | None
    created_at: datetime
    expires_at: datetime | None
    hit_count: int
    last_hit_at: datetime | None
    derived_from: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories to look at; what is not given means any."""

    key: str = ""
    scope: str = ""
    kinds: Sequence[Kind] = ()
    tags: Sequence[str] = ()
    all_tags: bool = False
    min_importance: float | None = None
    min_confidence: float | None = None
    valid_since: datetime | None = None
    valid_until: datetime | None = None
    created_since: datetime | None = None
    created_until: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    include_archived: bool = False


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A number that was lowered to what the source may claim."""

    field: str
    asked: float
    stored: float


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What became of one memory."""

    outcome: str  # created, updated, superseded, conflict, quarantined, working, rejected
    memory_id: str
    revision: int
    reason: str
    field: str
    detail: str
    adjustments: tuple[Adjustment, ...]
    superseded_ids: tuple[str, ...] = ()  # the older statements it took the place of
    superseded_by_id: str = ""  # the later statement that had already taken its place


@dataclass(frozen=True, slots=True)
class Relation:
    """A typed, weighted edge between two memories."""

    from_id: str
    to_id: str
    type: str
    weight: float
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Conflict:
    """A statement that was refused because it contradicts a memory that was kept."""

    id: str
    kept_id: str
    rule: str
    scope: str
    kind: Kind
    key: str
    query: str
    value: str
    source: Source
    confidence: float
    valid_from: datetime
    principal: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Review:
    """A memory that waits for a person's word, and why."""

    memory: Memory
    reason: str
    signs: tuple[str, ...]
    score: float
    copies: int
    at: datetime | None
    principal: str
