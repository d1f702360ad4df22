"""What is measured of a memory against a query, as named features on fixed scales."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from hindsight_runtime.embedder import Model
from hindsight_store.records import Features, Found, WordStatistics
from hindsight_store.words import terms

from hindsight_recall.lifecycle import importance_of
from hindsight_recall.periods import Period, nearness
from hindsight_recall.ranking import Finding, Measured

K1, B = 1.2, 0.75  # BM25, Robertson & Zaragoza 2009
FULL_MATCH = 1.3  # BM25 of a text that holds every term, about, in units of the terms' summed idf


@dataclass(frozen=True, slots=True)
class Scale:
    """How a cosine becomes a relevance: 0 at the floor, 1 a span above it. Fixed for a model."""

    floor: float
    span: float

    @classmethod
    def of(cls, model: Model) -> "Scale":
        """The model's own scale."""
        return cls(model.cosine_floor, model.cosine_span)

    def read(self, cosine: float) -> float:
        """The relevance of a cosine; below 0 and above 1 are possible."""
        return (cosine - self.floor) / self.span


def idf(statistics: WordStatistics, term: str) -> float:
    """How much a term tells: BM25's inverse document frequency, never negative."""
    frequency = statistics.frequencies.get(term, 0)
    return math.log(1 + (statistics.memories - frequency + 0.5) / (frequency + 0.5))


def bm25(counts: Mapping[str, int], length: float, wanted: Mapping[str, float], statistics: WordStatistics) -> float:
    """BM25 of a text that has some of the weighted terms so often; the same formula as the lexical channel's statement."""
    norm = K1 * (1 - B + B * length / statistics.mean_length)
    return sum(wanted[term] * idf(statistics, term) * count * (K1 + 1) / (count + norm) for term, count in counts.items())


@dataclass(frozen=True, slots=True)
class Gauge:
    """Measures memories against one query. Without a scale there are no cosines, without statistics no words."""

    scale: Scale | None
    wanted: Mapping[str, float]
    statistics: WordStatistics | None
    periods: Sequence[Period]
    now: datetime
    reference: frozenset[str] = frozenset()

    def measure(
        self, features: Sequence[Features], runs: Mapping[str, Sequence[Found]], extra: Mapping[UUID, Mapping[str, float]]
    ) -> list[Measured]:
        """Memories with their features, in order; `extra` are features that other memories gave them."""
        places = {channel: {f.memory_id: (n, f.score) for n, f in enumerate(run, 1)} for channel, run in runs.items()}
        whole = self._whole()
        return [self._measure(f, places, extra.get(f.kept.memory.memory_id, {}), whole) for f in features]

    def _whole(self) -> float:
        """What the query's words say together: the same for every memory, and long to add up for a long query."""
        statistics = self.statistics
        return 0.0 if statistics is None else sum(weight * idf(statistics, term) for term, weight in self.wanted.items())

    def _measure(
        self, found: Features, places: Mapping[str, Mapping[UUID, tuple[int, float]]], extra: Mapping[str, float], whole: float
    ) -> Measured:
        memory = found.kept.memory
        values: dict[str, float] = dict(extra)
        seen = {channel: run[memory.memory_id] for channel, run in places.items() if memory.memory_id in run}
        if self.scale is not None:
            cosines = {"content": found.content_cosine, "trigger": found.trigger_cosine}
            measured = {channel: cosine for channel, cosine in cosines.items() if cosine is not None}
            if measured:
                values["dense"] = self.scale.read(max(measured.values()))
            seen |= {channel: (seen.get(channel, (0, 0.0))[0], cosine) for channel, cosine in measured.items()}
        if self.statistics is not None and found.counts:
            words = bm25(found.counts, found.length, self.wanted, self.statistics)
            values["lexical"] = words / (FULL_MATCH * whole)
            values["coverage"] = sum(self.wanted[term] * idf(self.statistics, term) for term in found.counts) / whole
            seen["lexical"] = (seen.get("lexical", (0, 0.0))[0], words)
        if near := nearness(memory.valid_from, self.periods):
            values["time"] = near
        if self.reference and not self.reference.isdisjoint(terms(f"{memory.key}\n{memory.trigger}")):
            values["reference"] = 1.0
        findings = [Finding(channel, place, score) for channel, (place, score) in seen.items()]
        findings.sort(key=lambda f: (f.rank or math.inf, f.channel))
        importance = importance_of(found.kept, self.now)
        return Measured(str(memory.memory_id), values, importance, tuple(findings), standing=memory.standing)
