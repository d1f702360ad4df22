"""The official MCP client over every transport, against real services."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import httpx2
import mcp_types as types
import pytest
import uvicorn
from hindsight_mcp_edge.main import open_web
from hindsight_mcp_edge.settings import EdgeSettings
from hindsight_memory import Hindsight, NewKey
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

EDGE = str(Path(sys.executable).parent / "hindsight-mcp-edge")
TRANSPORTS = ("stdio", "stdio-older", "http", "http-older", "sse")
TOOLS = ["memory_write", "memory_search", "memory_update", "memory_forget"]
ENGLISH = {
    "key": "seat preference",
    "value": "Ada prefers a window seat on long flights.",
    "question": "Which seat should I book for Ada?",
    "correction": "Ada prefers an aisle seat on long flights now.",
}
CHINESE = {
    "key": "饮食偏好",
    "value": "小林不吃辣，喜欢清淡的菜。",
    "question": "给小林点菜要注意什么？",
    "correction": "小林现在喜欢吃微辣的菜。",
}


class Services(Protocol):
    ingest_address: str
    recall_address: str
    operator: Hindsight

    async def connect(self, key: NewKey) -> Hindsight: ...


@asynccontextmanager
async def serving_edge(services: Services, **settings: Any) -> AsyncIterator[str]:
    """The URL of an edge in this process."""
    addresses = {"ingest_address": services.ingest_address, "recall_address": services.recall_address}
    async with open_web(EdgeSettings(**addresses, **settings)) as (web, _):
        server = uvicorn.Server(uvicorn.Config(web, port=0, lifespan="off", ws="none", log_config=None))
        async with AsyncExitStack() as stack:
            server.config.load()
            server.lifespan = server.config.lifespan_class(server.config)
            await server.startup()
            stack.push_async_callback(server.shutdown)
            stack.callback(web.end_streams)
            yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"


class Connector:
    """Connects clients to the edges of one test."""

    def __init__(self, services: Services, url: str) -> None:
        self.services = services
        self.url = url

    async def key(self, **fields: Any) -> str:
        _, secret = await self.services.operator.create_key(NewKey(**{"tenant": "acme"} | fields))
        return secret

    @asynccontextmanager
    async def connect(self, transport: str, api_key: str, **options: Any) -> AsyncIterator[Client]:
        mode = "legacy" if transport in ("stdio-older", "http-older", "sse") else "auto"
        headers = {"Authorization": f"Bearer {api_key}"}
        async with AsyncExitStack() as stack:
            if transport.startswith("stdio"):
                server: Any = stdio_client(stdio_parameters(self.services, api_key))
            elif transport == "sse":
                server = sse_client(f"{self.url}/mcp/sse", headers=headers)
            else:
                http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=30))
                server = streamable_http_client(f"{self.url}/mcp", http_client=http)
            yield await stack.enter_async_context(Client(server, mode=mode, **options))


def stdio_parameters(services: Services, api_key: str) -> StdioServerParameters:
    env = {
        "HINDSIGHT_INGEST_ADDRESS": services.ingest_address,
        "HINDSIGHT_RECALL_ADDRESS": services.recall_address,
        "HINDSIGHT_API_KEY": api_key,
        "PATH": os.environ["PATH"],
    }
    return StdioServerParameters(command=EDGE, args=["--stdio"], env=env)


@pytest.fixture
async def edge(services: Services) -> AsyncIterator[Connector]:
    ready, done = asyncio.get_running_loop().create_future(), asyncio.Event()

    async def serve() -> None:
        async with serving_edge(services) as url:
            ready.set_result(url)
            await done.wait()

    async with asyncio.TaskGroup() as tasks:  # a task of its own, since a fixture ends in another than it began in
        tasks.create_task(serve())
        yield Connector(services, await ready)
        done.set()


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured content of a call that must succeed; its text says the same, without escapes."""
    result = await client.call_tool(tool, {"agent_id": "ada"} | arguments)
    text = result.content[0].text  # pyright: ignore[reportAttributeAccessIssue]
    assert not result.is_error, text
    assert json.loads(text) == result.structured_content
    assert "\\u" not in text
    return result.structured_content


async def refuse(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The error of a call that must be refused."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return json.loads(result.content[0].text)  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_memory_outlives_its_session_and_is_corrected_and_forgotten(edge: Connector, transport: str):
    api_key = await edge.key()
    for words in (ENGLISH, CHINESE):
        async with edge.connect(transport, api_key) as client:
            written = await call(client, "memory_write", memory_key=words["key"], memory_value=words["value"])
        assert (written["outcome"], written["revision"], written["adjustments"]) == ("created", 1, [])
        async with edge.connect(transport, api_key) as client:
            found = await call(client, "memory_search", query=words["question"])
            first = found["memories"][0]
            assert (first["id"], first["value"], first["source"]) == (written["id"], words["value"], "user")
            assert "content rank 1" in first["why"]
            change = {"memory_value": words["correction"], "revision": first["revision"]}
            updated = await call(client, "memory_update", memory_id=written["id"], **change)
            assert (updated["id"], updated["revision"]) == (written["id"], 2)
            found = await call(client, "memory_search", query=words["question"])
            assert found["memories"][0]["value"] == words["correction"]
            forgotten = await call(client, "memory_forget", memory_key=words["key"])
            assert forgotten == {"outcome": "forgotten", "mode": "delete", "count": 1, "memory_ids": [written["id"]]}
            found = await call(client, "memory_search", query=words["question"])
            assert found["memories"] == []
            assert found["hint"]
