"""Judge whether a turn needs a recall: with its embedding where that comes in time, else without."""

import asyncio
from dataclasses import dataclass

import numpy as np
from hindsight_runtime.embedder import Embedder, Model
from hindsight_runtime.errors import DependencyUnavailable, ModelMismatch, Overloaded
from numpy.typing import NDArray

from hindsight_recall.gate import Gate, Verdict, excerpt

EMBED_WITHIN_S = 2.0  # who waits longer had better recall


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on a turn, and the channels that could not be asked."""

    verdict: Verdict
    missing: tuple[str, ...] = ()


class Judge:
    """Judges turns. One for the life of a process."""

    def __init__(self, gate: Gate, embedder: Embedder, model: Model) -> None:
        self._gate = gate
        self._embedder = embedder
        self._model = model

    async def judge(self, text: str) -> Judged:
        """The verdict on a turn; it never fails for want of the embedder."""
        embedding = await self._embed(excerpt(text))
        return Judged(self._gate.judge(text, embedding), ("content",) if embedding is None else ())

    async def _embed(self, turn: str) -> NDArray[np.float32] | None:
        """The embedding; None where the embedder is down or late, or runs a model that the gate was not trained on."""
        if self._model.id != self._gate.model_id:
            return None
        try:
            async with asyncio.timeout(EMBED_WITHIN_S):
                return (await self._embedder.embed([turn], "query", model=self._model))[0]
        except (DependencyUnavailable, Overloaded, ModelMismatch, TimeoutError):
            return None
