"""How much a memory's importance counts now: its stage of life, and what time has left of it."""

from datetime import datetime, timedelta

from hindsight_store.records import Kept

from hindsight_recall.ranking import Importance

FRESH = timedelta(days=7)
FRESH_WEIGHT = 1.1  # SPEC H1 asks for more, and leaves how much to us; its effect: docs/decisions/0011-recency.md
ARCHIVED_WEIGHT = 0.5
HALF_LIFE_DAYS = 30.0
SLOWING_HITS = 8  # more hits than these slow the fading no further
LEAST = 0.6  # what is left after very long: forgetting lowers, it never deletes
TURN_IMPORTANCE = 0.5


def age_weight(age: timedelta) -> float:
    """What stage and retention leave, at an age, of the importance of a memory that nobody recalled."""
    return _stage(age) * _retention(age, 0)


def _stage(age: timedelta) -> float:
    return FRESH_WEIGHT if age <= FRESH else 1.0


def _retention(age: timedelta, hits: int) -> float:
    """What time leaves: hits make it fade slower. By whole days, so that of two memories of one day the likelier answer wins."""
    return LEAST + (1 - LEAST) * 0.5 ** (age.days / (HALF_LIFE_DAYS * (1 + min(hits, SLOWING_HITS)) ** 0.5))


def importance_of(kept: Kept, now: datetime) -> Importance:
    """What a memory's importance is made of at a moment: core memories do not fade.

    Time counts from when the statement began to hold, not from the last hit: what was returned once would be returned again
    and again, whether it helped or not (docs/decisions/0011-recency.md).
    """
    memory, use = kept.memory, kept.use
    age = max(timedelta(), now - memory.valid_from)
    stage = _stage(age)
    if memory.status == "archived":
        stage = ARCHIVED_WEIGHT
    if memory.is_core:
        return Importance(memory.importance, max(stage, 1.0), 1.0, use.utility)
    return Importance(memory.importance, stage, _retention(age, use.hit_count), use.utility)
