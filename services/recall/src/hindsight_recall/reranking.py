"""The best candidates judged by a model that reads query and text together: what it reads, and what comes of it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hindsight_store.desks import Entry
from hindsight_store.records import Kept
from hindsight_store.turns import Turn, search_text

from hindsight_recall.ranking import Finding, Measured

RERANKED = 30  # of the first ranking; each costs a forward pass over query and text
READ_CHARS = 8192  # sent of each text: more than a cross-encoder's window takes


def passage_of(subject: Kept | Turn | Entry) -> str:
    """What a cross-encoder reads of a memory, a turn or a desk's entry: its beginning, where it is long."""
    if isinstance(subject, Turn):
        return search_text(subject)[:READ_CHARS]
    said = subject.memory if isinstance(subject, Kept) else subject
    return f"{said.key}\n{said.value}"[:READ_CHARS]


def with_relevances(measured: Sequence[Measured], relevances: Mapping[str, float]) -> list[Measured]:
    """The same with the relevances, by id, as the feature and the finding "rerank"; ties of rank break by id."""
    ordered = sorted(relevances, key=lambda name: (-relevances[name], name))
    findings = {name: Finding("rerank", place, relevances[name]) for place, name in enumerate(ordered, start=1)}
    return [_judged(m, findings[m.id]) if m.id in findings else m for m in measured]


def _judged(measured: Measured, finding: Finding) -> Measured:
    findings = sorted((*measured.findings, finding), key=lambda f: (f.rank or math.inf, f.channel))
    return replace(measured, features={**measured.features, "rerank": finding.score}, findings=tuple(findings))
