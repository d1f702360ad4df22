"""How much of a process one tenant may have: work a second, and calls at once."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from google.protobuf.message import Message

from hindsight_runtime.errors import Overloaded

BURST_S = 1.0  # of unused work that a tenant may have saved up
TENANTS = 4096  # whose balance is remembered; a full one need not be


@dataclass(frozen=True, slots=True)
class Limits:
    """What one tenant may have of a process. 0 means no limit."""

    calls_per_s: float = 2000.0
    concurrent: int = 4


class Shares:
    """Keeps each tenant to its limits. For the life of a process."""

    def __init__(self, limits: Limits, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._balances: dict[int, tuple[float, float]] = {}  # tenant -> work it may still ask for, and when that was so
        self._turns: dict[int, tuple[asyncio.Semaphore, int]] = {}  # tenant -> its turns, and how many calls use or await one

    def spend(self, tenant_id: int, work: int) -> None:
        """Take work from a tenant's balance, which may go below zero for what is larger than the whole: then it is repaid first.

        Raises:
            Overloaded: the balance is spent; the hint says when there is one again.
        """
        rate = self._limits.calls_per_s
        if not rate:
            return
        now, most = self._clock(), max(1.0, rate * BURST_S)
        balance, was_at = self._balances.pop(tenant_id, (most, now))
        balance = min(most, balance + (now - was_at) * rate)
        is_refused = balance < 1.0
        self._balances[tenant_id] = (balance if is_refused else balance - work, now)
        if len(self._balances) > TENANTS:
            del self._balances[next(iter(self._balances))]  # of whoever called longest ago
        if is_refused:
            raise Overloaded("the tenant is over its calls a second; slow down", retry_after_s=(1.0 - balance) / rate)

    @asynccontextmanager
    async def turn(self, tenant_id: int) -> AsyncIterator[None]:
        """Wait, first come first served among the tenant's own calls, until one more of them may run; run it in the block."""
        if not self._limits.concurrent:
            yield
            return
        turns, users = self._turns.get(tenant_id) or (asyncio.Semaphore(self._limits.concurrent), 0)
        self._turns[tenant_id] = (turns, users + 1)
        try:
            async with turns:
                yield
        finally:
            turns, users = self._turns.pop(tenant_id)
            if users > 1:
                self._turns[tenant_id] = (turns, users - 1)


def weigh(request: Message) -> int:
    """How much work a request is: as many as it has entries, such as memories or turns, and at least 1."""
    lists = [
        len(value)
        for field, value in request.ListFields()
        if field.is_repeated and field.message_type and not field.message_type.GetOptions().map_entry
    ]
    return max(1, *lists, 0)
