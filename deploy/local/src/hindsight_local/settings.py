"""What the launcher reads from the environment."""

import os
from pathlib import Path

from hindsight_runtime.settings import either
from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

REPOSITORY = Path(__file__).parents[4]
# What every process may see of the launcher's environment; anything else is given by name.
COMMON = (
    *("PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"),
    *("HINDSIGHT_AUTH", "HINDSIGHT_LOG_LEVEL", "HINDSIGHT_GRACE_S", "HINDSIGHT_MAX_CALLS"),
    *("HINDSIGHT_TENANT_CALLS_PER_S", "HINDSIGHT_TENANT_CONCURRENT", "HINDSIGHT_TENANT_MIB"),
)


def _default_home() -> Path:
    base = REPOSITORY if (REPOSITORY / "constraints.txt").is_file() else Path.cwd()
    return base / ".hindsight"


class LocalSettings(BaseSettings):
    """Where the launcher keeps things, where it listens, and which servers it need not start."""

    model_config = SettingsConfigDict(env_prefix="HINDSIGHT_", extra="ignore", populate_by_name=True)

    home: Path = Field(default_factory=_default_home)
    database_url: str = Field("", validation_alias=either("DATABASE_URL"))  # the owner's; empty: embedded
    redis_url: str = Field("", validation_alias=either("REDIS_URL"))  # empty: embedded
    port_offset: int = Field(0, ge=0, le=15_000)  # added to every port below, so that a copy beside it works
    ingest_port: int = Field(50051, ge=1, le=65_535)
    recall_port: int = Field(50052, ge=1, le=65_535)
    embed_port: int = Field(50053, ge=1, le=65_535)
    worker_port: int = Field(50054, ge=1, le=65_535)
    edge_port: int = Field(8080, ge=1, le=65_535)
    postgres_port: int = Field(0, ge=0, le=65_535)  # 0: a free one is picked and remembered
    redis_port: int = Field(0, ge=0, le=65_535)  # 0: likewise


def passed_on(names: tuple[str, ...]) -> dict[str, str]:
    """The named variables of the launcher's own environment, those that are set."""
    return {name: os.environ[name] for name in (*COMMON, *names) if name in os.environ}
