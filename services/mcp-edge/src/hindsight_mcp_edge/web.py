"""MCP over HTTP: streamable HTTP at /mcp, the older SSE at /mcp/sse, and /health."""

from collections.abc import Awaitable, Callable

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from hindsight_mcp_edge.access import Hosts, find_key
from hindsight_mcp_edge.answers import answer
from hindsight_mcp_edge.calls import Calls
from hindsight_mcp_edge.decoding import mend
from hindsight_mcp_edge.gate import Gate
from hindsight_mcp_edge.health import Health

STREAMABLE_PATH, SSE_PATH, MESSAGES_PATH, HEALTH_PATH = "/mcp", "/mcp/sse", "/mcp/messages", "/health"
METHODS = {STREAMABLE_PATH: "POST", MESSAGES_PATH: "POST", SSE_PATH: "GET", HEALTH_PATH: "GET"}
MAX_BODY_BYTES = 4 * 2**20  # far above every field's limit, so that what is too long is mostly told by the field's name
KEY_IN_SCOPE = "hindsight_key"


class Web:
    """The ASGI application. `gate` is None where authentication is off."""

    def __init__(self, server: Server, calls: Calls, health: Health, *, hosts: Hosts, gate: Gate | None) -> None:
        self._server = server
        self._calls = calls
        self._health = health
        self._hosts = hosts
        self._gate = gate
        self._documents = gate.documents if gate else {}
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
        if path in self._documents and scope["method"] == "GET":  # public, for pages of other origins too
            return await answer(200, self._documents[path], {"Access-Control-Allow-Origin": "*"})(scope, receive, send)
        if path not in METHODS:
            return await answer(404, {"error": "not_found", "message": f"there are: {', '.join(METHODS)}"})(scope, receive, send)
        if scope["method"] != METHODS[path]:
            body = {"error": "method_not_allowed", "message": f"{path} takes {METHODS[path]}"}
            return await answer(405, body, {"Allow": METHODS[path]})(scope, receive, send)
        if path == HEALTH_PATH:
            report = await self._health.report()
            return await answer(503 if report["status"] == "unavailable" else 200, report)(scope, receive, send)
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
            return answer(403 if problem.startswith("the Origin") else 421, {"error": "forbidden", "message": problem})
        scope[KEY_IN_SCOPE] = credential = find_key(headers)
        if self._gate is None:
            return None
        admitted = await self._gate.admit(credential, (scope.get("client") or ("",))[0])
        if isinstance(admitted, Response):
            return admitted
        scope[KEY_IN_SCOPE] = admitted.key
        # The SSE transport lets a session be used by whom it was opened by only.
        scope["user"] = AuthenticatedUser(AccessToken(token=admitted.owner, client_id=admitted.owner, scopes=[]))
        return None

    async def _post(self, path: str, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _read_body(scope, receive)
        if body is None:
            limit = f"at most {MAX_BODY_BYTES // 2**20} MiB a request; split it"
            return await answer(413, {"error": "too_large", "message": limit})(scope, receive, send)
        scope["headers"] = [(k, v) for k, v in scope["headers"] if k != b"content-length"]
        respond = self.sessions.handle_request if path == STREAMABLE_PATH else self._sse.handle_post_message
        await respond(scope, _replay(mend(body), receive), send)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._is_stopping:
            return await answer(503, {"error": "unavailable", "message": "stopping"})(scope, receive, send)
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
