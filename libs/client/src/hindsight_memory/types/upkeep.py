"""What looking after a tenant shows: jobs, the audit log, withdrawals, erasures."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Job:
    """Follow-up work of a change."""

    id: str
    kind: str
    agent_id: str
    state: str  # queued, running, dead
    attempts: int
    error: str
    created_at: datetime
    run_after: datetime


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One line of the audit log; the agent is empty for what concerns the whole tenant."""

    id: str
    at: datetime
    agent_id: str
    principal: str
    action: str
    subject: str
    outcome: str


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which lines of the audit log; what is empty does not count. Half-open."""

    agent_id: str = ""
    principal: str = ""
    action: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class MemorySource:
    """Where memories come from: one of a key (its id), a session, a tool and a memory, and when. Half-open."""

    principal: str = ""
    session_id: str = ""
    tool: str = ""
    memory_id: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """What was withdrawn of a source; without an id where there was nothing to withdraw."""

    id: str
    kind: str
    source: str
    at: datetime | None
    principal: str
    reinstated_at: datetime | None
    withdrawn: int
    rolled_back: int
    turns: int


@dataclass(frozen=True, slots=True)
class ErasureReceipt:
    """Proof of an erasure, without any text."""

    id: str
    kind: str
    name_hash: str
    asked_at: datetime | None
    removed_at: datetime | None
    vacuumed_at: datetime | None
    is_rewritten: bool
    caches_cleared_at: datetime | None
    counts: Mapping[str, int]
    ids_digest: str
    signature: str


@dataclass(frozen=True, slots=True)
class Erasure:
    """An erasure: how far it is (empty for a dry run, pending, removed, done), what it removes, by table, and its receipt."""

    id: str
    state: str
    counts: Mapping[str, int]
    receipt: ErasureReceipt | None = None
