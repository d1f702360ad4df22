"""Connections to PostgreSQL and transactions bound to one tenant."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import asyncpg
from pgvector.asyncpg import register_vector

Connection = Any  # asyncpg's pool proxy; it has the methods of asyncpg.Connection
MAX_CONNECTIONS = 12
CONNECT_TIMEOUT_S = 5.0
ACQUIRE_TIMEOUT_S = 10.0
ROLLBACK_TIMEOUT_S = 2.0
# One message instead of two; the tenant is a number, so it cannot carry anything else.
BEGIN_READING = "BEGIN READ ONLY; SET LOCAL app.tenant = '%d'"
BEGIN_WRITING = "BEGIN; SET LOCAL app.tenant = '%d'"
GONE = (
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.InsufficientResourcesError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
)
BUSY = (asyncpg.TransactionRollbackError, asyncpg.LockNotAvailableError)  # nothing happened, and a repeat may succeed


class StoreUnavailable(ConnectionError):
    """PostgreSQL does not answer, or not now; what was asked may or may not have happened."""


class StoreNotReady(OSError):
    """The schema is not the one this version needs."""


async def _prepare(connection: Connection) -> None:
    await connection.set_type_codec("jsonb", encoder=json.dumps, decoder=json.loads, schema="pg_catalog")
    await register_vector(connection)


@asynccontextmanager
async def open_pool(dsn: str) -> AsyncIterator[asyncpg.Pool]:
    """A pool of connections, closed at the end of the block.

    Raises:
        OSError: PostgreSQL does not answer, or its schema is not there yet.
    """
    try:
        pool = await asyncpg.create_pool(
            dsn,
            min_size=1,
            max_size=MAX_CONNECTIONS,
            timeout=CONNECT_TIMEOUT_S,
            init=_prepare,
            reset=_keep,
            max_inactive_connection_lifetime=300,
        )
    except GONE as error:
        raise StoreUnavailable(f"PostgreSQL does not answer: {error}") from None
    except (asyncpg.PostgresError, ValueError) as error:
        raise StoreNotReady(f"PostgreSQL refuses or has no schema yet (run hindsight-migrate): {error}") from None
    try:
        yield pool
    finally:
        pool.terminate()


async def _keep(connection: Connection) -> None:
    """Nothing to reset on release: all settings are local to a transaction, and no cursor or listener outlives one."""


async def _roll_back(connection: Connection) -> None:
    """End a failed transaction; a connection on which that fails is closed, so that the pool opens another."""
    try:
        await connection.execute("ROLLBACK", timeout=ROLLBACK_TIMEOUT_S)
    except (*GONE, TimeoutError, asyncpg.PostgresError):
        connection.terminate()


@asynccontextmanager
async def transaction(pool: asyncpg.Pool, tenant_id: int, *, readonly: bool) -> AsyncIterator[Connection]:
    """A transaction that sees one tenant's rows only, by row-level security. Committed at the end of the block.

    Raises:
        StoreUnavailable: PostgreSQL went away (a commit under way may or may not have happened), no connection became free,
            or others were in the way.
        TimeoutError: the statement took longer than the role's statement_timeout.
    """
    begin = BEGIN_READING if readonly else BEGIN_WRITING
    try:
        async with pool.acquire(timeout=ACQUIRE_TIMEOUT_S) as connection:
            await connection.execute(begin % int(tenant_id))
            try:
                yield connection
            except BaseException:
                await _roll_back(connection)
                raise
            await connection.execute("COMMIT")
    except asyncpg.QueryCanceledError:
        raise TimeoutError from None
    except (*GONE, *BUSY) as error:
        raise StoreUnavailable(f"PostgreSQL went away or is too busy: {type(error).__name__}") from error


def aware(moment: datetime | None) -> datetime | None:
    """A moment as read from PostgreSQL, aware: the driver gives the first and the last moment there is without their zone."""
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment


async def ping(pool: asyncpg.Pool) -> None:
    """Raise StoreUnavailable unless PostgreSQL answers."""
    try:
        await pool.fetchval("SELECT 1")
    except GONE as error:
        raise StoreUnavailable(f"PostgreSQL does not answer: {type(error).__name__}") from None
