"""Recalls: answers with their reasons, receipts, and the verdict whether one is needed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from hindsight_memory.types.desks import DeskEntry
from hindsight_memory.types.memories import Memory
from hindsight_memory.types.sessions import Turn

Mode = Literal["semantic", "tag", "hybrid"]
Working = Literal["also", "first", "only"]
HitReason = Literal["topic", "standing", "history"]
ReportedOutcome = Literal["success", "partial", "failure"]
Flag = Literal["contradicts_context", "odd_one_out", "under_review", "unverified"]


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
class Hit:
    """A memory, with its place in the answer and its reasons; or a turn or an entry of a desk, where these were asked for."""

    subject: Memory | Turn | DeskEntry
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
        """The memory; a TypeError where the hit is something else."""
        if not isinstance(self.subject, Memory):
            raise TypeError(f"the hit is a {type(self.subject).__name__}")
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
    is_from_working: bool = False  # the desk, and what was written or recalled a moment ago, gave all of it

    def owner_of(self, hit: Hit) -> str:
        """The agent whose memory a hit is, where it is not the one that was asked."""
        owner = hit.subject.agent_id if isinstance(hit.subject, Memory) else self.agent_id
        return owner if owner != self.agent_id else ""


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """Whether a turn needs a recall, how likely that is, and why; channels that could not be asked."""

    should_recall: bool
    score: float
    threshold: float
    reasons: tuple[str, ...]
    missing_channels: tuple[str, ...] = ()


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
    flags: tuple[Flag, ...] = ()  # why it was to be read with care


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
    outcome: ReportedOutcome | Literal[""] = ""  # what became of the answer; empty: nothing was reported
    note: str = ""
    final_prompt: str = ""
    reported_at: datetime | None = None
    as_of: datetime | None = None  # what held at this moment was asked; None: what holds


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
