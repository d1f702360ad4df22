"""The services over a fake model: fuzzing asks what breaks, not what is found."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from hindsight.v1 import embedding_pb2_grpc
from hindsight_embedding.batching import Batcher
from hindsight_embedding.cache import EmbeddingCache
from hindsight_embedding.cross_encoder import CrossEncoder
from hindsight_embedding.embedder import Embedder
from hindsight_embedding.fake_model import FakeModel
from hindsight_embedding.reranking import Reranker
from hindsight_embedding.servicer import SERVICE_NAME, EmbeddingServicer
from hindsight_runtime.identity import ServiceTokenAuthenticator
from hindsight_runtime.serving import Service, serving

from tests.cross_encoder import build_cross_encoder


@pytest.fixture(scope="session")
async def embed_address(embed_token: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The address of a real embed service with the fake model."""
    async for address in serve_fake_embedder(embed_token, tmp_path_factory):
        yield address


async def serve_fake_embedder(embed_token: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    model = FakeModel(window_tokens=512, pass_tokens=8192)
    async with AsyncExitStack() as stack:
        batcher = await stack.enter_async_context(Batcher(model, threads=1, queue_tokens=131_072))
        cross_encoder = CrossEncoder(build_cross_encoder(tmp_path_factory.mktemp("r"), ("ada", "green", "tea", "喜")))
        reranker = await stack.enter_async_context(Reranker(cross_encoder, queue_tokens=131_072))
        servicer = EmbeddingServicer(Embedder(batcher, EmbeddingCache(20_000)), model, reranker)

        def register(server) -> None:
            embedding_pb2_grpc.add_EmbeddingServiceServicer_to_server(servicer, server)

        service = Service(ServiceTokenAuthenticator(embed_token), register, [SERVICE_NAME], {"model": batcher.check})
        address = f"unix:{tmp_path_factory.mktemp('s')}/embed"
        await stack.enter_async_context(serving(service, address, max_calls=512, grace_s=1))
        yield address
