"""Bearer tokens of an authorization server (OAuth 2.1): who a token speaks for, and what is told to clients that have none."""

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
import jwt
import structlog
from hindsight_runtime.identity import KEY_PREFIX, Principal
from mcp.server.auth.routes import build_resource_metadata_url
from mcp.shared.auth import ProtectedResourceMetadata
from pydantic import AnyHttpUrl

ALGORITHMS = frozenset({"RS256", "ES256", "EdDSA"})  # of a published key; a token's own word for it is not asked
RIGHTS = {"hindsight:read": "read", "hindsight:write": "write", "hindsight:admin": "admin"}  # the operator's is no token's
USUAL_SCOPES = "hindsight:read hindsight:write"
SOURCES = frozenset({"user", "tool", "inference"})
METADATA_PATH = "/.well-known/oauth-protected-resource"
LEEWAY_S = 30  # between the clocks of the authorization server and of this machine
REFRESH_S = 300.0  # a key that the issuer withdrew is believed no longer
PAUSE_S = 5.0  # between two looks for an unknown key, so that made-up key ids cause no traffic
KNOWN_S = 3600.0  # keys are believed this long while the issuer does not answer
TIMEOUT_S = 5.0
NAME_CHARS = 128

log = structlog.get_logger()


class InvalidToken(Exception):
    """The token is not to be believed."""


class KeysUnreachable(Exception):
    """The issuer's keys cannot be had at the moment."""


@dataclass(frozen=True, slots=True)
class Trust:
    """Whose tokens are believed, and for what."""

    issuer: str
    audience: str  # this resource: the URL under which clients reach /mcp
    jwks_url: str
    private_key: str  # by which the services believe the edge

    @property
    def metadata_url(self) -> str:
        """Where clients find out about this resource."""
        return str(build_resource_metadata_url(AnyHttpUrl(self.audience)))

    @property
    def metadata(self) -> dict[str, Any]:
        """What clients find there (RFC 9728)."""
        resource, issuer = AnyHttpUrl(self.audience), AnyHttpUrl(self.issuer)
        known = ProtectedResourceMetadata(
            resource=resource, authorization_servers=[issuer], scopes_supported=[*RIGHTS], resource_name="hindsight"
        )
        # Compared letter by letter with what the client was given, so told as configured and not as a parser writes it.
        told = {"resource": self.audience, "authorization_servers": [self.issuer]}
        return known.model_dump(mode="json", exclude_none=True) | told


class KeySet:
    """The issuer's public keys, fetched when they are needed. For the life of a process."""

    def __init__(self, url: str, http: httpx2.AsyncClient, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._http = http
        self._clock = clock
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched_at = self._tried_at = float("-inf")
        self._fetching = asyncio.Lock()

    async def find(self, kid: str) -> jwt.PyJWK | None:
        """The key of this id, or None.

        Raises:
            KeysUnreachable: the issuer does not answer, and did not tell the key lately.
        """
        if self._is_due(kid):
            async with self._fetching:
                if self._is_due(kid):
                    await self._fetch()
        if kid not in self._keys and self._fetched_at < self._tried_at:
            raise KeysUnreachable
        if self._clock() - self._fetched_at > KNOWN_S:
            raise KeysUnreachable
        return self._keys.get(kid)

    def _is_due(self, kid: str) -> bool:
        now = self._clock()
        return now - self._tried_at >= PAUSE_S and (kid not in self._keys or now - self._fetched_at >= REFRESH_S)

    async def _fetch(self) -> None:
        now = self._clock()
        try:
            answer = await self._http.get(self._url, timeout=TIMEOUT_S)
            answer.raise_for_status()
            keys = jwt.PyJWKSet.from_dict(answer.json()).keys
        except (httpx2.HTTPError, jwt.PyJWTError, ValueError, AttributeError) as error:
            log.warning("keys of the issuer not fetched", why=str(error) or type(error).__name__)
        else:
            usable = (key for key in keys if key.algorithm_name in ALGORITHMS and key.public_key_use in (None, "sig"))
            self._keys = {key.key_id: key for key in usable if key.key_id}
            self._fetched_at = now
        self._tried_at = now


def looks_like_token(credential: str) -> bool:
    """Whether a credential is a token rather than an API key."""
    return credential.count(".") == 2 and not credential.startswith(KEY_PREFIX)


async def read_token(token: str, trust: Trust, keys: KeySet) -> Principal:
    """Whom a token speaks for.

    Raises:
        InvalidToken: it is not the issuer's, not for this resource, not valid now, or lacks a claim.
        KeysUnreachable: its signature cannot be checked at the moment.
    """
    try:
        kid = jwt.get_unverified_header(token).get("kid")
        key = await keys.find(kid) if isinstance(kid, str) else None
        if key is None:
            raise InvalidToken
        claims = jwt.decode(
            token,
            key.key,
            algorithms=[key.algorithm_name],
            audience=trust.audience,
            issuer=trust.issuer,
            leeway=LEEWAY_S,
            options={"require": ["exp", "iss", "aud", "sub"]},
        )
    except (jwt.PyJWTError, TypeError, ValueError, RecursionError):
        raise InvalidToken from None
    return to_principal(claims)


def to_principal(claims: Mapping[str, Any]) -> Principal:
    """The principal that checked claims describe, its tenant known by name only.

    Raises:
        InvalidToken: the tenant is missing, or a claim of ours is not what it should be.
    """
    subject = hashlib.sha256(f"{claims['iss']}\n{claims['sub']}".encode()).hexdigest()[:24]
    scope = claims.get("scope", "")
    if not isinstance(scope, str):
        raise InvalidToken
    return Principal(
        tenant_id=0,
        tenant=_name(claims.get("hindsight_tenant")),
        key_id=f"oauth:{subject}",
        agent_ids=_names(claims, "hindsight_agents"),
        default_agent_id=_name(claims["hindsight_agent"]) if "hindsight_agent" in claims else "",
        scopes=_names(claims, "hindsight_scopes"),
        rights=frozenset(RIGHTS[name] for name in scope.split() if name in RIGHTS),
        sources=SOURCES.intersection(_names(claims, "hindsight_sources")) | {"inference"},
    )


def _names(claims: Mapping[str, Any], claim: str) -> tuple[str, ...]:
    """A claim that is a list of names, or names with spaces between. Empty is refused: to the services, that would mean all."""
    if claim not in claims:
        return ()
    given = claims[claim]
    names = given.split() if isinstance(given, str) else given
    if not isinstance(names, list) or not names:
        raise InvalidToken
    return tuple(_name(name) for name in names)


def _name(given: object) -> str:
    if not isinstance(given, str) or not 0 < len(given) <= NAME_CHARS:
        raise InvalidToken
    return given
