"""A deployment of deploy/compose.yaml under a name, a port and secrets of its own."""

import asyncio
import json
import os
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = os.environ.get("COMPOSE", "docker compose").split()
DOCKER = os.environ.get("DOCKER", "docker")
PROJECT = "hindsight-compose-test"
PATIENCE_S = 120


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@dataclass(frozen=True, slots=True)
class Deployment:
    """What `make up` starts, and how to speak to it."""

    environment: dict[str, str]
    secrets: Path

    def run(self, *argv: str, check: bool = True, **options: Any) -> str:
        """A command in the deployment's environment; its standard output."""
        done = subprocess.run(argv, cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=600, **options)
        assert not check or done.returncode == 0, f"{argv} failed:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    def make(self, action: str, *options: str, overlays: str = "") -> float:
        """What the targets up and down of the Makefile run; the seconds it took."""
        began = time.monotonic()
        environment = self.environment | {"OVERLAYS": overlays}
        done = subprocess.run(
            ["tools/compose.sh", action, *options], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, f"{action} {overlays} failed:\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}\n{self.logs()}"
        return time.monotonic() - began

    def up(self, *options: str, overlays: str = "") -> float:
        """Start what is not running yet, with the images there are."""
        return self.make("up", "--no-build", "--pull", os.environ.get("HINDSIGHT_PULL", "missing"), *options, overlays=overlays)

    def compose(self, *argv: str, check: bool = True) -> str:
        return self.run(*COMPOSE, "-f", "deploy/compose.yaml", *argv, check=check)

    def docker(self, *argv: str, check: bool = True) -> str:
        return self.run(DOCKER, *argv, check=check)

    def logs(self) -> str:
        return self.compose("logs", "--tail", "10", check=False)

    def containers(self, *services: str) -> list[dict[str, Any]]:
        """The running containers of services, all by default, as Docker describes them."""
        ids = [self.docker("ps", "-q", "--filter", f"label=com.docker.compose.project={PROJECT}", *part).split() for part in
               ([("--filter", f"label=com.docker.compose.service={s}") for s in services] or [()])]  # fmt: skip
        return json.loads(self.docker("inspect", *(i for some in ids for i in some)))

    def count_in_log(self, container: dict[str, Any], *marks: str) -> int:
        """How many lines of a container's log have all the marks."""
        log = subprocess.run([DOCKER, "logs", container["Id"]], env=self.environment, capture_output=True, text=True, check=True)
        return sum(all(mark in line for mark in marks) for line in (log.stdout + log.stderr).splitlines())

    @property
    def url(self) -> str:
        return f"http://localhost:{self.environment['HINDSIGHT_EDGE_PORT']}"

    @property
    def key(self) -> str:
        return dict(line.split("=", 1) for line in (self.secrets / "client.env").read_text().split())["HINDSIGHT_API_KEY"]

    @asynccontextmanager
    async def connect(self, transport: str) -> AsyncIterator[Client]:
        """The official MCP client through the published port or through exec."""
        headers = {"Authorization": f"Bearer {self.key}"}
        async with AsyncExitStack() as stack:
            if transport == "stdio":
                command = [*COMPOSE, "-f", str(ROOT / "deploy/compose.yaml"), "exec", "-T", "-e", "HINDSIGHT_API_KEY", "mcp-edge"]
                command += ["hindsight-mcp-edge", "--stdio"]
                environment = self.environment | {"HINDSIGHT_API_KEY": self.key}
                server: Any = stdio_client(StdioServerParameters(command=command[0], args=command[1:], env=environment))
            elif transport == "sse":
                server = sse_client(f"{self.url}/mcp/sse", headers=headers)
            else:
                http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=30))
                server = streamable_http_client(f"{self.url}/mcp", http_client=http)
            yield await stack.enter_async_context(Client(server, mode="legacy" if transport == "sse" else "auto"))

    async def health(self) -> str:
        """The status that /health tells, or why it tells none."""
        try:
            async with httpx2.AsyncClient(timeout=10) as http:
                return (await http.get(f"{self.url}/health")).json()["status"]
        except (httpx2.TransportError, ValueError) as error:
            return type(error).__name__

    async def becomes_ok(self) -> float:
        """Wait until /health says ok; the seconds it took."""
        return await until(self.health, lambda status: status == "ok", self.logs)


async def until(ask: Callable[[], Any], is_right: Callable[[Any], bool], explain: Callable[[], str] = str) -> float:
    """Ask until the answer is right; the seconds it took."""
    began = time.monotonic()
    last: Any = None
    while time.monotonic() - began < PATIENCE_S:
        last = await ask()
        if is_right(last):
            return time.monotonic() - began
        await asyncio.sleep(0.3)
    raise AssertionError(f"after {PATIENCE_S} s still {last!r}\n{explain()}")
