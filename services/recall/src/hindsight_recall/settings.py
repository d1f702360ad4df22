"""Recall's settings, from the environment."""

from hindsight_language.tokens import Family
from hindsight_runtime.settings import ServerSettings, either
from pydantic import Field, SecretStr


class RecallSettings(ServerSettings):
    """What recall needs beside what every service needs."""

    port: int = Field(default=50052, validation_alias="HINDSIGHT_RECALL_PORT")
    database_url: str = Field(validation_alias=either("DATABASE_URL"))  # as the role hindsight_recall
    embed_address: str = "127.0.0.1:50053"
    embed_token: str = ""
    redis_url: str = Field(default="", validation_alias=either("REDIS_URL"))  # where desks live; empty: there are none
    model_family: Family = "gpt"  # of the agents' model, whose tokens are counted
    ingest_address: str = ""  # where receipts and hits are kept; empty: they are not
    record_token: SecretStr = SecretStr("")  # what ingest believes the recall service by
