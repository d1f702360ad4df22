"""One program the launcher runs: what it is, how it starts on a leash, how it stops."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hindsight_runtime.errors import StartFailed

POLL_S = 0.05
MAX_LOG_BYTES = 8 * 2**20
LEASH = Path(__file__).with_name("leash.py")

Probe = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class User:
    """An operating-system user to run as."""

    uid: int
    gid: int


async def no_probe() -> None:
    """Ready as soon as it runs."""


@dataclass(frozen=True, slots=True)
class Program:
    """What to run, how to tell that it is ready (the probe does not raise) and how it is told to stop."""

    name: str
    argv: tuple[str, ...]
    log: Path
    env: Mapping[str, str] = field(default_factory=dict)
    probe: Probe = no_probe
    user: User | None = None  # None: the launcher's own
    stop_signal: signal.Signals = signal.SIGTERM
    hurry_signal: signal.Signals = signal.SIGKILL
    grace_s: float = 25.0


@dataclass(slots=True)
class Stop:
    """Whether what runs is being stopped by now, and whether somebody is in a hurry."""

    has_begun: bool = False
    hurry: asyncio.Event = field(default_factory=asyncio.Event)


class Child:
    """A running program: in a process group of its own, writing to its log, ended when the launcher ends."""

    def __init__(self, program: Program) -> None:
        self.program = program
        program.log.parent.mkdir(parents=True, exist_ok=True)
        trim_log(program.log)
        self._log_begins = program.log.stat().st_size if program.log.exists() else 0
        user = program.user or User(-1, -1)
        # Started from the main thread: the kernel's parent-death signal follows the thread, not the process.
        leash = [sys.executable, "-I", "-S", str(LEASH), str(int(program.stop_signal)), str(os.getpid())]
        with program.log.open("ab") as log:
            self._popen = subprocess.Popen(
                [*leash, str(user.uid), str(user.gid), *program.argv],
                env=dict(program.env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd="/",  # the launcher's own folder may be out of the user's reach
                process_group=0,  # so that Ctrl-C reaches the launcher only, which stops things in order
            )

    @property
    def pid(self) -> int:
        """The process id; the leash becomes the program, so they share it."""
        return self._popen.pid

    def last_lines(self) -> str:
        """The last lines it wrote, for a person."""
        return tail(self.program.log, self._log_begins)

    async def exited(self) -> int:
        """Wait for the end; the exit code, negative for a signal."""
        while True:
            code = self._popen.poll()
            if code is not None:
                return code
            await asyncio.sleep(POLL_S)

    async def stop(self, stop: Stop) -> None:
        """Ask it to stop and wait; past its grace, or in a hurry, insist; then kill its whole group."""
        self._signal(self.program.stop_signal)
        await self._exits_within(self.program.grace_s, stop)
        if self._popen.poll() is None:
            self._signal(self.program.hurry_signal)
            await self._exits_within(5.0, None)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        await self.exited()

    def _signal(self, number: signal.Signals) -> None:
        if self._popen.poll() is None:
            self._popen.send_signal(number)

    async def _exits_within(self, limit_s: float, stop: Stop | None) -> None:
        end = asyncio.get_running_loop().time() + limit_s
        while self._popen.poll() is None and asyncio.get_running_loop().time() < end:
            if stop and stop.hurry.is_set():
                return
            await asyncio.sleep(POLL_S)


async def run_once(program: Program, within_s: float) -> None:
    """Run a program to its end.

    Raises:
        StartFailed: it failed or took too long; the message ends with the last lines of its log.
    """
    child = Child(program)
    try:
        async with asyncio.timeout(within_s):
            code = await child.exited()
    except TimeoutError:
        raise StartFailed(f"{program.name} took longer than {within_s:.0f} s\n{child.last_lines()}") from None
    finally:
        await child.stop(Stop())
    if code:
        raise StartFailed(f"{program.name} failed ({describe_exit(code)})\n{child.last_lines()}")


async def wait_ready(program: Program, within_s: float | None) -> None:
    """Repeat the probe until it does not raise.

    Raises:
        StartFailed: it still does after the time given.
    """
    why = ""
    try:
        async with asyncio.timeout(within_s):
            while True:
                try:
                    async with asyncio.timeout(5):
                        return await program.probe()
                except Exception as error:  # noqa: BLE001 - whatever a probe's client raises means: not yet
                    why = str(error) or type(error).__name__
                await asyncio.sleep(2 * POLL_S)
    except TimeoutError:
        raise StartFailed(f"{program.name} is not ready after {within_s} s; last: {why}\n{tail(program.log)}") from None


async def ready_or_dead(child: Child, within_s: float) -> None:
    """Wait until a child is ready.

    Raises:
        StartFailed: it ended instead, or took too long.
    """
    program = child.program
    ready = asyncio.ensure_future(wait_ready(program, within_s))
    ended = asyncio.ensure_future(child.exited())
    try:
        await asyncio.wait({ready, ended}, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            raise StartFailed(f"{program.name} ended ({describe_exit(ended.result())})\n{child.last_lines()}")
        ready.result()
    finally:
        ready.cancel()
        ended.cancel()
        await asyncio.wait({ready, ended})


def describe_exit(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def tail(log: Path, begins: int = 0, lines: int = 15) -> str:
    """The last lines of a log from a position on, indented, and where it is."""
    try:
        with log.open("rb") as text:
            size_bytes = log.stat().st_size
            text.seek(max(begins if begins <= size_bytes else 0, size_bytes - 16 * 2**10))
            last = text.read().decode(errors="replace").splitlines()[-lines:]
    except OSError:
        last = []
    return "\n".join([f"  last lines of {log}:", *(f"    {line[:400]}" for line in last or ["(empty)"])])


def trim_log(log: Path) -> None:
    """Keep a log below its limit: its end goes to "<name>.1", and writing (in append mode) starts again at 0."""
    if not log.exists() or log.stat().st_size <= MAX_LOG_BYTES:
        return
    with log.open("rb+") as text:
        text.seek(-MAX_LOG_BYTES // 2, os.SEEK_END)
        log.with_name(log.name + ".1").write_bytes(text.read())
        text.truncate(0)
