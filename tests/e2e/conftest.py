"""An edge over real services, and the official MCP client connected to it by any transport."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import httpx2
import pytest
import uvicorn
from hindsight_mcp_edge.main import open_web
from hindsight_mcp_edge.settings import EdgeSettings
from hindsight_memory import Hindsight, NewKey
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

EDGE = str(Path(sys.executable).parent / "hindsight-mcp-edge")


class Services(Protocol):
    ingest_address: str
    recall_address: str
    operator: Hindsight

    async def connect(self, key: NewKey) -> Hindsight: ...


@asynccontextmanager
async def serving_edge(services: Services, **settings: Any) -> AsyncIterator[str]:
    """The URL of an edge in this process."""
    addresses: dict[str, Any] = {"ingest_address": services.ingest_address, "recall_address": services.recall_address}
    async with open_web(EdgeSettings(**addresses | settings)) as (web, _):
        server = uvicorn.Server(uvicorn.Config(web, port=0, lifespan="off", ws="none", log_config=None))
        async with AsyncExitStack() as stack:
            server.config.load()
            server.lifespan = server.config.lifespan_class(server.config)
            await server.startup()
            stack.push_async_callback(server.shutdown)
            stack.callback(web.end_streams)
            yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"


class Connector:
    """An edge over a test's services, and clients connected to it."""

    command = EDGE

    def __init__(self, services: Services, url: str) -> None:
        self.services = services
        self.url = url

    async def key(self, **fields: Any) -> str:
        _, secret = await self.services.operator.create_key(self.new_key(**fields))
        return secret

    def new_key(self, **fields: Any) -> NewKey:
        given: dict[str, Any] = {"tenant": "acme", **fields}
        return NewKey(**given)

    @asynccontextmanager
    async def connect(self, transport: str, api_key: str, **options: Any) -> AsyncIterator[Client]:
        mode = "legacy" if transport in ("stdio-older", "http-older", "sse") else "auto"
        headers = {"Authorization": f"Bearer {api_key}"}
        async with AsyncExitStack() as stack:
            if transport.startswith("stdio"):
                server: Any = stdio_client(StdioServerParameters(command=EDGE, args=["--stdio"], env=self.environment(api_key)))
            elif transport == "sse":
                server = sse_client(f"{self.url}/mcp/sse", headers=headers)
            else:
                http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=30))
                server = streamable_http_client(f"{self.url}/mcp", http_client=http)
            yield await stack.enter_async_context(Client(server, mode=mode, **options))

    def replica(self, **settings: Any) -> AbstractAsyncContextManager[str]:
        """The URL of another edge over the same services."""
        return serving_edge(self.services, **settings)

    def environment(self, api_key: str) -> dict[str, str]:
        """What an edge in a process of its own is told."""
        return {
            "HINDSIGHT_INGEST_ADDRESS": self.services.ingest_address,
            "HINDSIGHT_RECALL_ADDRESS": self.services.recall_address,
            "HINDSIGHT_API_KEY": api_key,
            "PATH": os.environ["PATH"],
        }

    async def run_stdio(self, api_key: str, *lines: str) -> tuple[list[dict[str, Any]], str, int | None]:
        """Every line of standard output, decoded; standard error; the exit code after standard input ended."""
        pipe = asyncio.subprocess.PIPE
        env = self.environment(api_key)
        process = await asyncio.create_subprocess_exec(EDGE, "--stdio", env=env, stdin=pipe, stdout=pipe, stderr=pipe)
        async with asyncio.timeout(30):
            out, err = await process.communicate("".join(f"{line}\n" for line in lines).encode())
        return [json.loads(line) for line in out.splitlines()], err.decode(), process.returncode


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
