"""Ingest's settings, from the environment."""

from hindsight_runtime.settings import ServerSettings, either
from pydantic import Field, SecretStr, field_validator

from hindsight_ingest.kin import SORTS


class IngestSettings(ServerSettings):
    """What ingest needs beside what every service needs."""

    port: int = Field(default=50051, validation_alias="HINDSIGHT_INGEST_PORT")
    database_url: str = Field(validation_alias=either("DATABASE_URL"))  # as the role hindsight_ingest
    redis_url: str = Field(default="", validation_alias=either("REDIS_URL"))
    embed_address: str = "127.0.0.1:50053"
    embed_token: str = ""
    record_token: SecretStr = SecretStr("")  # by which the recall service is believed; empty: it is not
    relate: str = ""  # comma list: entities, preferences; relations that follow from what memories say

    @field_validator("relate")
    @classmethod
    def _know_sorts(cls, text: str) -> str:
        if unknown := [name for name in _split(text) if name not in SORTS]:
            raise ValueError(f"HINDSIGHT_RELATE: {unknown[0]!r} is unknown; there are: {', '.join(SORTS)}")
        return text

    @property
    def kin(self) -> list[str]:
        """Which relations follow from what memories say."""
        return _split(self.relate)


class WorkerSettings(ServerSettings):
    """What the worker needs; its port answers health only."""

    port: int = Field(default=50054, validation_alias="HINDSIGHT_WORKER_PORT")
    database_url: str = Field(validation_alias=either("DATABASE_URL"))  # as the role hindsight_ingest
    maintenance_database_url: str  # as the role hindsight_maintenance, to see every tenant's jobs
    embed_address: str = "127.0.0.1:50053"
    embed_token: str = ""


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
