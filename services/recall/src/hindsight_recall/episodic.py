"""The episodic channel: turns of observed sessions, scored with what stands around them."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from hindsight_store.turns import Turn, TurnFeatures, TurnId, TurnMatch, TurnMatches

from hindsight_recall.periods import Period
from hindsight_recall.scoring import FULL_MATCH, K1, B, Contribution, Scale

WINDOW, NEXT = 0.7, 0.2  # what the window and the next turn count beside the turn itself; docs/decisions/0007
AROUND = 5  # turns either side whose words count as covered
NEAR_DAYS = 3.0
QUESTION_CHARS = 200
_SPEAKER = re.compile(r"\s*([^\s:：][^:：\n]{0,39}?)\s*[:：]")
_SELF = re.compile(r"\b(?:i|my|me|we|our|i'm|i've)\b|我", re.IGNORECASE)
_SENTENCE = re.compile(r"[^.!?。！？]*[?？]\s*$")


@dataclass(frozen=True, slots=True)
class TurnWeights:
    """What each feature of a turn counts for; docs/decisions/0007-episodic.md."""

    dense: float = 0.5
    lexical: float = 0.5
    coverage: float = 0.2
    speaker: float = 0.2
    user: float = 0.1
    time: float = 0.1
    question: float = -0.1

    @classmethod
    def of_meaning_alone(cls) -> "TurnWeights":
        """For semantic mode."""
        return cls(lexical=0, coverage=0, speaker=0, user=0, time=0, question=0)


class Evidence:
    """What the words of one query find in the turns of a bank."""

    def __init__(self, found: TurnMatches, wanted: Mapping[str, float]) -> None:
        self._found = found
        self._wanted = wanted
        self._frequencies: dict[str, int] = defaultdict(int)
        for match in found.matches.values():
            for term in match.counts:
                self._frequencies[term] += 1
        self._worth = {term: weight * self._idf(term) for term, weight in wanted.items()}
        self._total = sum(self._worth.values())

    def _idf(self, term: str) -> float:
        frequency = self._frequencies.get(term, 0)
        return math.log(1 + (self._found.turns - frequency + 0.5) / (frequency + 0.5))

    def _bm25(self, counts: Iterable[tuple[str, int]], length: float, mean_length: float) -> float:
        norm = K1 * (1 - B + B * length / mean_length)
        return sum(self._worth[term] * count * (K1 + 1) / (count + norm) for term, count in counts)

    def share(self, turn_id: TurnId) -> float:
        """How much of the query a turn's words explain, with its window and the next turn, about 0 to 1."""
        if not self._total:
            return 0.0
        session_id, number = turn_id
        mean = self._found.mean_length
        own, before, after = (self._found.matches.get((session_id, n)) for n in (number, number - 1, number + 1))
        score = self._alone(own) + WINDOW * self._joint(own, before, mean, number) + NEXT * self._alone(after)
        return score / ((1 + WINDOW + NEXT) * FULL_MATCH * self._total)

    def _alone(self, match: TurnMatch | None) -> float:
        return self._bm25(match.counts.items(), match.length, self._found.mean_length) if match else 0.0

    def _joint(self, own: TurnMatch | None, before: TurnMatch | None, mean: float, number: int) -> float:
        counts: dict[str, int] = defaultdict(int)
        for match in (own, before):
            for term, count in match.counts.items() if match else ():
                counts[term] += count
        lengths = [own.length if own else mean] + ([before.length if before else mean] if number else [])
        return self._bm25(counts.items(), sum(lengths), 2 * mean)

    def coverage(self, turn_id: TurnId) -> float:
        """The share of the query's idf mass that occurs in the turn or in up to five either side of it."""
        session_id, number = turn_id
        terms: set[str] = set()
        for n in range(number - AROUND, number + AROUND + 1):
            if match := self._found.matches.get((session_id, n)):
                terms.update(match.counts)
        return sum(self._worth[term] for term in terms) / self._total if self._total else 0.0

    def best(self, limit: int) -> list[tuple[TurnId, float]]:
        """The lexical run of turns: best share first, ties by id."""
        near = {(s, n + step) for s, n in self._found.matches for step in (0, 1)}
        scored = [(turn_id, self.share(turn_id)) for turn_id in near]
        return sorted(scored, key=lambda f: (-f[1], f[0]))[:limit]


@dataclass(frozen=True, slots=True)
class TurnScorer:
    """Scores turns for one query."""

    weights: TurnWeights
    scale: Scale | None
    evidence: Evidence
    text: str
    periods: Sequence[Period]

    def score(self, found: Sequence[TurnFeatures]) -> list[tuple[TurnFeatures, tuple[Contribution, ...]]]:
        """Each turn with what its similarity is made of."""
        named = self._named_speaker([f.turn for f in found])
        return [(f, tuple(c for c in self._contributions(f, named) if c.weight)) for f in found]

    def _contributions(self, found: TurnFeatures, named: str) -> Iterable[Contribution]:
        w, turn = self.weights, found.turn
        if self.scale is not None and found.turn_cosine is not None:
            window = found.window_cosine if found.window_cosine is not None else found.turn_cosine
            cosine = (found.turn_cosine + WINDOW * window) / (1 + WINDOW)
            yield Contribution("dense", self.scale.read(cosine), w.dense)
        yield Contribution("lexical", self.evidence.share(turn.id), w.lexical)
        yield Contribution("coverage", self.evidence.coverage(turn.id), w.coverage)
        if named and speaker_of(turn) == named:
            yield Contribution("speaker", 1.0, w.speaker)
        if turn.role == "user":
            yield Contribution("user", 1.0, w.user)
        if is_near(turn.at, self.periods):
            yield Contribution("time", 1.0, w.time)
        if is_pure_question(turn.content):
            yield Contribution("question", 1.0, w.question)

    def _named_speaker(self, turns: Sequence[Turn]) -> str:
        """The one speaker of these turns that the query names, or none."""
        speakers = {speaker_of(turn) for turn in turns} - {""}
        named = {
            s for s in speakers if re.search(rf"(?<!\w){re.escape(s)}(?!\w)", self.text, re.IGNORECASE) or _is_in(s, self.text)
        }
        return named.pop() if len(named) == 1 else ""


def _is_in(speaker: str, text: str) -> bool:
    return not speaker.isascii() and speaker in text


def speaker_of(turn: Turn) -> str:
    """Who speaks, where the turn begins with a name and a colon; empty otherwise."""
    match = _SPEAKER.match(turn.content)
    return match[1] if match else ""


def is_near(moment: datetime, periods: Sequence[Period]) -> bool:
    """Whether a moment lies within three days of a span the query names."""
    return any(period.distance_days(moment) <= NEAR_DAYS for period in periods)


def is_pure_question(content: str) -> bool:
    """Whether a turn only asks, and so tells nothing: short, ends in a question, and does not speak of oneself there."""
    text = content.strip()
    last = _SENTENCE.search(text)
    return bool(last) and len(text) <= QUESTION_CHARS and not _SELF.search(last[0])
