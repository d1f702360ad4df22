"""Recall: ask every channel, measure what they found, rank it, and say why."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

import asyncpg
import numpy as np
from hindsight_runtime.embedder import Embedder, Model
from hindsight_runtime.errors import DependencyUnavailable, ModelMismatch, Overloaded
from hindsight_store.reader import Reader, active_generation, reading
from hindsight_store.records import Features, Found, Generation, Selection, Vector, WordStatistics

from hindsight_recall.plan import Plan, plan_query
from hindsight_recall.scoring import Hit, Scale, Scorer, Weights, effective_importance

CANDIDATES = 100  # of each channel, or twice top_k
Mode = Literal["semantic", "hybrid"]
VECTOR_CHANNELS = ("content", "trigger")


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

    async def recall(self, query: Query) -> Answer:
        """The memories that answer a query.

        Raises:
            ModelMismatch: the stored embeddings are of another model than the one that answers.
            StoreUnavailable: PostgreSQL does not answer.
        """
        plan = plan_query(query.text)
        async with asyncio.TaskGroup() as tasks:
            embedding = tasks.create_task(self._embed(plan))
            lexical = tasks.create_task(self._search_words(query, plan))
        vector, statistics = embedding.result(), None
        runs: dict[str, Sequence[Found]] = {}
        if query.mode == "hybrid" or vector is None:
            runs["lexical"], statistics = lexical.result()
        scale = Scale.of(self._model) if vector else None
        async with reading(self._pool, query.tenant_id) as reader:
            if vector:
                for channel in VECTOR_CHANNELS:
                    limit = _depth(query)
                    runs[channel] = await reader.search_embeddings(query.bank_id, query.selection, channel, vector, limit=limit)
            candidates = await self._measure(reader, query, runs, vector, plan)
        if query.mode == "semantic" and vector:
            candidates = [replace(c, counts={}) for c in candidates]
        ranked = Scorer(self.weights, scale, plan.wanted, statistics).rank(candidates, runs)
        hits = [hit for hit in ranked if hit.similarity >= query.relevance_floor][: query.top_k]
        return Answer(hits, () if vector or self._generation is None else VECTOR_CHANNELS)

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


def _depth(query: Query) -> int:
    return max(CANDIDATES, 2 * query.top_k)
