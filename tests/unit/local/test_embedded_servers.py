import os
import shutil
import signal
import stat
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

import asyncpg
import psutil
import pytest
from hindsight_local.ports import free_port
from hindsight_local.postgres import prepare_postgres, running_postgres, server_user
from hindsight_local.program import Child, Stop, ready_or_dead
from hindsight_local.valkey import prepare_valkey, running_valkey
from hindsight_runtime.errors import StartFailed
from redis.asyncio import Redis
from redis.exceptions import AuthenticationError


async def fetch(dsn: str, statement: str):
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


async def test_postgres_has_what_hindsight_needs(postgres: str):
    assert await fetch(postgres, "SHOW data_checksums") == "on"
    assert await fetch(postgres, "SELECT datlocale FROM pg_database WHERE datname = current_database()") == "C.UTF-8"
    assert await fetch(postgres, "SHOW listen_addresses") == "127.0.0.1"
    names = "'vector', 'pg_trgm', 'btree_gin'"
    assert await fetch(postgres, f"SELECT count(*) FROM pg_available_extensions WHERE name IN ({names})") == 3


async def test_postgres_keeps_its_data_and_its_password(server_folder: Path):
    folder = server_folder / "kept"
    async with running_postgres(folder) as server:
        await fetch(server.dsn, "CREATE TABLE kept AS SELECT 7 AS n")
    async with running_postgres(folder) as server:
        assert await fetch(server.dsn, "SELECT n FROM kept") == 7
        assert await fetch(server.dsn, "SHOW fsync") == "on"
    assert stat.S_IMODE((folder / "password").stat().st_mode) == 0o600


async def test_postgres_refuses_a_wrong_password(postgres: str):
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(postgres, password="wrong")


async def test_postgres_comes_back_after_everything_was_killed(server_folder: Path):
    folder = server_folder / "killed"
    log = folder / "postgres.log"
    server = await prepare_postgres(folder, port=free_port(), log=log, shared_root=server_folder / "shared")
    child = Child(server.program)
    await ready_or_dead(child, 60)
    await fetch(server.dsn, "CREATE TABLE kept AS SELECT 7 AS n")
    backends = psutil.Process(child.pid).children(recursive=True)
    for process in [psutil.Process(child.pid), *backends]:
        os.kill(process.pid, signal.SIGKILL)
    await child.exited()
    assert (server.data / "postmaster.pid").exists()
    async with running_postgres(folder, shared_root=server_folder / "shared") as server:
        assert await fetch(server.dsn, "SELECT n FROM kept") == 7


async def test_postgres_starts_though_its_old_number_is_taken(server_folder: Path):
    folder = server_folder / "number"
    async with running_postgres(folder, shared_root=server_folder / "shared") as server:
        lock = (server.data / "postmaster.pid").read_text()
    lines = [str(os.getpid()), *lock.splitlines()[1:]]
    (server.data / "postmaster.pid").write_text("\n".join(lines) + "\n")
    async with running_postgres(folder, shared_root=server_folder / "shared") as server:
        assert await fetch(server.dsn, "SELECT 1") == 1


async def test_postgres_folder_in_use_is_refused(server_folder: Path):
    folder = server_folder / "in-use"
    async with running_postgres(folder, shared_root=server_folder / "shared"):
        with pytest.raises(StartFailed, match="in use by another running PostgreSQL"):
            await prepare_postgres(folder, port=free_port(), log=folder / "second.log")


def closed_package(name: str, closed: Path) -> ModuleSpec:
    """The package, installed in a folder that is closed to others."""
    found = find_spec(name)
    assert found
    assert found.submodule_search_locations
    package = Path(found.submodule_search_locations[0])
    for folder in (package, package.with_name(f"{name}.libs")):
        if not (closed / folder.name).exists():
            shutil.copytree(folder, closed / folder.name, symlinks=True)
    found.submodule_search_locations = [str(closed / name)]
    return found


@pytest.mark.skipif(server_user() is None, reason="an ordinary user reaches its own folders")
async def test_postgres_of_root_lives_elsewhere_where_its_user_cannot_reach_the_folder(
    server_folder: Path, monkeypatch: pytest.MonkeyPatch
):
    closed = server_folder / "closed home"
    closed.mkdir(mode=0o700)
    shared = server_folder / "elsewhere"
    monkeypatch.setattr("hindsight_local.postgres.find_spec", lambda name: closed_package(name, closed))
    async with running_postgres(closed / "data", shared_root=shared) as server:
        await fetch(server.dsn, "CREATE TABLE kept AS SELECT 7 AS n")
    async with running_postgres(closed / "data", shared_root=shared) as server:
        assert await fetch(server.dsn, "SELECT n FROM kept") == 7
    assert server.data.is_relative_to(shared)
    assert Path(server.program.argv[0]).is_relative_to(shared)
    assert (closed / "data" / "cluster").resolve() == server.data
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


async def test_valkey_keeps_its_data_and_asks_for_the_password(tmp_path: Path):
    folder = tmp_path / "with space"
    async with running_valkey(folder, password="first") as server:
        async with Redis.from_url(server.url) as client:
            await client.set("kept", "7")
        async with Redis.from_url(server.url.replace("first", "wrong")) as client:
            with pytest.raises(AuthenticationError):
                await client.ping()
    async with running_valkey(folder, password="second") as server, Redis.from_url(server.url) as client:
        assert await client.get("kept") == b"7"
        assert (await client.config_get("appendonly"))["appendonly"] == "yes"


async def test_valkey_comes_back_after_it_was_killed(tmp_path: Path):
    server = prepare_valkey(tmp_path, port=free_port(), password="p", log=tmp_path / "log")
    child = Child(server.program)
    await ready_or_dead(child, 30)
    async with Redis.from_url(server.url) as client:
        await client.set("kept", "7")
        await client.execute_command("WAITAOF", 1, 0, 5000)
    os.kill(child.pid, signal.SIGKILL)
    assert await child.exited() == -signal.SIGKILL
    child = Child(server.program)
    await ready_or_dead(child, 30)
    async with Redis.from_url(server.url) as client:
        assert await client.get("kept") == b"7"
    await child.stop(Stop())


async def test_valkey_is_empty_for_every_test(valkey: str):
    async with Redis.from_url(valkey) as client:
        assert await client.dbsize() == 0
