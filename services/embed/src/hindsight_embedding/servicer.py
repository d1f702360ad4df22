"""The gRPC face of the embedding service; the only module here that knows protobuf."""

from collections.abc import Sequence

import grpc
from hindsight.v1 import embedding_pb2, embedding_pb2_grpc
from hindsight_runtime.errors import InvalidField

from hindsight_embedding.embedder import Embedder
from hindsight_embedding.model import EmbeddingModel, Role

MAX_TEXTS = 512
MAX_TEXT_BYTES = 64 * 1024
ROLES = {embedding_pb2.ROLE_QUERY: Role.QUERY, embedding_pb2.ROLE_PASSAGE: Role.PASSAGE}
SERVICE_NAME = embedding_pb2.DESCRIPTOR.services_by_name["EmbeddingService"].full_name


class EmbeddingServicer(embedding_pb2_grpc.EmbeddingServiceServicer):
    """Answers Embed and DescribeModel."""

    def __init__(self, embedder: Embedder, model: EmbeddingModel) -> None:
        self.embedder, self.model = embedder, describe(model)

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

    async def DescribeModel(
        self,
        request: embedding_pb2.DescribeModelRequest,
        context: grpc.aio.ServicerContext[embedding_pb2.DescribeModelRequest, embedding_pb2.DescribeModelResponse],
    ) -> embedding_pb2.DescribeModelResponse:
        """Which model answers."""
        return embedding_pb2.DescribeModelResponse(model=self.model)


def check_texts(texts: Sequence[str]) -> None:
    """Raise InvalidField unless there are 1 to 512 texts, none blank, none over 64 KiB."""
    if not 1 <= len(texts) <= MAX_TEXTS:
        raise InvalidField("texts", f"1 to {MAX_TEXTS} texts a request, not {len(texts)}")
    for number, text in enumerate(texts):
        if not text.strip():
            raise InvalidField(f"texts[{number}]", "not empty and not only white space")
        if len(text) * 4 > MAX_TEXT_BYTES and len(text.encode()) > MAX_TEXT_BYTES:
            raise InvalidField(f"texts[{number}]", f"at most {MAX_TEXT_BYTES // 1024} KiB of UTF-8")


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
