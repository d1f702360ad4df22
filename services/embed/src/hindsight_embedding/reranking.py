"""Texts of a call are judged against its query in passes of bounded size, on one thread for all callers."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self, TypeVar

import numpy as np
from hindsight_runtime.errors import Overloaded
from numpy.typing import NDArray

from hindsight_embedding.batching import BYTES_PER_TOKEN, RETRY_AFTER_S, compose
from hindsight_embedding.model import Pair, RerankModel

T = TypeVar("T")

FIRST_TOKENS_PER_S = 4_000.0  # measured from the first pass on


class Reranker:
    """Judges texts. Callers take turns pass by pass; a call that is withdrawn ends after the pass it is in.

    Texts of different calls share no pass, so that equal calls get equal answers from models whose numbers depend on
    what they are batched with.
    """

    def __init__(self, model: RerankModel, *, queue_tokens: int) -> None:
        self.model, self.queue_tokens = model, queue_tokens
        self._waiting_tokens = 0
        self._tokens_per_s = FIRST_TOKENS_PER_S

    async def __aenter__(self) -> Self:
        self._thread = ThreadPoolExecutor(1, "rerank")
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)

    async def rerank(self, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """How well each text answers the query: float64[len(texts)], 0 to 1, in order.

        Raises:
            Overloaded: the queue is full; retry after the hinted delay.
        """
        tokens = self._admit(query, texts)
        try:
            pairs = await self._run(self.model.read, query, texts)
            relevances = np.zeros(len(pairs))
            for chosen in passes(pairs, self.model):
                relevances[chosen] = await self._run(self._judge, [pairs[number] for number in chosen])
            return relevances
        finally:
            self._waiting_tokens -= tokens

    def _admit(self, query: str, texts: Sequence[str]) -> int:
        """How many tokens a call takes of the queue, about; a call that is alone is never too large."""
        asked, window = len(query.encode()), self.model.window_tokens
        tokens = sum(min(window, 1 + (asked + len(text.encode())) // BYTES_PER_TOKEN) for text in texts)
        excess = self._waiting_tokens + tokens - self.queue_tokens
        if self._waiting_tokens and excess > 0:
            least, most = RETRY_AFTER_S
            after_s = min(most, max(least, excess / self._tokens_per_s))
            raise Overloaded("the reranking queue is full; try again", retry_after_s=after_s)
        self._waiting_tokens += tokens
        return tokens

    def _judge(self, pairs: Sequence[Pair]) -> NDArray[np.float64]:
        """One forward pass, timed; runs on the thread."""
        started = time.perf_counter()
        relevances = self.model.relevances(pairs)
        speed = sum(len(pair.token_ids) for pair in pairs) / max(time.perf_counter() - started, 1e-6)
        self._tokens_per_s += 0.1 * (speed - self._tokens_per_s)
        return relevances

    async def _run(self, call: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call, *arguments)


def passes(pairs: Sequence[Pair], model: RerankModel) -> Iterator[list[int]]:
    """The pairs in forward passes, by index: every one once, like lengths together."""
    left = list(range(len(pairs)))
    while left:
        chosen = [left[number] for number in compose([len(pairs[number].token_ids) for number in left], model)]
        yield chosen
        left = sorted({*left} - {*chosen})
