"""A model without weights for tests: texts are alike where they share words or Chinese characters."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from hindsight_embedding.model import UNMEASURED, Embeddings, ModelIdentity, Prefixes

DIMENSION = 64
TOKEN = re.compile(r"[\u4e00-\u9fff]|[^\s\u4e00-\u9fff]+")


class FakeModel:
    """Hashed bags of words; keeps the contract of EmbeddingModel and costs nothing."""

    calibration = UNMEASURED
    prefixes = Prefixes("ask: ", "say: ")
    special_tokens = 2
    is_padded = True

    def __init__(self, window_tokens: int = 32, pass_tokens: int = 64) -> None:
        self.identity = ModelIdentity("hindsight/fake", "1", DIMENSION, window_tokens)
        self.pass_tokens = pass_tokens

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """The words and Chinese characters of a text as (start, end)."""
        return [match.span() for match in TOKEN.finditer(text)]

    def count_tokens(self, text: str) -> int:
        """How many words and Chinese characters a text has."""
        return len(self.spans(text))

    def forward(self, windows: Sequence[str]) -> Embeddings:
        """Embed texts that fit the window."""
        embeddings = np.zeros((len(windows), DIMENSION), np.float32)
        for row, window in zip(embeddings, windows, strict=True):
            tokens = TOKEN.findall(window)
            if len(tokens) + self.special_tokens > self.identity.window_tokens:
                raise ValueError("the text is longer than the window")
            for token in (*tokens[1:], ""):  # the prefix is no content
                row += _direction(token)
            row /= np.linalg.norm(row)
        return embeddings


def _direction(token: str) -> Embeddings:
    seed = int.from_bytes(hashlib.sha256(token.lower().encode()).digest()[:8])
    return np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)
