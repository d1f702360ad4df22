"""Settings every hindsight process shares; the only place in the runtime that reads the environment."""

import sys
from ipaddress import ip_address
from typing import Literal, Self, TypeVar

from pydantic import AliasChoices, Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from hindsight_runtime.limits import Limits

S = TypeVar("S", bound=BaseSettings)


def either(name: str) -> AliasChoices:
    """Accept a setting under its own name and with the prefix HINDSIGHT_."""
    return AliasChoices(f"HINDSIGHT_{name}", name)


def is_loopback(host: str) -> bool:
    """Whether a listening host can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class ServerSettings(BaseSettings):
    """How a gRPC service listens and whom it believes."""

    model_config = SettingsConfigDict(env_prefix="HINDSIGHT_", extra="ignore", populate_by_name=True)

    host: str = "127.0.0.1"
    port: int
    auth: Literal["on", "off"] = "on"
    assertion_public_key: str = ""  # Ed25519, base64url of 32 bytes; empty: assertions are refused
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    grace_s: float = Field(default=20.0, ge=0, le=600)  # for calls in flight at SIGTERM
    max_calls: int = Field(default=512, ge=1)  # in flight at once
    tenant_calls_per_s: float = Field(default=Limits().calls_per_s, ge=0)  # of work: an entry of a batch is one; 0: no limit
    tenant_concurrent: int = Field(default=Limits().concurrent, ge=0)  # calls of a tenant that run at once; 0: no limit
    max_connection_age_s: float = Field(default=300.0, ge=1)  # then a caller connects anew, and finds new replicas

    @property
    def limits(self) -> Limits:
        """What one tenant may have of this process."""
        return Limits(self.tenant_calls_per_s, self.tenant_concurrent)

    @model_validator(mode="after")
    def _auth_off_on_loopback_only(self) -> Self:
        if self.auth == "off" and not is_loopback(self.host):
            raise ValueError("HINDSIGHT_AUTH=off works on a loopback HINDSIGHT_HOST only")
        return self


def load(settings: type[S]) -> S:
    """Read the settings from the environment.

    Raises:
        SystemExit: a setting is missing or wrong; the message names it.
    """
    try:
        return settings()
    except ValidationError as error:
        prefix = settings.model_config.get("env_prefix", "")
        wrong = "; ".join(f"{_name_in_environment(e['loc'], prefix)}: {e['msg']}" for e in error.errors())
        sys.exit(f"hindsight: settings from the environment: {wrong}")


def _name_in_environment(loc: tuple[int | str, ...], prefix: str) -> str:
    """The variable a violation is about; pydantic tells the field where the setting has no alias."""
    name = ".".join(map(str, loc)) or "settings"
    return f"{prefix}{name.upper()}" if loc and name.islower() else name
