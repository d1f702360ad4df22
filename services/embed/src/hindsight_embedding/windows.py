"""Long text is read in windows and pooled, never cut."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hindsight_embedding.model import EmbeddingModel, Role


@dataclass(frozen=True, slots=True)
class Window:
    """A piece of a text as the model reads it: prefix included, no longer than the model's window."""

    text: str
    tokens: int  # prefix and special tokens included: what a forward pass costs
    weight: int  # tokens of the text itself, at least 1


def split(text: str, role: Role, model: EmbeddingModel) -> list[Window]:
    """The windows of a text: about equal in tokens, no overlap, together the whole text."""
    prefix = model.prefixes.of(role)
    fixed = model.special_tokens + (model.count_tokens(prefix) if prefix else 0)
    room = max(1, model.identity.window_tokens - fixed)
    return [
        Window(prefix + piece, fixed + tokens, max(1, tokens))
        for piece, tokens in _pieces(text, room=room, model=model)
    ]


def _pieces(text: str, *, room: int, model: EmbeddingModel) -> list[tuple[str, int]]:
    spans = model.spans(text)
    if len(spans) <= room or len(text) == 1:
        return [(text, len(spans))]
    count = -(-len(spans) // room)
    # a cut is where a token starts; tokens that share a character (as in U+FDFA) must not make an empty piece
    cuts = sorted({spans[number * len(spans) // count][0] for number in range(1, count)} - {0})
    if not cuts:
        cuts = [len(text) // 2]
    pieces: list[tuple[str, int]] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        # a piece read alone may have a token more than inside the text, so it is counted again
        pieces += _pieces(text[start:end], room=room, model=model)
    return pieces


def pool(embeddings: Sequence[NDArray[np.float32]], weights: Sequence[int]) -> NDArray[np.float32]:
    """The mean of a text's window embeddings, weighted by their tokens, of unit norm."""
    if len(embeddings) == 1:
        return embeddings[0]
    mean = np.average(np.stack(embeddings), axis=0, weights=weights)
    norm = float(np.linalg.norm(mean))
    return (mean / norm if norm > 0 else embeddings[0]).astype(np.float32)
