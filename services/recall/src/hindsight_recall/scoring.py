"""From measured features to ranked hits: every number that makes a score is kept beside it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from hindsight_runtime.embedder import Model
from hindsight_store.records import Features, Found, Kept, WordStatistics
from hindsight_store.turns import Turn

K1, B = 1.2, 0.75  # BM25, Robertson & Zaragoza 2009
TURN_IMPORTANCE = 0.5
FULL_MATCH = 1.3  # BM25 of a text that holds every term, about, in units of the terms' summed idf


@dataclass(frozen=True, slots=True)
class Weights:
    """What each feature counts for; found on the development sets, see docs/decisions/0003-scoring.md."""

    dense: float = 0.5
    lexical: float = 0.5
    coverage: float = 0.2
    similarity: float = 0.7
    importance: float = 0.3

    def hit(self, subject: Kept | Turn, contributions: Sequence["Contribution"], findings: Sequence["Finding"]) -> "Hit":
        """A hit whose similarity is the sum of the contributions."""
        similarity = _clamp(total(contributions))
        importance = effective_importance(subject)
        final = self.similarity * similarity + self.importance * importance
        return Hit(subject, similarity, final, importance, tuple(findings), tuple(contributions))


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
    """A memory, or a turn, with its place in the answer."""

    subject: Kept | Turn
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

    def score(self, candidates: Sequence[Features], runs: Mapping[str, Sequence[Found]]) -> list[Hit]:
        """All candidates as hits, in no order."""
        places = {channel: {f.memory_id: i for i, f in enumerate(run, start=1)} for channel, run in runs.items()}
        return [self._score(features, places) for features in candidates]

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
        findings.sort(key=lambda f: (f.rank or math.inf, f.channel))
        return self.weights.hit(features.kept, contributions, findings)


def in_order(hits: Iterable[Hit]) -> list[Hit]:
    """Hits, best final score first; then by unclamped similarity, then by id."""
    return sorted(hits, key=lambda h: (-h.final_score, -total(h.contributions), *_identity(h.subject)))


def _identity(subject: Kept | Turn) -> tuple[str, int]:
    return subject.id if isinstance(subject, Turn) else (str(subject.memory.memory_id), -1)


def effective_importance(subject: Kept | Turn) -> float:
    """The importance that counts now, 0 to 1: what was stored times the utility that use has shown; a turn's is middling."""
    if isinstance(subject, Turn):
        return TURN_IMPORTANCE
    return _clamp(subject.memory.importance * subject.use.utility)


def total(contributions: Sequence[Contribution]) -> float:
    """What contributions add up to."""
    return sum(c.value * c.weight for c in contributions)


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))
