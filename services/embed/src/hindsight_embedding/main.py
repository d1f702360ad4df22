"""The command hindsight-embed: the embedding service's process."""

from contextlib import AsyncExitStack

import grpc
import structlog
from hindsight.v1 import embedding_pb2_grpc
from hindsight_runtime.identity import Authenticator, NoAuthentication, Principal, ServiceTokenAuthenticator
from hindsight_runtime.serving import Service, run
from hindsight_runtime.settings import load

from hindsight_embedding.batching import Batcher
from hindsight_embedding.cache import EmbeddingCache
from hindsight_embedding.embedder import Embedder
from hindsight_embedding.loading import load_model, load_rerank_model
from hindsight_embedding.reranking import Reranker
from hindsight_embedding.servicer import SERVICE_NAME, EmbeddingServicer
from hindsight_embedding.settings import EmbedSettings

log = structlog.get_logger()


async def open_service(stack: AsyncExitStack, settings: EmbedSettings) -> Service:
    """Load the model and start what embeds with it; the stack closes it again."""
    model = await load_model(settings)
    log.info("loaded model", model=model.identity.id, revision=model.identity.revision)
    threads, queue_tokens = settings.embed_threads, settings.embed_queue_tokens
    batcher = await stack.enter_async_context(Batcher(model, threads=threads, queue_tokens=queue_tokens))
    reranker = None
    if settings.rerank_model:
        rerank_model = await load_rerank_model(settings.rerank_model)
        log.info("loaded reranking model", model=rerank_model.id, revision=rerank_model.revision)
        reranker = await stack.enter_async_context(Reranker(rerank_model, queue_tokens=queue_tokens))
    servicer = EmbeddingServicer(Embedder(batcher, EmbeddingCache(settings.embed_cache_entries)), model, reranker)

    def register(server: grpc.aio.Server) -> None:
        embedding_pb2_grpc.add_EmbeddingServiceServicer_to_server(servicer, server)

    return Service(_authenticator(settings), register, [SERVICE_NAME], {"model": batcher.check})


def _authenticator(settings: EmbedSettings) -> Authenticator:
    if settings.auth == "off":
        return NoAuthentication(Principal(0, "", "anonymous", rights=frozenset({"read"})))
    return ServiceTokenAuthenticator(settings.embed_token.get_secret_value())


def main() -> None:
    """Serve until SIGTERM."""
    settings = load(EmbedSettings)
    run("embed", settings, lambda stack: open_service(stack, settings))


if __name__ == "__main__":
    main()
