"""Contexts that are ready for a prompt."""

from dataclasses import dataclass
from typing import Literal

from hindsight_memory.types.memories import Relation
from hindsight_memory.types.recalls import Hit

Section = Literal["desk", "core", "memory", "turn"]
LeftOutReason = Literal["budget", "duplicate", "withheld", "irrelevant"]


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One line of a context, what it is, and how the text cites it."""

    section: Section
    citation: str
    hit: Hit
    line: str
    tokens: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that is not in a context, and why; of a duplicate also what says the same."""

    id: str
    section: Section
    reason: LeftOutReason
    duplicate_of: str = ""
    key: str = ""  # of a memory or desk entry, where it was read
    tokens: int = 0  # that its line would have taken, where they were counted


@dataclass(frozen=True, slots=True)
class Context:
    """A text for a prompt, what is in it and what is not."""

    text: str
    items: tuple[ContextItem, ...]
    relations: tuple[Relation, ...]
    left_out: tuple[LeftOut, ...]
    tokens: int
    budget_tokens: int
    receipt_id: str = ""  # empty without a query
    missing_channels: tuple[str, ...] = ()
    is_partial: bool = False
    is_degraded: bool = False
    agent_id: str = ""
