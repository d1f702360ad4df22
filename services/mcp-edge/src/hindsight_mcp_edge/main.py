"""The edge's process: HTTP by default, standard input and output with --stdio."""

import argparse
import asyncio
import logging
import os
import resource
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import httpx2
import structlog
import uvicorn
import uvloop
from hindsight_memory import Hindsight
from hindsight_runtime.errors import StartFailed
from hindsight_runtime.logs import configure_logs
from hindsight_runtime.settings import load

from hindsight_mcp_edge.access import Hosts, Keys
from hindsight_mcp_edge.gate import Gate
from hindsight_mcp_edge.health import Health
from hindsight_mcp_edge.oauth import KeySet
from hindsight_mcp_edge.server import Context, Edge
from hindsight_mcp_edge.settings import EdgeSettings
from hindsight_mcp_edge.stdio import serve_stdio
from hindsight_mcp_edge.web import KEY_IN_SCOPE, Web

BACKLOG = 2048
MAX_CONNECTIONS = 4096  # one more is answered 503
OPEN_FILES = 8192
LATE_REQUESTS_S = 0.3  # for the request on a connection that was made just before the stop

log = structlog.get_logger()


class _Server(uvicorn.Server):
    """uvicorn, with the signals left to the process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no new connections; what was connected a moment ago still gets its answer, then idle connections are closed."""
        waiting = [connection for listener in sockets or () for connection in _end_listening(listener)]
        self.server_state.default_headers = [*self.server_state.default_headers, (b"connection", b"close")]
        for connection in waiting:
            await asyncio.get_running_loop().connect_accepted_socket(self._make_protocol, connection)
        await asyncio.sleep(LATE_REQUESTS_S)
        await super().shutdown(sockets)

    def _make_protocol(self) -> asyncio.Protocol:
        protocol: Any = self.config.http_protocol_class
        return protocol(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)


def _allow_open_files() -> None:
    """Raise the limit of open files, which some systems set to 256: every connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _end_listening(listener: socket.socket) -> list[socket.socket]:
    """Refuse connections from now on; those that the kernel made and nobody took yet, which it would reset."""
    waiting = []
    with suppress(OSError):  # there are no more
        while True:
            waiting.append(listener.accept()[0])
            waiting[-1].setblocking(False)
    with suppress(OSError):
        listener.shutdown(socket.SHUT_RDWR)
    return waiting


def make_edge(settings: EdgeSettings, hindsight: Hindsight) -> Edge:
    """The edge over a connection, each request with the key it carries."""
    own_key = settings.api_key.get_secret_value()

    def connect(context: Context) -> Hindsight:
        key = context.request.scope[KEY_IN_SCOPE] if context.request is not None else ""
        has_own = context.request is None or settings.auth == "off"
        return hindsight.with_key(key or (own_key if has_own else ""))

    return Edge(settings.tools, connect, log_content=settings.log_content)


@asynccontextmanager
async def open_web(settings: EdgeSettings) -> AsyncIterator[tuple[Web, Edge]]:
    """The HTTP application, serving inside the block."""
    addresses = {"ingest": settings.ingest_address, "recall": settings.recall_address, "embed": settings.embed_address}
    async with _connection(settings) as hindsight, Health.open(addresses) as health, httpx2.AsyncClient() as http:
        edge = make_edge(settings, hindsight)
        trust = settings.trust
        gate = Gate(Keys(hindsight), trust, KeySet(trust.jwks_url, http) if trust else None)
        hosts = Hosts(tuple(settings.hosts))
        web = Web(edge.make_server(), edge.calls, health, hosts=hosts, gate=gate if settings.auth == "on" else None)
        async with web.sessions.run():
            yield web, edge


def _connection(settings: EdgeSettings) -> Hindsight:
    return Hindsight(ingest_address=settings.ingest_address, recall_address=settings.recall_address)


async def _serve_http(settings: EdgeSettings, stop: asyncio.Event) -> None:
    listener = _listen(settings.host, settings.port)
    async with open_web(settings) as (web, edge), asyncio.TaskGroup() as tasks:
        _allow_open_files()
        config = uvicorn.Config(
            web,
            lifespan="off",
            ws="none",
            access_log=False,
            log_config=None,
            server_header=False,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_graceful_shutdown=int(settings.grace_s) + 1,
        )
        server = _Server(config)
        serving = tasks.create_task(server.serve([listener]))
        log.info("serving", host=settings.host, port=listener.getsockname()[1], auth=settings.auth)
        await stop.wait()
        log.info("draining")
        server.should_exit = True
        await edge.calls.wait_idle(settings.grace_s)
        web.end_streams()
        await serving
    log.info("stopped")


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.setblocking(False)
        listener.listen(BACKLOG)  # so that who reads "serving" in the log can connect
    except OSError as error:
        raise StartFailed(f"cannot listen on {host}:{port}: {error}; set HINDSIGHT_EDGE_PORT or HINDSIGHT_HOST") from None
    return listener


async def _serve_stdio(settings: EdgeSettings, stop: asyncio.Event) -> None:
    async with _connection(settings) as hindsight:
        edge = make_edge(settings, hindsight)
        await serve_stdio(edge.make_server(), edge.calls, stop=stop, grace_s=settings.grace_s)
    log.info("stopped: standard input ended" if not stop.is_set() else "stopped")


def _hold_standard_streams() -> None:
    """Open what the caller closed of them, so that no connection gets one of their numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


async def _run(settings: EdgeSettings, *, stdio: bool) -> None:
    configure_logs("mcp-edge", settings.log_level)
    logging.getLogger("mcp").setLevel(logging.ERROR)  # its warnings quote what clients sent
    logging.getLogger("mcp.server.sse").setLevel(logging.CRITICAL)  # so do its errors
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await (_serve_stdio if stdio else _serve_http)(settings, stop)


def main() -> None:
    """Command line: hindsight-mcp-edge."""
    parser = argparse.ArgumentParser(prog="hindsight-mcp-edge", description="MCP for hindsight, a memory server for agents.")
    parser.add_argument("--stdio", action="store_true", help="serve one client on standard input and output")
    stdio = parser.parse_args().stdio
    _hold_standard_streams()
    settings = load(EdgeSettings)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_run(settings, stdio=stdio))
    except StartFailed as error:
        sys.exit(f"hindsight-mcp-edge: {error}")


if __name__ == "__main__":
    main()
