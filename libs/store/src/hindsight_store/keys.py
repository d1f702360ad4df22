"""API keys, tenants and the audit log in the database."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from hindsight_store import audit, jobs
from hindsight_store.pool import Connection, transaction

KEY = """k.tenant_id, t.name AS tenant, k.key_id, k.name, k.agent_ids, k.default_agent_id, k.scopes, k.rights, k.sources,
    k.created_at, k.expires_at, k.revoked_at"""

INSERT_KEY = """INSERT INTO api_keys (tenant_id, key_id, secret_hash, name, agent_ids, default_agent_id, scopes, rights, sources,
    expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"""

PAGE_KEYS = f"""SELECT {KEY} FROM api_keys AS k JOIN tenants AS t USING (tenant_id)
    WHERE k.tenant_id = $1 AND k.key_id > $2 ORDER BY k.key_id LIMIT $3"""

GET_KEY = f"SELECT {KEY} FROM api_keys AS k JOIN tenants AS t USING (tenant_id) WHERE k.tenant_id = $1 AND k.key_id = $2"

ROTATE_KEY = "UPDATE api_keys SET secret_hash = $3 WHERE tenant_id = $1 AND key_id = $2 AND revoked_at IS NULL"

REVOKE_KEY = "UPDATE api_keys SET revoked_at = coalesce(revoked_at, $3) WHERE tenant_id = $1 AND key_id = $2"

CLAIM_REQUEST = """INSERT INTO admin_requests (tenant_id, principal, request_id)
    VALUES ($1, $2, keyed_name($1, 'request', $3))
    ON CONFLICT DO NOTHING RETURNING request_id"""

# What is told twice is kept once. A scope may be a person's, any name may be a text, and no line is ever removed: but for ids and
# agents that there are, names stand there as hashes.
AUDIT_DENIED = """INSERT INTO audit (tenant_id, audit_id, principal, action, subject, outcome)
    SELECT $1, $2, $3, $4, coalesce(string_agg(n.name || '=' || CASE
            WHEN n.name IN ('key_id', 'memory_id') OR (n.name = 'agent_id' AND EXISTS (
                SELECT FROM agents AS a WHERE a.tenant_id = $1 AND a.agent_id = n.value)) THEN n.value
            ELSE keyed_name($1, n.name, n.value) END, ' ' ORDER BY n.place), ''), 'denied'
    FROM (SELECT split_part(t.part, '=', 1) AS name, substr(t.part, strpos(t.part, '=') + 1) AS value, t.place
        FROM unnest(string_to_array($5, E'\\n')) WITH ORDINALITY AS t(part, place)) AS n
    HAVING EXISTS (SELECT FROM tenants WHERE tenant_id = $1)
    ON CONFLICT DO NOTHING"""


@dataclass(frozen=True, slots=True)
class DeniedCall:
    """A refused call, for the audit log."""

    audit_id: UUID
    principal: str
    action: str
    subject: str


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key to be made."""

    key_id: str
    secret_hash: bytes
    name: str = ""
    agent_ids: Sequence[str] = ()
    default_agent_id: str = ""
    scopes: Sequence[str] = ()
    rights: Sequence[str] = field(default=("read", "write"))
    sources: Sequence[str] = field(default=("user", "tool", "inference"))
    expires_at: datetime | None = None


class KeyWriter:
    """Manages one tenant's keys within one transaction. Keys come back as rows with the names of `find_key`."""

    def __init__(self, connection: Connection, tenant_id: int) -> None:
        self._connection = connection
        self._tenant_id = tenant_id

    async def claim_request(self, principal: str, request_id: str) -> bool:
        """Whether this request id was not used before by this principal; it now is."""
        return await self._connection.fetchval(CLAIM_REQUEST, self._tenant_id, principal, request_id) is not None

    async def insert(self, key: NewKey) -> None:
        """Add a key."""
        await self._connection.execute(INSERT_KEY, self._tenant_id, *asdict(key).values())

    async def page(self, *, after: str, limit: int) -> list[dict[str, Any]]:
        """The tenant's keys after an id, ascending by id, which is by age."""
        return [dict(row) for row in await self._connection.fetch(PAGE_KEYS, self._tenant_id, after, limit)]

    async def get(self, key_id: str) -> dict[str, Any] | None:
        """One key, or None."""
        row = await self._connection.fetchrow(GET_KEY, self._tenant_id, key_id)
        return dict(row) if row else None

    async def rotate(self, key_id: str, secret_hash: bytes) -> None:
        """Give a key that is not revoked another secret."""
        await self._connection.execute(ROTATE_KEY, self._tenant_id, key_id, secret_hash)

    async def revoke(self, key_id: str, at: datetime) -> None:
        """End a key; one that was ended before keeps its time."""
        await self._connection.execute(REVOKE_KEY, self._tenant_id, key_id, at)

    async def audit(self, principal: str, action: str, subject: str, outcome: str) -> None:
        """Add a line to the audit log."""
        await audit.record(self._connection, self._tenant_id, [audit.Act(principal, action, outcome, subject)])

    async def requeue_jobs(self, job_ids: Sequence[UUID]) -> list[UUID]:
        """Give dead letters all their tries again; which they were, ascending."""
        return await jobs.requeue(self._connection, job_ids)


@asynccontextmanager
async def managing_keys(pool: asyncpg.Pool, tenant_id: int) -> AsyncIterator[KeyWriter]:
    """A writer of one tenant's keys; the end of the block commits."""
    async with transaction(pool, tenant_id, readonly=False) as connection:
        yield KeyWriter(connection, tenant_id)


async def ensure_tenant(pool: asyncpg.Pool, name: str) -> int:
    """The tenant of this name, made if new."""
    async with transaction(pool, 0, readonly=False) as connection:
        return await connection.fetchval("SELECT ensure_tenant($1)", name)


async def audit_denied(pool: asyncpg.Pool, tenant_id: int, calls: Sequence[DeniedCall]) -> None:
    """Add a tenant's refused calls to the audit log."""
    rows = [(tenant_id, call.audit_id, call.principal, call.action, call.subject) for call in calls]
    async with transaction(pool, tenant_id, readonly=False) as connection:
        await connection.executemany(AUDIT_DENIED, rows)
