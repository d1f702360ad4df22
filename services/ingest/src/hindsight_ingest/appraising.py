"""What an entry of a desk is worth: how long it outlives others. By rules, English and Chinese."""

from dataclasses import replace

from hindsight_language.tokens import Count
from hindsight_store.desks import Entry, Stay

from hindsight_ingest.listening_rules import has_affect
from hindsight_ingest.naming import has_name

LEAST = 0.1  # what importance 0 is worth: it too leaves in the order of its last use
AFFECT = 4.0  # times as long stays what says that something is liked or disliked
ENTITY = 1.5  # and what names somebody or something
JUDGED_CHARS = 1000
SESSION_S, TASK_S = 1800, 3600  # SPEC E1


def appraise(text: str, importance: float) -> float:
    """What an entry is worth, 0.1 to 6.6: importance, times more where it tells a like or dislike, or names something."""
    read = text[:JUDGED_CHARS]
    worth = LEAST + importance
    if has_affect(read):
        worth *= AFFECT
    if has_name(read):
        worth *= ENTITY
    return round(worth, 3)


def weigh_up(entry: Entry, count: Count, ttl_s: int = 0) -> tuple[Entry, Stay]:
    """An entry with what it takes of the budget, and on what terms it stays."""
    text = "\n".join(part for part in (entry.key, entry.trigger, entry.value) if part)
    stay = Stay(appraise(text, entry.importance), ttl_s or (TASK_S if entry.is_task_state else SESSION_S))
    return replace(entry, tokens=max(1, count(text))), stay
