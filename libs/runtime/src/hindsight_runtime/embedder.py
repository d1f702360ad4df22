"""The way to the embed service: texts in, unit vectors out, one model for all."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

import grpc
import numpy as np
import structlog
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from hindsight.v1 import embedding_pb2, embedding_pb2_grpc
from numpy.typing import NDArray

from hindsight_runtime.channels import open_channel
from hindsight_runtime.errors import DependencyUnavailable, ModelMismatch, NotConfigured, Overloaded

TIMEOUT_S = 30.0
RETRY_AFTER_S = 0.5
BATCH_TEXTS = 64
BATCH_BYTES = 64 * 1024  # the queue of the embed service holds this much whatever its settings
NOT_THERE = (grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.UNIMPLEMENTED)  # the latter: an older embed service
OUR_FAULT = (grpc.StatusCode.INVALID_ARGUMENT,)
UNAVAILABLE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)
Role = Literal["query", "passage"]
log = structlog.get_logger()
ROLES = {"query": embedding_pb2.ROLE_QUERY, "passage": embedding_pb2.ROLE_PASSAGE}


@dataclass(frozen=True, slots=True)
class Model:
    """A model and how its cosines are read."""

    id: str
    revision: str
    dimension: int
    window_tokens: int
    cosine_floor: float
    cosine_span: float
    duplicate_cosine: float
    relevance_floor: float


@dataclass(frozen=True, slots=True)
class RerankModel:
    """A model that reads a query and a text together."""

    id: str
    revision: str


class Embedder:
    """Asks the embed service. One for the life of a process."""

    def __init__(self, stub: embedding_pb2_grpc.EmbeddingServiceStub, token: str) -> None:
        self._stub = stub
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()

    async def describe_model(self) -> Model:
        """The model that answers now.

        Raises:
            DependencyUnavailable: the embed service does not answer.
        """
        response = await self._call(self._stub.DescribeModel, embedding_pb2.DescribeModelRequest())
        return _model(response.model)

    async def describe_rerank_model(self) -> RerankModel | None:
        """The reranking model that answers now; None: the operator has named none.

        Raises:
            DependencyUnavailable: the embed service does not answer.
        """
        response = await self._call(self._stub.DescribeModel, embedding_pb2.DescribeModelRequest())
        id_ = response.rerank_model_id
        return RerankModel(id_, response.rerank_model_revision) if id_ else None

    async def ping(self) -> None:
        """Raise DependencyUnavailable unless the embed service answers."""
        await self.describe_model()

    async def embed(self, texts: Sequence[str], role: Role, *, model: Model) -> NDArray[np.float32]:
        """Embed texts in order: float32[len(texts), dimension], rows of unit norm.

        Raises:
            Overloaded: the queue is full; retry after the hinted delay.
            DependencyUnavailable: the embed service does not answer.
            ModelMismatch: another model than the one named answers.
        """
        rows = [np.empty((0, model.dimension), np.float32)]
        for batch in _batches(texts):
            request = embedding_pb2.EmbedRequest(texts=batch, role=ROLES[role])
            response = await self._call(self._stub.Embed, request)
            if (response.model.id, response.model.revision) != (model.id, model.revision):
                raise ModelMismatch(
                    f"the embeddings are of {model.id} {model.revision}, the embed service answers with "
                    f"{response.model.id} {response.model.revision}; start it with the former"
                )
            rows.append(np.frombuffer(response.embeddings, "<f4").reshape(len(batch), model.dimension))
        return np.concatenate(rows)

    async def rerank(self, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """How well each of 1 to 100 texts answers a query, in order: float64[len(texts)], 0 to 1.

        Raises:
            NotConfigured: the operator has named no reranking model.
            Overloaded: the queue is full; retry after the hinted delay.
            DependencyUnavailable: the embed service does not answer.
        """
        response = await self._call(self._stub.Rerank, embedding_pb2.RerankRequest(query=query, texts=texts))
        return np.array(response.relevances, np.float64)

    async def _call(self, method: Callable[..., Any], request: Any) -> Any:
        try:
            return await method(request, timeout=TIMEOUT_S, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            if error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED:
                raise Overloaded("the embedding queue is full; try again", retry_after_s=_retry_after_s(error)) from None
            if error.code() in NOT_THERE:
                raise NotConfigured(error.details() or "the embed service has no such model") from None
            if error.code() in OUR_FAULT:
                raise
            if error.code() not in UNAVAILABLE:
                log.error("embed service failed", code=error.code().name, details=error.details())
            raise DependencyUnavailable("the embed service does not answer; try again") from None


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Texts in requests of a size that lets the queue mix callers."""
    batch: list[str] = []
    size_bytes = 0
    for text in texts:
        text_bytes = len(text.encode())
        if batch and (len(batch) == BATCH_TEXTS or size_bytes + text_bytes > BATCH_BYTES):
            yield batch
            batch, size_bytes = [], 0
        batch.append(text)
        size_bytes += text_bytes
    if batch:
        yield batch


def _retry_after_s(error: grpc.aio.AioRpcError) -> float:
    status = rpc_status.from_call(error)  # pyright: ignore[reportArgumentType]
    retry = error_details_pb2.RetryInfo()
    for detail in status.details if status else ():
        if detail.Unpack(retry):
            return retry.retry_delay.ToMilliseconds() / 1000
    return RETRY_AFTER_S


def _model(message: embedding_pb2.Model) -> Model:
    return Model(
        message.id,
        message.revision,
        message.dimension,
        message.window_tokens,
        message.cosine_floor,
        message.cosine_span,
        message.duplicate_cosine,
        message.relevance_floor,
    )


@asynccontextmanager
async def open_embedder(address: str, token: str) -> AsyncIterator[Embedder]:
    """An embedder over a channel of its own."""
    async with open_channel(address) as channel:
        yield Embedder(embedding_pb2_grpc.EmbeddingServiceStub(channel), token)
