"""Grants: which memories of an agent another agent of its tenant may read or write."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from hindsight_store.pool import Connection
from hindsight_store.records import Grant

GRANT = """g.grant_id, g.bank_id, o.agent_id AS owner, t.agent_id AS grantee, g.scope, g.key_prefix, g.access, g.created_by,
    g.created_at, g.expires_at, g.revoked_at"""
FROM = """FROM grants AS g JOIN agents AS o ON o.bank_id = g.bank_id JOIN agents AS t ON t.bank_id = g.grantee_bank_id"""

GIVEN_TO = f"""SELECT {GRANT} {FROM}
    WHERE g.grantee_bank_id = $1 AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > $2) ORDER BY g.grant_id"""

GET = f"SELECT {GRANT} {FROM} WHERE g.bank_id = $1 AND g.grant_id = $2"

# Given by an agent and to it, each way by its index. $3 a moment at which they are in force; NULL: those that ended too.
PAGE = f"""SELECT {GRANT} {FROM} JOIN (
        (SELECT bank_id, grant_id FROM grants WHERE bank_id = $1 AND ($2::uuid IS NULL OR grant_id < $2)
            AND ($3::timestamptz IS NULL OR revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3))
            ORDER BY grant_id DESC LIMIT $4)
        UNION ALL
        (SELECT bank_id, grant_id FROM grants WHERE grantee_bank_id = $1 AND ($2::uuid IS NULL OR grant_id < $2)
            AND ($3::timestamptz IS NULL OR revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3))
            ORDER BY grant_id DESC LIMIT $4)
    ) AS p ON p.bank_id = g.bank_id AND p.grant_id = g.grant_id
    ORDER BY g.grant_id DESC LIMIT $4"""

COUNT = """SELECT count(*) FROM grants
    WHERE grantee_bank_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)"""

INSERT = """INSERT INTO grants (bank_id, grant_id, tenant_id, grantee_bank_id, scope, key_prefix, access, created_by, created_at,
        expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"""

HOLD = """SELECT grant_id FROM grants WHERE bank_id = $1 AND grant_id = ANY ($2) AND revoked_at IS NULL FOR SHARE"""

REVOKE = "UPDATE grants SET revoked_at = $3 WHERE bank_id = $1 AND grant_id = $2 AND revoked_at IS NULL"


def to_grant(row: Mapping[str, Any]) -> Grant:
    """A row as a value."""
    return Grant(**row)


class GrantReader:
    """Reads one tenant's grants within a transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def given_to(self, bank_id: int, at: datetime) -> list[Grant]:
        """What is open to an agent at a moment, in the order in which it was granted."""
        return [to_grant(row) for row in await self._connection.fetch(GIVEN_TO, bank_id, at)]

    async def get(self, bank_id: int, grant_id: UUID) -> Grant | None:
        """A grant of an owner, or None."""
        row = await self._connection.fetchrow(GET, bank_id, grant_id)
        return to_grant(row) if row else None

    async def page(self, bank_id: int, *, before: UUID | None, at: datetime | None, limit: int) -> list[Grant]:
        """Grants by an agent and to it, the newest first, before one; those in force at a moment, or all."""
        return [to_grant(row) for row in await self._connection.fetch(PAGE, bank_id, before, at, limit)]


class GrantWriter(GrantReader):
    """Reads and writes one tenant's grants within a transaction."""

    def __init__(self, connection: Connection, tenant_id: int) -> None:
        super().__init__(connection)
        self._tenant_id = tenant_id

    async def count_given_to(self, bank_id: int, at: datetime) -> int:
        """How many grants are open to an agent at a moment."""
        return await self._connection.fetchval(COUNT, bank_id, at)

    async def insert(self, grant: Grant, grantee_bank_id: int) -> None:
        """Add a grant."""
        terms = (grant.scope, grant.key_prefix, grant.access, grant.created_by, grant.created_at, grant.expires_at)
        await self._connection.execute(INSERT, grant.bank_id, grant.grant_id, self._tenant_id, grantee_bank_id, *terms)

    async def hold(self, bank_id: int, grant_ids: Sequence[UUID]) -> bool:
        """Whether none of some grants has been ended; then none is until the end of the transaction."""
        return len(await self._connection.fetch(HOLD, bank_id, grant_ids)) == len(grant_ids)

    async def revoke(self, bank_id: int, grant_id: UUID, at: datetime) -> None:
        """End a grant; one that was ended before keeps its time."""
        await self._connection.execute(REVOKE, bank_id, grant_id, at)
