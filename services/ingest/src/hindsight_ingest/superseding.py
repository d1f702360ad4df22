"""Which of two contradicting statements stands, and when each of them holds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from hindsight_store.records import Memory

from hindsight_ingest.candidate import Candidate

MOMENT = timedelta(microseconds=1)  # the shortest time a statement can hold: PostgreSQL's resolution
LAST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Settlement:
    """What becomes of a candidate and of the memories it contradicts."""

    ended: tuple[Memory, ...] = ()  # hold until the candidate begins to
    followed_by: Memory | None = None  # began to hold later, so the candidate holds until then
    kept: Memory | None = None  # stands; the candidate is refused
    reason: str = ""  # why it is refused


def settle(candidate: Candidate, contradicted: Sequence[Memory]) -> Settlement:
    """Decide between a candidate and the memories it contradicts, in the order given.

    Those that begin to hold later are no contradiction of what held before them: the candidate becomes the history that
    leads up to the first of them. Against those that hold when it begins, the surer wins; between equally sure ones the
    candidate, if its source is trusted as much and it begins later. A candidate that says until when it holds ends nothing.
    """
    if candidate.valid_to is not None:
        return Settlement()
    holding = [m for m in contradicted if m.valid_from <= candidate.valid_from]
    for memory in holding:
        if reason := _refusal(candidate, memory):
            return Settlement(kept=memory, reason=reason)
    later = sorted((m for m in contradicted if m.valid_from > candidate.valid_from), key=lambda m: (m.valid_from, m.memory_id))
    return Settlement(tuple(holding), later[0] if later else None)


def _refusal(candidate: Candidate, memory: Memory) -> str:
    if memory.valid_from == LAST:
        return "the memory that was kept begins to hold at the last moment there is"
    if candidate.confidence != memory.confidence:
        return "" if candidate.confidence > memory.confidence else "the memory that was kept is surer"
    if candidate.trust < memory.trust:
        return "the memory that was kept is as sure and from a source trusted more"
    return "" if candidate.valid_from > memory.valid_from else "the memory that was kept is as sure and holds since the same time"


def end(memory: Memory, at: datetime, now: datetime) -> Memory:
    """The memory as it holds until a moment; superseded once that has come."""
    until = max(at, memory.valid_from + MOMENT)
    return replace(memory, valid_to=until, status="superseded" if until <= now else memory.status)


def holds_at(memory: Memory, moment: datetime) -> bool:
    """Whether a moment lies in the valid time of a memory."""
    return memory.valid_from <= moment and (memory.valid_to is None or moment < memory.valid_to)


def place_of(memory: Memory | Candidate) -> tuple[str, str]:
    """The scope and key in which statements can contradict each other."""
    return memory.scope, memory.key
