"""The working channel of one recall: entries of desks, and memories that are hot there."""

import asyncio
import hashlib
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import numpy as np
from hindsight_runtime.embedder import Embedder, Model
from hindsight_runtime.errors import DependencyUnavailable, Overloaded
from hindsight_store.desks import Desk, Desks, DesksUnavailable, Entry
from hindsight_store.heard import in_force
from hindsight_store.reader import reading, search_text
from hindsight_store.records import Found, Kept, Vector, WordStatistics
from hindsight_store.words import length, terms

from hindsight_recall.plan import Plan
from hindsight_recall.ranking import Finding, Importance, Measured, Weights, order
from hindsight_recall.scoring import FULL_MATCH, Gauge, Scale, bm25, idf
from hindsight_recall.searching import Ask, Embedding
from hindsight_recall.stages import SEARCH, Stages

WORKING = "working"
EMBEDDED = 4096  # entries whose embeddings are remembered
PATIENCE_S = 1.0  # an embed service that takes longer for a desk's entries is done without


class EntryEmbeddings:
    """The embeddings of desk entries, made when they are first looked at. For the life of a process."""

    def __init__(self, embedder: Embedder, model: Model) -> None:
        self._embedder = embedder
        self._model = model
        self._known: OrderedDict[bytes, Vector] = OrderedDict()

    async def find(self, texts: Sequence[str]) -> list[Vector | None]:
        """float32[dimension] of unit norm for each text, in order; None where the embed service does not answer in time."""
        names = [hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts]
        fresh = {name: text for name, text in zip(names, texts, strict=True) if name not in self._known}
        if fresh:
            try:
                async with asyncio.timeout(PATIENCE_S):
                    rows = await self._embedder.embed(list(fresh.values()), "passage", model=self._model)
                self._known.update(zip(fresh, rows, strict=True))
            except (DependencyUnavailable, Overloaded, TimeoutError):
                pass
        found = [self._known.get(name) for name in names]
        for name in names:
            if name in self._known:
                self._known.move_to_end(name)
        while len(self._known) > EMBEDDED:
            self._known.popitem(last=False)
        return found


@dataclass(slots=True)
class WorkingSearch:
    """Finds and measures what is at hand. One for one recall."""

    ask: Ask
    desks: Desks | None
    embeddings: EntryEmbeddings
    named: Mapping[str, Desk]  # by the scope that the caller names
    stages: Stages
    entries: dict[str, Entry] = field(default_factory=dict)  # by id
    kept: dict[UUID, Kept] = field(default_factory=dict)  # hot memories

    async def measure(self, vector: Vector | None, scale: Scale | None) -> list[Measured]:
        """The entries of the desks, measured against the query: its embedding is float32[dimension] of unit norm."""
        await self.read()
        plan = self.ask.plan
        entries = list(self.entries.values())
        texts = [search_text(entry.key, entry.trigger, entry.value) for entry in entries]
        rows: list[Vector | None] = [None] * len(texts)
        if vector is not None and texts:
            rows = await self.stages.within(SEARCH, [WORKING], lambda: self.embeddings.find(texts), rows, name="desk")
        relevances = [_relevance(vector, row, scale) for row in rows]
        counted = [terms(text) for text in texts]
        statistics = _statistics([{t: n for t, n in c.items() if t in plan.wanted} for c in counted], list(map(length, counted)))
        found = zip(entries, counted, relevances, strict=True)
        measured = [_measure(entry, counts, plan, statistics, relevance) for entry, counts, relevance in found]
        return _numbered(measured)

    async def measure_hot(self, embedding: Embedding | None, scale: Scale | None) -> list[Measured]:
        """The selected memories that were written or recalled under the named scopes a moment ago, as PostgreSQL has them now."""
        if self.desks is None:
            return []
        desks, ask = self.desks, self.ask

        async def find() -> list[str]:
            return [name for desk in self.named.values() for name in await desks.hot(desk, ask.moment)]

        try:
            names = await self.stages.within(SEARCH, [WORKING], find, [], name="hot")
        except DesksUnavailable:
            self.stages.lose([WORKING])
            return []
        async with reading(ask.pool, ask.tenant_id) as reader:
            ids = await reader.selected(ask.bank_id, ask.selection, [UUID(name) for name in dict.fromkeys(names)])
            wanted = list(ask.plan.wanted)
            features = await reader.features(ask.bank_id, ids, embedding, wanted, known_at=ask.selection.known_at) if ids else []
        self.kept = {f.kept.memory.memory_id: f.kept for f in features}
        statistics = _statistics([f.counts for f in features], [f.length for f in features])
        gauge = Gauge(scale, ask.plan.wanted, statistics, ask.plan.periods, ask.moment, ask.plan.reference)
        return gauge.measure(features, {WORKING: [Found(i, 1.0) for i in ids]}, {})

    async def read(self) -> None:
        """Read the entries of the desks; where Redis does not answer, the channel is missing."""
        if self.desks is None:
            self.stages.lose([WORKING])
        if self.desks is None or self.entries:
            return
        desks = self.desks

        async def read() -> dict[str, Entry]:
            return {entry.entry_id: entry for entry in await read_entries(desks, self.named, self.ask)}

        try:
            self.entries = await self.stages.within(SEARCH, [WORKING], read, {}, name=WORKING)
        except DesksUnavailable:
            self.stages.lose([WORKING])


async def read_entries(desks: Desks, named: Mapping[str, Desk], ask: Ask) -> list[Entry]:
    """The entries of some desks, desk by desk, as they lie there; each with the scope that the caller named. Without copies of
    what became memories and is in force no more.

    Raises:
        DesksUnavailable: Redis does not answer.
        StoreUnavailable: PostgreSQL does not answer.
    """
    found = [(scope, await desks.entries(desk)) for scope, desk in named.items()]
    entries = [replace(entry, scope=scope) for scope, entries in found for entry in entries]
    return await in_force(ask.pool, ask.tenant_id, ask.bank_id, entries, ask.selection.now)


def _statistics(counts: Sequence[Mapping[str, int]], lengths: Sequence[float]) -> WordStatistics:
    frequencies = Counter(term for one in counts for term in one)
    return WordStatistics(len(counts), (sum(lengths) / len(lengths) if lengths else 0.0) or 1.0, frequencies)


def _relevance(query: Vector | None, row: Vector | None, scale: Scale | None) -> float | None:
    """How near an entry's embedding is to the query's; None where one of them, or the scale, is not there."""
    if query is None or row is None or scale is None:
        return None
    return scale.read(float(np.dot(query, row)))


def _measure(
    entry: Entry, counts: Mapping[str, int], plan: Plan, statistics: WordStatistics, relevance: float | None
) -> Measured:
    values: dict[str, float] = {}
    if relevance is not None:
        values["dense"] = relevance
    wanted = {term: count for term, count in counts.items() if term in plan.wanted}
    if wanted:
        whole = sum(weight * idf(statistics, term) for term, weight in plan.wanted.items())
        values["lexical"] = bm25(wanted, length(counts), plan.wanted, statistics) / (FULL_MATCH * whole)
        values["coverage"] = sum(plan.wanted[term] * idf(statistics, term) for term in wanted) / whole
    return Measured(entry.entry_id, values, Importance(entry.importance))


def _numbered(measured: Sequence[Measured]) -> list[Measured]:
    """The same, with the channel's finding: its run is by what was measured."""
    places = order(measured, Weights())
    return [
        replace(place.measured, findings=(Finding(WORKING, rank, place.similarity),))
        for rank, place in enumerate(places, start=1)
    ]
