"""How much of a process one tenant may have: work a second, and calls at once."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from google.protobuf.message import Message

from hindsight_runtime.errors import Overloaded

BURST_S = 1.0  # of unused work that a tenant may have saved up
REPENT_S = 1.0  # within its rate, and a tenant's calls run side by side again
REST = 9.0  # times as long as a call took, in which a tenant that asks for too much has no other: at most a tenth of the time
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
        self._rests_until: dict[int, float] = {}  # tenant that asks for too much -> until when it has no other call
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
        rest_s = self._rests_until.get(tenant_id, 0.0) - now
        is_refused = balance < 1.0 or rest_s > 0
        self._balances[tenant_id] = (balance if is_refused else balance - work, now)
        if len(self._balances) > TENANTS:
            del self._balances[next(iter(self._balances))]  # of whoever called longest ago
        if is_refused:
            self._refused_until.pop(tenant_id, None)
            self._refused_until[tenant_id] = now + REPENT_S
            if len(self._refused_until) > TENANTS:
                del self._refused_until[next(iter(self._refused_until))]
            retry_after_s = max(rest_s, (1.0 - balance) / rate)
            raise Overloaded("the tenant is over its calls a second; slow down", retry_after_s=retry_after_s)

    @asynccontextmanager
    async def turn(self, tenant_id: int) -> AsyncIterator[None]:
        """Wait, first come first served among the tenant's own calls, until one more of them may run; run it in the block."""
        queue = self._queues.setdefault(tenant_id, _Queue())
        if queue.running < self._allowance(tenant_id) and not queue.waiting:
            queue.running += 1
        else:
            await self._wait(tenant_id, queue)
        began = self._clock()
        try:
            yield
        finally:
            self._rest(tenant_id, began)
            queue.running -= 1
            self._go_on(tenant_id, queue)

    def _rest(self, tenant_id: int, began: float) -> None:
        """Let a tenant that asks for too much have no other call for some times as long as this one took."""
        now = self._clock()
        if self._refused_until.get(tenant_id, 0.0) > now:
            self._rests_until.pop(tenant_id, None)
            self._rests_until[tenant_id] = now + REST * (now - began)
            if len(self._rests_until) > TENANTS:
                del self._rests_until[next(iter(self._rests_until))]

    async def _wait(self, tenant_id: int, queue: "_Queue") -> None:
        called = asyncio.get_running_loop().create_future()
        queue.waiting.append(called)
        try:
            await called
        except asyncio.CancelledError:
            if not called.cancelled():  # called and withdrawn in the same moment
                queue.running -= 1
            elif called in queue.waiting:
                queue.waiting.remove(called)
            self._go_on(tenant_id, queue)
            raise

    def _go_on(self, tenant_id: int, queue: "_Queue") -> None:
        """Call those who may run now; forget a queue that nobody is in."""
        while queue.waiting and queue.running < self._allowance(tenant_id):
            called = queue.waiting.popleft()
            if not called.cancelled():
                called.set_result(None)
                queue.running += 1
        if not queue.running and not queue.waiting:
            self._queues.pop(tenant_id, None)

    def _allowance(self, tenant_id: int) -> float:
        """How many calls may run at once: one while the tenant asks for more than its rate, so that others are not slowed."""
        if self._refused_until.get(tenant_id, 0.0) > self._clock():
            return 1
        return self._limits.concurrent or float("inf")


@dataclass(slots=True)
class _Queue:
    """The calls of one tenant that run or wait."""

    running: int = 0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)


def weigh(request: Message) -> int:
    """How much work a request is: as many as it has entries, such as memories or turns, and at least 1."""
    lists = [
        len(value)
        for field, value in request.ListFields()
        if field.is_repeated and field.message_type and not field.message_type.GetOptions().map_entry
    ]
    return max(1, *lists, 0)
