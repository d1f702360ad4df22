"""The embedding service's settings; the only module here that reads the environment."""

from pathlib import Path
from typing import Self

from hindsight_runtime.settings import ServerSettings, either
from pydantic import Field, SecretStr, model_validator

from hindsight_embedding.model import Calibration
from hindsight_embedding.packaged import MODEL_ID


class EmbedSettings(ServerSettings):
    """Which model, where it is, and how much it is asked to do at once."""

    port: int = Field(default=50053, ge=0, le=65535, validation_alias="HINDSIGHT_EMBED_PORT")
    embed_token: SecretStr = SecretStr("")  # the callers' shared bearer token
    embedding_model: str = Field(default=MODEL_ID, min_length=1, validation_alias=either("EMBEDDING_MODEL"))
    embedding_calibration: str = ""  # "floor,span,duplicate", for a model whose cosines were measured
    embedding_url: str = "https://api.openai.com/v1"  # of an OpenAI-compatible endpoint
    embedding_api_key: SecretStr = SecretStr("")
    embedding_window_tokens: int = Field(default=8191, ge=16)  # of the endpoint's model
    hf_hub_offline: bool = Field(default=True, validation_alias="HF_HUB_OFFLINE")  # false: may download a model once
    rerank_model: str = ""  # a folder with model.onnx and tokenizer.json; empty: no reranking
    model_dir: Path = Path("~/.cache/hindsight/models")
    embed_threads: int = Field(default=1, ge=1, le=64)  # forward passes at once
    embed_queue_tokens: int = Field(default=131_072, ge=20_000)  # per role; half a minute of one thread
    embed_cache_entries: int = Field(default=20_000, ge=0)

    @model_validator(mode="after")
    def _token_unless_auth_is_off(self) -> Self:
        if self.auth == "on" and not self.embed_token.get_secret_value():
            raise ValueError("set HINDSIGHT_EMBED_TOKEN to the token that ingest and recall send, or HINDSIGHT_AUTH=off")
        return self

    @model_validator(mode="after")
    def _calibration_is_three_numbers(self) -> Self:
        try:
            self.calibration()
        except (TypeError, ValueError):
            raise ValueError("HINDSIGHT_EMBEDDING_CALIBRATION is three numbers, floor,span,duplicate, as in .2,.6,.95") from None
        return self

    def calibration(self) -> Calibration | None:
        """The operator's calibration of the model, if one is set."""
        if not self.embedding_calibration:
            return None
        calibration = Calibration(*map(float, self.embedding_calibration.split(",")))
        if not (-1 <= calibration.cosine_floor <= 1 and 0 < calibration.cosine_span <= 2):
            raise ValueError
        if not calibration.cosine_floor <= calibration.duplicate_cosine <= 1:
            raise ValueError
        return calibration
