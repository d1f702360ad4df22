"""What every embedding model offers, whoever made it."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Embeddings = NDArray[np.float32]  # [texts, dimension], rows of unit norm


class Role(enum.Enum):
    """What a text is to the model."""

    QUERY = "query"
    PASSAGE = "passage"


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which model; embeddings compare only where id and revision are the same."""

    id: str
    revision: str
    dimension: int
    window_tokens: int  # prefix and special tokens included


@dataclass(frozen=True, slots=True)
class Calibration:
    """How a model's cosines are read: similarity = (cosine - floor) / span, clamped to 0..1."""

    cosine_floor: float
    cosine_span: float
    duplicate_cosine: float  # at or above it two contents may be near-duplicates
    relevance_floor: float = 0.3  # a similarity below it most likely means: this does not answer


# For models nobody has measured: unrelated texts lie near .2 in most of them, paraphrases near .8.
UNMEASURED = Calibration(cosine_floor=0.2, cosine_span=0.6, duplicate_cosine=0.95)


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What is put before a text, by its role."""

    query: str = ""
    passage: str = ""

    def of(self, role: Role) -> str:
        """The prefix for a role."""
        return self.query if role is Role.QUERY else self.passage


class PassBounds(Protocol):
    """How large a forward pass may be."""

    pass_tokens: int  # in one forward pass: more only makes others wait longer
    is_padded: bool  # rows of a pass are padded to the longest


@dataclass(frozen=True, slots=True)
class Pair:
    """A query and a text as a reranking model reads them together."""

    token_ids: Sequence[int]
    type_ids: Sequence[int]  # 0: of the query, 1: of the text; 0 everywhere in models that do not tell them apart


class RerankModel(PassBounds, Protocol):
    """A loaded reranking model. Its methods block."""

    id: str
    revision: str  # which weights
    window_tokens: int  # of a pair, special tokens included

    def read(self, query: str, texts: Sequence[str]) -> Sequence[Pair]:
        """The query with each of the texts, in order, cut to the window."""
        ...

    def relevances(self, pairs: Sequence[Pair]) -> NDArray[np.float64]:
        """One forward pass: for each pair, in order, how well the text answers, 0 to 1."""
        ...


class EmbeddingModel(PassBounds, Protocol):
    """A loaded model. Its methods block, and may be called from several threads at once."""

    identity: ModelIdentity
    calibration: Calibration
    prefixes: Prefixes
    special_tokens: int  # added around every window

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """The tokens of a text as (start, end) in characters, in order; special tokens left out."""
        ...

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has, special tokens left out."""
        ...

    def forward(self, windows: Sequence[str]) -> Embeddings:
        """Embed texts, prefix included, of which each fits the window.

        Raises:
            DependencyUnavailable: the model runs elsewhere and does not answer.
        """
        ...
