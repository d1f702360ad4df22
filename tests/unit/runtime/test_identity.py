"""Agents, scopes, and assertions."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hindsight_runtime import identity
from hindsight_runtime.errors import InvalidField, PermissionDenied, Unauthenticated
from hindsight_runtime.identity import KeyAuthenticator, Principal, hash_secret, new_secret

KEY = Principal(7, "acme", "k1", rights=frozenset({"read"}), sources=frozenset({"user"}))


@pytest.mark.parametrize(
    ("scopes", "named", "seen"),
    [
        ((), "", None),
        ((), "user:42", ("user:42", "agent")),
        ((), "agent", ("agent",)),
        (("user:42",), "", ("user:42", "agent")),
        (("user:42", "agent"), "", ("user:42", "agent")),
        (("user:42",), "agent", ("agent",)),
        (("user:*",), "user:42", ("user:42", "agent")),
        (("user:1", "user:2"), "user:2", ("user:2", "agent")),
    ],
)
def test_a_key_sees_its_scope_and_the_agents(scopes, named, seen):
    assert replace(KEY, scopes=scopes).readable_scopes(named) == seen


@pytest.mark.parametrize("scopes", [("user:1", "user:2"), ("user:*",)])
def test_a_key_that_serves_several_users_must_name_one(scopes):
    with pytest.raises(InvalidField) as refusal:
        replace(KEY, scopes=scopes).readable_scopes("")
    assert refusal.value.field == "scope"


@pytest.mark.parametrize(("scopes", "named"), [(("user:42",), "user:43"), (("user:4*",), "user:5"), (("agent",), "user:1")])
def test_a_key_sees_no_other_scope(scopes, named):
    with pytest.raises(PermissionDenied):
        replace(KEY, scopes=scopes).readable_scopes(named)


@pytest.mark.parametrize(("scopes", "named", "written"), [((), "", "agent"), (("user:42",), "", "user:42"), ((), "x:1", "x:1")])
def test_a_write_goes_to_the_keys_own_scope(scopes, named, written):
    assert replace(KEY, scopes=scopes).writable_scope(named) == written


def test_a_limited_key_may_read_but_not_write_what_concerns_the_agent():
    with pytest.raises(PermissionDenied):
        replace(KEY, scopes=("user:42",)).writable_scope("agent")


def test_an_assertion_carries_the_principal():
    private, public = identity.new_assertion_keys()
    assert identity.verify_assertion(identity.sign_assertion(KEY, private), public) == replace(KEY, tenant_id=0)


async def test_an_assertion_is_believed_for_a_tenant_that_exists_and_never_for_the_operator_s_right():
    private, public = identity.new_assertion_keys()
    asked = []

    async def find_tenant(name: str):
        asked.append(name)
        return {"acme": 7}.get(name)

    authenticator = KeyAuthenticator(no_key, find_tenant, public)

    async def authenticate(principal: Principal) -> Principal:
        return await authenticator.authenticate({"authorization": f"Bearer {identity.sign_assertion(principal, private)}"})

    assert await authenticate(replace(KEY, tenant_id=99)) == KEY
    assert await authenticate(replace(KEY, rights=frozenset({"read", "operator"}))) == KEY
    for _ in range(2):
        with pytest.raises(Unauthenticated):
            await authenticate(replace(KEY, tenant="none"))
    assert asked == ["acme", "none"]


def test_an_assertion_of_another_signer_or_too_long_a_life_is_refused():
    private, public = identity.new_assertion_keys()
    other, _ = identity.new_assertion_keys()
    now = int(datetime.now(UTC).timestamp())
    claims = jwt.decode(identity.sign_assertion(KEY, private), options={"verify_signature": False})
    long = jwt.encode(claims | {"iat": now, "exp": now + 3600}, _signer(private), algorithm="EdDSA")
    old = jwt.encode(claims | {"iat": now - 100, "exp": now - 50}, _signer(private), algorithm="EdDSA")
    unsigned = jwt.encode(claims, None, algorithm="none")  # pyright: ignore[reportArgumentType]
    for token in (identity.sign_assertion(KEY, other), long, old, unsigned, "", "a.b.c"):
        with pytest.raises(Unauthenticated):
            identity.verify_assertion(token, public)
    with pytest.raises(Unauthenticated):
        identity.verify_assertion(identity.sign_assertion(KEY, private), "")


async def test_wrong_expired_revoked_and_missing_keys_are_refused_alike():
    past = datetime.now(UTC) - timedelta(seconds=1)
    secrets = {"expired": {"expires_at": past}, "revoked": {"revoked_at": past}}
    rows = {}
    keys = {name: new_secret() for name in secrets}
    for name, secret in keys.items():
        fields = {f: getattr(KEY, f) for f in Principal.__dataclass_fields__} | secrets[name]
        rows[hash_secret(secret)] = fields

    async def look_up(digest: bytes):
        return rows.get(digest)

    authenticator = KeyAuthenticator(look_up, no_tenant)
    tokens = [*keys.values(), new_secret(), "hs_", "nonsense"]
    headers = [{"authorization": f"Bearer {t}"} for t in tokens] + [{}, {"authorization": "Basic x"}, {"x-tenant": "acme"}]
    messages = set()
    for header in headers:
        with pytest.raises(Unauthenticated) as refusal:
            await authenticator.authenticate(header)
        messages.add(refusal.value.message)
    assert len(messages) == 1


async def no_key(digest: bytes) -> None:
    """No key is known."""


async def no_tenant(name: str) -> None:
    """No tenant is known."""


def _signer(private: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(identity._bytes(private))
