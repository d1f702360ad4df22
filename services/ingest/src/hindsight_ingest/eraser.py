"""The job that erases: removes the rows, vacuums what they leave, clears the caches. Taken up again where it was killed."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import Protocol

import asyncpg
import redis.asyncio as redis
from hindsight_runtime.errors import DependencyUnavailable
from hindsight_store import erasures, jobs
from hindsight_store.desks import unlink_all
from hindsight_store.jobs import Job
from hindsight_store.pool import StoreUnavailable

RENEW_S = 20.0
POLL_S = 0.1


class Cache(Protocol):
    """What else keeps words of memories: not the truth, and to be cleared with it."""

    async def clear(self, tenant_id: int, agent_id: str) -> None:
        """Remove everything of an agent."""
        ...

    async def rewrite(self) -> None:
        """Leave nothing of what was removed in files."""
        ...


class RedisCache:
    """Redis or Valkey, whose keys begin with hs:{tenant}:{agent}: and are the agent's."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    async def clear(self, tenant_id: int, agent_id: str) -> None:
        """Remove everything of an agent."""
        with _away():
            await unlink_all(self._client, tenant_id, agent_id)

    async def rewrite(self) -> None:
        """Write the append-only file anew, so that it does not hold what was removed."""
        with _away():
            await self._client.bgrewriteaof()
            while True:
                state = await self._client.info("persistence")
                if not (state["aof_rewrite_in_progress"] or state["aof_rewrite_scheduled"]):
                    break
                await asyncio.sleep(POLL_S)
        if state["aof_enabled"] and state["aof_last_bgrewrite_status"] != "ok":
            raise DependencyUnavailable("redis could not write its append-only file anew")


class _away:  # noqa: N801 - reads as a phrase
    """Turns redis' being away into a dependency's."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, redis.RedisError):
            raise DependencyUnavailable(f"redis does not answer: {type(error).__name__}") from None


class Eraser:
    """Does the jobs that erase, with the rights of the maintenance role. One for the life of a process."""

    def __init__(self, pool: asyncpg.Pool, cache: Cache | None, *, clock: Callable[[], datetime]) -> None:
        self._pool = pool
        self._cache = cache
        self._clock = clock

    async def erase(self, job: Job) -> None:
        """Erase what a job names, from wherever it was left."""
        async with self._holding(job):
            erasure = await erasures.carry_out(self._pool, job, self._clock())
            if erasure is None:
                raise LookupError("no such erasure")
            if erasure.vacuumed_at is None:
                erasure = await erasures.vacuum(self._pool, job, erasure, self._clock())
            cleared_at = None
            if self._cache:
                for agent_id in await erasures.agents_of(self._pool, job, erasure):
                    await self._cache.clear(job.tenant_id, agent_id)
                await self._cache.rewrite()
                cleared_at = self._clock()
            await erasures.finish(self._pool, job, erasure, cleared_at)

    @asynccontextmanager
    async def _holding(self, job: Job) -> AsyncIterator[None]:
        """Keep the job's lease: large tables take longer than one."""

        async def renew() -> None:
            while True:
                await asyncio.sleep(RENEW_S)
                with suppress(StoreUnavailable, TimeoutError):
                    await jobs.renew(self._pool, job)

        async with asyncio.TaskGroup() as tasks:
            renewing = tasks.create_task(renew())
            try:
                yield
            finally:
                renewing.cancel()
