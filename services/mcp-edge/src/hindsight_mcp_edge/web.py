"""MCP over HTTP: streamable HTTP at /mcp, the older SSE at /mcp/sse, and /health."""

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from hindsight_mcp_edge.access import HEADER, Hosts, Keys, find_key
from hindsight_mcp_edge.calls import Calls
from hindsight_mcp_edge.decoding import mend
from hindsight_mcp_edge.health import Health

STREAMABLE_PATH, SSE_PATH, MESSAGES_PATH, HEALTH_PATH = "/mcp", "/mcp/sse", "/mcp/messages", "/health"
METHODS = {STREAMABLE_PATH: "POST", MESSAGES_PATH: "POST", SSE_PATH: "GET", HEALTH_PATH: "GET"}
MAX_BODY_BYTES = 4 * 2**20  # far above every field's limit, so that what is too long is mostly told by the field's name
KEY_IN_SCOPE = "hindsight_key"
RETRY_AFTER_S = 2


class Web:
    """The ASGI application. `keys` is None where authentication is off."""

    def __init__(self, server: Server, calls: Calls, health: Health, *, hosts: Hosts, keys: Keys | None) -> None:
        self._server = server
        self._calls = calls
        self._health = health
        self._hosts = hosts
        self._keys = keys
        self._sse = SseServerTransport(MESSAGES_PATH, max_request_body_size=MAX_BODY_BYTES)
        self._streams: set[anyio.CancelScope] = set()
        self._is_stopping = False
        self.sessions = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=MAX_BODY_BYTES
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        path = scope["path"].rstrip("/")
        if path not in METHODS:
            return await _answer(404, {"error": "not_found", "message": f"there are: {', '.join(METHODS)}"})(scope, receive, send)
        if scope["method"] != METHODS[path]:
            body = {"error": "method_not_allowed", "message": f"{path} takes {METHODS[path]}"}
            return await _answer(405, body, {"Allow": METHODS[path]})(scope, receive, send)
        if path == HEALTH_PATH:
            report = await self._health.report()
            return await _answer(503 if report["status"] == "unavailable" else 200, report)(scope, receive, send)
        if refusal := await self._refuse(scope):
            return await refusal(scope, receive, send)
        if path == SSE_PATH:
            return await self._stream(scope, receive, send)
        with self._calls.one():
            await self._post(path, scope, receive, send)

    def end_streams(self) -> None:
        """End the SSE streams and take no new ones."""
        self._is_stopping = True
        for stream in self._streams:
            stream.cancel()

    async def _refuse(self, scope: Scope) -> Response | None:
        """The answer to a request that may not come in; else the scope carries its key."""
        headers = Headers(scope=scope)
        if problem := self._hosts.refuse(headers):
            return _answer(403 if problem.startswith("the Origin") else 421, {"error": "forbidden", "message": problem})
        scope[KEY_IN_SCOPE] = key = find_key(headers)
        if self._keys is None:
            return None
        verdict = await self._keys.verify(key)
        if verdict == "valid":
            # The SSE transport lets a session be used with the key that opened it only.
            owner = hashlib.sha256(key.encode()).hexdigest()
            scope["user"] = AuthenticatedUser(AccessToken(token=owner, client_id=owner, scopes=[]))
            return None
        if verdict == "unknown":
            message = "the key cannot be verified at the moment: hindsight's ingest service does not answer; try again"
            return _answer(503, {"error": "unavailable", "message": message}, {"Retry-After": str(RETRY_AFTER_S)})
        problem = "the key is wrong, expired or revoked" if key else "a key is missing"
        message = f"{problem}; add the header '{HEADER}' (or 'X-API-Key: <key>') to the client's configuration"
        challenge = 'Bearer realm="hindsight"' + (', error="invalid_token"' if key else "")
        return _answer(401, {"error": "unauthorized", "message": message, "header": HEADER}, {"WWW-Authenticate": challenge})

    async def _post(self, path: str, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _read_body(scope, receive)
        if body is None:
            limit = f"at most {MAX_BODY_BYTES // 2**20} MiB a request; split it"
            return await _answer(413, {"error": "too_large", "message": limit})(scope, receive, send)
        scope["headers"] = [(k, v) for k, v in scope["headers"] if k != b"content-length"]
        answer = self.sessions.handle_request if path == STREAMABLE_PATH else self._sse.handle_post_message
        await answer(scope, _replay(mend(body), receive), send)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._is_stopping:
            return await _answer(503, {"error": "unavailable", "message": "stopping"})(scope, receive, send)
        async with self._sse.connect_sse(scope, receive, send) as (inbound, outbound):
            with anyio.CancelScope() as stream:
                self._streams.add(stream)
                try:
                    await self._server.run(inbound, outbound, self._server.create_initialization_options())
                finally:
                    self._streams.discard(stream)


async def _read_body(scope: Scope, receive: Receive) -> bytes | None:
    """The whole body; None where it is too large."""
    declared = Headers(scope=scope).get("content-length", "")
    if declared.isdigit() and int(declared) > MAX_BODY_BYTES:
        return None
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _replay(body: bytes, receive: Receive) -> Callable[[], Awaitable[Message]]:
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return pending.pop() if pending else await receive()

    return replay


def _answer(status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    text = json.dumps(body, ensure_ascii=False)
    return Response(text, status, {"Cache-Control": "no-store", **(headers or {})}, "application/json")
