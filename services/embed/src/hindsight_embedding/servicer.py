"""The gRPC face of the embedding service; the only module here that knows protobuf."""

from collections.abc import Sequence

import grpc
from hindsight.v1 import embedding_pb2, embedding_pb2_grpc
from hindsight_runtime.errors import InvalidField, NotConfigured

from hindsight_embedding.embedder import Embedder
from hindsight_embedding.model import EmbeddingModel, Role
from hindsight_embedding.reranking import Reranker

MAX_TEXTS = 512
MAX_RERANKED = 100
MAX_TEXT_BYTES = 64 * 1024
ROLES = {embedding_pb2.ROLE_QUERY: Role.QUERY, embedding_pb2.ROLE_PASSAGE: Role.PASSAGE}
SERVICE_NAME = embedding_pb2.DESCRIPTOR.services_by_name["EmbeddingService"].full_name


class EmbeddingServicer(embedding_pb2_grpc.EmbeddingServiceServicer):
    """Answers Embed, Rerank and DescribeModel."""

    def __init__(self, embedder: Embedder, model: EmbeddingModel, reranker: Reranker | None = None) -> None:
        self.embedder, self.model, self.reranker = embedder, describe(model), reranker

    async def Embed(
        self,
        request: embedding_pb2.EmbedRequest,
        context: grpc.aio.ServicerContext[embedding_pb2.EmbedRequest, embedding_pb2.EmbedResponse],
    ) -> embedding_pb2.EmbedResponse:
        """The embeddings of some texts, in order."""
        role = ROLES.get(request.role)
        if role is None:
            raise InvalidField("role", "ROLE_QUERY for something asked, ROLE_PASSAGE for something stored")
        check_texts(request.texts)
        embeddings = await self.embedder.embed(request.texts, role)
        return embedding_pb2.EmbedResponse(embeddings=embeddings.astype("<f4").tobytes(), model=self.model)

    async def Rerank(
        self,
        request: embedding_pb2.RerankRequest,
        context: grpc.aio.ServicerContext[embedding_pb2.RerankRequest, embedding_pb2.RerankResponse],
    ) -> embedding_pb2.RerankResponse:
        """How well some texts answer a query, in order."""
        check_text("query", request.query)
        check_texts(request.texts, most=MAX_RERANKED)
        if self.reranker is None:
            raise NotConfigured("no reranking model is named; start the embed service with HINDSIGHT_RERANK_MODEL=<folder>")
        relevances = await self.reranker.rerank(request.query, request.texts)
        model = self.reranker.model
        return embedding_pb2.RerankResponse(relevances=relevances.tolist(), model_id=model.id, model_revision=model.revision)

    async def DescribeModel(
        self,
        request: embedding_pb2.DescribeModelRequest,
        context: grpc.aio.ServicerContext[embedding_pb2.DescribeModelRequest, embedding_pb2.DescribeModelResponse],
    ) -> embedding_pb2.DescribeModelResponse:
        """Which models answer."""
        reranker = self.reranker.model if self.reranker else None
        return embedding_pb2.DescribeModelResponse(
            model=self.model,
            rerank_model_id=reranker.id if reranker else "",
            rerank_model_revision=reranker.revision if reranker else "",
        )


def check_texts(texts: Sequence[str], *, most: int = MAX_TEXTS) -> None:
    """Raise InvalidField unless there are 1 to so many texts, none blank, none over 64 KiB."""
    if not 1 <= len(texts) <= most:
        raise InvalidField("texts", f"1 to {most} texts a request, not {len(texts)}")
    for number, text in enumerate(texts):
        check_text(f"texts[{number}]", text)


def check_text(field: str, text: str) -> None:
    """Raise InvalidField for a text that is blank or over 64 KiB."""
    if not text.strip():
        raise InvalidField(field, "not empty and not only white space")
    if len(text) * 4 > MAX_TEXT_BYTES and len(text.encode()) > MAX_TEXT_BYTES:
        raise InvalidField(field, f"at most {MAX_TEXT_BYTES // 1024} KiB of UTF-8")


def describe(model: EmbeddingModel) -> embedding_pb2.Model:
    """A model as the wire has it."""
    return embedding_pb2.Model(
        id=model.identity.id,
        revision=model.identity.revision,
        dimension=model.identity.dimension,
        window_tokens=model.identity.window_tokens,
        cosine_floor=model.calibration.cosine_floor,
        cosine_span=model.calibration.cosine_span,
        duplicate_cosine=model.calibration.duplicate_cosine,
        relevance_floor=model.calibration.relevance_floor,
    )
