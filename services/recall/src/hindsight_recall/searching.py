"""The memory channels of one recall: words, standing, time, meaning, and one hop from the best of these."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from uuid import UUID

import asyncpg
from hindsight_store.reader import Rarity, Reader, reading, search_text
from hindsight_store.records import Features, Found, Grant, Kept, Memory, Selection, Vector, WordStatistics
from hindsight_store.words import names

from hindsight_recall.plan import Plan
from hindsight_recall.ranking import Measured, Weights, order
from hindsight_recall.scoring import Gauge, Scale
from hindsight_recall.stages import FOLLOW, NEAREST, SEARCH, Stages

CANDIDATES = 100  # of each channel, or twice top_k
STANDING = 32  # of a selection, the weightiest
MOMENTS = 30  # of each span of time that the query names
VECTOR_CHANNELS = ("content", "trigger")
FOLLOWED = 3  # best hits whose relations are followed
RELATIONS = 60  # of these, the strongest
HOP_CHARS = 4000  # of the first hit
HOP_TERMS_READ, HOP_TERMS, HOP_HITS = 24, 3, 10  # terms looked up, the rarest of them followed, and what these find
HOP_SHARE, HOP_MOST = 3, 20  # a term is rare where at most a third of the memories hold it, and no more than twenty
Embedding = tuple[int, Vector]  # the generation it belongs to, and the numbers


def rare_at(size: int) -> int:
    """How many of so many memories or turns may hold a term that counts as rare."""
    return min(HOP_MOST, size // HOP_SHARE)


def names_to_follow(text: str, besides: Container[str]) -> dict[str, float]:
    """The terms of a first hit that may lead to others, with how much each says; not those that the query has."""
    says = {term: much for term, much in names(text[:HOP_CHARS]).items() if term not in besides}
    return {term: says[term] for term in sorted(says, key=lambda t: (-says[t], t))[:HOP_TERMS_READ]}


@dataclass(frozen=True, slots=True)
class Ask:
    """What one recall asks of one bank."""

    pool: asyncpg.Pool
    tenant_id: int
    bank_id: int
    text: str
    selection: Selection
    plan: Plan
    moment: datetime  # when it is asked
    weights: Weights
    depth: int  # how far down each run goes
    grant: Grant | None = None  # by which the bank is looked at, where it is another agent's


@dataclass(slots=True)
class MemorySearch:
    """Finds and measures memories. One for one recall."""

    ask: Ask
    stages: Stages
    kept: dict[UUID, Kept] = field(default_factory=dict)  # what was measured
    _runs: dict[str, Sequence[Found]] = field(default_factory=dict)
    _statistics: WordStatistics | None = None

    async def search_words(self, reader: Reader) -> None:
        """The channels that need no embedding: words, standing, time."""
        ask = self.ask
        if ask.plan.wanted:
            empty: tuple[list[Found], WordStatistics | None] = ([], None)
            found, self._statistics = await self.stages.within(SEARCH, ["lexical"], lambda: self._lexical(reader), empty)
            self._runs["lexical"] = found
        self._runs["standing"] = await self.stages.within(SEARCH, ["standing"], lambda: self._standing(reader), [])
        if ask.plan.periods:
            self._runs["temporal"] = await self.stages.within(SEARCH, ["temporal"], lambda: self._temporal(reader), [])

    async def measure(self, vector: Embedding | None, scale: Scale | None, *, by_meaning_alone: bool) -> list[Measured]:
        """What all channels found, measured; with what one hop from the best of it adds."""
        ask = self.ask
        gauge = Gauge(scale, ask.plan.wanted, self._statistics, ask.plan.periods, ask.moment, ask.plan.reference)
        if by_meaning_alone and vector:
            gauge = Gauge(scale, ask.plan.wanted, None, (), ask.moment)
        # A statement that is given up for the deadline fails its transaction, so nothing essential follows in the same one.
        if vector:
            async with reading(ask.pool, ask.tenant_id) as reader:
                for channel in VECTOR_CHANNELS:
                    search = partial(self._nearest, reader, channel, vector)
                    self._runs[channel] = await self.stages.within(NEAREST, [channel], search, [])
        async with reading(ask.pool, ask.tenant_id) as reader:
            features = await self._features(reader, vector, {f.memory_id for run in self._runs.values() for f in run})
            if by_meaning_alone:
                return self._chain(gauge.measure(features, self._runs, {}))
            measured = gauge.measure(features, self._runs, {})
            best = [(UUID(p.measured.id), p.similarity) for p in order(measured, ask.weights)[:FOLLOWED]]
            extra = await self.stages.within(FOLLOW, ["relation"], lambda: self._follow(reader, best), {}) if best else {}
        if added := extra.keys() - self.kept.keys():
            async with reading(ask.pool, ask.tenant_id) as reader:
                features += await self._features(reader, vector, added)
        gaining = [f for f in features if f.kept.memory.memory_id in extra]
        gained = {m.id: m for m in gauge.measure(gaining, self._runs, extra)}
        return self._chain([*(gained.pop(m.id, m) for m in measured), *gained.values()])

    async def _lexical(self, reader: Reader) -> tuple[list[Found], WordStatistics | None]:
        ask = self.ask
        return await reader.search_words(ask.bank_id, ask.selection, ask.plan.wanted, limit=ask.depth)

    async def _standing(self, reader: Reader) -> list[Found]:
        found = await reader.standing(self.ask.bank_id, self.ask.selection, limit=STANDING)
        return [Found(i, 1.0) for i in found]

    async def _temporal(self, reader: Reader) -> list[Found]:
        ask, found = self.ask, {}
        for period in ask.plan.periods:
            for i in await reader.within(ask.bank_id, ask.selection, period.since, period.until, limit=MOMENTS):
                found[i] = Found(i, 1.0)
        return list(found.values())

    async def _nearest(self, reader: Reader, channel: str, vector: Embedding) -> list[Found]:
        ask = self.ask
        return await reader.search_embeddings(ask.bank_id, ask.selection, channel, vector, limit=ask.depth)

    async def _features(self, reader: Reader, vector: Embedding | None, ids: set[UUID]) -> list[Features]:
        if not ids:
            return []
        ask = self.ask
        wanted = list(ask.plan.wanted)
        found = await reader.features(ask.bank_id, sorted(ids), vector, wanted, known_at=ask.selection.known_at)
        if ask.grant:
            # Who renames a memory meanwhile takes it out of the grant.
            inside = [f for f in found if ask.grant.admits(f.kept.memory.scope, f.kept.memory.key)]
            found = [replace(f, kept=replace(f.kept, grant=ask.grant)) for f in inside]
        self.kept |= {f.kept.memory.memory_id: f.kept for f in found}
        return found

    async def _follow(self, reader: Reader, best: Sequence[tuple[UUID, float]]) -> Mapping[UUID, dict[str, float]]:
        """Memories one hop from the best: related to them, or sharing the rare terms of the first. What each gains by it."""
        ask = self.ask
        gained: dict[UUID, dict[str, float]] = {}
        if not ask.plan.is_dialogue:  # what it is about changes from line to line: the first hit's rare words lead astray
            origin = self.kept[best[0][0]].memory
            says = names_to_follow(search_text(origin.key, origin.trigger, origin.value), ask.plan.wanted)
            rarity = Rarity(HOP_TERMS, rare_at(self._statistics.memories if self._statistics else 0))
            hops = await reader.hop(ask.bank_id, ask.selection, says, rarity=rarity, limit=HOP_HITS) if says else []
            gained |= {found.memory_id: {"hop": found.score} for found in hops if found.memory_id != origin.memory_id}
        similarities = dict(best)
        related: dict[UUID, float] = {}
        for near, end, weight in await reader.relations.to_selected(
            ask.bank_id, ask.selection, list(similarities), limit=RELATIONS
        ):
            related[end] = max(related.get(end, 0.0), weight * similarities[near])
        for end, strength in related.items():
            gained.setdefault(end, {})["relation"] = strength
        found = [Found(i, max(g.values())) for i, g in gained.items()]
        self._runs["relation"] = sorted(found, key=lambda f: (-f.score, str(f.memory_id)))
        return gained

    def _chain(self, measured: Sequence[Measured]) -> list[Measured]:
        """The same, superseded statements behind the one that holds in their place."""
        began: dict[tuple[str, str, datetime | None], Memory] = {
            (k.memory.scope, k.memory.key, k.memory.valid_from): k.memory for k in self.kept.values()
        }

        def successor(memory: Memory | None) -> Memory | None:
            while memory is not None and memory.status == "superseded":
                memory = began.get((memory.scope, memory.key, memory.valid_to))  # which is later
            return memory

        behind = {
            str(i): str(last.memory_id)
            for i, kept in self.kept.items()
            if kept.memory.status == "superseded" and (last := successor(kept.memory)) is not None
        }
        return [replace(m, behind=behind[m.id]) if m.id in behind else m for m in measured]
