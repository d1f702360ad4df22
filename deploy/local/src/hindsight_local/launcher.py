"""Runs all of hindsight on one machine, from an empty folder to a clean stop."""

import asyncio
import contextlib
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import NoReturn

from hindsight_runtime.errors import StartFailed

from hindsight_local.home import Home, held_home
from hindsight_local.memory_use import describe_memory, memory_by_program
from hindsight_local.ports import holder, is_free
from hindsight_local.postgres import START_LIMIT_S, prepare_postgres
from hindsight_local.program import Stop, run_once
from hindsight_local.self_check import ensure_api_key, self_check
from hindsight_local.settings import LocalSettings
from hindsight_local.supervision import Launch, supervised
from hindsight_local.table import BIN, Site, Table, migrate_program, service_program
from hindsight_local.valkey import prepare_valkey

READY_LIMIT_S = 180.0
MIGRATE_LIMIT_S = 300.0
IDLE_S = 30.0  # after the self-check, before memory is measured


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the launcher."""

    settings: LocalSettings
    is_check_only: bool = False  # stop after the self-check
    table: Table = field(default_factory=Table)
    check: bool = True  # off in tests of the launcher alone
    idle_s: float = IDLE_S


class Narrator:
    """Prints lines with the seconds since the start."""

    def __init__(self, began: float) -> None:
        self._began = began

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._began

    def say(self, text: str) -> None:
        """Print one progress line."""
        self.show(f"[{self.elapsed_s:6.1f} s] {text}")

    def show(self, text: str) -> None:
        """Print as it is; where nobody reads any more, go on without."""
        with contextlib.suppress(OSError):
            print(text, flush=True)


async def launch(run: Run, began: float) -> int:
    """Run until a signal, or to the end of the self-check; the exit code. `began` is when the process started, monotonic."""
    stop = Stop()
    main = asyncio.current_task()
    assert main is not None
    is_signalled = asyncio.Event()
    narrator = Narrator(began)

    def on_signal() -> None:
        is_signalled.set()
        if stop.has_begun:
            narrator.say("in a hurry: killing what still runs")
            stop.hurry.set()
        else:  # stopping begins when the cancellation reaches the innermost block
            narrator.say("stopping; once more to hurry")
            main.cancel()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, on_signal)
    try:
        with held_home(run.settings.home.absolute()) as home:
            async with _everything_running(run, Launch(home, stop, narrator.say)) as site:
                await _prove(run, site, narrator)
                if not run.is_check_only:
                    await _stay(run, narrator)
    except asyncio.CancelledError:
        if not is_signalled.is_set():
            raise
    except (StartFailed, BaseExceptionGroup) as failure:
        for message in dict.fromkeys(_messages(failure)):
            narrator.say(f"error: {message}")
        return 1
    narrator.say("stopped")
    return 0


@asynccontextmanager
async def _everything_running(run: Run, launch: Launch) -> AsyncIterator[Site]:
    """Servers, migration, services, in this order; stopped in the opposite one."""
    settings, home = run.settings, launch.home
    launch.say(f"data and logs are in {home.root}")
    if leftovers := await home.end_leftovers():
        launch.say(f"ended what an earlier run had left behind: {', '.join(leftovers)}")
    ports = choose_ports(settings, home)
    try:
        async with AsyncExitStack() as stack:
            owner_dsn, redis_url = settings.database_url, settings.redis_url
            if not owner_dsn:
                launch.say("starting PostgreSQL")
                postgres = await prepare_postgres(home.data("postgres"), port=ports["postgres"], log=home.log("postgres"))
                owner_dsn = postgres.dsn
                if not postgres.data.is_relative_to(home.root):
                    launch.say(f"PostgreSQL's user cannot reach {home.root}: its data is in {postgres.data}")
                await stack.enter_async_context(supervised([postgres.program], launch, within_s=START_LIMIT_S))
            if not redis_url:
                launch.say("starting Valkey")
                valkey = prepare_valkey(
                    home.data("valkey"),
                    port=ports["redis"],
                    password=home.secrets.redis_password,
                    log=home.log("valkey"),
                )
                redis_url = valkey.url
                await stack.enter_async_context(supervised([valkey.program], launch, within_s=START_LIMIT_S))
            site = Site(home, owner_dsn, redis_url, ports)
            launch.say("bringing the database up to date")
            await run_once(migrate_program(run.table.migrate, site), MIGRATE_LIMIT_S)
            programs = [service_program(service, site) for service in run.table.services]
            launch.say(f"starting {', '.join(program.name for program in programs)}")
            await stack.enter_async_context(supervised(programs, launch, within_s=READY_LIMIT_S))
            yield site
            launch.say("stopping")
    finally:
        home.note_all_stopped()


def choose_ports(settings: LocalSettings, home: Home) -> dict[str, int]:
    """The port of every server and service, all of them free at the moment.

    Raises:
        StartFailed: one is taken, out of range or used twice; the message names the setting.
    """
    asked = {name: getattr(settings, f"{name}_port") for name in ("ingest", "recall", "embed", "worker", "edge")}
    if not settings.database_url:
        asked["postgres"] = settings.postgres_port
    if not settings.redis_url:
        asked["redis"] = settings.redis_port
    wanted = {port + settings.port_offset for port in asked.values() if port}
    ports: dict[str, int] = {}
    for name, port in asked.items():
        port = port + settings.port_offset if port else home.remembered_port(name, {*wanted, *ports.values()})
        setting = f"HINDSIGHT_{name.upper()}_PORT"
        remedy = f"set {setting}, or HINDSIGHT_PORT_OFFSET to move all"
        if port in ports.values() or port > 65_535:
            raise StartFailed(f"port {port} for {name} is used twice or out of range; {remedy}")
        if not is_free(port):
            who = holder(port)
            raise StartFailed(f"port {port} for {name} is taken{f' by {who}' if who else ''}; {remedy}")
        ports[name] = port
    return ports


async def _prove(run: Run, site: Site, narrator: Narrator) -> None:
    """Run the self-check and tell where to connect."""
    ready_s = narrator.elapsed_s
    home = site.home
    if run.check:
        ingest, recall = site.address("ingest"), site.address("recall")
        api_key = await ensure_api_key(ingest, home.secrets.operator_key, home.secrets.api_key)
        if api_key != home.secrets.api_key:
            home.keep_api_key(api_key)
        took_s = await self_check(ingest, recall, api_key)
        narrator.say(f"self-check passed in {took_s:.1f} s (ready in {ready_s:.1f} s)")
    narrator.show(describe_connection(site))


async def _stay(run: Run, narrator: Narrator) -> NoReturn:
    await asyncio.sleep(run.idle_s)
    narrator.show(describe_memory(memory_by_program()))
    await asyncio.Event().wait()
    raise AssertionError


def describe_connection(site: Site) -> str:
    """Addresses, the key, and configuration for MCP clients, to copy."""
    api_key = site.home.secrets.api_key
    edge = f"http://{site.address('edge')}"
    stdio = {
        "command": str(BIN / "hindsight-mcp-edge"),
        "args": ["--stdio"],
        "env": {
            "HINDSIGHT_API_KEY": api_key,
            "HINDSIGHT_INGEST_ADDRESS": site.address("ingest"),
            "HINDSIGHT_RECALL_ADDRESS": site.address("recall"),
            **({"HINDSIGHT_TOOLSETS": toolsets} if (toolsets := os.environ.get("HINDSIGHT_TOOLSETS")) else {}),
        },
    }
    headers = {"Authorization": "Bearer ${HINDSIGHT_API_KEY}"}
    return f"""
hindsight runs.
  MCP       {edge}/mcp   (older clients: {edge}/mcp/sse; health: {edge}/health)
  ingest    {site.address("ingest")} (gRPC)
  recall    {site.address("recall")} (gRPC)
  logs      {site.home.logs}
  API key   {api_key}
            (kept in {site.home.secrets_file}, with the operator's)

For the Python client and {BIN / "hindsightctl"}:
  export HINDSIGHT_API_KEY={api_key}
  export HINDSIGHT_INGEST_ADDRESS={site.address("ingest")} HINDSIGHT_RECALL_ADDRESS={site.address("recall")}

An MCP client that starts the edge itself (stdio):
{_configuration(stdio)}

An MCP client that connects by HTTP (with HINDSIGHT_API_KEY exported as above):
{_configuration({"type": "http", "url": f"{edge}/mcp", "headers": headers})}

An older one, by SSE:
{_configuration({"type": "sse", "url": f"{edge}/mcp/sse", "headers": headers})}
"""


def _configuration(server: object) -> str:
    return json.dumps({"mcpServers": {"hindsight": server}}, indent=2, ensure_ascii=False)


def _messages(failure: BaseException) -> Iterator[str]:
    """What to tell a person; a failure that is not for a person is raised as it is."""
    if isinstance(failure, BaseExceptionGroup):
        for part in failure.exceptions:
            yield from _messages(part)
    elif isinstance(failure, StartFailed):
        yield str(failure)
    else:
        raise failure
