"""What the edge's HTTP side lets in, tells about itself, and finishes before it stops."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import httpx2
import pytest
from hindsight.v1 import admin_pb2, admin_pb2_grpc, ingest_pb2, ingest_pb2_grpc
from hindsight_memory import Hindsight, NewMemory
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


async def post(url: str, headers: dict[str, str], body: Any = LIST) -> httpx2.Response:
    async with httpx2.AsyncClient(timeout=30) as http:
        return await http.post(f"{url}/mcp", json=body, headers=ACCEPT | headers)


async def get(url: str, headers: dict[str, str] | None = None) -> httpx2.Response:
    async with httpx2.AsyncClient(timeout=30) as http:
        return await http.get(url, headers=headers)


@pytest.mark.parametrize("key", ["", "Bearer", "Bearer hs_wrong", "Bearer schlüssel", "Basic aGk6aG8="])
async def test_without_a_valid_key_the_answer_names_the_header_to_add(edge, key: str):
    headers = {"Authorization": key.encode()} if key else {}
    for path, method in (("/mcp", "POST"), ("/mcp/sse", "GET"), ("/mcp/messages", "POST")):
        async with httpx2.AsyncClient() as http:
            answer = await http.request(method, edge.url + path, headers=headers, json=LIST if method == "POST" else None)  # pyright: ignore
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith('Bearer realm="hindsight"')
        assert answer.json()["error"] == "unauthorized"
        assert answer.json()["header"] == "Authorization: Bearer <key>"
        assert "Authorization: Bearer <key>" in answer.json()["message"]


async def test_a_key_comes_in_either_header_and_not_once_it_is_revoked(edge, monkeypatch):
    monkeypatch.setattr("hindsight_mcp_edge.access.CACHE_S", 0)
    monkeypatch.setattr("hindsight_runtime.identity.CACHE_S", 0)
    key, secret = await edge.services.operator.create_key(edge.new_key())
    for headers in ({"Authorization": f"Bearer {secret}"}, {"authorization": f"bearer {secret}"}, {"X-API-Key": secret}):
        answer = await post(edge.url, headers)
        assert (answer.status_code, len(answer.json()["result"]["tools"])) == (200, 8)
    await edge.services.operator.revoke_key(key.id, tenant="acme")
    assert (await post(edge.url, {"X-API-Key": secret})).status_code == 401


async def test_too_many_wrong_keys_bar_unknown_ones_of_that_address_and_nothing_else(edge):
    known, fresh = await edge.key(), await edge.key()

    async def status(key: str, address: str = "10.0.0.7") -> int:
        return (await post(edge.url, {"X-API-Key": key, "X-Forwarded-For": address} if key else {})).status_code

    assert await status(known) == 200
    assert [await status(f"hs_wrong{number}") for number in range(20)] == [401] * 20
    refused = await post(edge.url, {"X-API-Key": fresh, "X-Forwarded-For": "10.0.0.7"})
    assert (refused.status_code, refused.json()["error"]) == (429, "too_many_attempts")
    assert 0 < int(refused.headers["retry-after"]) <= 60
    assert [await status(known), await status(""), await status(fresh, "10.0.0.8")] == [200, 401, 200]


async def test_a_key_nobody_can_verify_is_told_to_try_again(edge, tmp_path: Path):
    nowhere = {"ingest_address": f"unix:{tmp_path}/none"}
    async with edge.replica(**nowhere) as url:
        answer = await post(url, {"X-API-Key": "hs_any"})
        assert (answer.status_code, answer.json()["error"], answer.headers["retry-after"]) == (503, "unavailable", "2")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "localhost.evil.example:80"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "localhost:9", "Origin": "http://localhost:3000"}, 200),
        ({"Host": "[::1]:8080"}, 200),
        ({"Host": "memory.example:443", "Origin": "https://memory.example"}, 200),
        ({"Host": "other.example:8080"}, 200),
        ({"Host": "other.example:8081"}, 421),
    ],
)
async def test_only_allowed_hosts_and_origins_come_in(edge, headers: dict[str, str], status: int):
    async with edge.replica(allowed_hosts="Memory.example, other.example:8080") as url:
        answer = await post(url, headers | {"X-API-Key": await edge.key()})
    assert answer.status_code == status
    if status != 200:
        assert "HINDSIGHT_ALLOWED_HOSTS" in answer.json()["message"]


async def test_health_tells_each_dependency_and_503_when_not_ready(edge, embed_address: str, tmp_path: Path):
    async with edge.replica(embed_address=embed_address) as url:
        parts = {"postgresql": "serving", "embed": "serving", "redis": "serving"}
        whole = {
            "status": "ok",
            "services": {
                "ingest": {"state": "serving", "dependencies": parts},
                "recall": {"state": "serving", "dependencies": parts},
                "embed": {"state": "serving", "dependencies": {}},
            },
        }
        async with asyncio.timeout(20):
            while (answer := await get(f"{url}/health", {"Host": "10.0.0.7"})).json() != whole:
                assert (answer.status_code, answer.json()["status"]) == (200, "ok")
                await asyncio.sleep(0.05)  # a service tells of each dependency once its first probe has answered
    async with edge.replica(embed_address=f"unix:{tmp_path}/none") as url:
        answer = await get(f"{url}/health")
        assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
    async with edge.replica(embed_address=embed_address, recall_address=f"unix:{tmp_path}/none") as url:
        answer = await get(f"{url}/health")
        assert (answer.status_code, answer.json()["status"]) == (503, "unavailable")
        assert answer.json()["services"]["recall"] == {"state": "unreachable", "dependencies": {}}


async def test_wrong_paths_methods_and_sizes_are_named(edge):
    key = {"X-API-Key": await edge.key()}
    assert (await get(f"{edge.url}/")).status_code == 404
    answer = await get(f"{edge.url}/mcp", key)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    huge = {**LIST, "params": {"_meta": {"x": "x" * 17_000_000}}}
    answer = await post(edge.url, key, huge)
    assert (answer.status_code, answer.json()["error"]) == (413, "too_large")


async def test_an_sse_session_answers_to_its_own_key_only(edge):
    async with edge.connect("sse", await edge.key()):
        headers = {"X-API-Key": await edge.key(tenant="thief")}
        async with httpx2.AsyncClient(headers=headers) as http, http.stream("GET", f"{edge.url}/mcp/sse") as own:
            lines = own.aiter_lines()
            path = [await anext(lines), await anext(lines)][1].removeprefix("data: ")
            async with httpx2.AsyncClient() as other:
                answer = await other.post(edge.url + path, json=LIST, headers={"X-API-Key": await edge.key()})
    assert answer.status_code == 404


async def test_without_authentication_the_edge_s_own_key_serves(edge):
    own = await edge.key()
    async with edge.replica(auth="off", api_key=own) as url, Client(f"{url}/mcp") as client:
        result = await client.call_tool("memory_write", {"agent_id": "ada", "memory_key": "seat", "memory_value": "Row 7."})
        assert result.structured_content["outcome"] == "created"
    async with edge.connect("http", own) as client:
        found = await client.call_tool("memory_search", {"agent_id": "ada", "query": "Which row?"})
        assert found.structured_content["count"] == 1


@pytest.mark.parametrize("log_content", [False, True])
async def test_logs_hold_content_only_where_asked_and_keys_never(edge, capfd, log_content: bool):
    api_key = await edge.key()
    given: dict[str, Any] = {"agent_id": "ada", "memory_key": "口味", "memory_value": "小林不吃辣。"}
    async with (
        edge.replica(log_content=log_content) as url,
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {api_key}"}) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        await client.call_tool("memory_write", given | {"secret_name": 1})
        await client.call_tool("memory_write", given)
        await client.call_tool("memory_search", {"agent_id": "ada", "query": "口味如何？"})
    logged = "".join(capfd.readouterr())
    assert "memory_value" in logged
    assert api_key not in logged
    for text in ("小林不吃辣。", "口味如何？", "secret_name"):
        assert (text in logged) is log_content, text


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("HINDSIGHT_TOOLSETS", "memories", "'memories' is unknown"),
        ("HINDSIGHT_TOOLSETS", " , ", "HINDSIGHT_TOOLSETS"),
        ("HINDSIGHT_EDGE_PORT", "http", "HINDSIGHT_EDGE_PORT"),
        ("HINDSIGHT_AUTH", "off", "loopback"),
        ("HINDSIGHT_OAUTH_ISSUER", "https://id.example", "HINDSIGHT_OAUTH_AUDIENCE, HINDSIGHT_OAUTH_JWKS_URL"),
        ("HINDSIGHT_OAUTH_AUDIENCE", "memory", "HINDSIGHT_OAUTH_AUDIENCE"),
        ("HINDSIGHT_ASSERTION_PRIVATE_KEY", "c2hvcnQ", "new-assertion-pair"),
    ],
)
async def test_wrong_settings_stop_the_start_with_one_line(edge, setting: str, value: str, told: str):
    env = edge.environment("") | {setting: value} | ({"HINDSIGHT_HOST": "0.0.0.0"} if setting == "HINDSIGHT_AUTH" else {})
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(edge.command, env=env, stdout=pipe, stderr=pipe)
    async with asyncio.timeout(30):
        out, err = await process.communicate()
    assert (process.returncode, out, len(err.decode().splitlines())) == (1, b"", 1)
    assert told in err.decode()


class SlowIngest(ingest_pb2_grpc.IngestServiceServicer, admin_pb2_grpc.AdminServiceServicer):
    """Knows every key, and answers writes when told."""

    def __init__(self) -> None:
        self.asked = asyncio.Semaphore(0)
        self.may_answer = asyncio.Event()

    async def DescribeCaller(self, request: Any, context: Any) -> Any:  # noqa: N802
        return admin_pb2.DescribeCallerResponse()

    async def Write(self, request: Any, context: Any) -> Any:  # noqa: N802
        self.asked.release()
        await self.may_answer.wait()
        return ingest_pb2.WriteResponse(result=ingest_pb2.WriteResult(outcome="OUTCOME_CREATED", memory_id="m", revision=1))


@asynccontextmanager
async def slow_ingest(address: str) -> AsyncIterator[SlowIngest]:
    server, ingest = grpc.aio.server(), SlowIngest()
    ingest_pb2_grpc.add_IngestServiceServicer_to_server(ingest, server)
    admin_pb2_grpc.add_AdminServiceServicer_to_server(ingest, server)
    server.add_insecure_port(address)
    await server.start()
    yield ingest
    await server.stop(0)


async def find_event(lines: asyncio.StreamReader, event: str) -> dict[str, Any]:
    async for line in lines:
        if (logged := json.loads(line))["event"] == event:
            return logged
    raise AssertionError(f"no {event!r} in the log")


async def test_accepted_calls_are_finished_on_sigterm_and_streams_end(tmp_path_factory: pytest.TempPathFactory, edge):
    address = f"unix:{tmp_path_factory.mktemp('s')}/ingest"
    env = edge.environment("") | {"HINDSIGHT_INGEST_ADDRESS": address, "HINDSIGHT_EDGE_PORT": "0"}
    write = ("memory_write", {"agent_id": "ada", "memory_key": "k", "memory_value": "v"})
    headers = {"Authorization": "Bearer hs_any"}
    async with slow_ingest(address) as ingest, asyncio.timeout(30):
        process = await asyncio.create_subprocess_exec(edge.command, env=env, stderr=asyncio.subprocess.PIPE)
        assert process.stderr is not None
        url = f"http://127.0.0.1:{(await find_event(process.stderr, 'serving'))['port']}"
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            transports = [streamable_http_client(f"{url}/mcp", http_client=http), sse_client(f"{url}/mcp/sse", headers=headers)]
            async with Client(transports[0]) as newer, Client(transports[1], mode="legacy") as older:
                calls = [asyncio.ensure_future(client.call_tool(*write)) for client in (newer, older)]
                for _ in calls:
                    await ingest.asked.acquire()
                os.kill(process.pid, signal.SIGTERM)
                await find_event(process.stderr, "draining")
                ingest.may_answer.set()
                outcomes = [(await call).structured_content["outcome"] for call in calls]
                assert outcomes == ["created", "created"]
                await find_event(process.stderr, "stopped")
        assert await process.wait() == 0


async def test_a_connection_made_just_before_sigterm_still_gets_its_answer(edge):
    env = edge.environment("") | {"HINDSIGHT_EDGE_PORT": "0"}
    async with asyncio.timeout(30):
        process = await asyncio.create_subprocess_exec(edge.command, env=env, stderr=asyncio.subprocess.PIPE)
        assert process.stderr is not None
        port = (await find_event(process.stderr, "serving"))["port"]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
        await writer.drain()
        os.kill(process.pid, signal.SIGTERM)
        await find_event(process.stderr, "draining")
        await asyncio.sleep(0.15)  # uvicorn looks every tenth of a second
        writer.write(b"\r\n")
        answer = (await reader.read()).decode()
        assert (answer.splitlines()[0], "connection: close" in answer) == ("HTTP/1.1 200 OK", True)
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)
        writer.close()
        assert await process.wait() == 0


async def test_a_stdio_server_whose_client_stays_exits_with_0_on_sigterm(edge):
    pipe = asyncio.subprocess.PIPE
    env = edge.environment("")
    process = await asyncio.create_subprocess_exec(edge.command, "--stdio", env=env, stdin=pipe, stdout=pipe, stderr=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    async with asyncio.timeout(30):
        process.stdin.write(json.dumps(LIST).encode() + b"\n")
        assert json.loads(await process.stdout.readline())["id"] == 1
        os.kill(process.pid, signal.SIGTERM)
        assert await process.wait() == 0
    process.stdin.close()


async def test_one_connection_serves_several_keys(client: Hindsight, services):
    await client.write(NewMemory("seat", "Row 7."))
    async with client.with_key("hs_wrong") as other:
        with pytest.raises(Exception, match="Bearer"):
            await other.recall("Which row?")
    assert len((await client.recall("Which row?")).hits) == 1
