"""Which loader a model's name asks for."""

import asyncio
from pathlib import Path

from hindsight_runtime.errors import StartFailed
from hindsight_runtime.serving import wait_for

from hindsight_embedding.model import EmbeddingModel, RerankModel
from hindsight_embedding.packaged import MODEL_ID, provide_model
from hindsight_embedding.settings import EmbedSettings

OPENAI = "openai:"


async def load_model(settings: EmbedSettings) -> EmbeddingModel:
    """The model the settings name: packaged, behind an OpenAI-compatible endpoint, or through sentence-transformers.

    Raises:
        StartFailed: it cannot be loaded; the message says what to do.
    """
    name = settings.embedding_model
    if name == MODEL_ID:
        return await asyncio.to_thread(_load_packaged, settings)
    if name.startswith(OPENAI):
        return await _load_openai(name.removeprefix(OPENAI), settings)
    return await asyncio.to_thread(_load_sentence_transformer, settings)


async def load_rerank_model(folder: str) -> RerankModel:
    """The cross-encoder in a folder.

    Raises:
        StartFailed: it cannot be loaded; the message says what to do.
    """
    from hindsight_embedding.cross_encoder import CrossEncoder

    return await asyncio.to_thread(lambda: CrossEncoder(Path(folder).expanduser()))


def _load_packaged(settings: EmbedSettings) -> EmbeddingModel:
    from hindsight_embedding.onnx_model import E5_CALIBRATION, OnnxModel  # onnxruntime only where it is used

    return OnnxModel(provide_model(settings.model_dir.expanduser()), settings.calibration() or E5_CALIBRATION)


def _load_sentence_transformer(settings: EmbedSettings) -> EmbeddingModel:
    from hindsight_embedding.sentence_model import SentenceModel

    return SentenceModel(settings.embedding_model, settings.calibration(), is_offline=settings.hf_hub_offline)


async def _load_openai(name: str, settings: EmbedSettings) -> EmbeddingModel:
    from hindsight_embedding.openai_model import Endpoint, OpenAIModel, connect

    if not name:
        raise StartFailed("EMBEDDING_MODEL=openai: needs a model's name, as in openai:text-embedding-3-small")
    endpoint = Endpoint(connect(settings.embedding_url, settings.embedding_api_key.get_secret_value()), name)
    dimensions: list[int] = []

    async def probe() -> None:
        dimensions.append(await asyncio.to_thread(endpoint.measure_dimension))

    await wait_for("embedding endpoint", probe)
    return OpenAIModel(endpoint, dimensions[-1], settings.embedding_window_tokens, settings.calibration())
