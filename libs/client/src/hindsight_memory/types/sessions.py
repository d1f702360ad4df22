"""Sessions: turns, what is worth keeping in them, and tasks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

TurnRole = Literal["user", "assistant", "tool_call", "tool_result"]


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
