"""The use case: texts in, embeddings out, each text computed once."""

from collections.abc import Sequence

import numpy as np

from hindsight_embedding.batching import Batcher
from hindsight_embedding.cache import EmbeddingCache, content_key
from hindsight_embedding.model import Embeddings, Role


class Embedder:
    """Embeds texts of any length, from the cache where it can."""

    def __init__(self, batcher: Batcher, cache: EmbeddingCache) -> None:
        self.batcher, self.cache = batcher, cache

    async def embed(self, texts: Sequence[str], role: Role) -> Embeddings:
        """Embed texts in order: float32[len(texts), dimension], rows of unit norm.

        Raises:
            InvalidField: the texts are too many tokens for one request.
            Overloaded: the queue is full; retry after the hinted delay.
        """
        keys = [content_key(text, role) for text in texts]
        found = {key: embedding for key in keys if (embedding := self.cache.find(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            computed = await self.batcher.embed(missing, role)
            for key, embedding in computed.items():
                self.cache.keep(key, embedding)
            found |= computed
        return np.stack([found[key] for key in keys])
