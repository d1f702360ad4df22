"""The edge's settings, from the environment."""

from typing import Self

from hindsight_runtime.identity import Principal, sign_assertion
from hindsight_runtime.settings import ServerSettings
from pydantic import Field, SecretStr, field_validator, model_validator

from hindsight_mcp_edge.desk_tools import DESK_TOOLS
from hindsight_mcp_edge.experience_tools import EXPERIENCE_TOOLS
from hindsight_mcp_edge.memory_tools import MEMORY_TOOLS
from hindsight_mcp_edge.oauth import Trust
from hindsight_mcp_edge.remember_tools import REMEMBER_TOOLS
from hindsight_mcp_edge.session_tools import SESSION_TOOLS
from hindsight_mcp_edge.tool import Tool

TOOLSETS = {
    "memory": MEMORY_TOOLS,
    "remember": REMEMBER_TOOLS,
    "experience": EXPERIENCE_TOOLS,
    "session": SESSION_TOOLS,
    "desk": DESK_TOOLS,
}
URL = r"^(https?://\S+)?$"
DEFAULT_TOOLSETS = ("memory", "session")


class EdgeSettings(ServerSettings):
    """What the edge needs beside what every server needs."""

    port: int = Field(8080, ge=0, le=65_535, validation_alias="HINDSIGHT_EDGE_PORT")
    ingest_address: str = "127.0.0.1:50051"
    recall_address: str = "127.0.0.1:50052"
    embed_address: str = "127.0.0.1:50053"  # for /health only
    api_key: SecretStr = SecretStr("")  # of a stdio client, and of HTTP requests without one where authentication is off
    toolsets: str = ",".join(DEFAULT_TOOLSETS)
    allowed_hosts: str = ""  # comma list, each with or without a port, beside the loopback names
    log_content: bool = False
    oauth_issuer: str = Field("", pattern=URL)  # whose tokens come in beside API keys; empty: none
    oauth_audience: str = Field("", pattern=URL)  # what they must be for: the URL under which clients reach /mcp
    oauth_jwks_url: str = Field("", pattern=URL)  # where the issuer publishes its keys
    assertion_private_key: SecretStr = SecretStr("")  # by which the services believe the edge about such callers

    @field_validator("toolsets")
    @classmethod
    def _know_toolsets(cls, text: str) -> str:
        names = _split(text)
        for name in names:
            if name not in TOOLSETS:
                raise ValueError(f"tool set {name!r} is unknown; there are: {', '.join(TOOLSETS)}")
        if not names:
            raise ValueError(f"name at least one tool set; there are: {', '.join(TOOLSETS)}")
        return text

    @field_validator("api_key")
    @classmethod
    def _key_fits_header(cls, key: SecretStr) -> SecretStr:
        text = key.get_secret_value().strip()
        if not (text.isascii() and text.isprintable()):
            raise ValueError("not a key: it has characters that no key has")
        return SecretStr(text)

    @field_validator("assertion_private_key")
    @classmethod
    def _sign_something(cls, key: SecretStr) -> SecretStr:
        if key.get_secret_value():
            try:
                sign_assertion(Principal(0, "", ""), key.get_secret_value())
            except ValueError:
                raise ValueError("not a private key as hindsightctl key new-assertion-pair prints it") from None
        return key

    @model_validator(mode="after")
    def _issuer_needs_the_rest(self) -> Self:
        needed = ("oauth_audience", "oauth_jwks_url", "assertion_private_key")
        missing = [f"HINDSIGHT_{name.upper()}" for name in needed if not getattr(self, name)]
        if self.oauth_issuer and missing:
            raise ValueError(f"HINDSIGHT_OAUTH_ISSUER needs {', '.join(missing)}")
        return self

    @property
    def trust(self) -> Trust | None:
        """Whose tokens come in; None: nobody's."""
        if not self.oauth_issuer:
            return None
        private_key = self.assertion_private_key.get_secret_value()
        return Trust(self.oauth_issuer, self.oauth_audience, self.oauth_jwks_url, private_key)

    @property
    def tools(self) -> list[Tool]:
        """The tools of the chosen sets, in order."""
        return [tool for name in dict.fromkeys(_split(self.toolsets)) for tool in TOOLSETS[name]]

    @property
    def hosts(self) -> list[str]:
        """The names under which the edge may be reached, beside loopback."""
        return _split(self.allowed_hosts)


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
