"""Brings the database to the schema this version needs: roles, numbered SQL files, and the operator's first key."""

import asyncio
import hashlib
import os
import sys
from collections.abc import Mapping

import asyncpg

from hindsight_store.ids import uuid7
from hindsight_store.pool import GONE, StoreNotReady
from hindsight_store.schema import migrations

ROLES = ("hindsight_ingest", "hindsight_recall", "hindsight_maintenance")
LOCK_KEY = 0x68696E6473  # "hinds": one migration at a time
TRIES = 10
PAUSE_S = 2.5

# Row security lets an index help only where the operator cannot leak; these cannot, but PostgreSQL does not say so.
LEAKPROOF = ("ts_match_vq(tsvector, tsquery)", "arrayoverlap(anyarray, anyarray)", "arraycontains(anyarray, anyarray)",
             "jsonb_contains(jsonb, jsonb)")  # fmt: skip

ROLE_SETTINGS = {
    "plan_cache_mode": "force_custom_plan",  # optional filters fold away only when their values are known
    "jit": "off",
    "random_page_cost": "1.1",  # solid-state disks; at 4 a bank of a tenth of the rows would be read by scanning them all
    "statement_timeout": "35s",  # above every call's own deadline
    "idle_in_transaction_session_timeout": "60s",
    "synchronous_commit": "on",
    "hnsw.ef_search": "100",
    "hnsw.iterative_scan": "strict_order",
}

LEDGER = """CREATE TABLE IF NOT EXISTS schema_migrations (
    version integer PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"""


class MigrationFailed(Exception):
    """The schema could not be brought up to date; the message says why."""


async def migrate(dsn: str, passwords: Mapping[str, str], operator_key_hash: bytes | None = None) -> list[str]:
    """Bring the database up to date as its owner and return warnings.

    `passwords` maps each of ROLES to its password; `operator_key_hash` is the SHA-256 of a key that may manage every
    tenant, added to the tenant "default" if it is not there. Safe to run again and at the same time as another.

    Raises:
        MigrationFailed: an applied migration differs from this version's file, or the owner lacks a right.
        OSError: PostgreSQL does not answer.
    """
    connection = await asyncpg.connect(dsn, timeout=10)
    try:
        await connection.execute("SELECT pg_advisory_lock($1)", LOCK_KEY)
        await _ensure_roles(connection, passwords)
        await _apply(connection)
        warnings = await _mark_leakproof(connection)
        if operator_key_hash:
            await _ensure_operator(connection, operator_key_hash)
        return warnings
    except asyncpg.InsufficientPrivilegeError as error:
        raise MigrationFailed(f"the migration's role lacks a right: {error}; use a superuser's DATABASE_URL") from None
    finally:
        await connection.close()


async def _ensure_roles(connection: asyncpg.Connection, passwords: Mapping[str, str]) -> None:
    for role in ROLES:
        if not await connection.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", role):
            await connection.execute(f"CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE")
        quoted = await connection.fetchval("SELECT quote_literal($1)", passwords[role])
        await connection.execute(f"ALTER ROLE {role} PASSWORD {quoted}")
        for name, value in ROLE_SETTINGS.items():
            if not (role == "hindsight_maintenance" and name.endswith("timeout")):
                await connection.execute(f"ALTER ROLE {role} SET {name} = '{value}'")
    await connection.execute("ALTER ROLE hindsight_recall SET default_transaction_read_only = on")
    # Until a table is analysed the planner expects one row of a bank and would join two banks row by row: 450 ms instead of 4.
    await connection.execute("ALTER ROLE hindsight_recall SET enable_nestloop = off")
    await connection.execute("GRANT hindsight_maintenance TO CURRENT_USER")
    await connection.execute("GRANT USAGE, CREATE ON SCHEMA public TO hindsight_maintenance")


async def _apply(connection: asyncpg.Connection) -> None:
    await connection.execute(LEDGER)
    await connection.execute("GRANT SELECT ON schema_migrations TO hindsight_ingest, hindsight_recall, hindsight_maintenance")
    applied = dict(await connection.fetch("SELECT version, sha256 FROM schema_migrations"))
    for migration in migrations():
        recorded = applied.get(migration.version)
        if recorded == migration.sha256:
            continue
        if recorded:
            raise MigrationFailed(
                f"migration {migration.version} was applied with other content; is this a newer release's database?"
            )
        async with connection.transaction():
            await connection.execute(migration.sql)
            await connection.execute(
                "INSERT INTO schema_migrations (version, name, sha256) VALUES ($1, $2, $3)",
                migration.version,
                migration.name,
                migration.sha256,
            )


async def _mark_leakproof(connection: asyncpg.Connection) -> list[str]:
    try:
        for function in LEAKPROOF:
            await connection.execute(f"ALTER FUNCTION pg_catalog.{function} LEAKPROOF")
    except asyncpg.InsufficientPrivilegeError:
        return ["LEAKPROOF_NOT_SET: not a superuser, so keyword and tag search cannot use their indexes and will be slow"]
    return []


async def _ensure_operator(connection: asyncpg.Connection, key_hash: bytes) -> None:
    async with connection.transaction():
        await connection.execute("SET LOCAL ROLE hindsight_maintenance")
        tenant_id = await connection.fetchval("SELECT ensure_tenant('default')")
        await connection.execute(
            """INSERT INTO api_keys (tenant_id, key_id, secret_hash, name, agent_ids, default_agent_id, scopes, rights, sources)
            VALUES ($1, $2, $3, 'operator', '{}', '', '{}', '{admin,operator}', '{inference}') ON CONFLICT DO NOTHING""",
            tenant_id,
            str(uuid7()),
            key_hash,
        )


async def _migrate_when_ready(environment: Mapping[str, str]) -> list[str]:
    def required(name: str) -> str:
        value = environment.get(name) or environment.get(name.removeprefix("HINDSIGHT_"))
        if not value:
            raise MigrationFailed(f"set {name}")
        return value

    dsn = required("HINDSIGHT_DATABASE_URL")
    passwords = {role: required(f"{role.upper()}_DB_PASSWORD") for role in ROLES}
    key = environment.get("HINDSIGHT_OPERATOR_KEY", "")
    for attempt in range(1, TRIES + 1):
        try:
            return await migrate(dsn, passwords, hashlib.sha256(key.encode()).digest() if key else None)
        except GONE as error:
            if attempt == TRIES:
                raise MigrationFailed(f"PostgreSQL did not answer in {TRIES} tries: {error}") from None
            print(f"waiting for PostgreSQL, try {attempt} of {TRIES}: {error}", file=sys.stderr)
            await asyncio.sleep(PAUSE_S)
    raise AssertionError


def main() -> None:
    """Command line: hindsight-migrate. Reads DATABASE_URL (the owner's), HINDSIGHT_{INGEST,RECALL,MAINTENANCE}_DB_PASSWORD
    and HINDSIGHT_OPERATOR_KEY from the environment."""
    try:
        for warning in asyncio.run(_migrate_when_ready(os.environ)):
            print(f"hindsight-migrate: warning: {warning}", file=sys.stderr)
    except (MigrationFailed, StoreNotReady, OSError, asyncpg.PostgresError) as error:
        sys.exit(f"hindsight-migrate: {error}")
    print("hindsight-migrate: the schema is up to date", file=sys.stderr)
