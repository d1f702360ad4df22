"""A recall's query, taken apart into what each channel asks."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from hindsight_store import words

from hindsight_recall.periods import Period, find_periods

MAX_TERMS = 256  # the longest are kept: they are the rarest
WHOLE, LAST = 0.7, 0.3  # of a dialogue: all of it, and its last line; found on MADial-Bench: docs/decisions/0003-scoring.md
HISTORY_CHARS = 2000  # at the end of a query, where it asks for history
REFERENCE_CHARS = 500  # at its beginning, where it refers back
_FUNCTION = (  # what follows "that" where it is no reference to a thing
    r"(?:is|was|are|were|will|would|can|could|has|have|had|i|you|we|they|he|she|it|the|a|an|my|your|one|way|said|time|day|week|"
    r"month|year)"
)
REFERENCE = re.compile(
    rf"\b(?:that|this|those|these) (?!{_FUNCTION}\b)((?:[\w'’-]+ ?){{1,3}})"
    r"|(?:那|这|该)(?:[个份笔件单台家次批条张位趟场本封只部项款](?![天月年周])|(?=[\u4e00-\u9fff]))([\u4e00-\u9fff]{2,8})",
    re.IGNORECASE,
)
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
    reference: frozenset[str] = frozenset()  # terms of what it refers back to: "that order", 那个订单


def plan_query(text: str, now: datetime, zone: tzinfo) -> Plan:
    """Take a query apart. Several lines are a dialogue, whose last line counts more."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    texts = [(text.strip(), 1.0)] if len(lines) < 2 else [("\n".join(lines), WHOLE), (lines[-1], LAST)]
    counts = words.terms(text)
    kept = sorted(counts, key=lambda term: (-len(term), term))[:MAX_TERMS]
    wanted = {term: counts[term] * words.weight(term) for term in kept}
    return Plan(
        texts=texts,
        wanted=wanted,
        periods=find_periods(text, now, zone),
        wants_history=bool(HISTORY.search(text[-HISTORY_CHARS:])),
        is_dialogue=len(lines) > 1,
        reference=_reference(text),
    )


def _reference(text: str) -> frozenset[str]:
    match = REFERENCE.search(text[:REFERENCE_CHARS])
    if match is None:
        return frozenset()
    return frozenset(list(words.names(match[1] or match[2]))[: 2 if match[1] else 1])
