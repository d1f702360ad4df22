"""The data folder: one launcher at a time, secrets, remembered ports, and what a killed launcher left running."""

import asyncio
import contextlib
import fcntl
import json
import os
import secrets
import signal
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path

import psutil
from hindsight_runtime.errors import StartFailed
from hindsight_runtime.identity import new_assertion_keys, new_secret

from hindsight_local.ports import free_port, is_free
from hindsight_local.program import Child

LEFTOVER_GRACE_S = 30.0


@dataclass(frozen=True, slots=True)
class Secrets:
    """Everything secret, made once; the API key is empty until the server has made it."""

    ingest_password: str = field(default_factory=secrets.token_urlsafe)
    recall_password: str = field(default_factory=secrets.token_urlsafe)
    maintenance_password: str = field(default_factory=secrets.token_urlsafe)
    redis_password: str = field(default_factory=secrets.token_urlsafe)
    embed_token: str = field(default_factory=secrets.token_urlsafe)
    record_token: str = field(default_factory=secrets.token_urlsafe)
    operator_key: str = field(default_factory=new_secret)
    assertion_private_key: str = ""
    assertion_public_key: str = ""
    api_key: str = ""


class Home:
    """A data folder held by this launcher."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.logs = root / "logs"
        self.secrets_file = root / "secrets.json"
        self._ports_file = root / "ports.json"
        self._running_file = root / "running.json"
        self._running: dict[str, tuple[int, float, int]] = {}  # name -> number, creation time, stop signal
        self.secrets = self._load_secrets()

    def data(self, name: str) -> Path:
        """Where one program keeps its data."""
        return self.root / "data" / name

    def log(self, name: str) -> Path:
        """Where one program writes its log."""
        return self.logs / f"{name}.log"

    def _load_secrets(self) -> Secrets:
        stored = _read_json(self.secrets_file)
        known = {f.name for f in fields(Secrets)}
        found = Secrets(**{name: value for name, value in stored.items() if name in known})
        if not found.assertion_private_key:
            private, public = new_assertion_keys()
            found = replace(found, assertion_private_key=private, assertion_public_key=public)
        if asdict(found) != stored:
            _write_json(self.secrets_file, asdict(found))
        return found

    def keep_api_key(self, api_key: str) -> None:
        """Remember the API key the server made."""
        self.secrets = replace(self.secrets, api_key=api_key)
        _write_json(self.secrets_file, asdict(self.secrets))

    def remembered_port(self, name: str, besides: Container[int]) -> int:
        """The free port picked for a server at an earlier start, or another one where that is taken, or wanted, by now."""
        ports = _read_json(self._ports_file)
        port = ports.get(name, 0)
        if not port or port in besides or not is_free(port):
            while (port := free_port()) in besides:
                pass
            _write_json(self._ports_file, {**ports, name: port})
        return port

    def note_started(self, child: Child) -> None:
        """Write down a child, so that the next start can end it if this launcher is killed."""
        with contextlib.suppress(psutil.NoSuchProcess):
            created = psutil.Process(child.pid).create_time()
            self._running[child.program.name] = (child.pid, created, int(child.program.stop_signal))
            _write_json(self._running_file, self._running)

    def note_all_stopped(self) -> None:
        """Nothing runs any more."""
        self._running_file.unlink(missing_ok=True)

    async def end_leftovers(self) -> list[str]:
        """End what an earlier launcher started and left behind when it was killed; the names of those still there."""
        left = dict(_leftovers(_read_json(self._running_file)))
        for process, number in left.values():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        await asyncio.to_thread(psutil.wait_procs, [process for process, _ in left.values()], LEFTOVER_GRACE_S)
        for process, _ in left.values():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGKILL)
        return sorted(left)


def _leftovers(running: dict[str, list[float]]) -> Iterator[tuple[str, tuple[psutil.Process, int]]]:
    for name, (pid, created, number) in running.items():
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(int(pid))
            if abs(process.create_time() - created) < 2:  # else the number belongs to another process by now
                yield name, (process, int(number))


@contextmanager
def held_home(root: Path) -> Iterator[Home]:
    """The data folder, held until the end of the block; made where it is missing.

    Raises:
        StartFailed: another launcher holds it, or it cannot be written.
    """
    try:
        for folder, mode in ((root, 0o755), (root / "data", 0o755), (root / "logs", 0o700)):
            if not folder.exists():
                folder.mkdir(parents=True)
                folder.chmod(mode)  # PostgreSQL's user must pass through; what is secret is closed by itself
        lock = (root / "lock").open("a+")
    except OSError as error:
        raise StartFailed(f"cannot write the data folder {root}: {error}; set HINDSIGHT_HOME") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.seek(0)
            raise StartFailed(
                f"the data folder {root} is in use by another running hindsight-local (process {lock.read() or '?'}); "
                "for a second copy set HINDSIGHT_HOME and HINDSIGHT_PORT_OFFSET"
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        try:
            yield Home(root)
        except PermissionError as error:
            raise StartFailed(f"cannot use the data folder {root}: {error}; was it made by another user?") from None


def _read_json(path: Path) -> dict:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError:
        raise StartFailed(f"{path} is damaged; put it right or delete it") from None


def _write_json(path: Path, content: dict) -> None:
    """Replace a file at once, readable by us only."""
    building = path.with_name(path.name + ".new")
    building.unlink(missing_ok=True)
    with os.fdopen(os.open(building, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(content, file, indent=2)
    building.replace(path)
