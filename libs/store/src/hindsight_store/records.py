"""What the database holds, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Memory:
    """One revision of a memory. Field for field a row of `memories`, without what only the search needs."""

    memory_id: UUID
    revision: int
    scope: str
    kind: str
    key: str
    trigger: str
    value: str
    tags: tuple[str, ...]
    importance: float
    confidence: float
    source: str
    session_id: str
    turn: int | None
    principal: str
    trust: float
    metadata: Mapping[str, Any]
    is_core: bool
    status: str
    derived_from: tuple[UUID, ...]
    valid_from: datetime
    valid_to: datetime | None
    known_from: datetime
    known_to: datetime | None
    created_at: datetime
    expires_at: datetime | None
    standing: str = ""  # "instruction" or "preference" where it holds whatever is being asked


@dataclass(frozen=True, slots=True)
class Use:
    """How often a memory was a hit."""

    hit_count: int = 0
    last_hit_at: datetime | None = None
    utility: float = 1.0
    is_doubted: bool = False  # it waits for a person's word


@dataclass(frozen=True, slots=True)
class Grant:
    """Another agent's memories, opened to an agent."""

    grant_id: UUID
    bank_id: int  # the owner's
    owner: str
    grantee: str
    scope: str  # a trailing "*" makes a prefix
    key_prefix: str
    access: str  # read; write, which includes it
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None

    @property
    def scope_prefix(self) -> str | None:
        """How the scopes begin that it opens; None where it opens one alone."""
        return self.scope[:-1] if self.scope.endswith("*") else None

    def admits(self, scope: str, key: str) -> bool:
        """Whether it opens a memory of this scope and key."""
        return self.admits_scope(scope) and key.startswith(self.key_prefix)

    def admits_scope(self, scope: str) -> bool:
        """Whether it opens memories of this scope."""
        return scope == self.scope if self.scope_prefix is None else scope.startswith(self.scope_prefix)


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory with its use: what a reading call returns."""

    memory: Memory
    use: Use
    grant: Grant | None = None  # by which it is seen, where it is another agent's


@dataclass(frozen=True, slots=True)
class Embedded:
    """The embeddings of one revision; the trigger's is absent where there is no trigger."""

    content: Vector
    trigger: Vector | None


@dataclass(frozen=True, slots=True)
class Generation:
    """All embeddings of one model."""

    generation: int
    model_id: str
    model_revision: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Relation:
    """A typed, weighted edge between two memories."""

    from_id: UUID
    type: str
    to_id: UUID
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class RelationSeen:
    """A relation from or to one memory, and since when it has been stated."""

    relation: Relation
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Report:
    """What became of an answer, as it was reported."""

    principal: str
    outcome: str  # success, partial, failure
    note: str
    final_prompt: str
    at: datetime


@dataclass(frozen=True, slots=True)
class KeptReceipt:
    """A receipt as it is kept, and what was reported of it."""

    principal: str  # that asked
    document: bytes
    report: Report | None


@dataclass(frozen=True, slots=True)
class Conflict:
    """A statement that was refused because it contradicts a memory that was kept. Field for field a row of `conflicts`."""

    conflict_id: UUID
    kept_id: UUID
    rule: str
    scope: str
    kind: str
    key: str
    trigger: str
    value: str
    source: str
    session_id: str
    turn: int | None
    confidence: float
    valid_from: datetime
    principal: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Selection:
    """Which memories to look at; None and empty mean any. Ranges are half-open."""

    now: datetime  # what has expired by then is not looked at
    holds_after: datetime | None = None  # what ended by then is not looked at
    begun_by: datetime | None = None  # what began later is not looked at
    known_at: datetime | None = None  # as it was recorded then; None: as it is recorded now
    scopes: tuple[str, ...] | None = None
    scope_prefix: str = ""  # with which the scope begins
    statuses: tuple[str, ...] = ("active",)
    key: str = ""  # exact; a trailing "*" makes a prefix
    kinds: tuple[str, ...] = ()
    any_tags: tuple[str, ...] = ()
    all_tags: tuple[str, ...] = ()
    min_importance: float = 0.0
    min_confidence: float = 0.0
    valid_since: datetime | None = None
    valid_until: datetime | None = None
    created_since: datetime | None = None
    created_until: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """One place in a channel's run."""

    memory_id: UUID
    score: float


@dataclass(frozen=True, slots=True)
class WordStatistics:
    """What BM25 needs to know of the memories looked at."""

    memories: int
    mean_length: float
    frequencies: Mapping[str, int]  # term -> memories that hold it


@dataclass(frozen=True, slots=True)
class Features:
    """What is measured of one memory against one query; None where there is nothing to measure."""

    kept: Kept
    length: float
    counts: Mapping[str, int]  # query term -> occurrences
    content_cosine: float | None
    trigger_cosine: float | None
