"""Embeddings by content hash, the least recently used forgotten first."""

import hashlib
from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from hindsight_embedding.model import Role


def content_key(text: str, role: Role) -> bytes:
    """What identifies a text to the model: SHA-256 of its role and its UTF-8."""
    return hashlib.sha256(f"{role.value}\0{text}".encode()).digest()


class EmbeddingCache:
    """At most `entries` embeddings; 20,000 of 384 numbers are 31 MB."""

    def __init__(self, entries: int) -> None:
        self.entries = entries
        self._embeddings: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._embeddings)

    def find(self, key: bytes) -> NDArray[np.float32] | None:
        """The embedding under a key, or None."""
        embedding = self._embeddings.get(key)
        if embedding is not None:
            self._embeddings.move_to_end(key)
        return embedding

    def keep(self, key: bytes, embedding: NDArray[np.float32]) -> None:
        """Keep a copy of an embedding, so that the array it was cut from is freed; forget the oldest if full."""
        self._embeddings[key] = embedding.copy()
        self._embeddings.move_to_end(key)
        while len(self._embeddings) > self.entries:
            self._embeddings.popitem(last=False)
