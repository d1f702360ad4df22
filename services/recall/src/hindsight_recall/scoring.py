"""From measured features to ranked hits: every number that makes a score is kept beside it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from hindsight_runtime.embedder import Model
from hindsight_store.records import Features, Found, Kept, WordStatistics

K1, B = 1.2, 0.75  # BM25, Robertson & Zaragoza 2009
FULL_MATCH = 1.3  # BM25 of a text that holds every term, about, in units of the terms' summed idf


@dataclass(frozen=True, slots=True)
class Weights:
    """What each feature counts for; found on the development sets, see docs/decisions/0003-scoring.md."""

    dense: float = 0.5
    lexical: float = 0.5
    coverage: float = 0.2
    similarity: float = 0.7
    importance: float = 0.3


@dataclass(frozen=True, slots=True)
class Contribution:
    """One summand of a similarity."""

    feature: str
    value: float
    weight: float


@dataclass(frozen=True, slots=True)
class Finding:
    """How one channel saw a hit; rank 0 where it is below the end of the channel's run."""

    channel: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory with its place in the answer."""

    kept: Kept
    similarity: float
    final_score: float
    effective_importance: float
    findings: tuple[Finding, ...]
    contributions: tuple[Contribution, ...]


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


def bm25(features: Features, wanted: Mapping[str, float], statistics: WordStatistics) -> float:
    """BM25 of a memory for weighted terms; the same formula as the lexical channel's statement."""
    norm = K1 * (1 - B + B * features.length / statistics.mean_length)
    return sum(
        wanted[term] * idf(statistics, term) * count * (K1 + 1) / (count + norm) for term, count in features.counts.items()
    )


@dataclass(frozen=True, slots=True)
class Scorer:
    """Scores the candidates of one recall. Without a scale there are no cosines, without statistics no words."""

    weights: Weights
    scale: Scale | None
    wanted: Mapping[str, float]
    statistics: WordStatistics | None

    def rank(self, candidates: Sequence[Features], runs: Mapping[str, Sequence[Found]]) -> list[Hit]:
        """All candidates as hits, best final score first; then by unclamped similarity, then by id."""
        places = {channel: {f.memory_id: i for i, f in enumerate(run, start=1)} for channel, run in runs.items()}
        scored = [(self._score(features, places), features.kept.memory.memory_id) for features in candidates]
        ordered = sorted(scored, key=lambda s: (-s[0].final_score, -_sum(s[0].contributions), s[1]))
        return [hit for hit, _ in ordered]

    def _score(self, features: Features, places: Mapping[str, Mapping[UUID, int]]) -> Hit:
        contributions, findings = [], []
        memory = features.kept.memory
        if self.scale is not None:
            cosines = {"content": features.content_cosine, "trigger": features.trigger_cosine}
            measured = {channel: cosine for channel, cosine in cosines.items() if cosine is not None}
            if measured:
                contributions.append(Contribution("dense", self.scale.read(max(measured.values())), self.weights.dense))
            findings += [Finding(c, places.get(c, {}).get(memory.memory_id, 0), cosine) for c, cosine in measured.items()]
        if self.statistics is not None and features.counts:
            total = sum(weight * idf(self.statistics, term) for term, weight in self.wanted.items())
            score = bm25(features, self.wanted, self.statistics)
            covered = sum(self.wanted[term] * idf(self.statistics, term) for term in features.counts)
            contributions.append(Contribution("lexical", score / (FULL_MATCH * total), self.weights.lexical))
            contributions.append(Contribution("coverage", covered / total, self.weights.coverage))
            findings.append(Finding("lexical", places.get("lexical", {}).get(memory.memory_id, 0), score))
        similarity = _clamp(_sum(contributions))
        importance = effective_importance(features.kept)
        final = self.weights.similarity * similarity + self.weights.importance * importance
        findings.sort(key=lambda f: (f.rank or math.inf, f.channel))
        return Hit(features.kept, similarity, final, importance, tuple(findings), tuple(contributions))


def effective_importance(kept: Kept) -> float:
    """The importance that counts now, 0 to 1: what was stored times the utility that use has shown."""
    return _clamp(kept.memory.importance * kept.use.utility)


def _sum(contributions: Sequence[Contribution]) -> float:
    return sum(c.value * c.weight for c in contributions)


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))
