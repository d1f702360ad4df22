"""The episodic channel: turns of observed sessions, scored with what stands around them."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hindsight_store.turns import (
    Turn,
    TurnFeatures,
    TurnId,
    TurnMatch,
    TurnMatches,
    TurnReader,
    TurnSelection,
    reading_turns,
    search_text,
)

from hindsight_recall.lifecycle import TURN_IMPORTANCE
from hindsight_recall.periods import Period, nearness
from hindsight_recall.ranking import Finding, Importance, Measured, order
from hindsight_recall.scoring import FULL_MATCH, K1, B, Scale
from hindsight_recall.searching import HOP_HITS, HOP_TERMS, MOMENTS, Ask, Embedding, names_to_follow, rare_at
from hindsight_recall.stages import FOLLOW, NEAREST, SEARCH, Stages

WINDOW, NEXT = 0.7, 0.2  # what the window and the next turn count beside the turn itself; docs/decisions/0007
AROUND = 5  # turns either side whose words count as covered
QUESTION_CHARS = 200
SPEAKER_CHARS = 64
EPISODIC = "episodic"
TURN_CHANNELS = ("turn", "window")  # whose embeddings are stored
_SPEAKER = re.compile(r"\s*([^\s:：][^:：\n]{0,39}?)\s*[:：]")
_SELF = re.compile(r"\b(?:i|my|me|we|our|i'm|i've)\b|我", re.IGNORECASE)
_SENTENCE = re.compile(r"[^.!?。！？]*[?？]\s*$")


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
class TurnGauge:
    """Measures turns against one query. Without a scale there are no cosines, without evidence meaning alone counts."""

    scale: Scale | None
    evidence: Evidence | None
    text: str
    periods: Sequence[Period]

    def measure(self, found: Sequence[TurnFeatures], ranks: Mapping[TurnId, int], hops: Mapping[TurnId, float]) -> list[Measured]:
        """Turns with their features, in order; `ranks` are their places in the channel's run."""
        named = self._named_speaker([f.turn for f in found])
        alone = [self._measure(f, named, ranks.get(f.turn.id, 0), hops.get(f.turn.id, 0.0)) for f in found]
        if self.evidence is None:
            return alone
        relevances = {f.turn.id: _relevance(m.features) for f, m in zip(found, alone, strict=True)}
        return [_beside(m, f.turn.id, relevances) for f, m in zip(found, alone, strict=True)]

    def _measure(self, found: TurnFeatures, named: str, place: int, hop: float) -> Measured:
        turn, values = found.turn, {}
        if self.scale is not None and found.turn_cosine is not None:
            window = found.window_cosine if found.window_cosine is not None else found.turn_cosine
            values["dense"] = self.scale.read((found.turn_cosine + WINDOW * window) / (1 + WINDOW))
        if self.evidence is not None:
            values |= {
                "lexical": self.evidence.share(turn.id),
                "coverage": self.evidence.coverage(turn.id),
                "speaker": float(bool(named) and speaker_of(turn) == named),
                "user": float(turn.role == "user"),
                "time": nearness(turn.at, self.periods),
                "question": float(is_pure_question(turn.content)),
                "hop": hop,
            }
        features = {name: value for name, value in values.items() if value}
        finding = Finding(EPISODIC, place, _relevance(features))
        return Measured(turn_name(turn.id), features, Importance(TURN_IMPORTANCE), (finding,), is_turn=True)

    def _named_speaker(self, turns: Sequence[Turn]) -> str:
        """The one speaker of these turns that the query names, or none."""
        speakers = {speaker_of(turn) for turn in turns} - {""}
        named = {
            s for s in speakers if re.search(rf"(?<!\w){re.escape(s)}(?!\w)", self.text, re.IGNORECASE) or _is_in(s, self.text)
        }
        return named.pop() if len(named) == 1 else ""


def _relevance(features: Mapping[str, float]) -> float:
    return (features.get("dense", 0.0) + features.get("lexical", 0.0)) / 2


def _beside(measured: Measured, turn_id: TurnId, relevances: Mapping[TurnId, float]) -> Measured:
    """A turn with the relevance of the turns right before and after it, as far as these were found too: their mean."""
    session_id, number = turn_id
    near = (relevances.get((session_id, number - 1), 0.0) + relevances.get((session_id, number + 1), 0.0)) / 2
    return replace(measured, features={**measured.features, "near": near}) if near else measured


def turn_name(turn_id: TurnId) -> str:
    """A turn's id as one text; numbers sort as numbers do."""
    session_id, number = turn_id
    return f"{session_id}#{number:09}"


def _is_in(speaker: str, text: str) -> bool:
    return not speaker.isascii() and speaker in text


def speaker_of(turn: Turn) -> str:
    """Who speaks, where the turn begins with a name and a colon; empty otherwise."""
    match = _SPEAKER.match(turn.content[:SPEAKER_CHARS])
    return match[1] if match else ""


def is_pure_question(content: str) -> bool:
    """Whether a turn only asks, and so tells nothing: short, ends in a question, and does not speak of oneself there."""
    text = content.strip()
    if len(text) > QUESTION_CHARS:  # before any pattern: a turn may be long
        return False
    last = _SENTENCE.search(text)
    return bool(last) and not _SELF.search(last[0])


@dataclass(slots=True)
class EpisodicSearch:
    """Finds and measures turns. One for one recall."""

    ask: Ask
    stages: Stages
    turns: dict[TurnId, Turn] = field(default_factory=dict)  # what was measured
    _matches: TurnMatches = field(default_factory=TurnMatches)

    @property
    def _selection(self) -> TurnSelection:
        chosen = self.ask.selection
        until = min((t for t in (chosen.valid_until, chosen.begun_by) if t), default=None)
        return TurnSelection(chosen.scopes, chosen.valid_since, until, chosen.known_at)

    async def search_words(self) -> None:
        """All turns with any of the query's words."""
        ask = self.ask

        async def match() -> TurnMatches:
            async with reading_turns(ask.pool, ask.tenant_id) as reader:
                return await reader.match_words(ask.bank_id, self._selection, ask.plan.wanted)

        self._matches = await self.stages.within(SEARCH, [EPISODIC], match, TurnMatches())

    async def measure(self, vector: Embedding | None, scale: Scale | None, *, by_meaning_alone: bool) -> list[Measured]:
        """Turns found by words, meaning or time, measured; with what one hop from the best of them adds."""
        ask = self.ask
        alone = by_meaning_alone and vector is not None
        evidence = Evidence(self._matches, ask.plan.wanted)
        best = [] if alone else evidence.best(ask.depth)
        ranks = {turn_id: rank for rank, (turn_id, _) in enumerate(best, start=1)}
        gauge = TurnGauge(scale, None if alone else evidence, ask.text, ask.plan.periods)
        nearest: list[TurnId] = []
        if vector:  # in a transaction of its own: a statement that is given up for the deadline fails all of it
            async with reading_turns(ask.pool, ask.tenant_id) as reader:
                nearest = await self.stages.within(NEAREST, [EPISODIC], lambda: self._nearest(reader, vector), [])
        async with reading_turns(ask.pool, ask.tenant_id) as reader:
            found = await self._fetch(reader, vector, {*ranks, *nearest})
            first = order(gauge.measure(found, ranks, {}), ask.weights)
            if alone or not first or ask.plan.is_dialogue:
                return gauge.measure(found, ranks, {})
            origin = next(t for t in self.turns.values() if turn_name(t.id) == first[0].measured.id)
            hops = await self.stages.within(FOLLOW, ["relation"], lambda: self._hop(reader, origin), {}, name="turn hop")
        if added := hops.keys() - self.turns.keys():
            async with reading_turns(ask.pool, ask.tenant_id) as reader:
                found += await self._fetch(reader, vector, added)
        return gauge.measure(found, ranks, hops)

    async def _nearest(self, reader: TurnReader, vector: Embedding) -> list[TurnId]:
        ask, found = self.ask, dict[TurnId, None]()
        for channel in TURN_CHANNELS:
            run = await reader.search_embeddings(ask.bank_id, self._selection, channel, vector, limit=ask.depth)
            found |= {turn_id: None for turn_id, _ in run}
        for period in ask.plan.periods:
            within = await reader.within(ask.bank_id, self._selection, period.since, period.until, limit=MOMENTS)
            found |= dict.fromkeys(within)
        return list(found)

    async def _fetch(self, reader: TurnReader, vector: Embedding | None, ids: Collection[TurnId]) -> list[TurnFeatures]:
        found = await reader.fetch(self.ask.bank_id, sorted(ids), vector) if ids else []
        self.turns |= {f.turn.id: f.turn for f in found}
        return found

    async def _hop(self, reader: TurnReader, origin: Turn) -> dict[TurnId, float]:
        """Turns that share the rarest terms of a turn, those of the query aside: the share of these terms they hold."""
        ask = self.ask
        says = names_to_follow(search_text(origin), ask.plan.wanted)
        if not says:
            return {}
        found = await reader.match_words(ask.bank_id, self._selection, says)
        frequencies = Counter(term for match in found.matches.values() for term in match.counts)
        most = rare_at(found.turns)
        shared = sorted((n, -says[term], term) for term, n in frequencies.items() if 1 < n <= most)
        rare = [term for _, _, term in shared[:HOP_TERMS]]
        whole = sum(says[term] for term in rare) or 1.0
        scores = {i: sum(says[t] for t in rare if t in match.counts) / whole for i, match in found.matches.items()}
        best = sorted(((s, i) for i, s in scores.items() if s and i != origin.id), key=lambda f: (-f[0], f[1]))
        return {turn_id: score for score, turn_id in best[:HOP_HITS]}
