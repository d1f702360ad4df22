"""Accounts of recalls: kept with the hits they count, removed when they are old."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from hindsight_store.ids import uuid7
from hindsight_store.pool import Connection, transaction
from hindsight_store.removal import names_in

KEPT = timedelta(days=7)  # SPEC F8
LONGEST_RECALL = timedelta(minutes=2)  # it has read before it is told when it was

# A bank that is gone, or not the tenant's, keeps nothing; nor does a scope or a key that was erased since the recall.
INSERT_RECEIPTS = """INSERT INTO receipts (bank_id, receipt_id, tenant_id, principal, at, query, document, scope)
    SELECT r.bank_id, r.receipt_id, $1, r.principal, r.at, r.query, r.document, r.scope
    FROM unnest($2::bigint[], $3::uuid[], $4::text[], $5::timestamptz[], $6::text[], $7::bytea[], $8::text[])
        AS r(bank_id, receipt_id, principal, at, query, document, scope)
    JOIN agents AS a ON a.bank_id = r.bank_id AND a.tenant_id = $1
    WHERE NOT EXISTS (SELECT FROM erasures AS e WHERE e.tenant_id = $1 AND e.kind = 'scope' AND e.removed_at >= r.at
        AND r.scope <> '' AND r.bank_id = ANY (e.bank_ids) AND e.name_hash = keyed_name($1, 'scope', r.scope))
        AND NOT EXISTS (SELECT FROM erasures AS e WHERE e.tenant_id = $1 AND e.kind = 'principal' AND e.removed_at >= r.at
            AND (e.since IS NULL OR r.at >= e.since) AND (e.until IS NULL OR r.at < e.until)
            AND r.bank_id = ANY (e.bank_ids) AND e.name_hash = keyed_name($1, 'principal', r.principal))
    ON CONFLICT DO NOTHING RETURNING receipt_id"""

INSERT_HITS = """INSERT INTO memory_hits (bank_id, hit_id, memory_id, tenant_id, query, at, scope)
    SELECT h.bank_id, h.hit_id, h.memory_id, $1, h.query, h.at, h.scope
    FROM unnest($2::bigint[], $3::uuid[], $4::uuid[], $5::text[], $6::timestamptz[], $7::text[])
        AS h(bank_id, hit_id, memory_id, query, at, scope)"""

ENTER = "SELECT pg_advisory_xact_lock_shared(1, hashint8(b)) FROM (SELECT DISTINCT unnest($1::bigint[]) AS b ORDER BY b) AS o"

THERE = """SELECT DISTINCT m.bank_id, m.memory_id FROM memories AS m
    WHERE m.tenant_id = $1 AND m.bank_id = ANY ($2) AND m.memory_id = ANY ($3)"""

# Whether anything was erased that a recall at $2 may still name.
WAS_ERASED = "SELECT EXISTS (SELECT FROM erasures WHERE tenant_id = $1 AND removed_at >= $2)"

ERASED_MEMORIES = """SELECT i::text AS name FROM unnest($2::uuid[]) AS i
    WHERE keyed_hash($1, 'memory', uuid_send(i)) IN (SELECT unnest(ids) FROM erasures WHERE tenant_id = $1)"""

TURNS_THERE = """SELECT t.session_id, t.turn FROM turns AS t
    JOIN unnest($2::text[], $3::int[]) AS w(session_id, turn) USING (session_id, turn) WHERE t.bank_id = $1"""

# In one order, so that two batches never wait for each other in a ring.
COUNT_HITS = """INSERT INTO memory_use AS u (bank_id, memory_id, tenant_id, hit_count, last_hit_at)
    SELECT h.bank_id, h.memory_id, $1, count(*), max(h.at)
    FROM unnest($2::bigint[], $3::uuid[], $4::timestamptz[]) AS h(bank_id, memory_id, at)
    GROUP BY h.bank_id, h.memory_id ORDER BY h.bank_id, h.memory_id
    ON CONFLICT (bank_id, memory_id) DO UPDATE SET hit_count = u.hit_count + excluded.hit_count,
        last_hit_at = greatest(u.last_hit_at, excluded.last_hit_at)"""

COLUMNS = ("bank_id", "receipt_id", "principal", "at", "query", "document", "scope")

# A memory that the present contradicts waits for a person's word, and is recalled with a flag meanwhile. One that a person
# has let in once is not put to them again.
DOUBT = """INSERT INTO reviews (bank_id, memory_id, tenant_id, reason, signs, score, state, at)
    SELECT m.bank_id, m.memory_id, $2, 'contradicts_context', '{}', 1, 'pending', $4 FROM memories AS m
    WHERE m.bank_id = $1 AND m.memory_id = ANY ($3) AND m.known_to IS NULL AND m.status IN ('active', 'archived')
    ON CONFLICT DO NOTHING"""

REMOVE_OLD = "DELETE FROM receipts WHERE at < $1"

REMOVE_REPORTS = """DELETE FROM outcomes AS o
    WHERE NOT EXISTS (SELECT FROM receipts AS r WHERE r.bank_id = o.bank_id AND r.receipt_id = o.receipt_id)"""


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
    scope: str = ""
    shared: tuple[tuple[int, UUID], ...] = ()  # memories of other agents that were returned: the owner's bank, the id

    @property
    def hits(self) -> list[tuple[int, UUID, str, str]]:
        """What was returned: bank, id, query and scope. What one agent is asked is not told to another."""
        own = [(self.bank_id, memory_id, self.query, self.scope) for memory_id in self.memory_ids]
        return own + [(bank_id, memory_id, "", "") for bank_id, memory_id in self.shared]


async def record(connection: Connection, tenant_id: int, recalls: Sequence[RecordedRecall]) -> int:
    """Keep receipts and count their hits, inside the caller's transaction; how many are new. A recall of something that was
    erased meanwhile leaves nothing."""
    places = {(bank_id, memory_id) for r in recalls for bank_id, memory_id, *_ in r.hits}
    banks = list({r.bank_id for r in recalls} | {bank_id for bank_id, _ in places})
    await connection.execute(ENTER, banks)
    rows = await connection.fetch(THERE, tenant_id, banks, [memory_id for _, memory_id in places])
    there = {(row["bank_id"], row["memory_id"]) for row in rows}
    recalls = [r for r in recalls if all(hit[:2] in there for hit in r.hits)]
    recalls = [r for r in recalls if not await _names_what_was_erased(connection, tenant_id, r)]
    columns = [[getattr(r, name) for r in recalls] for name in COLUMNS]
    rows = await connection.fetch(INSERT_RECEIPTS, tenant_id, *columns)
    fresh = {row["receipt_id"] for row in rows}
    hits = [(*hit, r.at) for r in recalls if r.receipt_id in fresh for hit in r.hits]
    for one in recalls:
        if one.receipt_id in fresh and one.contradicted_ids:
            await connection.execute(DOUBT, one.bank_id, tenant_id, one.contradicted_ids, one.at)
    if hits:
        banks, ids, queries, scopes, moments = (list(column) for column in zip(*hits, strict=True))
        await connection.execute(INSERT_HITS, tenant_id, banks, [uuid7() for _ in hits], ids, queries, moments, scopes)
        await connection.execute(COUNT_HITS, tenant_id, banks, ids, moments)
    return len(fresh)


async def _names_what_was_erased(connection: Connection, tenant_id: int, recall: RecordedRecall) -> bool:
    """Whether the account of a recall names a memory or turn that has been erased, though it was no hit of its own."""
    if not await connection.fetchval(WAS_ERASED, tenant_id, recall.at - LONGEST_RECALL):
        return False
    named = names_in(recall.document)
    turns = list(named.turns)
    sessions, numbers = [session for session, _ in turns], [number for _, number in turns]
    there = {tuple(row) for row in await connection.fetch(TURNS_THERE, recall.bank_id, sessions, numbers)}
    return bool(named.turns - there or await connection.fetch(ERASED_MEMORIES, tenant_id, list(named.memories)))


async def remove_old(pool: asyncpg.Pool, now: datetime) -> None:
    """Remove receipts older than they are kept, and the reports without one, of every tenant; as the maintenance role."""
    async with transaction(pool, 0, readonly=False) as connection:
        await connection.execute(REMOVE_OLD, now - KEPT)
        await connection.execute(REMOVE_REPORTS)
