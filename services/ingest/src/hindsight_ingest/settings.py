"""Ingest's settings, from the environment."""

from typing import Self

from hindsight_language.tokens import Family
from hindsight_runtime.settings import ServerSettings, either
from hindsight_store.llm_use import Use
from pydantic import Field, SecretStr, ValidationInfo, field_validator, model_validator

from hindsight_ingest.kin import SORTS
from hindsight_ingest.llm import Endpoint
from hindsight_ingest.pulse import BOUNDARIES, CHAIN_CALLS, Rules
from hindsight_ingest.rounds import Silence

DESK_SHARE = 0.3  # of the context window; SPEC E2
LONGEST_S = 366 * 86_400.0  # of a silence; a moment beyond the year 9999 would fail every observe


class ListeningSettings(ServerSettings):
    """What ingest and the worker need to agree on: when rounds, tasks and sessions end, and what follows from memories."""

    task_boundaries: str = ",".join(BOUNDARIES)  # which of them are looked for beside the client's word
    chain_calls: int = Field(default=CHAIN_CALLS, ge=1, le=100)  # tool calls that make a chain
    round_quiet_s: float = Field(default=30.0, gt=0, le=LONGEST_S)
    task_idle_s: float = Field(default=300.0, gt=0, le=LONGEST_S)
    session_idle_s: float = Field(default=1800.0, gt=0, le=LONGEST_S)
    relate: str = ""  # comma list: entities, preferences; relations that follow from what memories say

    @field_validator("relate", "task_boundaries")
    @classmethod
    def _know_names(cls, text: str, field: ValidationInfo) -> str:
        known = SORTS if field.field_name == "relate" else BOUNDARIES
        if unknown := [name for name in _split(text) if name not in known]:
            raise ValueError(
                f"HINDSIGHT_{str(field.field_name).upper()}: {unknown[0]!r} is unknown; there are: {', '.join(known)}"
            )
        return text

    @property
    def kin(self) -> list[str]:
        """Which relations follow from what memories say."""
        return _split(self.relate)

    @property
    def rules(self) -> Rules:
        """Which task boundaries are looked for."""
        return Rules(_split(self.task_boundaries), self.chain_calls)

    @property
    def silence(self) -> Silence:
        """How long silence lasts until it means something."""
        return Silence(self.round_quiet_s, self.task_idle_s, self.session_idle_s)


class IngestSettings(ListeningSettings):
    """What ingest needs beside what every service needs."""

    port: int = Field(default=50051, validation_alias="HINDSIGHT_INGEST_PORT")
    database_url: str = Field(validation_alias=either("DATABASE_URL"))  # as the role hindsight_ingest
    redis_url: str = Field(default="", validation_alias=either("REDIS_URL"))
    embed_address: str = "127.0.0.1:50053"
    embed_token: str = ""
    tenant_mib: int = Field(default=0, ge=0)  # of text that a tenant may store; 0: no limit
    record_token: SecretStr = SecretStr("")  # by which the recall service is believed; empty: it is not
    context_window: int = Field(default=128_000, ge=1_000, le=100_000_000)  # of the agents' model, in tokens
    model_family: Family = "gpt"  # whose tokens are counted

    @property
    def desk_tokens(self) -> int:
        """The budget of a desk."""
        return int(DESK_SHARE * self.context_window)


class WorkerSettings(ListeningSettings):
    """What the worker needs; its port answers health only."""

    port: int = Field(default=50054, validation_alias="HINDSIGHT_WORKER_PORT")
    database_url: str = Field(validation_alias=either("DATABASE_URL"))  # as the role hindsight_ingest
    turns_kept_days: float = Field(default=30.0, gt=0)  # then observed turns are removed; what was learned from them stays
    maintenance_database_url: str  # as the role hindsight_maintenance, to see every tenant's jobs and to erase
    redis_url: str = Field(default="", validation_alias=either("REDIS_URL"))  # to clear with what is erased; empty: there is none
    embed_address: str = "127.0.0.1:50053"
    embed_token: str = ""
    llm_url: str = Field(default="", pattern=r"^(https?://\S+)?$")  # of an OpenAI-compatible endpoint; empty: no LLM
    llm_api_key: SecretStr = SecretStr("")
    llm_model: str = Field(default="", max_length=128)
    llm_retrospect_model: str = Field(default="", max_length=128)  # empty: the same
    llm_timeout_s: float = Field(default=20.0, gt=0, le=45)  # below the lease of a job
    llm_calls_a_day: int = Field(default=200, ge=0)  # of a tenant
    llm_tokens_a_day: int = Field(default=200_000, ge=0)  # likewise

    @model_validator(mode="after")
    def _url_needs_a_model(self) -> Self:
        if self.llm_url and not self.llm_model:
            raise ValueError("HINDSIGHT_LLM_URL needs HINDSIGHT_LLM_MODEL, the model's name at that endpoint")
        return self

    @property
    def llm(self) -> Endpoint | None:
        """Where the LLM is; None: there is none."""
        if not self.llm_url:
            return None
        budget = Use(self.llm_calls_a_day, self.llm_tokens_a_day)
        models = (self.llm_model, self.llm_retrospect_model or self.llm_model)
        return Endpoint(self.llm_url, self.llm_api_key.get_secret_value(), *models, self.llm_timeout_s, budget)


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
