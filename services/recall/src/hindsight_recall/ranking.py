"""From measured features to ranked places: pure, and all that a receipt needs to compute the same ranking again."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

MEMORY_WEIGHTS = {
    "dense": 0.5,
    "lexical": 0.4,
    "coverage": 0.1,
    "time": 0.15,
    "reference": 0.5,
    "hop": 0.1,
    "relation": 0.3,
    "rerank": 0.5,
}  # found on the development sets: docs/decisions/0003-scoring.md
TURN_WEIGHTS = {
    "dense": 0.42,
    "lexical": 0.42,
    "coverage": 0.16,
    "near": 0.16,
    "speaker": 0.16,
    "user": 0.08,
    "time": 0.12,
    "question": -0.08,
    "hop": 0.08,
    "rerank": 0.5,
}  # docs/decisions/0007-episodic.md
TOPICAL_PLACES = 7  # that standing instructions and preferences leave to the topic, where there are ten
STANDING_PLACES = 3  # at most, behind them; docs/decisions/0012-standing.md
PLACES_EACH = 3  # an answer gives one place in three to what was not asked, none where there are fewer

Reason = Literal["topic", "standing", "history"]


@dataclass(frozen=True, slots=True)
class Weights:
    """What each feature counts for in a similarity, and what similarity and importance count for in a final score."""

    memory: Mapping[str, float] = field(default_factory=lambda: MEMORY_WEIGHTS)
    turn: Mapping[str, float] = field(default_factory=lambda: TURN_WEIGHTS)
    similarity: float = 0.7
    importance: float = 0.3

    def reranked(self) -> "Weights":
        """The weights where a reranking model has judged the best candidates: it counts its share, all else the rest of 1.

        So a similarity stays within the scale that floors are set on: what the model finds irrelevant falls, and what it
        did not judge cannot pass what it judged by that alone.
        """
        return replace(self, memory=_share_out(self.memory), turn=_share_out(self.turn))

    def without(self, *features: str) -> "Weights":
        """The same, with some features counting nothing."""
        kept = [{f: w for f, w in weights.items() if f not in features} for weights in (self.memory, self.turn)]
        return replace(self, memory=kept[0], turn=kept[1])


def _share_out(weights: Mapping[str, float]) -> Mapping[str, float]:
    share = weights.get("rerank", 0.0)
    return {f: w if f == "rerank" else w * (1 - share) for f, w in weights.items()}


@dataclass(frozen=True, slots=True)
class Importance:
    """What makes the importance that counts now; see lifecycle."""

    stored: float
    stage: float = 1.0
    retention: float = 1.0
    utility: float = 1.0

    @property
    def effective(self) -> float:
        """0 to 1."""
        return clamp(self.stored * self.stage * self.retention * self.utility)


@dataclass(frozen=True, slots=True)
class Finding:
    """How one channel saw something; rank 0 where it is below the end of the channel's run."""

    channel: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Measured:
    """One memory or turn with everything its place depends on."""

    id: str  # a memory's id, or a turn's session, "#" and number
    features: Mapping[str, float]
    importance: Importance
    findings: tuple[Finding, ...] = ()
    is_turn: bool = False
    standing: str = ""
    behind: str = ""  # the newer statement that it stands behind, where history is asked for


@dataclass(frozen=True, slots=True)
class Limits:
    """How many places there are, and from which similarity on."""

    top_k: int
    floor: float = 0.0
    wants_standing: bool = True


@dataclass(frozen=True, slots=True)
class Contribution:
    """One summand of a similarity."""

    feature: str
    value: float
    weight: float


@dataclass(frozen=True, slots=True)
class Place:
    """Something measured, with its scores and why it stands where it stands."""

    measured: Measured
    contributions: tuple[Contribution, ...]
    similarity: float
    final_score: float
    reason: Reason = "topic"


def clamp(value: float) -> float:
    """Within 0 and 1."""
    return min(1.0, max(0.0, value))


def total(contributions: Iterable[Contribution]) -> float:
    """What contributions add up to."""
    return sum(c.value * c.weight for c in contributions)


def score(measured: Measured, weights: Weights) -> Place:
    """The scores of one memory or turn."""
    table = weights.turn if measured.is_turn else weights.memory
    known = sorted(measured.features.items(), key=lambda f: (-abs(f[1] * table.get(f[0], 0.0)), f[0]))
    contributions = tuple(Contribution(name, value, table[name]) for name, value in known if table.get(name))
    similarity = clamp(total(contributions))
    final = weights.similarity * similarity + weights.importance * measured.importance.effective
    return Place(measured, contributions, similarity, final)


def order(measured: Iterable[Measured], weights: Weights) -> list[Place]:
    """Best final score first; then by unclamped similarity, then by id: equal input gives equal output."""
    return sorted((score(m, weights) for m in measured), key=lambda p: (-p.final_score, -total(p.contributions), p.measured.id))


def rank(measured: Iterable[Measured], weights: Weights, limits: Limits) -> tuple[list[Place], list[Place]]:
    """The places of an answer, and the near misses behind them, best first.

    What is below the floor is a near miss. An older statement stands right behind the newer one. The places behind the
    first few go to standing instructions and preferences, which hold whatever is asked.
    """
    ordered = order(measured, weights)
    relevant = _chain([p for p in ordered if p.similarity >= limits.floor])
    answer = relevant[: limits.top_k]
    if limits.wants_standing and limits.top_k >= PLACES_EACH:
        answer = _offer_standing(ordered, relevant, limits.top_k)
    placed = {p.measured.id for p in answer}
    return answer, [p for p in ordered if p.measured.id not in placed]


def _chain(places: Sequence[Place]) -> list[Place]:
    """Older statements moved right behind the newer one; what is behind nothing that is here keeps its place."""
    present = {p.measured.id for p in places}
    older: dict[str, list[Place]] = {}
    for place in places:
        if place.measured.behind in present:
            older.setdefault(place.measured.behind, []).append(replace(place, reason="history"))
    chained: list[Place] = []
    for place in places:
        if place.measured.behind not in present:
            chained += [place, *older.get(place.measured.id, ())]
    return chained


def _offer_standing(ordered: Sequence[Place], relevant: Sequence[Place], top_k: int) -> list[Place]:
    """The first of the relevant, then the best standing instructions and preferences in turn, then the rest."""
    room = min(STANDING_PLACES, top_k // PLACES_EACH)
    first = min(TOPICAL_PLACES, top_k - room)
    head = list(relevant[:first])
    placed = {p.measured.id for p in head}
    free = [p for p in ordered if p.measured.id not in placed]
    sections = [[p for p in free if p.measured.standing == sort][:room] for sort in ("instruction", "preference")]
    turns = [place for pair in _in_turn(*sections) for place in pair][:room]
    standing = [replace(p, reason="standing") for p in turns]
    taken = placed | {p.measured.id for p in standing}
    return [*head, *standing, *(p for p in relevant if p.measured.id not in taken)][:top_k]


def _in_turn(instructions: Sequence[Place], preferences: Sequence[Place]) -> Iterable[tuple[Place, ...]]:
    for n in range(max(len(instructions), len(preferences))):
        yield tuple(section[n] for section in (instructions, preferences) if n < len(section))
