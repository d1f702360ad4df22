"""A recall's query, taken apart into what each channel asks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from hindsight_store import words

from hindsight_recall.periods import Period, find_periods

MAX_TERMS = 256  # the longest are kept: they are the rarest
WHOLE, LAST = 0.7, 0.3  # of a dialogue: all of it, and its last line; found on MADial-Bench, see docs/decisions


@dataclass(frozen=True, slots=True)
class Plan:
    """What the channels ask for one query."""

    texts: Sequence[tuple[str, float]]  # to embed, each with its share of the query's embedding
    wanted: Mapping[str, float]  # term -> weight
    periods: Sequence[Period]  # that the query names


def plan_query(text: str, now: datetime, zone: tzinfo) -> Plan:
    """Take a query apart. Several lines are a dialogue, whose last line counts more."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    texts = [(text.strip(), 1.0)] if len(lines) < 2 else [("\n".join(lines), WHOLE), (lines[-1], LAST)]
    counts = words.terms(text)
    kept = sorted(counts, key=lambda term: (-len(term), term))[:MAX_TERMS]
    return Plan(texts, {term: counts[term] * words.weight(term) for term in kept}, find_periods(text, now, zone))
