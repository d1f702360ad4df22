"""A memory on its way through the write pipeline."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from hindsight_store.records import Memory

CEILINGS = {"user": 1.0, "tool": 0.95, "import": 0.95, "inference": 0.7, "retrospective": 0.7}  # SPEC I2, D3


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A number lowered to what the source may claim."""

    field: str
    asked: float
    stored: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A checked statement, not yet admitted and not yet written."""

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
    metadata: Mapping[str, Any]
    is_core: bool
    valid_from: datetime
    valid_to: datetime | None
    expires_at: datetime | None
    derived_from: tuple[UUID, ...]
    adjustments: tuple[Adjustment, ...] = field(default=())
    is_instruction: bool = False  # whoever found it takes it for an order to the agent
    path: str = "memory"  # where the request has it, for errors that show later

    @property
    def content(self) -> str:
        """The text whose embedding stands for the whole memory."""
        return content_text(self.key, self.trigger, self.value)

    @property
    def trust(self) -> float:
        """How much its source may be believed, 0 to 1."""
        return CEILINGS[self.source]


def content_text(key: str, trigger: str, value: str) -> str:
    """Key, trigger and value as one text to embed."""
    return "\n".join(part for part in (key, trigger, value) if part)


def lower_to_ceiling(source: str, importance: float, confidence: float) -> tuple[float, float, tuple[Adjustment, ...]]:
    """Importance and confidence no higher than the source may claim, and what was lowered."""
    ceiling = CEILINGS[source]
    asked = {"importance": importance, "confidence": confidence}
    lowered = tuple(Adjustment(name, value, ceiling) for name, value in asked.items() if value > ceiling)
    return min(importance, ceiling), min(confidence, ceiling), lowered


Said = TypeVar("Said", Candidate, Memory)


def reword(said: Said, edits: Mapping[str, str], sources: Set[str]) -> Said:
    """A statement in a reviewer's words. A new value claims no source that the reviewer's key may not claim."""
    if "value" not in edits or said.source in sources or CEILINGS[said.source] <= CEILINGS["inference"]:
        return replace(said, **edits)
    importance, confidence, _ = lower_to_ceiling("inference", said.importance, said.confidence)
    return replace(said, **edits, source="inference", importance=importance, confidence=confidence)
