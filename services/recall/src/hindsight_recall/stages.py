"""The stages of one recall under its deadline: what does not finish in its share of the time is left out, and said so."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

# By which part of the deadline a stage must have ended; what is essential (reading what was found) has no limit of its own.
SEARCH, NEAREST, FOLLOW, RERANK = 0.5, 0.65, 0.75, 0.95


class Stages:
    """Runs stages; remembers which channels are missing and why, and what each stage took."""

    def __init__(self, deadline_ms: int = 0) -> None:
        self._now = asyncio.get_running_loop().time
        self._began = self._now()
        self._budget_s = deadline_ms / 1000
        self.missing: dict[str, str] = {}  # channel -> "deadline" or "unavailable"
        self.took_ms: dict[str, float] = {}

    async def within(
        self, share: float, channels: Sequence[str], work: Callable[[], Awaitable[T]], default: T, *, name: str = ""
    ) -> T:
        """What the work returns, or the default where it was not done by its share of the deadline; the channels are missing
        then. Without a deadline it takes what it takes."""
        began = self._now()
        until = self._began + share * self._budget_s if self._budget_s else None
        if until is not None and began >= until:
            return self._give_up(channels, default)
        try:
            async with asyncio.timeout_at(until):
                return await work()
        except TimeoutError:
            if until is None:
                raise
            return self._give_up(channels, default)
        finally:
            self.took_ms[name or channels[0]] = 1000 * (self._now() - began)

    def lose(self, channels: Sequence[str]) -> None:
        """Note channels that cannot be asked, because what they need does not answer."""
        self.missing.update(dict.fromkeys(channels, "unavailable"))

    def _give_up(self, channels: Sequence[str], default: T) -> T:
        for channel in channels:
            self.missing.setdefault(channel, "deadline")
        return default
