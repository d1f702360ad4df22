"""What is being answered at the moment, so that a stopping process can wait for it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

SETTLE_S = 0.05  # a message taken by one task is with the task that answers it long before
SETTLE_TURNS = 50  # of the event loop: on a busy machine the time alone may pass while no task got its turn


class Calls:
    """Counts what is being answered. For the life of a process."""

    def __init__(self) -> None:
        self._open = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Something is being answered inside the block."""
        self._open += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._open -= 1
            if not self._open:
                self._idle.set()

    async def wait_idle(self, within_s: float) -> bool:
        """Wait until nothing is being answered; whether that came to be in time."""
        try:
            async with asyncio.timeout(within_s):
                while True:
                    await self._idle.wait()
                    await asyncio.sleep(SETTLE_S)
                    for _ in range(SETTLE_TURNS):
                        await asyncio.sleep(0)
                    if self._idle.is_set():
                        return True
        except TimeoutError:
            return False
