"""Recall: ask every channel, measure what they found, rank it, and say why."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import Literal
from uuid import UUID

import asyncpg
import numpy as np
from hindsight_runtime.embedder import Embedder, Model
from hindsight_runtime.errors import DependencyUnavailable, ModelMismatch, NotConfigured, Overloaded
from hindsight_store.desks import Desk, Desks, DesksUnavailable, Entry
from hindsight_store.reader import Reader, active_generation, reading
from hindsight_store.records import Generation, Kept, Selection
from hindsight_store.turns import Turn

from hindsight_recall.consistency import doubt, flags_of
from hindsight_recall.episodic import EpisodicSearch, turn_name
from hindsight_recall.lifecycle import importance_of
from hindsight_recall.plan import Plan, plan_query
from hindsight_recall.ranking import Limits, Measured, Place, Weights, order, rank
from hindsight_recall.reranking import RERANKED, passage_of, with_relevances
from hindsight_recall.scoring import Scale
from hindsight_recall.searching import CANDIDATES, VECTOR_CHANNELS, Ask, Embedding, MemorySearch
from hindsight_recall.sharing import find_opened, merge
from hindsight_recall.stages import RERANK, SEARCH, Stages
from hindsight_recall.working import EntryEmbeddings, WorkingSearch, read_entries

BANKS_AT_ONCE = 4  # of one recall, measured beside each other; each takes a connection
PATIENCE_S = 3.0  # an embed service that takes longer for a query is as good as down
Mode = Literal["semantic", "hybrid"]
Working = Literal["", "also", "first", "only"]
Subject = Kept | Turn | Entry


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked, by whom, of which bank."""

    tenant_id: int
    bank_id: int  # 0: the agent has none yet
    text: str
    mode: Mode
    selection: Selection
    top_k: int
    relevance_floor: float = 0.0
    include_turns: bool = False
    zone: tzinfo = UTC
    deadline_ms: int = 0  # 0: none
    rerank: bool = False
    context: str = ""  # the turns at hand, newest last
    working: Working = ""  # what is made of desks; empty: nothing
    desks: Mapping[str, Desk] = field(default_factory=dict)  # that are meant, by the scope that the caller names

    @property
    def said(self) -> list[str]:
        """The lines of the turns at hand, newest last."""
        return [line for line in self.context.splitlines() if line.strip()]

    @property
    def moment(self) -> datetime:
        """When it is asked: the moment it asks about, else now."""
        return self.selection.begun_by or self.selection.known_at or self.selection.now


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory, a turn or a desk's entry, with its place in the answer."""

    subject: Subject
    place: Place
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits, best first; what came close; by which weights; and which channels are missing, with the reason."""

    hits: Sequence[Hit]
    near_misses: Sequence[Place] = ()
    weights: Weights = field(default_factory=Weights)
    missing: Mapping[str, str] = field(default_factory=dict)  # channel -> "deadline" or "unavailable"
    took_ms: Mapping[str, float] = field(default_factory=dict)  # by stage
    withheld: Mapping[str, str] = field(default_factory=dict)  # what the guard kept out, by id, with the flag
    is_from_working: bool = False  # what is at hand gave all of it


class Recaller:
    """Answers queries. One for the life of a process."""

    def __init__(
        self,
        pool: asyncpg.Pool,
        embedder: Embedder,
        model: Model,
        *,
        clock: Callable[[], datetime],
        desks: Desks | None = None,
    ) -> None:
        self._pool = pool
        self._desks = desks
        self._entry_embeddings = EntryEmbeddings(embedder, model)
        self._embedder = embedder
        self._model = model
        self._generation: Generation | None = None
        self.clock = clock
        self.weights = Weights()

    @property
    def relevance_floor(self) -> float:
        """The similarity below which a hit of this model most likely does not answer."""
        return self._model.relevance_floor

    async def recall(self, query: Query) -> Answer:
        """The memories that answer a query.

        Raises:
            ModelMismatch: the stored embeddings are of another model than the one that answers.
            StoreUnavailable: PostgreSQL does not answer.
        """
        stages = Stages(query.deadline_ms)
        ask = self._to_ask(query)
        working = WorkingSearch(ask, self._desks, self._entry_embeddings, query.desks, stages) if query.working else None
        if working and query.working != "also" and (answer := await self._recall_working(query, ask, working)):
            return answer
        subjects, measured = await self.measure(query, stages, working)
        weights = self.weights
        if query.rerank and (relevances := await self._judge(query, subjects, measured, stages)):
            measured, weights = with_relevances(measured, relevances), weights.reranked()
        hits, near, withheld = self._guard(query, subjects, measured, weights)
        return Answer(hits, near, weights, stages.missing, stages.took_ms, withheld)

    async def _recall_working(self, query: Query, ask: Ask, working: WorkingSearch) -> Answer | None:
        """The answer from what is at hand; None where that is not enough, and more is to be looked at."""
        embedding = await self._embed(ask.plan, working.stages)
        scale = Scale.of(self._model) if embedding else None
        measured = await working.measure(embedding[1] if embedding else None, scale)
        if query.working == "first":
            floor = query.relevance_floor or self.relevance_floor
            measured += await working.measure_hot(embedding, scale)
            above = [p for p in order(measured, self.weights) if p.similarity >= floor]
            if len(above) < query.top_k:
                return None
        subjects: dict[str, Subject] = {**working.entries, **{str(i): kept for i, kept in working.kept.items()}}
        hits, near, withheld = self._guard(query, subjects, measured, self.weights)
        if query.working == "first" and len(hits) < query.top_k:
            return None
        stages = working.stages
        return Answer(hits, near, self.weights, stages.missing, stages.took_ms, withheld, is_from_working=True)

    def _guard(
        self, query: Query, subjects: Mapping[str, Subject], measured: Sequence[Measured], weights: Weights
    ) -> tuple[list[Hit], list[Place], dict[str, str]]:
        """The hits with their flags, the near misses, and what is withheld; others take the places of the latter."""
        said, withheld = query.said, dict[str, str]()
        while True:
            answer, near = rank([m for m in measured if m.id not in withheld], weights, limits_of(query))
            found = [subjects[place.measured.id] for place in answer]
            doubts = doubt([one.memory for one in found if isinstance(one, Kept)], said)
            fresh = {name: one.flag for name, one in doubts.items() if one.is_withheld}
            if not fresh:
                break
            withheld |= fresh
        return [Hit(one, place, flags_of(one, doubts)) for one, place in zip(found, answer, strict=True)], near, withheld

    def _to_ask(self, query: Query) -> Ask:
        plan = plan_query(query.text, query.moment, query.zone)
        return Ask(
            pool=self._pool,
            tenant_id=query.tenant_id,
            bank_id=query.bank_id,
            text=query.text,
            selection=_widened(query, plan),
            plan=plan,
            moment=query.moment,
            weights=self.weights,
            depth=max(CANDIDATES, 2 * query.top_k),
        )

    async def measure(
        self, query: Query, stages: Stages, working: WorkingSearch | None = None
    ) -> tuple[dict[str, Subject], list[Measured]]:
        """Everything that any channel found, by id, and what was measured of it; with what is at hand, if it is wanted."""
        ask = self._to_ask(query)
        plan = ask.plan
        turns = EpisodicSearch(ask, stages)
        async with asyncio.TaskGroup() as tasks:
            embedding = tasks.create_task(self._embed(plan, stages))
            opening = tasks.create_task(self._open_banks(ask, stages, wants_words=query.mode == "hybrid"))
            if query.include_turns:
                tasks.create_task(turns.search_words())
            if working:
                tasks.create_task(working.read())
        vector, banks = embedding.result(), opening.result()
        if vector is None and query.mode == "semantic":
            async with reading(self._pool, query.tenant_id) as reader:
                await _search_words(banks, reader)  # better by words than not at all
        scale = Scale.of(self._model) if vector else None
        slots = asyncio.Semaphore(BANKS_AT_ONCE)

        async def measure(search: MemorySearch | EpisodicSearch) -> list[Measured]:
            async with slots:
                return await search.measure(vector, scale, by_meaning_alone=query.mode == "semantic")

        searches = (*banks, turns) if query.include_turns else banks
        async with asyncio.TaskGroup() as tasks:
            found = [tasks.create_task(measure(search)) for search in searches]
        subjects: dict[str, Subject] = {turn_name(t.id): t for t in turns.turns.values()}
        measured: dict[str, Measured] = {}
        if working:
            at_hand = await working.measure(vector[1] if vector else None, scale)
            subjects |= working.entries
            measured |= {m.id: m for m in at_hand}
        for bank in reversed(banks):  # what several grants open counts as found by the first
            subjects |= {str(k.memory.memory_id): k for k in bank.kept.values()}
        for task in reversed(found):
            measured |= {m.id: m for m in task.result()}
        return subjects, list(measured.values())

    async def _open_banks(self, ask: Ask, stages: Stages, *, wants_words: bool) -> list[MemorySearch]:
        """The agent's own bank and those that are open to it now, their words searched where these are wanted."""
        async with reading(self._pool, ask.tenant_id) as reader:
            opened = await find_opened(reader, ask.bank_id, ask.selection, self.clock())
            asks = [ask, *(replace(ask, bank_id=g.bank_id, selection=part, grant=g) for g, part in opened)]
            banks = [MemorySearch(one, stages) for one in asks]
            if wants_words:
                await _search_words(banks, reader)
        return banks

    async def _judge(
        self, query: Query, subjects: Mapping[str, Subject], measured: Sequence[Measured], stages: Stages
    ) -> dict[str, float]:
        """What the reranking model thinks of the best candidates, by id; nothing where it cannot be had in time."""
        names = [place.measured.id for place in order(measured, self.weights)[:RERANKED]]

        async def judge() -> dict[str, float]:
            relevances = await self._embedder.rerank(query.text, [passage_of(subjects[name]) for name in names])
            return dict(zip(names, relevances.tolist(), strict=True))

        if not names:
            return {}
        try:
            return await stages.within(RERANK, ["rerank"], judge, {})
        except (DependencyUnavailable, NotConfigured, Overloaded):
            stages.lose(["rerank"])
            return {}

    async def read_desks(self, query: Query) -> list[Entry]:
        """The entries of the desks that are meant, desk by desk, as they lie there.

        Raises:
            DesksUnavailable: Redis does not answer, or there is none.
        """
        if self._desks is None:
            raise DesksUnavailable("there is no Redis")
        return await read_entries(self._desks, query.desks, self._to_ask(query))

    async def compare(self, query: Query, entries: Sequence[Entry]) -> dict[str, float]:
        """How well entries of desks answer a query, 0 to 1, by id; by words alone where there is no time or no embed service."""
        stages, ask = Stages(query.deadline_ms), self._to_ask(query)
        found = {entry.entry_id: entry for entry in entries}
        working = WorkingSearch(ask, self._desks, self._entry_embeddings, query.desks, stages, entries=found)
        embedding = await self._embed(ask.plan, stages)
        scale = Scale.of(self._model) if embedding else None
        measured = await working.measure(embedding[1] if embedding else None, scale)
        return {place.measured.id: place.similarity for place in order(measured, self.weights)}

    async def browse(self, query: Query, before: UUID | None) -> Answer:
        """The selected memories, newest first, below an id: tag mode."""
        async with reading(self._pool, query.tenant_id) as reader:
            pages = [await reader.page_newest(query.bank_id, query.selection, before=before, limit=query.top_k)]
            for grant, part in await find_opened(reader, query.bank_id, query.selection, self.clock()):
                page = await reader.page_newest(grant.bank_id, part, before=before, limit=query.top_k)
                pages.append([replace(kept, grant=grant) for kept in page])
        page = merge(pages, newest_first=True, limit=query.top_k)
        hits = []
        for kept in page:
            measured = Measured(str(kept.memory.memory_id), {}, importance_of(kept, query.moment))
            final = self.weights.similarity + self.weights.importance * measured.importance.effective
            hits.append(Hit(kept, Place(measured, (), 1.0, final), flags_of(kept, {})))
        return Answer(hits)

    async def _embed(self, plan: Plan, stages: Stages) -> Embedding | None:
        """The query's embedding with the generation it belongs to; None where nothing is stored, time is up or the embedder
        is down."""
        generation = await self._find_generation()
        if generation is None:
            return None

        async def embed() -> Embedding:
            try:
                async with asyncio.timeout(PATIENCE_S):
                    rows = await self._embedder.embed([text for text, _ in plan.texts], "query", model=self._model)
            except TimeoutError:
                raise DependencyUnavailable("the embed service takes too long") from None
            shares = np.array([share for _, share in plan.texts], np.float32)
            return generation.generation, shares @ rows

        try:
            return await stages.within(SEARCH, VECTOR_CHANNELS, embed, None, name="embed")
        except (DependencyUnavailable, Overloaded):
            stages.lose(VECTOR_CHANNELS)
            return None

    async def _find_generation(self) -> Generation | None:
        if self._generation is None:
            self._generation = await active_generation(self._pool)
        found, model = self._generation, self._model
        if found and (found.model_id, found.model_revision) != (model.id, model.revision):
            raise ModelMismatch(
                f"the stored embeddings are of {found.model_id} {found.model_revision}, the embed service answers with "
                f"{model.id} {model.revision}; start it with the former"
            )
        return found


async def _search_words(banks: Sequence[MemorySearch], reader: Reader) -> None:
    for bank in banks:
        await bank.search_words(reader)


def limits_of(query: Query) -> Limits:
    """How many places a query's answer has, and for what."""
    return Limits(query.top_k, query.relevance_floor, wants_standing=query.mode == "hybrid")


def _widened(query: Query, plan: Plan) -> Selection:
    """The selection, with what was superseded where the query asks for history."""
    selection = query.selection
    if plan.wants_history and query.mode == "hybrid" and selection.begun_by is None and "active" in selection.statuses:
        return replace(selection, statuses=(*selection.statuses, "superseded"), holds_after=None)
    return selection
