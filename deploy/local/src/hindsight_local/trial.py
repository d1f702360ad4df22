"""A whole hindsight for a benchmark or a trial: started in a temporary folder on free ports, stopped at the end."""

import asyncio
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from hindsight_memory import Hindsight

START_S = 180
STOP_S = 60
SERVICES = ("ingest", "recall", "embed", "worker", "edge")


@dataclass(frozen=True, slots=True)
class Instance:
    """A running hindsight."""

    home: Path
    ports: Mapping[str, int]
    api_key: str
    operator_key: str
    recall_dsn: str
    maintenance_dsn: str
    embed_token: str
    launcher: asyncio.subprocess.Process

    def process(self, name: str) -> psutil.Process:
        """A running program of this instance, by its name in the process table."""
        number, *_ = json.loads((self.home / "running.json").read_text())[name]
        return psutil.Process(number)

    def client(self, **options: str | float) -> Hindsight:
        """A client with the default key."""
        addresses = {f"{name}_address": f"127.0.0.1:{self.ports[name]}" for name in ("ingest", "recall")}
        return Hindsight(api_key=self.api_key, **addresses, **options)  # pyright: ignore[reportArgumentType]


def free_ports(count: int) -> list[int]:
    """Ports that are free at the moment."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]
    finally:
        for s in sockets:
            s.close()


@asynccontextmanager
async def running(environment: Mapping[str, str] | None = None, *, keep: Path | None = None) -> AsyncIterator[Instance]:
    """Start everything as `make run` does; yields when the self-check has passed. With a folder to keep, its data stay."""
    home = keep or Path(tempfile.mkdtemp(prefix="hindsight-trial-"))
    ports: dict[str, int] = dict(zip(SERVICES, free_ports(len(SERVICES)), strict=True))
    settings = {f"HINDSIGHT_{name.upper()}_PORT": str(port) for name, port in ports.items()}
    env = {**os.environ, **settings, "HINDSIGHT_HOME": str(home), **(environment or {})}
    launcher = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "hindsight_local.main", "run", env=env, stdout=asyncio.subprocess.PIPE
    )
    assert launcher.stdout is not None
    drain = None
    try:
        async with asyncio.timeout(START_S):
            lines = []
            while not (lines and lines[-1].startswith("hindsight runs.")):
                line = await launcher.stdout.readline()
                if not line:
                    raise SystemExit("hindsight did not start:\n" + "".join(lines))
                lines.append(line.decode())
        drain = asyncio.create_task(launcher.stdout.read())
        secrets = json.loads((home / "secrets.json").read_text())
        postgres = json.loads((home / "ports.json").read_text())["postgres"]
        dsns = {
            f"{role}_dsn": f"postgresql://hindsight_{role}:{secrets[f'{role}_password']}@127.0.0.1:{postgres}/hindsight"
            for role in ("recall", "maintenance")
        }
        keys = {name: secrets[name] for name in ("api_key", "operator_key", "embed_token")}
        yield Instance(home, ports, **keys, **dsns, launcher=launcher)
    finally:
        if launcher.returncode is None:
            launcher.send_signal(signal.SIGTERM)
            async with asyncio.timeout(STOP_S):
                await launcher.wait()
        if drain:
            await drain
        if keep is None:
            shutil.rmtree(home, ignore_errors=True)
