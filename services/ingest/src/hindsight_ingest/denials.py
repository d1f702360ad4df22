"""Refused calls on their way to the audit log: in bounded batches, behind the answer, never in its way."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import structlog
from hindsight_runtime.boundary import Denial
from hindsight_store.ids import uuid7
from hindsight_store.keys import DeniedCall, audit_denied

PENDING = 2_000  # what comes on top of that drops the oldest
PAUSE_S = 0.1  # gathers what comes meanwhile
LAST_S = 3.0  # at the end, for what is pending

log = structlog.get_logger()


class Denials:
    """Writes refused calls to the audit log. Drops, counted in the log, rather than let a call wait."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool
        self._pending: deque[tuple[int, DeniedCall]] = deque(maxlen=PENDING)
        self._added = asyncio.Event()
        self._dropped = 0

    def add(self, denial: Denial) -> None:
        """Take a refused call to be written."""
        self._dropped += len(self._pending) == PENDING
        call = DeniedCall(uuid7(), denial.principal, denial.action, denial.subject)
        self._pending.append((denial.tenant_id, call))
        self._added.set()

    async def write(self) -> None:
        """Write what is pending, over and over."""
        while True:
            await self._added.wait()
            await asyncio.sleep(PAUSE_S)
            self._added.clear()
            await self.flush()

    async def flush(self) -> None:
        """Write all that is pending."""
        by_tenant: dict[int, list[DeniedCall]] = {}
        while self._pending:
            tenant_id, call = self._pending.popleft()
            by_tenant.setdefault(tenant_id, []).append(call)
        for tenant_id, calls in by_tenant.items():
            try:
                await audit_denied(self._pool, tenant_id, calls)
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
                self._dropped += len(calls)
                log.warning("refused calls not audited", why=type(error).__name__, dropped=self._dropped)


@asynccontextmanager
async def open_denials(pool: asyncpg.Pool) -> AsyncIterator[Denials]:
    """Writes until the end of the block, and then what is still pending."""
    async with asyncio.TaskGroup() as tasks:
        denials = Denials(pool)
        writing = tasks.create_task(denials.write())
        try:
            yield denials
        finally:
            writing.cancel()
            await asyncio.wait([writing])
            try:
                async with asyncio.timeout(LAST_S):
                    await denials.flush()
            except TimeoutError:
                log.warning("refused calls not audited", why="the process ends")
