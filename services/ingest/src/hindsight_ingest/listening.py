"""Listening: what of a turn is worth keeping, and which rule says so. No LLM."""

from dataclasses import dataclass
from typing import Literal

from hindsight_store.turns import Turn

from hindsight_ingest import speech

Timing = Literal["now", "round", "desk"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement of a turn that is worth keeping. Texts are the turn's own words."""

    turn: int
    trigger: str  # preference, entity, state, correction
    rule: str
    kind: str  # of the memory it would become
    key: str
    query: str
    value: str
    tags: tuple[str, ...]
    importance: float
    confidence: float
    timing: Timing  # when it is kept: at once, when the round closes; or not: task state, for the desk
    name: str = ""  # of an entity


def listen(turn: Turn, before: Turn | None = None) -> list[Finding]:
    """What of a turn is worth keeping, given the turn before it. Whether an entity is new is for the caller to find out."""
    if turn.role != "user":
        return []
    text = turn.content[: speech.MAX_CHARS]
    corrections = speech.find_corrections(text)
    found = [
        Finding(turn.turn, "correction", "correction", "correction", clip_key(one), "", one, (), 0.7, 0.9, "now")
        for one in corrections
    ]
    return found + [
        Finding(turn.turn, "preference", "preference", "preference", clip_key(one), "", one, (), 0.7, 0.9, "round")
        for one in speech.find_preferences(text)
        if one not in corrections
    ]


def clip_key(text: str) -> str:
    """A key from a statement's beginning."""
    return text[:64].strip()
