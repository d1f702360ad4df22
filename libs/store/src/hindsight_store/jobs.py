"""Follow-up work: queued in the transaction of the change it follows, leased by one worker at a time, finite in its tries.

An own queue of SKIP LOCKED rather than a library: it shares the tenant-first keys, row security and transactions of the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg

from hindsight_store.ids import uuid7
from hindsight_store.pool import Connection, transaction

LEASE = timedelta(seconds=60)
TRIES = 5
ERROR_CHARS = 200

ENQUEUE = """INSERT INTO jobs (bank_id, job_id, tenant_id, kind, payload, state) VALUES ($1, $2, $3, $4, $5, 'queued')"""

# A job whose lease ran out belongs to a worker that died: it is taken over.
DUE = "state <> 'dead' AND run_after <= now() AND (state = 'queued' OR leased_until < now())"

# Every tenant's first before any tenant's second, tenants in any order: a backlog, however old, delays its own tenant only.
# The tenants with work are found by one step of the index each.
LEASE_DUE = f"""WITH RECURSIVE waiting AS (
        (SELECT tenant_id FROM jobs WHERE {DUE} ORDER BY tenant_id LIMIT 1)
        UNION ALL
        SELECT (SELECT j.tenant_id FROM jobs AS j WHERE j.tenant_id > w.tenant_id AND {DUE} ORDER BY j.tenant_id LIMIT 1)
        FROM waiting AS w WHERE w.tenant_id IS NOT NULL),
    chosen AS (
        SELECT oldest.bank_id, oldest.job_id FROM waiting AS w CROSS JOIN LATERAL (
            SELECT mine.*, row_number() OVER (ORDER BY mine.run_after, mine.job_id) AS place FROM (
                SELECT j.bank_id, j.job_id, j.run_after FROM jobs AS j WHERE j.tenant_id = w.tenant_id AND {DUE}
                ORDER BY j.run_after LIMIT $3 FOR UPDATE SKIP LOCKED) AS mine) AS oldest
        ORDER BY oldest.place, random() LIMIT $3)
    UPDATE jobs SET state = 'running', lease = $1, leased_until = now() + $2, attempts = attempts + 1
    WHERE (bank_id, job_id) IN (SELECT bank_id, job_id FROM chosen)
    RETURNING bank_id, job_id, tenant_id, kind, payload, attempts, lease"""

# A job that took its worker down with it at every try is a dead letter too.
BURY = """UPDATE jobs SET state = 'dead', lease = NULL, leased_until = NULL, error = 'the worker died'
    WHERE state = 'running' AND leased_until < now() AND attempts >= $1"""

COMPLETE = "DELETE FROM jobs WHERE bank_id = $1 AND job_id = $2 AND lease = $3"

RENEW = "UPDATE jobs SET leased_until = now() + $4 WHERE bank_id = $1 AND job_id = $2 AND lease = $3"

FAIL = """UPDATE jobs SET state = CASE WHEN attempts >= $4 THEN 'dead' ELSE 'queued' END, lease = NULL, leased_until = NULL,
        run_after = now() + $5, error = $6
    WHERE bank_id = $1 AND job_id = $2 AND lease = $3"""

RELEASE = """UPDATE jobs SET state = 'queued', lease = NULL, leased_until = NULL, attempts = attempts - 1, run_after = now() + $4
    WHERE bank_id = $1 AND job_id = $2 AND lease = $3"""

PAGE = """SELECT j.job_id, j.kind, a.agent_id, j.state, j.attempts, j.error, j.created_at, j.run_after
    FROM jobs AS j JOIN agents AS a USING (bank_id)
    WHERE ($1::text = '' OR j.state = $1) AND ($2::uuid IS NULL OR j.job_id > $2) ORDER BY j.job_id LIMIT $3"""

REQUEUE = """UPDATE jobs SET state = 'queued', attempts = 0, run_after = now(), error = ''
    WHERE job_id = ANY ($1) AND state = 'dead' RETURNING job_id"""

BACKLOG = "SELECT state, count(*) AS jobs FROM jobs GROUP BY state"


Row = tuple[int, UUID, int, str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Job:
    """A job leased by this worker."""

    bank_id: int
    job_id: UUID
    tenant_id: int
    kind: str
    payload: Mapping[str, Any]
    attempts: int
    lease: UUID


@dataclass(frozen=True, slots=True)
class JobReport:
    """How far a job is."""

    job_id: UUID
    kind: str
    agent_id: str
    state: str
    attempts: int
    error: str
    created_at: datetime
    run_after: datetime


def new_row(bank_id: int, tenant_id: int, kind: str, payload: Mapping[str, Any]) -> Row:
    """A job to be queued. The payload holds ids only."""
    return bank_id, uuid7(), tenant_id, kind, dict(payload)


async def enqueue(connection: Connection, rows: Sequence[Row]) -> None:
    """Queue jobs inside the caller's transaction."""
    await connection.executemany(ENQUEUE, rows)


async def lease_due(pool: asyncpg.Pool, *, limit: int) -> list[Job]:
    """Lease jobs that are due: of every tenant in turn, the oldest of each first; as the maintenance role."""
    async with transaction(pool, 0, readonly=False) as connection:
        await connection.execute(BURY, TRIES)
        rows = await connection.fetch(LEASE_DUE, uuid7(), LEASE, limit)
    return [Job(**row) for row in rows]


async def complete(connection: Connection, job: Job) -> bool:
    """Take a finished job off the queue, in the transaction of its result; False where another worker has it by now."""
    return await connection.execute(COMPLETE, job.bank_id, job.job_id, job.lease) == "DELETE 1"


async def renew(pool: asyncpg.Pool, job: Job) -> None:
    """Hold a job for another lease."""
    async with transaction(pool, 0, readonly=False) as connection:
        await connection.execute(RENEW, job.bank_id, job.job_id, job.lease, LEASE)


async def fail(pool: asyncpg.Pool, job: Job, error: str) -> None:
    """Put a failed job back with growing delay, or, after the last try, among the dead letters."""
    delay = timedelta(seconds=2**job.attempts)
    async with transaction(pool, 0, readonly=False) as connection:
        await connection.execute(FAIL, job.bank_id, job.job_id, job.lease, TRIES, delay, error[:ERROR_CHARS])


async def release(pool: asyncpg.Pool, job: Job, delay: timedelta) -> None:
    """Put a job back that could not be tried, because something it needs is not there; the try does not count."""
    async with transaction(pool, 0, readonly=False) as connection:
        await connection.execute(RELEASE, job.bank_id, job.job_id, job.lease, delay)


async def page(pool: asyncpg.Pool, tenant_id: int, state: str, *, after: UUID | None, limit: int) -> list[JobReport]:
    """A tenant's jobs in a state (empty: any), oldest first, after one."""
    async with transaction(pool, tenant_id, readonly=True) as connection:
        return [JobReport(**row) for row in await connection.fetch(PAGE, state, after, limit)]


async def requeue(connection: Connection, job_ids: Sequence[UUID]) -> list[UUID]:
    """Give a tenant's dead letters all their tries again, inside the caller's transaction; which they were, ascending."""
    return sorted(row["job_id"] for row in await connection.fetch(REQUEUE, list(job_ids)))


async def backlog(pool: asyncpg.Pool) -> dict[str, int]:
    """How many jobs are in which state, of all tenants; as the maintenance role."""
    async with transaction(pool, 0, readonly=True) as connection:
        return {row["state"]: row["jobs"] for row in await connection.fetch(BACKLOG)}
