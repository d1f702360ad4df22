"""Tokens of an authorization server at the edge: whose come in, what they may do, and what a client without one is told."""

import json
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import jwt
import pytest
import uvicorn
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from hindsight_mcp_edge import oauth
from hindsight_memory import NewKey
from jwt.algorithms import ECAlgorithm, HMACAlgorithm, OKPAlgorithm, RSAAlgorithm
from jwt.utils import base64url_encode
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from starlette.requests import Request
from starlette.responses import JSONResponse

AUDIENCE = "https://memory.example/mcp"
METADATA = "/.well-known/oauth-protected-resource"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream"}
PUBLISHED_SECRET = b"a secret that anyone can look up, so none"
ALGORITHMS = {
    "RS256": (lambda: rsa.generate_private_key(65537, 2048), RSAAlgorithm),
    "ES256": (lambda: ec.generate_private_key(ec.SECP256R1()), ECAlgorithm),
    "EdDSA": (ed25519.Ed25519PrivateKey.generate, OKPAlgorithm),
}


class Issuer:
    """An authorization server, as far as a resource server sees it: its keys over HTTP, and tokens signed with them."""

    def __init__(self) -> None:
        self.url = ""
        self.is_up = True
        self.asked = 0
        self.keys: dict[str, tuple[str, Any]] = {}  # key id -> algorithm, private key
        for algorithm in ALGORITHMS:
            self.add_key(algorithm, algorithm)

    def add_key(self, kid: str, algorithm: str) -> None:
        self.keys[kid] = (algorithm, ALGORITHMS[algorithm][0]())

    def jwks(self) -> dict[str, Any]:
        published = [
            {"kid": kid, "use": "sig"} | json.loads(ALGORITHMS[algorithm][1].to_jwk(private.public_key()))
            for kid, (algorithm, private) in self.keys.items()
        ]
        return {"keys": [*published, {"kid": "shared", "kty": "oct", "k": base64url_encode(PUBLISHED_SECRET).decode()}]}

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Claims of a good token; a claim that is None is left out."""
        now = int(time.time())
        claims = {"iss": self.url, "aud": AUDIENCE, "sub": "ada", "iat": now, "exp": now + 300, "client_id": "desktop"}
        claims |= {"scope": "openid hindsight:read hindsight:write", "hindsight_tenant": "acme", "hindsight_agent": "ada"}
        return {name: value for name, value in (claims | changes).items() if value is not None}

    def token(self, kid: str = "ES256", **changes: Any) -> str:
        algorithm, private = self.keys[kid]
        return jwt.encode(self.claims(**changes), private, algorithm=algorithm, headers={"kid": kid})

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        assert Request(scope).url.path == "/jwks"
        self.asked += 1
        await JSONResponse(self.jwks(), 200 if self.is_up else 500)(scope, receive, send)


@asynccontextmanager
async def serving_issuer() -> AsyncIterator[Issuer]:
    issuer = Issuer()
    server = uvicorn.Server(uvicorn.Config(issuer, port=0, lifespan="off", ws="none", log_config=None))
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    await server.startup()
    issuer.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield issuer
    finally:
        await server.shutdown()


@pytest.fixture(scope="session")
async def one_issuer() -> AsyncIterator[Issuer]:
    async with serving_issuer() as issuer:
        yield issuer


@pytest.fixture
def issuer(one_issuer: Issuer) -> Issuer:
    one_issuer.is_up, one_issuer.asked = True, 0
    return one_issuer


def trusting(edge: Any, issuer: Issuer) -> Any:
    """An edge that trusts the issuer."""
    return edge.replica(
        oauth_issuer=issuer.url,
        oauth_audience=AUDIENCE,
        oauth_jwks_url=f"{issuer.url}/jwks",
        assertion_private_key=edge.services.assertion_private_key,
    )


@pytest.fixture
async def tenant(edge) -> str:
    await edge.services.operator.create_key(NewKey(tenant="acme"))
    return "acme"


async def post(url: str, token: str, address: str = "127.0.0.1") -> httpx2.Response:
    headers = {"Authorization": f"Bearer {token}", "X-Forwarded-For": address}
    async with httpx2.AsyncClient(timeout=30) as http:
        return await http.post(f"{url}/mcp", json=LIST, headers=ACCEPT | headers)


@asynccontextmanager
async def connecting(url: str, token: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        yield client


async def write(client: Client, **arguments: Any) -> Any:
    return await client.call_tool("memory_write", {"agent_id": "ada", "memory_key": "seat", "memory_value": "Row 7."} | arguments)


async def search(client: Client, **arguments: Any) -> Any:
    return await client.call_tool("memory_search", {"agent_id": "ada", "query": "Which row?"} | arguments)


def error_of(result: Any) -> str:
    assert result.is_error
    return json.loads(result.content[0].text)["error"]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_a_token_of_the_issuer_writes_and_reads_in_its_tenant(edge, issuer: Issuer, tenant: str, algorithm: str):
    async with trusting(edge, issuer) as url:
        async with connecting(url, issuer.token(algorithm)) as client:
            assert (await write(client)).structured_content["outcome"] == "created"
            assert (await search(client)).structured_content["count"] == 1
        await edge.services.operator.create_key(NewKey(tenant="other"))
        async with connecting(url, issuer.token(algorithm, hindsight_tenant="other")) as client:
            assert (await search(client)).structured_content["count"] == 0
        assert issuer.asked == 1
    async with connecting(edge.url, await edge.key()) as client:
        hit = (await search(client)).structured_content["memories"][0]
    assert hit["source"] == "inference"


BAD_TOKENS: dict[str, Callable[[Issuer], str]] = {
    "expired": lambda i: i.token(exp=int(time.time()) - 60),
    "not valid yet": lambda i: i.token(nbf=int(time.time()) + 120),
    "without an end": lambda i: i.token(exp=None),
    "for another resource": lambda i: i.token(aud="https://other.example/mcp"),
    "for no resource": lambda i: i.token(aud=None),
    "of another issuer": lambda i: i.token(iss="https://other.example"),
    "without a subject": lambda i: i.token(sub=None),
    "without a tenant": lambda i: i.token(hindsight_tenant=None),
    "with a tenant that is no name": lambda i: i.token(hindsight_tenant=["acme"]),
    "limited to no scopes": lambda i: i.token(hindsight_scopes=[]),
    "limited to no agents": lambda i: i.token(hindsight_agents=""),
    "with agents that are no names": lambda i: i.token(hindsight_agents=[7]),
    "with a scope that is no text": lambda i: i.token(scope={"hindsight:admin": True}),
    "signed by another key": lambda i: jwt.encode(
        i.claims(), ec.generate_private_key(ec.SECP256R1()), algorithm="ES256", headers={"kid": "ES256"}
    ),
    "changed after it was signed": lambda i: tamper(i.token()),
    "not signed": lambda i: jwt.encode(i.claims(), None, algorithm="none", headers={"kid": "ES256"}),  # pyright: ignore
    "signed with the public key as a secret": lambda i: sign_with_public_key(i),
    "signed with a published secret": lambda i: jwt.encode(
        i.claims(), PUBLISHED_SECRET, algorithm="HS256", headers={"kid": "shared"}
    ),
    "with the id of a key of another kind": lambda i: jwt.encode(
        i.claims(), i.keys["RS256"][1], algorithm="RS256", headers={"kid": "ES256"}
    ),
    "without a key's id": lambda i: jwt.encode(i.claims(), i.keys["ES256"][1], algorithm="ES256"),
    "made of dots": lambda i: "a.b.c",
    "made of brackets": lambda i: "W1tb" * 1300 + ".e30.e30",
}


def tamper(token: str) -> str:
    head, _, signature = token.split(".")
    other = jwt.encode({"sub": "eve", "aud": AUDIENCE}, "x" * 32, algorithm="HS256").split(".")[1]
    return f"{head}.{other}.{signature}"


def sign_with_public_key(issuer: Issuer) -> str:
    """What is accepted where the token's own word for its algorithm is believed; PyJWT itself would not make it."""
    public = issuer.keys["RS256"][1].public_key()
    pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    hmac = HMACAlgorithm(HMACAlgorithm.SHA256)
    head, body, _ = jwt.encode(issuer.claims(), "x" * 32, algorithm="HS256", headers={"kid": "RS256"}).split(".")
    return f"{head}.{body}.{base64url_encode(hmac.sign(f'{head}.{body}'.encode(), pem)).decode()}"


async def test_a_token_that_is_not_good_is_refused_with_a_challenge(edge, issuer: Issuer, tenant: str):
    async with trusting(edge, issuer) as url:
        makers = enumerate(BAD_TOKENS.items())
        answers = {name: await post(url, make(issuer), f"10.0.0.{number}") for number, (name, make) in makers}
    assert {name: answer.status_code for name, answer in answers.items()} == dict.fromkeys(BAD_TOKENS, 401)
    challenges = {answer.headers["www-authenticate"] for answer in answers.values()}
    assert challenges == {
        'Bearer realm="hindsight", error="invalid_token", scope="hindsight:read hindsight:write", '
        'resource_metadata="https://memory.example/.well-known/oauth-protected-resource/mcp"'
    }


async def test_too_many_wrong_tokens_are_told_to_wait_and_a_good_one_comes_in(edge, issuer: Issuer, tenant: str):
    async with trusting(edge, issuer) as url:
        wrong = issuer.token(aud="https://other.example/mcp")
        assert [(await post(url, wrong)).status_code for _ in range(22)] == [401] * 20 + [429] * 2
        assert (await post(url, issuer.token())).status_code == 200


async def test_a_client_without_a_token_finds_its_way_to_the_issuer(edge, issuer: Issuer):
    async with trusting(edge, issuer) as url, httpx2.AsyncClient() as http:
        refused = await http.post(f"{url}/mcp", json=LIST, headers=ACCEPT)
        assert refused.status_code == 401
        challenge = refused.headers["www-authenticate"]
        assert "error=" not in challenge
        found = re.search(r'resource_metadata="https://memory.example([^"]+)"', challenge)
        assert found is not None
        documents = [await http.get(url + path, headers={"Host": "any.example"}) for path in (found[1], METADATA)]
        assert [document.status_code for document in documents] == [200, 200]
        assert [document.headers["access-control-allow-origin"] for document in documents] == ["*", "*"]
        for document in documents:
            assert document.json() == {
                "resource": AUDIENCE,
                "authorization_servers": [issuer.url],
                "scopes_supported": ["hindsight:read", "hindsight:write", "hindsight:admin"],
                "bearer_methods_supported": ["header"],
                "resource_name": "hindsight",
            }
        assert (await http.get(edge.url + METADATA)).status_code == 404


async def test_a_token_may_do_what_its_scope_says(edge, issuer: Issuer, tenant: str):
    async with trusting(edge, issuer) as url:
        async with connecting(url, issuer.token(scope="hindsight:read hindsight:operator operator")) as client:
            assert error_of(await write(client)) == "PERMISSION_DENIED"
            assert (await search(client)).structured_content["count"] == 0
        answer = await post(url, issuer.token(scope="openid hindsight:operator"))
        assert (answer.status_code, answer.json()["error"]) == (403, "insufficient_scope")
        assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]
        async with connecting(url, issuer.token(hindsight_agents=["bob"], hindsight_agent="bob")) as client:
            assert error_of(await search(client)) == "PERMISSION_DENIED"
        async with connecting(url, issuer.token(hindsight_scopes="user:42")) as client:
            assert error_of(await write(client, scope="user:43")) == "PERMISSION_DENIED"
            written = await write(client, source="user")
            assert error_of(written) == "PERMISSION_DENIED"
        async with connecting(url, issuer.token(hindsight_sources=["user"])) as client:
            assert (await write(client, source="user")).structured_content["outcome"] == "created"


async def test_a_token_for_a_tenant_that_does_not_exist_reaches_nothing(edge, issuer: Issuer):
    async with trusting(edge, issuer) as url, connecting(url, issuer.token(hindsight_tenant="nobody")) as client:
        assert error_of(await search(client)) == "UNAUTHENTICATED"


async def test_a_new_key_of_the_issuer_is_found_and_a_made_up_one_is_not_looked_for_at_once(
    edge, issuer: Issuer, tenant: str, monkeypatch: pytest.MonkeyPatch
):
    async with trusting(edge, issuer) as url:
        assert (await post(url, issuer.token())).status_code == 200
        unknown = jwt.encode(issuer.claims(), issuer.keys["ES256"][1], algorithm="ES256", headers={"kid": "made-up"})
        assert [(await post(url, unknown)).status_code for _ in range(3)] == [401] * 3
        assert issuer.asked == 1
        issuer.add_key("rotated", "ES256")
        monkeypatch.setattr(oauth, "PAUSE_S", 0)
        assert (await post(url, issuer.token("rotated"))).status_code == 200
        assert issuer.asked == 2


async def test_an_issuer_that_does_not_answer_is_no_fault_of_the_token(edge, issuer: Issuer, tenant: str):
    issuer.is_up = False
    async with trusting(edge, issuer) as url:
        answer = await post(url, issuer.token())
        assert (answer.status_code, answer.json()["error"], answer.headers["retry-after"]) == (503, "unavailable", "2")
        async with connecting(url, await edge.key()) as client:
            assert (await search(client)).structured_content["count"] == 0


async def test_keys_are_believed_for_a_while_after_the_issuer_fell_silent(issuer: Issuer):
    now = [0.0]
    async with httpx2.AsyncClient() as http:
        keys = oauth.KeySet(f"{issuer.url}/jwks", http, clock=lambda: now[0])
        assert await keys.find("ES256")
        issuer.is_up = False
        now[0] = oauth.KNOWN_S - 1
        assert await keys.find("ES256")
        with pytest.raises(oauth.KeysUnreachable):
            await keys.find("made-up")
        now[0] = oauth.KNOWN_S + 1
        with pytest.raises(oauth.KeysUnreachable):
            await keys.find("ES256")
        issuer.is_up = True
        now[0] += oauth.PAUSE_S
        assert await keys.find("made-up") is None
        assert await keys.find("ES256")


async def test_an_sse_session_goes_on_with_a_fresh_token_of_its_owner_only(edge, issuer: Issuer, tenant: str):
    async with trusting(edge, issuer) as url, httpx2.AsyncClient(timeout=30) as http:
        headers = {"Authorization": f"Bearer {issuer.token()}"}
        async with http.stream("GET", f"{url}/mcp/sse", headers=headers) as stream:
            lines = stream.aiter_lines()
            path = [await anext(lines), await anext(lines)][1].removeprefix("data: ")

            async def send(token: str) -> int:
                return (await http.post(url + path, json=LIST, headers={"Authorization": f"Bearer {token}"})).status_code

            assert await send(issuer.token(sub="eve")) == 404
            assert await send(issuer.token(exp=int(time.time()) + 900)) == 202
        async with Client(sse_client(f"{url}/mcp/sse", headers=headers), mode="legacy") as client:
            assert (await write(client)).structured_content["outcome"] == "created"
