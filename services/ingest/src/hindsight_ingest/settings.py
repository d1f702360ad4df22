"""Ingest's settings, from the environment."""

from hindsight_runtime.settings import ServerSettings, either
from pydantic import Field, SecretStr


class IngestSettings(ServerSettings):
    """What ingest needs beside what every service needs."""

    port: int = Field(default=50051, validation_alias="HINDSIGHT_INGEST_PORT")
    database_url: str = Field(validation_alias=either("DATABASE_URL"))  # as the role hindsight_ingest
    redis_url: str = Field(default="", validation_alias=either("REDIS_URL"))
    embed_address: str = "127.0.0.1:50053"
    embed_token: str = ""
    record_token: SecretStr = SecretStr("")  # by which the recall service is believed; empty: it is not


class WorkerSettings(ServerSettings):
    """What the worker needs; its port answers health only."""

    port: int = Field(default=50054, validation_alias="HINDSIGHT_WORKER_PORT")
    database_url: str = Field(validation_alias=either("DATABASE_URL"))  # as the role hindsight_ingest
    maintenance_database_url: str  # as the role hindsight_maintenance, to see every tenant's jobs
    embed_address: str = "127.0.0.1:50053"
    embed_token: str = ""
