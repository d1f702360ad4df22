"""What the client takes and returns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Kind = Literal["preference", "fact", "entity", "state", "correction", "summary", "experience"]
SourceKind = Literal["user", "tool", "inference", "retrospective", "import"]
Status = Literal["active", "pending_review", "superseded", "archived", "deletable", "deleted"]
Mode = Literal["semantic", "tag", "hybrid"]
HitReason = Literal["topic", "standing", "history"]
Flag = Literal["contradicts_context", "odd_one_out", "under_review", "unverified"]
ForgetMode = Literal["fade", "delete"]
TurnRole = Literal["user", "assistant", "tool_call", "tool_result"]
Right = Literal["read", "write", "admin", "operator", "instruct"]


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
class Finding:
    """How one channel saw a hit; rank 0 is below the end of its list."""

    channel: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Contribution:
    """One summand of a similarity."""

    feature: str
    value: float
    weight: float


@dataclass(frozen=True, slots=True)
class Turn:
    """One message or tool call of a session; session, number, scope and masked are set in answers only."""

    role: TurnRole
    content: str = ""
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    result: str = ""
    is_error: bool = False
    at: datetime | None = None
    session_id: str = ""
    turn: int = 0
    scope: str = ""
    masked: tuple[str, ...] = ()  # the rules that found a secret in it, which was masked before it was stored


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something worth keeping that was found in a turn."""

    turn: int
    trigger: str  # preference, entity, state, correction
    rule: str
    kind: str
    key: str
    query: str
    value: str
    importance: float
    confidence: float
    timing: str  # now; round: when the round closes; desk: never a memory


@dataclass(frozen=True, slots=True)
class Observed:
    """What an observe kept: the number of its first turn, how many turns are new, and what they hold worth keeping."""

    first_turn: int
    added: int
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """What a call ended: the session's last task (empty: none), and whether it is looked back on now."""

    task_id: str
    looks_back: bool


@dataclass(frozen=True, slots=True)
class Task:
    """A task found in a session; its turns are first_turn to end_turn, half-open."""

    id: str
    first_turn: int
    end_turn: int
    boundary: str  # what ended it: client, done, chain, resolved, topic, idle, end
    outcome: str
    state: str  # waiting, remembered, nothing
    reason: str
    judged_by: str
    experience_id: str
    memory_ids: tuple[str, ...]
    looks: int
    created_at: datetime
    looked_at: datetime | None


@dataclass(frozen=True, slots=True)
class Session:
    """A session as it stands."""

    id: str
    scope: str
    started_at: datetime
    last_turn_at: datetime
    ended_at: datetime | None
    turns: int
    summary_id: str
    judged_by: str
    tasks: tuple[Task, ...]


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
class Review:
    """A memory that waits for a person's word, and why."""

    memory: Memory
    reason: str
    signs: tuple[str, ...]
    score: float
    copies: int
    at: datetime | None
    principal: str


Access = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class NewGrant:
    """What to open to another agent: memories of a scope (a trailing "*" makes a prefix; "*": all) whose keys begin so."""

    grantee_agent_id: str
    scope: str
    key_prefix: str = ""
    access: Access = "read"
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """Memories of an agent that are open to another one."""

    id: str
    agent_id: str
    grantee_agent_id: str
    scope: str
    key_prefix: str
    access: Access
    created_by: str
    created_at: datetime | None
    expires_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory, or a turn where turns were asked for, with its place in the answer and its reasons."""

    subject: Memory | Turn
    rank: int
    similarity: float
    final_score: float
    effective_importance: float
    findings: tuple[Finding, ...]
    contributions: tuple[Contribution, ...]
    reason: HitReason = "topic"
    flags: tuple[Flag, ...] = ()  # why to read it with care

    @property
    def memory(self) -> Memory:
        """The memory; a TypeError where the hit is a turn."""
        if not isinstance(self.subject, Memory):
            raise TypeError("the hit is a turn")
        return self.subject


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits, best first; channels that could not be asked; in tag mode where the next page begins."""

    hits: tuple[Hit, ...]
    missing_channels: tuple[str, ...] = ()
    next_page_token: str = ""
    is_partial: bool = False  # some channels are missing because time was up
    is_degraded: bool = False  # some channels are missing because what they need does not answer
    receipt_id: str = ""  # explains the answer later; empty in tag mode
    withheld: Mapping[str, Flag] = field(default_factory=dict)  # memories that the guard kept out, by id
    agent_id: str = ""  # that was asked; a memory that another has opened to it has that one's

    def owner_of(self, hit: Hit) -> str:
        """The agent whose memory a hit is, where it is not the one that was asked."""
        owner = hit.subject.agent_id if isinstance(hit.subject, Memory) else self.agent_id
        return owner if owner != self.agent_id else ""


@dataclass(frozen=True, slots=True)
class Considered:
    """One memory or turn in the account of a recall: its place (0: a near miss) and what made it."""

    memory_id: str  # empty where it is a turn
    session_id: str  # empty where it is a memory
    turn: int
    rank: int
    reason: HitReason | Literal[""]
    similarity: float
    final_score: float
    contributions: tuple[Contribution, ...]
    importance: tuple[float, float, float, float]  # stored, stage, retention, utility
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class ChannelAccount:
    """What one channel found in one recall; why it is missing, empty where it is not."""

    channel: str
    found: int
    missing: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """The account of one recall."""

    receipt_id: str
    at: datetime | None
    query: str
    mode: Mode
    top_k: int
    relevance_floor: float
    weight_similarity: float
    weight_importance: float
    hits: tuple[Considered, ...]
    near_misses: tuple[Considered, ...]
    channels: tuple[ChannelAccount, ...]
    took_ms: Mapping[str, float]
    withheld: Mapping[str, Flag] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Difference:
    """Where one memory or turn stands in the answers of then and now; 0: in none."""

    memory_id: str
    session_id: str
    turn: int
    rank_then: int
    rank_now: int


@dataclass(frozen=True, slots=True)
class ThenAndNow:
    """A recall asked again, of what was recorded then and of what is recorded now."""

    then: tuple[Hit, ...]
    now: tuple[Hit, ...]
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """Whether a turn needs a recall, how likely that is, and why; channels that could not be asked."""

    should_recall: bool
    score: float
    threshold: float
    reasons: tuple[str, ...]
    missing_channels: tuple[str, ...] = ()


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


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its secret."""

    id: str
    tenant: str
    name: str
    agent_ids: tuple[str, ...]
    default_agent_id: str
    scopes: tuple[str, ...]
    rights: tuple[str, ...]
    sources: tuple[str, ...]
    created_at: datetime | None
    expires_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key to be made; what is not given means what admin.proto says."""

    tenant: str = ""
    name: str = ""
    agent_ids: Sequence[str] = ()
    default_agent_id: str = ""
    scopes: Sequence[str] = ()
    rights: Sequence[Right] = ()
    sources: Sequence[SourceKind] = ()
    expires_at: datetime | None = None
