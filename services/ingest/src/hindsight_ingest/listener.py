"""Listening with embeddings: what the words alone leave open, their meaning mostly tells."""

import asyncio
from collections.abc import Sequence

from hindsight_runtime.embedder import Embedder, Model
from hindsight_runtime.errors import DependencyUnavailable, ModelMismatch, Overloaded
from hindsight_runtime.heads import Row
from hindsight_store.turns import Turn

from hindsight_ingest.listening import TRIGGERS, Finding, Heads, listen, load_heads, read_passages, score

# Passages that the heads without embeddings take for less likely than this are not embedded: most small talk.
WORTH_EMBEDDING = 0.02
AT_ONCE = 128  # texts of one call
WITHIN_S = 2.0  # for who waits for the answer


class Listener:
    """Listens to turns. One for the life of a process."""

    def __init__(self, embedder: Embedder, model: Model, heads: Heads | None = None) -> None:
        self._embedder = embedder
        self._model = model
        self._heads = heads or load_heads()

    async def listen(self, turns: Sequence[Turn], first: int) -> list[tuple[Turn, Finding]]:
        """What of the turns from a number on is worth keeping, in their order.

        Raises:
            DependencyUnavailable: the embed service does not answer.
        """
        before = {t.turn + 1: t for t in turns}
        told = [(t, before.get(t.turn)) for t in turns if t.turn >= first]
        wanted = []
        for turn, earlier in told:
            await asyncio.sleep(0)  # a turn takes milliseconds; other jobs and calls go on in between
            wanted.append(self._texts(turn, earlier))
        embedded = await self._embed([text for texts in wanted for text in texts if text])
        found: list[tuple[Turn, Finding]] = []
        for (turn, earlier), texts in zip(told, wanted, strict=True):
            await asyncio.sleep(0)
            rows = [embedded.get(text) for text in texts]
            found += [(turn, one) for one in listen(turn, earlier, self._heads, rows)]
        return found

    async def hear(self, turn: Turn, before: Turn | None) -> list[Finding]:
        """What of one turn is worth keeping, for who waits: without the embed service by the words alone."""
        try:
            async with asyncio.timeout(WITHIN_S):
                return [one for _, one in await self.listen([before, turn] if before else [turn], turn.turn)]
        except (DependencyUnavailable, Overloaded, ModelMismatch, TimeoutError):
            return listen(turn, before, self._heads)

    def _texts(self, turn: Turn, before: Turn | None) -> list[str]:
        """The passages of a turn as they are embedded; "" for one that is not."""
        if turn.role != "user" or self._model.id != self._heads.model_id:
            return []
        texts = []
        for passage in read_passages(turn, before):
            is_likely = any(score(name, passage, self._heads.bare[name], None) >= WORTH_EMBEDDING for name in TRIGGERS)
            texts.append(passage.plain if is_likely else "")
        return texts

    async def _embed(self, texts: Sequence[str]) -> dict[str, Row]:
        unique = list(dict.fromkeys(texts))
        rows: list[Row] = []
        for start in range(0, len(unique), AT_ONCE):
            rows += list(await self._embedder.embed(unique[start : start + AT_ONCE], "query", model=self._model))
        return dict(zip(unique, rows, strict=True))
