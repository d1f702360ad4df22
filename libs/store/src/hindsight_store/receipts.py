"""Accounts of recalls: kept with the hits they count, removed when they are old."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from hindsight_store.ids import uuid7
from hindsight_store.pool import Connection, transaction

KEPT = timedelta(days=7)  # SPEC F8

# A bank that is gone, or not the tenant's, keeps nothing.
INSERT_RECEIPTS = """INSERT INTO receipts (bank_id, receipt_id, tenant_id, principal, at, query, document)
    SELECT r.bank_id, r.receipt_id, $1, r.principal, r.at, r.query, r.document
    FROM unnest($2::bigint[], $3::uuid[], $4::text[], $5::timestamptz[], $6::text[], $7::bytea[])
        AS r(bank_id, receipt_id, principal, at, query, document)
    JOIN agents AS a ON a.bank_id = r.bank_id AND a.tenant_id = $1
    ON CONFLICT DO NOTHING RETURNING receipt_id"""

INSERT_HITS = """INSERT INTO memory_hits (bank_id, hit_id, memory_id, tenant_id, query, at)
    SELECT h.bank_id, h.hit_id, h.memory_id, $1, h.query, h.at
    FROM unnest($2::bigint[], $3::uuid[], $4::uuid[], $5::text[], $6::timestamptz[])
        AS h(bank_id, hit_id, memory_id, query, at)
    JOIN agents AS a ON a.bank_id = h.bank_id AND a.tenant_id = $1"""

# In one order, so that two batches never wait for each other in a ring.
COUNT_HITS = """INSERT INTO memory_use AS u (bank_id, memory_id, tenant_id, hit_count, last_hit_at)
    SELECT h.bank_id, h.memory_id, $1, count(*), max(h.at)
    FROM unnest($2::bigint[], $3::uuid[], $4::timestamptz[]) AS h(bank_id, memory_id, at)
    JOIN agents AS a ON a.bank_id = h.bank_id AND a.tenant_id = $1
    GROUP BY h.bank_id, h.memory_id ORDER BY h.bank_id, h.memory_id
    ON CONFLICT (bank_id, memory_id) DO UPDATE SET hit_count = u.hit_count + excluded.hit_count,
        last_hit_at = greatest(u.last_hit_at, excluded.last_hit_at)"""

# A memory that the present contradicts waits for a person's word, and is recalled with a flag meanwhile. One that a person
# has let in once is not put to them again.
DOUBT = """INSERT INTO reviews (bank_id, memory_id, tenant_id, reason, signs, score, state, at)
    SELECT m.bank_id, m.memory_id, $2, 'contradicts_context', '{}', 1, 'pending', $4 FROM memories AS m
    WHERE m.bank_id = $1 AND m.memory_id = ANY ($3) AND m.known_to IS NULL AND m.status IN ('active', 'archived')
    ON CONFLICT DO NOTHING"""

REMOVE_OLD = "DELETE FROM receipts WHERE at < $1"


@dataclass(frozen=True, slots=True)
class RecordedRecall:
    """One recall to keep."""

    bank_id: int
    receipt_id: UUID
    principal: str
    at: datetime
    query: str
    memory_ids: tuple[UUID, ...]
    document: bytes
    contradicted_ids: tuple[UUID, ...] = ()  # by what was said; they go to review
    shared: tuple[tuple[int, UUID], ...] = ()  # memories of other agents that were returned: the owner's bank, the id

    @property
    def hits(self) -> list[tuple[int, UUID, str]]:
        """What was returned: bank, id, and the query. What one agent is asked is not told to another."""
        return [(self.bank_id, i, self.query) for i in self.memory_ids] + [(bank, i, "") for bank, i in self.shared]


async def record(connection: Connection, tenant_id: int, recalls: Sequence[RecordedRecall]) -> int:
    """Keep receipts and count their hits, inside the caller's transaction; how many are new."""
    columns = [[getattr(r, name) for r in recalls] for name in ("bank_id", "receipt_id", "principal", "at", "query", "document")]
    rows = await connection.fetch(INSERT_RECEIPTS, tenant_id, *columns)
    fresh = {row["receipt_id"] for row in rows}
    hits = [(*hit, r.at) for r in recalls if r.receipt_id in fresh for hit in r.hits]
    for one in recalls:
        if one.receipt_id in fresh and one.contradicted_ids:
            await connection.execute(DOUBT, one.bank_id, tenant_id, one.contradicted_ids, one.at)
    if hits:
        banks, ids, queries, moments = (list(column) for column in zip(*hits, strict=True))
        await connection.execute(INSERT_HITS, tenant_id, banks, [uuid7() for _ in hits], ids, queries, moments)
        await connection.execute(COUNT_HITS, tenant_id, banks, ids, moments)
    return len(fresh)


async def remove_old(pool: asyncpg.Pool, now: datetime) -> None:
    """Remove receipts older than they are kept, of every tenant; as the maintenance role."""
    async with transaction(pool, 0, readonly=False) as connection:
        await connection.execute(REMOVE_OLD, now - KEPT)
