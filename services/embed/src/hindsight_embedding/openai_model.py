"""A model behind an OpenAI-compatible endpoint."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from hindsight_runtime.errors import DependencyUnavailable, Overloaded, StartFailed

from hindsight_embedding.model import UNMEASURED, Calibration, Embeddings, ModelIdentity, Prefixes

if TYPE_CHECKING:
    from openai import OpenAI

REQUEST_TIMEOUT_S = 20.0  # below the deadline of a call, so that the caller learns why
HEAD_ROOM = 0.9  # of the window: its tokens are estimated
# No more characters than any byte-pair vocabulary needs a token for; anything outside ASCII counts twice.
ESTIMATED_TOKEN = re.compile(r"[A-Za-z]{1,3}|[0-9]{1,2}|\s+|[\x00-\x7f]|[^\x00-\x7f]")


def connect(url: str, api_key: str) -> "OpenAI":
    """A client for an endpoint.

    Raises:
        StartFailed: the extra is not installed.
    """
    try:
        from openai import OpenAI
    except ImportError:
        raise StartFailed(
            "a model 'openai:…' needs the openai library: pip install 'hindsight-embed-service[openai]'"
        ) from None
    # an endpoint on one's own machine takes no key, but the library insists on one
    return OpenAI(base_url=url, api_key=api_key or "none", timeout=REQUEST_TIMEOUT_S, max_retries=1)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model at one endpoint."""

    client: "OpenAI"
    model: str

    def measure_dimension(self) -> int:
        """The dimension of the model's embeddings, found by asking for one.

        Raises:
            StartFailed: the endpoint refuses; asking again will not help.
            DependencyUnavailable: the endpoint does not answer.
        """
        from openai import APIStatusError

        try:
            return self.embed(["dimension"]).shape[1]
        except APIStatusError as error:
            raise StartFailed(
                f"the embedding endpoint answers {error.status_code} for model '{self.model}'; check EMBEDDING_MODEL, "
                "HINDSIGHT_EMBEDDING_URL and HINDSIGHT_EMBEDDING_API_KEY"
            ) from None

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Embed texts in one request, rows of unit norm.

        Raises:
            DependencyUnavailable: the endpoint does not answer.
            Overloaded: the endpoint asks for patience.
            openai.APIStatusError: the endpoint refuses.
        """
        from openai import APIConnectionError, InternalServerError, RateLimitError

        try:
            answer = self.client.embeddings.create(input=list(texts), model=self.model, encoding_format="float")
        except RateLimitError:
            raise Overloaded("the embedding endpoint is at its rate limit; try again", retry_after_s=2.0) from None
        except (APIConnectionError, InternalServerError):
            raise DependencyUnavailable("the embedding endpoint does not answer; try again") from None
        rows = sorted(answer.data, key=lambda row: row.index)
        embeddings = np.array([row.embedding for row in rows], np.float32).reshape(len(rows), -1)
        norms = np.linalg.norm(embeddings, axis=1, keepdims=True)
        return embeddings / np.maximum(norms, np.finfo(np.float32).tiny)


class OpenAIModel:
    """A model that only its endpoint can tokenise: lengths are estimated, generously."""

    special_tokens = 0
    pass_tokens = 32_768  # one request; the public endpoint takes 300,000
    is_padded = False
    prefixes = Prefixes()

    def __init__(
        self, endpoint: Endpoint, dimension: int, window_tokens: int, calibration: Calibration | None = None
    ) -> None:
        # an endpoint tells no revision: a name stands for one set of weights
        self.identity = ModelIdentity(endpoint.model, "openai", dimension, int(window_tokens * HEAD_ROOM))
        self.calibration = calibration or UNMEASURED
        self._endpoint = endpoint

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """The estimated tokens of a text as (start, end) in characters."""
        spans = [match.span() for match in ESTIMATED_TOKEN.finditer(text)]
        return [span for span in spans for _ in range(1 if text[span[0]] < "\x80" else 2)]

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has at most, nearly always."""
        return len(self.spans(text))

    def forward(self, windows: Sequence[str]) -> Embeddings:
        """Embed texts, of which each fits the window, in one request."""
        return self._endpoint.embed(windows)
