"""Who calls and what they may do: API keys, signed assertions, agents, scopes, rights."""

import base64
import hashlib
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol
from urllib.parse import quote

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from hindsight_runtime.errors import InvalidField, PermissionDenied, Unauthenticated

AGENT_SCOPE = "agent"  # what concerns the agent itself, readable under every scope
SESSION_PREFIX = "session:"  # of the scope that a session is
KEY_PREFIX = "hs_"
ASSERTION_LIFETIME_S = 60
CACHE_S = 5.0  # a revoked key works no longer than this
CACHE_KEYS = 4096
ASSERTED_RIGHTS = frozenset({"read", "write", "admin"})  # a stolen signing key makes no operator
NEVER_CACHED = frozenset({"admin", "operator"})  # a revoked one could make itself a successor meanwhile


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller, as its credential describes it."""

    tenant_id: int
    tenant: str
    key_id: str
    name: str = ""
    agent_ids: tuple[str, ...] = ()  # empty: every agent of the tenant
    default_agent_id: str = ""
    scopes: tuple[str, ...] = ()  # empty: all; a trailing "*" makes a prefix
    rights: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    created_at: datetime | None = None
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Principal":
        """A stored key, whose columns are named like these fields."""
        several = {name: tuple(row[name]) for name in ("agent_ids", "scopes")}
        sets = {name: frozenset(row[name]) for name in ("rights", "sources")}
        return cls(**{**row, **several, **sets})

    @classmethod
    def of_anyone(cls, tenant_id: int, tenant: str) -> "Principal":
        """The caller where authentication is off: everything but the operator's right, in one tenant."""
        rights, sources = frozenset({"read", "write", "admin"}), frozenset({"user", "tool", "inference"})
        return cls(tenant_id, tenant, "anyone", default_agent_id="default", rights=rights, sources=sources)

    def require(self, right: str) -> None:
        """Raise PermissionDenied unless the credential holds the right."""
        if right not in self.rights:
            raise PermissionDenied(f"the key lacks the right '{right}'; ask the operator for one that has it")

    def resolve_agent(self, agent_id: str) -> str:
        """The agent meant: the one named, else the credential's default.

        Raises:
            InvalidField: none is named and the credential has no default.
            PermissionDenied: the credential may not use it.
        """
        agent = agent_id or self.default_agent_id
        if not agent:
            raise InvalidField("agent_id", "name an agent; this key has no default agent")
        if self.agent_ids and agent not in self.agent_ids:
            raise PermissionDenied("the key may not use this agent")
        return agent

    def may_use(self, scope: str) -> bool:
        """Whether the credential's scopes admit a scope."""
        return not self.scopes or any(scope.startswith(s[:-1]) if s.endswith("*") else scope == s for s in self.scopes)

    def readable_scopes(self, named: str, *, field: str = "scope") -> tuple[str, ...] | None:
        """The scopes a reading call sees; None means all. Whoever names a scope sees the agent's too. `field` is where
        the request names it.

        Raises:
            InvalidField: the credential serves several scopes and none was named.
            PermissionDenied: the credential does not admit the scope.
        """
        if named:
            self._admit(named, reading=True)
            return tuple(dict.fromkeys((named, AGENT_SCOPE)))
        if not self.scopes:
            return None
        own = [s for s in self.scopes if s != AGENT_SCOPE]
        if len(own) > 1 or any(s.endswith("*") for s in own):
            raise InvalidField(field, "this key serves several scopes; name one of them")
        return tuple(dict.fromkeys((*own, AGENT_SCOPE)))

    def may_read(self, scope: str) -> bool:
        """Whether a memory of this scope may be shown to the credential."""
        return scope == AGENT_SCOPE or self.may_use(scope)

    def writable_scope(self, named: str) -> str:
        """The scope a write goes to: the one named, else the credential's only one, else the agent's.

        Raises:
            PermissionDenied: the credential does not admit the scope.
        """
        scope = named or AGENT_SCOPE
        if not named and len(self.scopes) == 1 and not self.scopes[0].endswith("*"):
            scope = self.scopes[0]
        self._admit(scope, reading=False)
        return scope

    def desk_of(self, named: str) -> str:
        """What the desk of a scope is called: a session's belongs to the key's own scopes where it is limited to such.

        Raises:
            PermissionDenied: the credential does not admit the scope.
        """
        if self.may_use(named):
            return named
        if named.startswith(SESSION_PREFIX):
            return session_desk(self.scopes, named)
        raise PermissionDenied("the key is limited to other scopes; name one of its own")

    def _admit(self, scope: str, *, reading: bool) -> None:
        if not (self.may_read(scope) if reading else self.may_use(scope)):
            raise PermissionDenied("the key is limited to other scopes; name one of its own")


def session_desk(own: Sequence[str], session: str) -> str:
    """What the desk of a session is called for keys of these scopes. No scope begins so, and no two pairs are called alike."""
    scopes = sorted(set(own))
    named = ",".join(quote(scope, safe="") for scope in scopes)
    if len(scopes) > 1:
        named = f"*{hashlib.blake2b(named.encode(), digest_size=16).hexdigest()}"
    return f"/{named}/{session}"


_caller: ContextVar[Principal] = ContextVar("caller")


def caller() -> Principal:
    """The principal of the call being answered."""
    return _caller.get()


def set_caller(principal: Principal) -> None:
    """Make a principal the caller for the rest of this task."""
    _caller.set(principal)


def new_secret() -> str:
    """A fresh API key: a recognisable prefix and 256 random bits."""
    return KEY_PREFIX + secrets.token_urlsafe(32)


def hash_secret(secret: str) -> bytes:
    """What is kept of an API key: SHA-256, enough for 256 random bits."""
    return hashlib.sha256(secret.encode()).digest()


def bearer(metadata: Mapping[str, str]) -> str:
    """The token in a call's metadata.

    Raises:
        Unauthenticated: there is none.
    """
    scheme, _, token = metadata.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated
    return token.strip()


def is_key(metadata: Mapping[str, str]) -> bool:
    """Whether the credential in a call's metadata is an API key, which is looked up, and nothing that proves itself."""
    return metadata.get("authorization", "").partition(" ")[2].strip().startswith(KEY_PREFIX)


class Authenticator(Protocol):
    """Turns a call's metadata into a principal."""

    async def authenticate(self, metadata: Mapping[str, str]) -> Principal:
        """The caller.

        Raises:
            Unauthenticated: the credential is missing, wrong, expired or revoked.
        """
        ...


@dataclass(frozen=True, slots=True)
class NoAuthentication:
    """Takes every caller for the same principal; for loopback only."""

    principal: Principal

    async def authenticate(self, metadata: Mapping[str, str]) -> Principal:
        """The one principal."""
        return self.principal


@dataclass(slots=True)
class KeyAuthenticator:
    """Believes API keys that the lookup knows, and assertions signed by the edge."""

    lookup: Callable[[bytes], Awaitable[Mapping[str, Any] | None]]  # SHA-256 of a key -> its row
    find_tenant: Callable[[str], Awaitable[int | None]]  # the name in an assertion -> the tenant's id
    assertion_public_key: str = ""
    _cache: dict[bytes, tuple[float, Principal | None]] = field(default_factory=dict)
    _tenants: dict[str, tuple[float, int | None]] = field(default_factory=dict)

    async def authenticate(self, metadata: Mapping[str, str]) -> Principal:
        """The caller."""
        token = bearer(metadata)
        if token.startswith(KEY_PREFIX):
            principal = await self._look_up(hash_secret(token))
        else:
            principal = await self._place(verify_assertion(token, self.assertion_public_key))
        now = datetime.now(UTC)
        if principal is None or principal.revoked_at or (principal.expires_at and principal.expires_at <= now):
            raise Unauthenticated
        return principal

    async def _look_up(self, digest: bytes) -> Principal | None:
        now = time.monotonic()
        cached = self._cache.get(digest)
        if cached and cached[0] > now:
            return cached[1]
        row = await self.lookup(digest)
        principal = Principal.from_row(row) if row else None
        if principal and principal.rights & NEVER_CACHED:
            return principal
        if len(self._cache) >= CACHE_KEYS:
            self._cache.clear()
        self._cache[digest] = (now + CACHE_S, principal)
        return principal

    async def _place(self, asserted: Principal) -> Principal | None:
        """The principal in its tenant; None where there is no tenant of this name."""
        now = time.monotonic()
        until, tenant_id = self._tenants.get(asserted.tenant, (0.0, None))
        if until <= now:
            tenant_id = await self.find_tenant(asserted.tenant)
            if len(self._tenants) >= CACHE_KEYS:
                self._tenants.clear()
            self._tenants[asserted.tenant] = (now + CACHE_S, tenant_id)
        return replace(asserted, tenant_id=tenant_id) if tenant_id else None


@dataclass(frozen=True, slots=True)
class ServiceTokenAuthenticator:
    """Believes one shared token; for services that only other services call."""

    token: str
    principal: Principal = Principal(0, "", "service", rights=frozenset({"read"}))

    async def authenticate(self, metadata: Mapping[str, str]) -> Principal:
        """The one principal."""
        if not secrets.compare_digest(bearer(metadata).encode(), self.token.encode()):
            raise Unauthenticated
        return self.principal


@dataclass(frozen=True, slots=True)
class RecallOrOthers:
    """Believes the recall service by its token, which may record and nothing else, and leaves the rest to another."""

    token: str
    others: Authenticator

    async def authenticate(self, metadata: Mapping[str, str]) -> Principal:
        """The recall service, or whom the other authenticator knows."""
        sent = metadata.get("authorization", "").encode()
        if self.token and secrets.compare_digest(sent, f"Bearer {self.token}".encode()):
            return Principal(0, "", "recall", rights=frozenset({"record"}))
        return await self.others.authenticate(metadata)


def new_assertion_keys() -> tuple[str, str]:
    """A fresh pair (private, public) for signing assertions: Ed25519, base64url."""
    private = Ed25519PrivateKey.generate()
    return _text(private.private_bytes_raw()), _text(private.public_key().public_bytes_raw())


def sign_assertion(principal: Principal, private_key: str) -> str:
    """Vouch for a principal for at most 60 seconds. Its tenant is told by name: who signs need not know ids."""
    now = int(time.time())
    claims = {
        "iss": "hindsight-edge",
        "aud": "hindsight",
        "iat": now,
        "exp": now + ASSERTION_LIFETIME_S,
        "sub": principal.key_id,
        "name": principal.name,
        "tenant": principal.tenant,
        "agents": principal.agent_ids,
        "agent": principal.default_agent_id,
        "scopes": principal.scopes,
        "rights": sorted(principal.rights),
        "sources": sorted(principal.sources),
    }
    return jwt.encode(claims, Ed25519PrivateKey.from_private_bytes(_bytes(private_key)), algorithm="EdDSA")


def verify_assertion(token: str, public_key: str) -> Principal:
    """The principal an assertion vouches for, its tenant's id left 0, which no tenant has.

    Raises:
        Unauthenticated: not signed by the edge, too old, or valid for longer than 60 seconds.
    """
    if not public_key:
        raise Unauthenticated
    try:
        claims = jwt.decode(
            token,
            Ed25519PublicKey.from_public_bytes(_bytes(public_key)),
            algorithms=["EdDSA"],
            audience="hindsight",
            issuer="hindsight-edge",
            options={"require": ["exp", "iat", "sub"]},
        )
        if claims["exp"] - claims["iat"] > ASSERTION_LIFETIME_S:
            raise Unauthenticated
        return Principal(
            tenant_id=0,
            tenant=str(claims["tenant"]),
            key_id=str(claims["sub"]),
            name=str(claims.get("name", "")),
            agent_ids=tuple(claims.get("agents", ())),
            default_agent_id=str(claims.get("agent", "")),
            scopes=tuple(claims.get("scopes", ())),
            rights=ASSERTED_RIGHTS.intersection(claims["rights"]),
            sources=frozenset(claims["sources"]),
        )
    except (jwt.InvalidTokenError, KeyError, TypeError, ValueError, RecursionError):
        raise Unauthenticated from None


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
