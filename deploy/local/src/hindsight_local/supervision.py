"""Keeps programs running: starts again what ends, ever more slowly, and gives up on what does not stay."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from hindsight_runtime.errors import StartFailed

from hindsight_local.home import Home
from hindsight_local.program import Child, Program, Stop, describe_exit, tail, trim_log, wait_ready

GIVE_UP_DEATHS = 5
WINDOW_S = 60.0  # in which they are counted
FIRST_PAUSE_S = 1.0  # doubled with every further death
MAX_PAUSE_S = 30.0
REMIND_S = 5.0
TRIM_S = 30.0


@dataclass(frozen=True, slots=True)
class Launch:
    """What everything started in one run shares."""

    home: Home
    stop: Stop
    say: Callable[[str], None]


class Supervised:
    """A program that is started again when it ends."""

    def __init__(self, program: Program, launch: Launch) -> None:
        self.program = program
        self.ready = asyncio.Event()
        self._launch = launch
        self._child: Child | None = None

    async def watch(self) -> None:
        """Run the program until cancelled.

        Raises:
            StartFailed: it ended five times in a minute.
        """
        name, deaths = self.program.name, deque[float]()
        while True:
            self._child = Child(self.program)
            self._launch.home.note_started(self._child)
            async with asyncio.TaskGroup() as tasks:
                announcing = tasks.create_task(self._announce())
                code = await self._child.exited()
                announcing.cancel()
            self.ready.clear()
            now = time.monotonic()
            deaths.append(now)
            while deaths[0] < now - WINDOW_S:
                deaths.popleft()
            what = f"{name} ended ({describe_exit(code)})"
            if len(deaths) >= GIVE_UP_DEATHS:
                raise StartFailed(f"{what}, {len(deaths)} times in a minute: giving up\n{self._child.last_lines()}")
            pause_s = min(MAX_PAUSE_S, FIRST_PAUSE_S * 2 ** (len(deaths) - 1))
            self._launch.say(f"{what}; starting it again in {pause_s:.0f} s\n{self._child.last_lines()}")
            await asyncio.sleep(pause_s)

    async def _announce(self) -> None:
        began = time.monotonic()
        await wait_ready(self.program, None)
        self.ready.set()
        self._launch.say(f"{self.program.name} is ready ({time.monotonic() - began:.1f} s)")

    async def stop(self) -> None:
        """Stop it, if it runs."""
        if self._child:
            await self._child.stop(self._launch.stop)

    async def trim(self) -> None:
        """Keep its log small, until cancelled."""
        while True:
            trim_log(self.program.log)
            await asyncio.sleep(TRIM_S)


@asynccontextmanager
async def supervised(programs: Sequence[Program], launch: Launch, *, within_s: float) -> AsyncIterator[None]:
    """Run programs side by side; the block is entered when all are ready, and at its end all have stopped.

    Raises:
        StartFailed: one does not become ready in time, or does not stay (as part of an exception group).
    """
    group = [Supervised(program, launch) for program in programs]
    async with asyncio.TaskGroup() as watching:
        tasks = [watching.create_task(run()) for one in group for run in (one.watch, one.trim)]
        try:
            await _all_ready(group, launch, within_s)
            yield
        finally:
            launch.stop.has_begun = True  # from here on a signal means: hurry
            for task in tasks:
                task.cancel()
            await _through_cancellation(_stop_all(group, tasks))


async def _stop_all(group: Sequence[Supervised], tasks: Sequence[asyncio.Task[None]]) -> None:
    await asyncio.wait(tasks)
    await asyncio.gather(*(one.stop() for one in group))


async def _through_cancellation(work: Coroutine[None, None, None]) -> None:
    """Finish the work though another program's failure cancels us meanwhile: nothing may be left running."""
    task = asyncio.ensure_future(work)
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    task.result()


async def _all_ready(group: Sequence[Supervised], launch: Launch, within_s: float) -> None:
    end = time.monotonic() + within_s
    while waiting := [one for one in group if not one.ready.is_set()]:
        if time.monotonic() > end:
            late = waiting[0].program
            raise StartFailed(f"{late.name} is not ready after {within_s:.0f} s\n{tail(late.log)}")
        try:
            async with asyncio.timeout(REMIND_S):
                await waiting[0].ready.wait()
        except TimeoutError:
            launch.say(f"waiting for {', '.join(one.program.name for one in waiting if not one.ready.is_set())}")
