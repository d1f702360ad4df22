"""Erasures: what is to be removed, how far that is, and the receipt, which holds hashes and counts and no text."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import asyncpg

from hindsight_store import audit
from hindsight_store.ids import uuid7
from hindsight_store.jobs import Job, complete, enqueue, new_row
from hindsight_store.pool import Connection, transaction
from hindsight_store.removal import remove
from hindsight_store.sources import Source, find_memories, find_turns

ERASE = "erase"  # the kind of job

ERASURE = """e.erasure_id, e.kind, e.name_hash, e.is_rewritten, e.state, e.asked_at, e.removed_at, e.vacuumed_at,
    e.caches_cleared_at, e.counts, e.ids_digest"""

INSERT = """INSERT INTO erasures (tenant_id, erasure_id, bank_ids, kind, name_hash, name, since, until, is_rewritten, principal,
        request_name, state, asked_at)
    VALUES ($1, $2, $3, $4, keyed_name($1, $4, $5), $5, $6, $7, $8, $9,
        CASE WHEN $10 = '' THEN '' ELSE keyed_name($1, 'request', $10) END, 'pending', $11)"""

BY_REQUEST = f"""SELECT {ERASURE}, e.kind = $4 AND e.name_hash = keyed_name($1, $4, $5) AND e.bank_ids = $6
        AND e.since IS NOT DISTINCT FROM $7 AND e.until IS NOT DISTINCT FROM $8 AND e.is_rewritten = $9 AS is_same
    FROM erasures AS e
    WHERE e.tenant_id = $1 AND e.principal = $2 AND e.request_name = keyed_name($1, 'request', $3)"""

GET = f"SELECT {ERASURE} FROM erasures AS e WHERE e.tenant_id = $1 AND e.erasure_id = $2"

ASKED = """SELECT bank_ids, kind, name, since, until, principal FROM erasures
    WHERE tenant_id = $1 AND erasure_id = $2 AND state = 'pending' FOR UPDATE"""

AGENTS = """SELECT DISTINCT a.agent_id FROM erasures AS e JOIN agents AS a ON a.bank_id = ANY (e.bank_ids)
    WHERE e.tenant_id = $1 AND e.erasure_id = $2 ORDER BY a.agent_id"""

HASHES = "SELECT keyed_hash($1, 'memory', uuid_send(i)) AS hash FROM unnest($2::uuid[]) AS i ORDER BY hash"

REMOVED = """UPDATE erasures SET state = 'removed', name = NULL, removed_at = $3, counts = $4, ids = $5, ids_digest = $6
    WHERE tenant_id = $1 AND erasure_id = $2"""

VACUUMED = "UPDATE erasures SET vacuumed_at = $3 WHERE tenant_id = $1 AND erasure_id = $2"

DONE = "UPDATE erasures SET state = 'done', caches_cleared_at = $3 WHERE tenant_id = $1 AND erasure_id = $2"

SIGN = "SELECT keyed_name($1, 'erasure', $2)"

# Whether anything is left: an erased memory, or what had been said in the scope by then.
LEFT = """WITH erasure AS MATERIALIZED (SELECT * FROM erasures WHERE tenant_id = $1 AND erasure_id = $2),
    scopes AS (
        SELECT m.scope FROM memories AS m CROSS JOIN erasure AS e
        WHERE m.tenant_id = $1 AND e.kind = 'scope' AND m.bank_id = ANY (e.bank_ids) AND m.created_at <= e.removed_at
        UNION SELECT t.scope FROM turns AS t CROSS JOIN erasure AS e
        WHERE t.tenant_id = $1 AND e.kind = 'scope' AND t.bank_id = ANY (e.bank_ids) AND t.known_from <= e.removed_at
        UNION SELECT c.scope FROM conflicts AS c CROSS JOIN erasure AS e
        WHERE c.tenant_id = $1 AND e.kind = 'scope' AND c.bank_id = ANY (e.bank_ids) AND c.at <= e.removed_at
        UNION SELECT h.scope FROM memory_hits AS h CROSS JOIN erasure AS e
        WHERE h.tenant_id = $1 AND e.kind = 'scope' AND h.bank_id = ANY (e.bank_ids) AND h.at <= e.removed_at
    ), named AS (
        SELECT memory_id FROM memories WHERE tenant_id = $1 UNION SELECT memory_id FROM memory_hits WHERE tenant_id = $1
        UNION SELECT memory_id FROM reviews WHERE tenant_id = $1 UNION SELECT memory_id FROM memory_use WHERE tenant_id = $1
        UNION SELECT kept_id FROM conflicts WHERE tenant_id = $1
        UNION SELECT from_id FROM memory_relations WHERE tenant_id = $1
        UNION SELECT to_id FROM memory_relations WHERE tenant_id = $1
    )
    SELECT EXISTS (SELECT FROM scopes AS s CROSS JOIN erasure AS e WHERE keyed_name($1, 'scope', s.scope) = e.name_hash)
        OR EXISTS (SELECT FROM named AS n JOIN (SELECT unnest(ids) AS hash FROM erasure) AS e
            ON e.hash = keyed_hash($1, 'memory', uuid_send(n.memory_id)))"""

# What a client may have put words into. The account of the erasure itself held the name until now.
TABLES = (
    *("memories", "embeddings", "memory_use", "memory_hits", "memory_relations", "conflicts", "reviews", "withdrawn", "sessions"),
    *("turns", "turn_embeddings", "tasks", "requests", "jobs", "receipts", "outcomes", "erasures"),
)


@dataclass(frozen=True, slots=True)
class Erasure:
    """How far an erasure is, and what it came to. Holds no text."""

    erasure_id: UUID
    kind: str
    name_hash: str
    is_rewritten: bool
    state: str  # pending, removed, done
    asked_at: datetime
    removed_at: datetime | None = None
    vacuumed_at: datetime | None = None
    caches_cleared_at: datetime | None = None
    counts: Mapping[str, int] | None = None
    ids_digest: str = ""

    def to_text(self) -> str:
        """What is signed."""
        fields = {name: getattr(self, name) for name in Erasure.__dataclass_fields__ if name != "state"}
        return json.dumps(fields, sort_keys=True, default=str)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be erased: by whom, in which banks, and whether the tables are to be written anew."""

    source: Source
    bank_ids: tuple[int, ...]
    principal: str
    at: datetime
    is_rewritten: bool = False


async def find_request(connection: Connection, tenant_id: int, asked: Asked, request_id: str) -> tuple[Erasure, bool] | None:
    """The erasure that a request id stands for, and whether the same is asked now; or None."""
    source = asked.source
    what = (source.kind, source.name, list(asked.bank_ids), source.since, source.until, asked.is_rewritten)
    row = await connection.fetchrow(BY_REQUEST, tenant_id, asked.principal, request_id, *what)
    return (Erasure(**{k: v for k, v in row.items() if k != "is_same"}), row["is_same"]) if row else None


async def ask(connection: Connection, tenant_id: int, asked: Asked, request_id: str) -> Erasure:
    """Let something be erased, by a job."""
    erasure_id, source = uuid7(), asked.source
    what = (list(asked.bank_ids), source.kind, source.name, source.since, source.until)
    await connection.execute(INSERT, tenant_id, erasure_id, *what, asked.is_rewritten, asked.principal, request_id, asked.at)
    await enqueue(connection, [new_row(asked.bank_ids[0], tenant_id, ERASE, {"erasure_id": str(erasure_id)})])
    act = audit.Act(asked.principal, "erase", f"kind {source.kind}, asked", str(erasure_id))
    await audit.record(connection, tenant_id, [act])
    return Erasure(**await connection.fetchrow(GET, tenant_id, erasure_id))


async def get(connection: Connection, tenant_id: int, erasure_id: UUID) -> Erasure | None:
    """An erasure, or None."""
    row = await connection.fetchrow(GET, tenant_id, erasure_id)
    return Erasure(**row) if row else None


async def sign(connection: Connection, tenant_id: int, erasure: Erasure) -> str:
    """A hash of a receipt under the tenant's key."""
    return await connection.fetchval(SIGN, tenant_id, erasure.to_text())


async def is_gone(connection: Connection, tenant_id: int, erasure_id: UUID) -> bool:
    """Whether nothing of what was erased is there any more."""
    return not await connection.fetchval(LEFT, tenant_id, erasure_id)


async def carry_out(pool: asyncpg.Pool, job: Job, now: datetime) -> Erasure | None:
    """Remove what an erasure names, in one transaction with its account, unless that was done before; as the maintenance
    role. None where there is no such erasure."""
    erasure_id = UUID(job.payload["erasure_id"])
    async with transaction(pool, job.tenant_id, readonly=False) as connection:
        asked = await connection.fetchrow(ASKED, job.tenant_id, erasure_id)
        if asked:
            source = Source(asked["kind"], asked["name"], asked["since"], asked["until"])
            ids: list[UUID] = []
            counts: Counter[str] = Counter()
            for bank_id in sorted(asked["bank_ids"]):
                found, gone = await remove(connection, bank_id, source)
                ids += found
                counts += gone
            hashes = [row["hash"] for row in await connection.fetch(HASHES, job.tenant_id, ids)]
            digest = hashlib.sha256(b"".join(hashes)).hexdigest()
            await connection.execute(REMOVED, job.tenant_id, erasure_id, now, dict(counts), hashes, digest)
            told = audit.count_outcomes(counts) or "nothing"
            act = audit.Act(asked["principal"], "erase", told, str(erasure_id))
            await audit.record(connection, job.tenant_id, [act])
        return await get(connection, job.tenant_id, erasure_id)


async def vacuum(pool: asyncpg.Pool, job: Job, erasure: Erasure, now: datetime) -> Erasure:
    """Give the space of removed rows back, table by table, and the planner new statistics; as the maintenance role."""
    options = "FULL, ANALYZE" if erasure.is_rewritten else "ANALYZE"
    for table in TABLES:
        async with pool.acquire() as connection:
            await connection.execute(f"VACUUM ({options}) {table}")
    async with transaction(pool, job.tenant_id, readonly=False) as connection:
        await connection.execute(VACUUMED, job.tenant_id, erasure.erasure_id, now)
    return replace(erasure, vacuumed_at=now)


async def agents_of(pool: asyncpg.Pool, job: Job, erasure: Erasure) -> list[str]:
    """The agents that an erasure concerns, ascending."""
    async with transaction(pool, job.tenant_id, readonly=True) as connection:
        return [row["agent_id"] for row in await connection.fetch(AGENTS, job.tenant_id, erasure.erasure_id)]


async def finish(pool: asyncpg.Pool, job: Job, erasure: Erasure, cleared_at: datetime | None) -> None:
    """Note that an erasure is done, and take its job off the queue."""
    async with transaction(pool, job.tenant_id, readonly=False) as connection:
        if await complete(connection, job):
            await connection.execute(DONE, job.tenant_id, erasure.erasure_id, cleared_at)


async def estimate(connection: Connection, asked: Asked) -> dict[str, int]:
    """How much an erasure would remove, by table: the larger ones, as counted now."""
    counts: Counter[str] = Counter()
    for bank_id in asked.bank_ids:
        found = await find_memories(connection, bank_id, asked.source, with_turn=True)
        sessions, _ = await find_turns(connection, bank_id, asked.source, with_turn=True)
        counts["memories"] += len(found)
        counts["turns"] += len(sessions)
        counts["memory_hits"] += await connection.fetchval(
            "SELECT count(*) FROM memory_hits WHERE bank_id = $1 AND memory_id = ANY ($2)", bank_id, found
        )
    return dict(counts)
