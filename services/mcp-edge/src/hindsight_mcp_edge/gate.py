"""Whose request comes in over HTTP, and the answer to one that does not."""

import hashlib
import math
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import structlog
from hindsight_runtime.attempts import Attempts, to_address
from hindsight_runtime.identity import sign_assertion
from starlette.responses import Response

from hindsight_mcp_edge.access import HEADER, Keys
from hindsight_mcp_edge.answers import answer
from hindsight_mcp_edge.oauth import (
    METADATA_PATH,
    USUAL_SCOPES,
    InvalidToken,
    KeySet,
    KeysUnreachable,
    Trust,
    looks_like_token,
    read_token,
)

RETRY_AFTER_S = 2
WRONG_CREDENTIALS = 20  # of an address in a minute

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Admitted:
    """A caller who may come in."""

    key: str  # what the services are sent
    owner: str  # whose an SSE session is


class Gate:
    """Lets callers in who have a key that the services know or, where an issuer is trusted, a token of it."""

    def __init__(self, keys: Keys, trust: Trust | None = None, key_set: KeySet | None = None) -> None:
        self._keys = keys
        self._trust = trust
        self._key_set = key_set
        self._attempts = Attempts(WRONG_CREDENTIALS)

    @property
    def documents(self) -> dict[str, dict[str, Any]]:
        """What is told without a key, by path: where to get a token (RFC 9728)."""
        if self._trust is None:
            return {}
        return dict.fromkeys((METADATA_PATH, urlsplit(self._trust.metadata_url).path), self._trust.metadata)

    async def admit(self, credential: str, host: str) -> Admitted | Response:
        """The caller, or what to answer. `host` is whom the request comes from.

        A token is judged even where the address is barred: that asks nobody.
        """
        address, digest = to_address(host), hashlib.sha256(credential.encode()).digest()
        barred_s = self._attempts.barred_s(address, digest) if credential else 0.0
        if self._trust and self._key_set and looks_like_token(credential):
            admitted = await self._admit_token(credential, self._trust, self._key_set)
        elif barred_s:
            return _barred(barred_s)
        else:
            admitted = await self._admit_key(credential, digest)
        if credential and isinstance(admitted, Response) and admitted.status_code == 401:
            self._attempts.fail(address)
            return _barred(barred_s) if barred_s else admitted
        return admitted

    async def _admit_key(self, key: str, digest: bytes) -> Admitted | Response:
        verdict = await self._keys.verify(key)
        if verdict == "valid":
            self._attempts.succeed(digest)
            return Admitted(key, digest.hex())
        if verdict == "unknown":
            return _unavailable("the key cannot be verified at the moment: hindsight's ingest service does not answer")
        return self._refuse("the key is wrong, expired or revoked" if key else "a key is missing", given=bool(key))

    async def _admit_token(self, token: str, trust: Trust, key_set: KeySet) -> Admitted | Response:
        try:
            principal = await read_token(token, trust, key_set)
        except KeysUnreachable:
            return _unavailable("the token cannot be verified at the moment: its issuer does not answer")
        except InvalidToken:
            return self._refuse("the token is wrong, expired or not for this server", given=True)
        if not principal.rights:
            message = f"the token grants nothing here; ask for a scope of: {USUAL_SCOPES}"
            challenge = {"WWW-Authenticate": self._challenge("insufficient_scope")}
            return answer(403, {"error": "insufficient_scope", "message": message}, challenge)
        log.debug("admitted token", principal=principal.key_id, tenant=principal.tenant)
        return Admitted(sign_assertion(principal, trust.private_key), principal.key_id)

    def _refuse(self, problem: str, *, given: bool) -> Response:
        message = f"{problem}; add the header '{HEADER}' (or 'X-API-Key: <key>') to the client's configuration"
        challenge = {"WWW-Authenticate": self._challenge("invalid_token" if given else "")}
        return answer(401, {"error": "unauthorized", "message": message, "header": HEADER}, challenge)

    def _challenge(self, error: str) -> str:
        """What a client needs to get a credential (RFC 6750, RFC 9728)."""
        parts = {"realm": "hindsight", "error": error}
        if self._trust:
            parts |= {"scope": USUAL_SCOPES, "resource_metadata": self._trust.metadata_url}
        return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in parts.items() if value)


def _unavailable(problem: str) -> Response:
    return answer(503, {"error": "unavailable", "message": f"{problem}; try again"}, {"Retry-After": str(RETRY_AFTER_S)})


def _barred(barred_s: float) -> Response:
    message = "too many wrong keys or tokens came from this address; try again later"
    return answer(429, {"error": "too_many_attempts", "message": message}, {"Retry-After": str(math.ceil(barred_s))})
