import asyncio
import importlib.util
import json
import os
import secrets
import signal
import socket
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import psutil
import pytest
from hindsight_local.ports import free_port

HERE = Path(__file__).parent
LIMIT_S = 90
SERVERS = {"postgres", "valkey-server"}
PROGRAMS = {"embed", "ingest", "recall", "edge"}
HAS_SERVICES = all(
    importlib.util.find_spec(f"hindsight_{name}") and importlib.util.find_spec(f"hindsight_{name}.main")
    for name in ("embedding", "ingest", "recall", "mcp_edge")
)


class Launcher:
    """A running launcher, its output so far and where its folders are."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path) -> None:
        self.process = process
        self.folder = folder
        self.output = ""

    async def says(self, text: str, times: int = 1) -> None:
        assert self.process.stdout
        async with asyncio.timeout(LIMIT_S):
            while self.output.count(text) < times:
                line = await self.process.stdout.readline()
                assert line, f"it ended without saying {text!r}:\n{self.output}"
                self.output += line.decode()

    async def ends(self) -> int:
        assert self.process.stdout
        async with asyncio.timeout(LIMIT_S):
            self.output += (await self.process.stdout.read()).decode()
            return await self.process.wait()

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def environment(self, name: str) -> dict[str, str]:
        return json.loads((self.folder / f"{name}.json").read_text())

    def secrets(self) -> dict[str, str]:
        return json.loads((self.folder / "home" / "secrets.json").read_text())

    def running(self, name: str) -> int:
        return json.loads((self.folder / "home" / "running.json").read_text())[name][0]


@pytest.fixture
def folder(server_folder: Path) -> Path:
    made = server_folder / f"launcher {secrets.token_hex(4)}"
    made.mkdir(mode=0o755)
    return made


def settings_of(folder: Path, **more: str) -> dict[str, str]:
    ports = {f"HINDSIGHT_{name.upper()}_PORT": str(free_port()) for name in (*PROGRAMS, "worker")}
    own = {name: value for name, value in os.environ.items() if "DATABASE_URL" not in name and "REDIS_URL" not in name}
    return {**own, **ports, "HINDSIGHT_HOME": str(folder / "home"), **more}


@asynccontextmanager
async def launched(folder: Path, env: dict[str, str], *command: str) -> AsyncIterator[Launcher]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *(command or (str(HERE / "run_stand_ins.py"), str(folder))),
        env=env,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        yield Launcher(process, folder)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def all_gone(processes: list[psutil.Process]) -> None:
    _, alive = await asyncio.to_thread(psutil.wait_procs, processes, 30)
    assert alive == []


async def test_everything_starts_and_stops_cleanly_and_data_is_kept(folder: Path):
    env = settings_of(folder, HINDSIGHT_LOG_LEVEL="debug", HINDSIGHT_TOOLSETS="memory", SOMETHING_ELSE="x")
    async with launched(folder, env) as launcher:
        await launcher.says("idle memory (PSS)")
        await launcher.says("total")
        started = launcher.children()
        assert {process.name() for process in started} >= SERVERS
        async with asyncio.timeout(10):
            connection = await asyncpg.connect(superuser_dsn(launcher))
        await connection.execute("CREATE TABLE kept AS SELECT 7 AS n")
        await connection.close()
        launcher.process.send_signal(signal.SIGTERM)
        assert await launcher.ends() == 0
        await all_gone(started)
    assert {path.stem for path in (folder / "home" / "logs").iterdir()} >= PROGRAMS | {"postgres", "valkey", "migrate"}
    secrets_file = folder / "home" / "secrets.json"
    before = secrets_file.read_text()
    assert stat.S_IMODE(secrets_file.stat().st_mode) == 0o600

    async with launched(folder, env) as launcher:
        await launcher.says("hindsight runs.")
        connection = await asyncpg.connect(superuser_dsn(launcher))
        assert await connection.fetchval("SELECT n FROM kept") == 7
        await connection.close()
        started = launcher.children()
        launcher.process.send_signal(signal.SIGINT)
        assert await launcher.ends() == 0
        await all_gone(started)
    assert secrets_file.read_text() == before


def superuser_dsn(launcher: Launcher) -> str:
    return launcher.environment("migrate")["DATABASE_URL"]


async def test_each_service_is_told_only_what_it_needs(folder: Path):
    env = settings_of(folder, HINDSIGHT_LOG_LEVEL="debug", HINDSIGHT_TOOLSETS="memory", SOMETHING_ELSE="x")
    async with launched(folder, env) as launcher:
        await launcher.says("hindsight runs.")
        told = {name: launcher.environment(name) for name in (*PROGRAMS, "migrate")}
        kept = launcher.secrets()
        launcher.process.send_signal(signal.SIGTERM)
        assert await launcher.ends() == 0
    secret_names = [name for name, value in kept.items() if value and name != "assertion_public_key"]
    seen = {
        name: sorted(secret for secret in secret_names if kept[secret] in "\n".join(variables.values()))
        for name, variables in told.items()
    }
    assert seen == {
        "embed": ["embed_token"],
        "ingest": ["embed_token", "ingest_password", "record_token", "redis_password"],
        "recall": ["embed_token", "recall_password", "record_token", "redis_password"],
        "edge": ["assertion_private_key"],
        "migrate": ["ingest_password", "maintenance_password", "operator_key", "recall_password"],
    }
    assert {"SOMETHING_ELSE", "HINDSIGHT_HOME"}.isdisjoint(name for variables in told.values() for name in variables)
    assert [name for name, variables in told.items() if "HINDSIGHT_TOOLSETS" in variables] == ["edge"]
    assert all(told[name]["HINDSIGHT_LOG_LEVEL"] == "debug" for name in PROGRAMS)
    assert [name for name in told if "://postgres:" in told[name].get("DATABASE_URL", "")] == ["migrate"]
    assert "://hindsight_recall:" in told["recall"]["DATABASE_URL"]


async def test_what_is_killed_comes_back(folder: Path):
    async with launched(folder, settings_of(folder)) as launcher:
        await launcher.says("hindsight runs.")
        for name in ("recall", "postgres", "valkey"):
            os.kill(launcher.running(name), signal.SIGKILL)
            await launcher.says(f"{name} ended (killed by SIGKILL); starting it again in 1 s")
            await launcher.says(f"] {name} is ready", times=2)
        assert "stand-in recall begins" in launcher.output  # the last lines of its log
        started = launcher.children()
        launcher.process.send_signal(signal.SIGTERM)
        assert await launcher.ends() == 0
        await all_gone(started)


async def test_killed_launcher_leaves_nothing_that_stops_the_next(folder: Path):
    env = settings_of(folder)
    async with launched(folder, env) as launcher:
        await launcher.says("hindsight runs.")
        started = launcher.children()
        launcher.process.kill()
        await launcher.process.wait()
    async with launched(folder, env) as launcher:
        await launcher.says("hindsight runs.")
        await all_gone(started)
        launcher.process.send_signal(signal.SIGTERM)
        assert await launcher.ends() == 0


@pytest.mark.parametrize("moment", ["starting PostgreSQL", "starting Valkey", "bringing the database", "starting embed"])
async def test_signal_during_set_up_leaves_nothing_running(folder: Path, moment: str):
    async with launched(folder, settings_of(folder)) as launcher:
        await launcher.says(moment)
        started = launcher.children()
        launcher.process.send_signal(signal.SIGINT)
        assert await launcher.ends() == 0
        await all_gone(started)
        homes = [process for process in psutil.process_iter(["cmdline"]) if str(folder) in str(process.info["cmdline"])]
        assert homes == []


async def test_taken_port_is_named_before_anything_starts(folder: Path):
    env = settings_of(folder)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", int(env["HINDSIGHT_RECALL_PORT"])))
        taken.listen()
        async with launched(folder, env) as launcher:
            assert await launcher.ends() == 1
    assert "HINDSIGHT_RECALL_PORT" in launcher.output
    assert f"process {os.getpid()}" in launcher.output
    assert "starting" not in launcher.output


async def test_second_copy_works_beside_the_first_with_an_offset(folder: Path):
    env = settings_of(folder)
    async with launched(folder, env) as first:
        await first.says("hindsight runs.")
        async with launched(folder, env) as same_folder:
            assert await same_folder.ends() == 1
            assert f"(process {first.process.pid})" in same_folder.output
        other = folder / "other"
        other.mkdir()
        beside = {**env, "HINDSIGHT_HOME": str(other / "home"), "HINDSIGHT_PORT_OFFSET": "1000"}
        async with launched(other, beside) as second:
            await second.says("hindsight runs.")
            assert int(second.environment("edge")["HINDSIGHT_EDGE_PORT"]) == int(env["HINDSIGHT_EDGE_PORT"]) + 1000
            second.process.send_signal(signal.SIGTERM)
            assert await second.ends() == 0
        first.process.send_signal(signal.SIGTERM)
        assert await first.ends() == 0


async def test_existing_servers_are_used(folder: Path, postgres: str, valkey: str):
    async with launched(folder, settings_of(folder, DATABASE_URL=postgres, HINDSIGHT_REDIS_URL=valkey)) as launcher:
        await launcher.says("hindsight runs.")
        assert SERVERS.isdisjoint(process.name() for process in launcher.children())
        assert launcher.environment("migrate")["DATABASE_URL"] == postgres
        recall = launcher.environment("recall")
        assert recall["REDIS_URL"] == valkey
        assert recall["DATABASE_URL"].partition("@")[2] == postgres.partition("@")[2]
        launcher.process.send_signal(signal.SIGTERM)
        assert await launcher.ends() == 0


@pytest.mark.skipif(not HAS_SERVICES, reason="the services are not there yet")
async def test_check_passes_with_the_real_services_and_a_second_start_is_quick(folder: Path):
    env = settings_of(folder)
    ready_s: list[float] = []
    for _ in range(2):
        async with launched(folder, env, "-m", "hindsight_local.main", "run", "--check") as launcher:
            code = await launcher.ends()
            assert code == 0, launcher.output
            assert "self-check passed in" in launcher.output
            ready_s.append(float(launcher.output.partition("(ready in ")[2].partition(" s)")[0]))
    assert ready_s[1] < 20
