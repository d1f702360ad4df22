"""How much of a process one tenant may have: work a second, and calls at once."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from google.protobuf.message import Message

from hindsight_runtime.errors import Overloaded

BURST_S = 1.0  # of unused work that a tenant may have saved up
REPENT_S = 1.0  # within its rate, and a tenant's calls run side by side again
YIELD_S = 0.5  # at most that a call of a tenant that asks for too much waits for a moment in which no other tenant's runs
TENANTS = 4096  # whose balance is remembered; a full one need not be


@dataclass(frozen=True, slots=True)
class Limits:
    """What one tenant may have of a process. 0 means no limit."""

    calls_per_s: float = 2000.0
    concurrent: int = 8


class Shares:
    """Keeps each tenant to its limits. For the life of a process."""

    def __init__(self, limits: Limits, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._balances: dict[int, tuple[float, float]] = {}  # tenant -> work it may still ask for, and when that was so
        self._refused_until: dict[int, float] = {}  # tenant -> until when it counts as one that asks for too much
        self._queues: dict[int, _Queue] = {}  # of the tenants that have calls

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
            self._refused_until.pop(tenant_id, None)
            self._refused_until[tenant_id] = now + REPENT_S
            if len(self._refused_until) > TENANTS:
                del self._refused_until[next(iter(self._refused_until))]
            raise Overloaded("the tenant is over its calls a second; slow down", retry_after_s=(1.0 - balance) / rate)

    @asynccontextmanager
    async def turn(self, tenant_id: int) -> AsyncIterator[None]:
        """Wait, first come first served among the tenant's own calls, until one more of them may run; run it in the block."""
        queue = self._queues.setdefault(tenant_id, _Queue())
        if queue.waiting or queue.running >= self._allowance(tenant_id):
            await self._wait(tenant_id, queue)
        else:
            queue.running += 1
        try:
            yield
        finally:
            queue.running -= 1
            self._go_on(tenant_id)

    async def _wait(self, tenant_id: int, queue: "_Queue") -> None:
        loop = asyncio.get_running_loop()
        called = loop.create_future()
        queue.waiting[called] = self._clock()
        timer = loop.call_later(YIELD_S, self._call, tenant_id)
        try:
            await called
        except asyncio.CancelledError:
            if not called.cancelled():  # called and withdrawn in the same moment
                queue.running -= 1
            queue.waiting.pop(called, None)
            self._go_on(tenant_id)
            raise
        finally:
            timer.cancel()

    def _go_on(self, tenant_id: int) -> None:
        """Call those who may run now that a call of this tenant has ended, its own first."""
        self._call(tenant_id)
        for other in [t for t, q in self._queues.items() if t != tenant_id and q.waiting]:
            self._call(other)

    def _call(self, tenant_id: int) -> None:
        """Call those of a tenant who may run now; forget a queue that nobody is in."""
        queue = self._queues.get(tenant_id)
        while queue and queue.waiting and queue.running < self._allowance(tenant_id):
            called = next(iter(queue.waiting))
            del queue.waiting[called]
            if not called.cancelled():
                called.set_result(None)
                queue.running += 1
        if queue and not queue.running and not queue.waiting:
            del self._queues[tenant_id]

    def _asks_too_much(self, tenant_id: int) -> bool:
        return self._refused_until.get(tenant_id, 0.0) > self._clock()

    def _allowance(self, tenant_id: int) -> float:
        """How many calls may run at once: while the tenant asks for more than its rate one, and only beside no other
        tenant's, so that these are not slowed; unless it has waited for that long enough.
        """
        if not self._asks_too_much(tenant_id):
            return self._limits.concurrent or float("inf")
        waiting = self._queues[tenant_id].waiting
        has_yielded = bool(waiting) and self._clock() - next(iter(waiting.values())) >= YIELD_S
        is_alone = not any(q.running for t, q in self._queues.items() if t != tenant_id and not self._asks_too_much(t))
        return 1 if is_alone or has_yielded else 0


@dataclass(slots=True)
class _Queue:
    """The calls of one tenant that run or wait."""

    running: int = 0
    waiting: dict[asyncio.Future[None], float] = field(default_factory=dict)  # in order -> since when


def weigh(request: Message) -> int:
    """How much work a request is: as many as it has entries, such as memories or turns, and at least 1."""
    lists = [
        len(value)
        for field, value in request.ListFields()
        if field.is_repeated and field.message_type and not field.message_type.GetOptions().map_entry
    ]
    return max(1, *lists, 0)
