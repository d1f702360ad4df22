"""Recall: ask every channel, measure what they found, rank it, and say why."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Literal
from uuid import UUID

import asyncpg
import numpy as np
from hindsight_runtime.embedder import Embedder, Model
from hindsight_runtime.errors import DependencyUnavailable, ModelMismatch, Overloaded
from hindsight_store.reader import Reader, active_generation, reading
from hindsight_store.records import Features, Found, Generation, Selection, Vector, WordStatistics
from hindsight_store.turns import TurnId, TurnMatches, TurnSelection, reading_turns

from hindsight_recall.episodic import Evidence, TurnScorer, TurnWeights
from hindsight_recall.plan import Plan, plan_query
from hindsight_recall.scoring import Finding, Hit, Scale, Scorer, Weights, effective_importance, in_order, total

CANDIDATES = 100  # of each channel, or twice top_k
Mode = Literal["semantic", "hybrid"]
VECTOR_CHANNELS = ("content", "trigger")
TURN_CHANNELS = ("turn", "window")


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked, by whom, of which bank."""

    tenant_id: int
    bank_id: int
    text: str
    mode: Mode
    selection: Selection
    top_k: int
    relevance_floor: float = 0.0
    include_turns: bool = False
    zone: tzinfo = UTC


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits, best first, and the channels that could not be asked."""

    hits: Sequence[Hit]
    missing: tuple[str, ...] = ()


class Recaller:
    """Answers queries. One for the life of a process."""

    def __init__(self, pool: asyncpg.Pool, embedder: Embedder, model: Model, *, clock: Callable[[], datetime]) -> None:
        self._pool = pool
        self._embedder = embedder
        self._model = model
        self._generation: Generation | None = None
        self.clock = clock
        self.weights = Weights()
        self.turn_weights = TurnWeights()

    async def recall(self, query: Query) -> Answer:
        """The memories that answer a query.

        Raises:
            ModelMismatch: the stored embeddings are of another model than the one that answers.
            StoreUnavailable: PostgreSQL does not answer.
        """
        plan = plan_query(query.text, self.clock(), query.zone)
        async with asyncio.TaskGroup() as tasks:
            embedding = tasks.create_task(self._embed(plan))
            lexical = tasks.create_task(self._search_words(query, plan))
            matches = tasks.create_task(self._match_turns(query, plan)) if query.include_turns else None
        vector = embedding.result()
        hits = await self._recall_memories(query, plan, vector, lexical.result())
        if matches:
            hits += await self._recall_turns(query, plan, vector, matches.result())
        relevant = [hit for hit in in_order(hits) if hit.similarity >= query.relevance_floor]
        return Answer(relevant[: query.top_k], () if vector or self._generation is None else VECTOR_CHANNELS)

    async def _recall_memories(
        self, query: Query, plan: Plan, vector: tuple[int, Vector] | None, lexical: tuple[list[Found], WordStatistics | None]
    ) -> list[Hit]:
        """Memories of every channel, scored."""
        statistics = None
        runs: dict[str, Sequence[Found]] = {}
        if query.mode == "hybrid" or vector is None:
            runs["lexical"], statistics = lexical
        scale = Scale.of(self._model) if vector else None
        async with reading(self._pool, query.tenant_id) as reader:
            if vector:
                for channel in VECTOR_CHANNELS:
                    limit = _depth(query)
                    runs[channel] = await reader.search_embeddings(query.bank_id, query.selection, channel, vector, limit=limit)
            candidates = await self._measure(reader, query, runs, vector, plan)
        if query.mode == "semantic" and vector:
            candidates = [replace(c, counts={}) for c in candidates]
        return Scorer(self.weights, scale, plan.wanted, statistics).score(candidates, runs)

    async def _recall_turns(self, query: Query, plan: Plan, vector: tuple[int, Vector] | None, matches: TurnMatches) -> list[Hit]:
        """Turns found by words or meaning, scored."""
        is_semantic = query.mode == "semantic" and vector is not None
        evidence = Evidence(TurnMatches() if is_semantic else matches, plan.wanted)
        best = evidence.best(_depth(query))
        ranks = {turn_id: rank for rank, (turn_id, _) in enumerate(best, start=1)}
        async with reading_turns(self._pool, query.tenant_id) as reader:
            nearest: list[tuple[TurnId, float]] = []
            if vector:
                for channel in TURN_CHANNELS:
                    chosen, limit = _turn_selection(query), _depth(query)
                    nearest += await reader.search_embeddings(query.bank_id, chosen, channel, vector, limit=limit)
            found = await reader.fetch(query.bank_id, sorted({i for i, _ in (*best, *nearest)}), vector)
        scale = Scale.of(self._model) if vector else None
        weights = TurnWeights.of_meaning_alone() if is_semantic else self.turn_weights
        scorer = TurnScorer(weights, scale, evidence, query.text, plan.periods)
        hits = []
        for features, contributions in scorer.score(found):
            findings = [Finding("episodic", ranks.get(features.turn.id, 0), total(contributions))]
            hits.append(self.weights.hit(features.turn, contributions, findings))
        return hits

    async def _match_turns(self, query: Query, plan: Plan) -> TurnMatches:
        async with reading_turns(self._pool, query.tenant_id) as reader:
            return await reader.match_words(query.bank_id, _turn_selection(query), plan.wanted)

    async def browse(self, query: Query, before: UUID | None) -> Answer:
        """The selected memories, newest first, below an id: tag mode."""
        async with reading(self._pool, query.tenant_id) as reader:
            page = await reader.page_newest(query.bank_id, query.selection, before=before, limit=query.top_k)
        hits = []
        for kept in page:
            importance = effective_importance(kept)
            final = self.weights.similarity + self.weights.importance * importance
            hits.append(Hit(kept, 1.0, final, importance, (), ()))
        return Answer(hits)

    async def _embed(self, plan: Plan) -> tuple[int, Vector] | None:
        """The query's embedding with the generation it belongs to; None where nothing is stored or the embedder is down."""
        generation = await self._find_generation()
        if generation is None:
            return None
        try:
            rows = await self._embedder.embed([text for text, _ in plan.texts], "query", model=self._model)
        except (DependencyUnavailable, Overloaded):
            return None
        shares = np.array([share for _, share in plan.texts], np.float32)
        return generation.generation, shares @ rows

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

    async def _search_words(self, query: Query, plan: Plan) -> tuple[list[Found], WordStatistics | None]:
        if not plan.wanted:
            return [], None
        async with reading(self._pool, query.tenant_id) as reader:
            return await reader.search_words(query.bank_id, query.selection, plan.wanted, limit=_depth(query))

    async def _measure(
        self,
        reader: Reader,
        query: Query,
        runs: Mapping[str, Sequence[Found]],
        vector: tuple[int, Vector] | None,
        plan: Plan,
    ) -> list[Features]:
        ids = {found.memory_id for run in runs.values() for found in run}
        return await reader.features(query.bank_id, sorted(ids), vector, list(plan.wanted)) if ids else []


def _turn_selection(query: Query) -> TurnSelection:
    return TurnSelection(query.selection.scopes, query.selection.valid_since, query.selection.valid_until)


def _depth(query: Query) -> int:
    return max(CANDIDATES, 2 * query.top_k)
