"""A recall's query, taken apart into what each channel asks."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from hindsight_store import words

from hindsight_recall.periods import Period, find_periods

MAX_TERMS = 256  # the longest are kept: they are the rarest
WHOLE, LAST = 0.7, 0.3  # of a dialogue: all of it, and its last line; found on MADial-Bench, see docs/decisions
HISTORY_CHARS = 2000
HISTORY = re.compile(
    r"\b(?:used to|previous(?:ly)?|former(?:ly)?|originally|in the past|back then|before that|at first|history of|over time|"
    r"(?:has|have|had) (?:\w+ ){1,4}changed|did (?:\w+ ){1,4}change|changes? (?:to|of|in)|(?:was|were|did) [^?.]{1,60} before|"
    r"until (?:recently|now)|old(?:er)? (?:address|value|status|plan|name|number|version))\b|"
    r"以前|之前(?!\d)|原来|原先|曾经|过去|历史|怎么变|变化|变过|改过|换过|最初|一开始|旧(?:地址|电话|号码|方案|计划)|历来|先前",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What the channels ask for one query."""

    texts: Sequence[tuple[str, float]]  # to embed, each with its share of the query's embedding
    wanted: Mapping[str, float]  # term -> weight
    periods: Sequence[Period]  # that the query names
    wants_history: bool  # asks how something was before
    is_dialogue: bool


def plan_query(text: str, now: datetime, zone: tzinfo) -> Plan:
    """Take a query apart. Several lines are a dialogue, whose last line counts more."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    texts = [(text.strip(), 1.0)] if len(lines) < 2 else [("\n".join(lines), WHOLE), (lines[-1], LAST)]
    counts = words.terms(text)
    kept = sorted(counts, key=lambda term: (-len(term), term))[:MAX_TERMS]
    wanted = {term: counts[term] * words.weight(term) for term in kept}
    return Plan(texts, wanted, find_periods(text, now, zone), bool(HISTORY.search(text[-HISTORY_CHARS:])), len(lines) > 1)
