"""Everything that writes: one statement a method, all of a call in one transaction."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg
from pgvector import HalfVector

from hindsight_store import audit, jobs, receipts
from hindsight_store.grants import GrantWriter
from hindsight_store.heard import find_forgotten
from hindsight_store.outcomes import OutcomeWriter
from hindsight_store.pool import Connection, transaction
from hindsight_store.reader import COLUMNS, Reader, search_text, to_memory
from hindsight_store.records import Conflict, Embedded, Generation, Memory, Relation, Vector
from hindsight_store.reviews import ReviewWriter
from hindsight_store.sessions import SessionWriter
from hindsight_store.turns import TurnWriter
from hindsight_store.withdrawals import WithdrawalWriter
from hindsight_store.words import length, terms, to_tsvector

CREATE_BANK = "INSERT INTO agents (tenant_id, agent_id) VALUES ($1, $2) ON CONFLICT (tenant_id, agent_id) DO NOTHING"

# Of some agents, or of all where none is named.
BANKS = "SELECT bank_id FROM agents WHERE tenant_id = $1 AND ($2::text[] = '{}' OR agent_id = ANY ($2)) ORDER BY bank_id"

# Many changes of a bank go on at once, but none while a source of it is withdrawn or erased, which takes this lock for itself.
ENTER = "SELECT pg_advisory_xact_lock_shared(1, hashint8($1))"

HOLDS_JOB = "SELECT true FROM jobs WHERE bank_id = $1 AND job_id = $2 AND lease = $3 FOR SHARE"

# Locks are taken in ascending order, so two calls never wait for each other in a ring.
LOCK = "SELECT pg_advisory_xact_lock(k) FROM (SELECT DISTINCT unnest($1::bigint[]) AS k ORDER BY 1) AS ordered"

# A request id is the client's own text: what is kept of it is a hash under the tenant's key.
FIND_REQUEST = """SELECT content_hash = keyed_hash($4, 'content', $5) AS is_same, outcome FROM requests
    WHERE bank_id = $1 AND principal = $2 AND request_id = keyed_name($4, 'request', $3)"""

RECORD_REQUEST = """INSERT INTO requests (bank_id, principal, request_id, tenant_id, content_hash, outcome, session_name)
    VALUES ($1, $2, keyed_name($4, 'request', $3), $4, keyed_hash($4, 'content', $5), $6,
        CASE WHEN $7 = '' THEN '' ELSE keyed_name($4, 'session', $7) END)"""

# What is near may be in force, or have been at $8: history can be written out of order.
NEIGHBOURS = f"""SELECT {COLUMNS}, -(e.embedding <#> $5) AS cosine
    FROM memories AS m JOIN embeddings AS e
        ON e.bank_id = m.bank_id AND e.memory_id = m.memory_id AND e.revision = m.revision
        AND e.generation = $4 AND e.channel = 'content'
    WHERE m.bank_id = $1 AND m.scope = $2 AND m.key = $3 AND m.known_to IS NULL
        AND m.status IN ('active', 'archived', 'superseded', 'pending_review') AND (m.valid_to IS NULL OR m.valid_to > $8)
        AND -(e.embedding <#> $5) >= $6
    ORDER BY cosine DESC, m.memory_id LIMIT $7"""

# No row locks: who changes memories holds their advisory locks. FOR UPDATE would also lose a row that somebody else replaces
# meanwhile (its new version is not in the snapshot), and lock in an order of its own.
CURRENT = f"SELECT {COLUMNS} FROM memories AS m WHERE m.bank_id = $1 AND m.memory_id = ANY ($2) AND m.known_to IS NULL"

CURRENT_BY_KEY = f"""SELECT {COLUMNS} FROM memories AS m
    WHERE m.bank_id = $1 AND m.key = $2 AND m.scope = $3 AND m.known_to IS NULL AND m.status IN ('active', 'archived')
    ORDER BY m.memory_id"""

REVISION = f"SELECT {COLUMNS} FROM memories AS m WHERE m.bank_id = $1 AND m.memory_id = $2 AND m.revision = $3"

END_REVISION = (
    """UPDATE memories SET known_to = $4 WHERE bank_id = $1 AND memory_id = $2 AND revision = $3 AND known_to IS NULL"""
)

INSERT_MEMORY = """INSERT INTO memories (bank_id, tenant_id, memory_id, revision, scope, kind, key, trigger, value, tags,
        importance, confidence, source, session_id, turn, principal, trust, metadata, is_core, status, derived_from,
        valid_from, valid_to, known_from, known_to, created_at, expires_at, standing, words, word_count)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
        $25, $26, $27, $28, $29::text::tsvector, $30)"""

INSERT_EMBEDDING = """INSERT INTO embeddings (bank_id, generation, channel, memory_id, revision, tenant_id, embedding)
    VALUES ($1, $2, $3, $4, $5, $6, $7)"""

COPY_EMBEDDINGS = """INSERT INTO embeddings (bank_id, generation, channel, memory_id, revision, tenant_id, embedding)
    SELECT bank_id, generation, channel, memory_id, $4, tenant_id, embedding
    FROM embeddings WHERE bank_id = $1 AND memory_id = $2 AND revision = $3"""

RELATE = """INSERT INTO memory_relations (bank_id, tenant_id, from_id, type, to_id, weight, principal, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (bank_id, from_id, type, to_id) DO UPDATE SET weight = excluded.weight, principal = excluded.principal"""

UNRELATE = "DELETE FROM memory_relations WHERE bank_id = $1 AND from_id = $2 AND type = $3 AND to_id = $4"

REMOVE_RELATIONS = "DELETE FROM memory_relations WHERE bank_id = $1 AND (from_id = ANY ($2) OR to_id = ANY ($2))"

REMOVE_SUPERSEDING = "DELETE FROM memory_relations WHERE bank_id = $1 AND to_id = $2 AND type = 'supersedes'"

INSERT_CONFLICT = """INSERT INTO conflicts (bank_id, tenant_id, conflict_id, kept_id, rule, scope, kind, key, trigger, value,
        source, session_id, turn, confidence, valid_from, principal, at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)"""

CREATE_GENERATION = """INSERT INTO generations (model_id, model_revision, dimension, window_tokens, state)
    VALUES ($1, $2, $3, $4, 'active') ON CONFLICT DO NOTHING"""


@dataclass(frozen=True, slots=True)
class PastRequest:
    """What a request id already stands for."""

    is_same: bool  # as what is asked now
    outcome: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RequestName:
    """A request id of a key, and the hash of what is asked under it."""

    principal: str
    request_id: str
    content_hash: bytes


class Writer(Reader):
    """Reads and writes one tenant's rows within one transaction."""

    def __init__(self, connection: Connection, tenant_id: int) -> None:
        super().__init__(connection)
        self._tenant_id = tenant_id
        self._jobs: list[jobs.Row] = []
        self._acts: list[audit.Act] = []

    async def ensure_bank(self, agent_id: str) -> int:
        """The bank of an agent, made if new."""
        bank_id = await self.find_bank(self._tenant_id, agent_id)
        if bank_id is None:
            await self._connection.execute(CREATE_BANK, self._tenant_id, agent_id)
            bank_id = await self.find_bank(self._tenant_id, agent_id)
        assert bank_id is not None
        return bank_id

    async def banks(self, agent_ids: Sequence[str]) -> list[int]:
        """The banks of some agents, or of all where none is named, ascending."""
        rows = await self._connection.fetch(BANKS, self._tenant_id, list(agent_ids))
        return [row["bank_id"] for row in rows]

    async def enter(self, bank_id: int) -> None:
        """Wait until no source of the bank is being withdrawn or erased, and hold that off; before any other lock."""
        await self._connection.execute(ENTER, bank_id)

    async def lock(self, keys: Sequence[int]) -> None:
        """Wait until no other transaction holds any of these locks (64-bit numbers), and hold them until the end."""
        if keys:
            await self._connection.execute(LOCK, keys)

    async def find_request(self, bank_id: int, name: RequestName) -> PastRequest | None:
        """What a request id stands for, or None."""
        identity = (bank_id, name.principal, name.request_id, self._tenant_id, name.content_hash)
        row = await self._connection.fetchrow(FIND_REQUEST, *identity)
        return PastRequest(row["is_same"], row["outcome"]) if row else None

    async def record_request(self, bank_id: int, name: RequestName, outcome: Mapping[str, Any], *, session_id: str = "") -> None:
        """Remember what a request id stands for, and which session it was about."""
        identity = (bank_id, name.principal, name.request_id, self._tenant_id, name.content_hash)
        await self._connection.execute(RECORD_REQUEST, *identity, outcome, session_id)

    async def neighbours(
        self, bank_id: int, place: tuple[str, str], query: tuple[int, Vector], *, min_cosine: float, at: datetime, limit: int
    ) -> list[tuple[Memory, float]]:
        """Memories of a (scope, key) whose content is near and which hold at a moment or later, with the cosine, nearest
        first."""
        generation, embedding = query
        rows = await self._connection.fetch(NEIGHBOURS, bank_id, *place, generation, HalfVector(embedding), min_cosine, limit, at)
        return [(to_memory(row), row["cosine"]) for row in rows]

    async def current(self, bank_id: int, memory_ids: Sequence[UUID]) -> dict[UUID, Memory]:
        """Current revisions by id; what does not exist is missing. Who changes one holds its lock first."""
        rows = await self._connection.fetch(CURRENT, bank_id, memory_ids) if memory_ids else ()
        return {row["memory_id"]: to_memory(row) for row in rows}

    async def current_by_key(self, bank_id: int, key: str, scope: str) -> list[Memory]:
        """Current active and archived memories with exactly this key and scope, ascending by id."""
        return [to_memory(row) for row in await self._connection.fetch(CURRENT_BY_KEY, bank_id, key, scope)]

    async def revision(self, bank_id: int, memory_id: UUID, revision: int) -> Memory | None:
        """One revision of a memory, or None."""
        row = await self._connection.fetchrow(REVISION, bank_id, memory_id, revision)
        return to_memory(row) if row else None

    async def end_revisions(self, bank_id: int, ended: Sequence[tuple[UUID, int]], at: datetime) -> None:
        """End the record time of current revisions (id, revision)."""
        await self._repeat(END_REVISION, [(bank_id, i, r, at) for i, r in ended])

    async def insert(self, bank_id: int, memories: Sequence[Memory]) -> None:
        """Add revisions."""
        await self._repeat(INSERT_MEMORY, [self._row(bank_id, m) for m in memories])

    async def insert_embeddings(self, bank_id: int, generation: int, embedded: Sequence[tuple[Memory, Embedded]]) -> None:
        """Add the embeddings of revisions."""
        rows = []
        for memory, vectors in embedded:
            for channel, vector in (("content", vectors.content), ("trigger", vectors.trigger)):
                if vector is not None:
                    identity = (bank_id, generation, channel, memory.memory_id, memory.revision)
                    rows.append((*identity, self._tenant_id, HalfVector(vector)))
        await self._repeat(INSERT_EMBEDDING, rows)

    async def copy_embeddings(self, bank_id: int, copies: Sequence[tuple[Memory, int]]) -> None:
        """Give revisions the embeddings of an earlier revision of the same text."""
        rows = [(bank_id, memory.memory_id, earlier, memory.revision) for memory, earlier in copies]
        await self._repeat(COPY_EMBEDDINGS, rows)

    async def relate(self, bank_id: int, relations: Sequence[Relation], principal: str, at: datetime) -> None:
        """Add relations; one that is there gets the new weight."""
        rows = [(bank_id, self._tenant_id, r.from_id, r.type, r.to_id, r.weight, principal, at) for r in relations]
        await self._repeat(RELATE, rows)

    async def unrelate(self, bank_id: int, from_id: UUID, relation_type: str, to_id: UUID) -> bool:
        """Remove a relation; False where there was none."""
        return await self._connection.execute(UNRELATE, bank_id, from_id, relation_type, to_id) != "DELETE 0"

    async def remove_relations(self, bank_id: int, memory_ids: Sequence[UUID]) -> None:
        """Remove every relation with either end among some memories."""
        if memory_ids:
            await self._connection.execute(REMOVE_RELATIONS, bank_id, memory_ids)

    async def remove_superseding(self, bank_id: int, memory_id: UUID) -> None:
        """Remove the relations that say that something took a memory's place."""
        await self._connection.execute(REMOVE_SUPERSEDING, bank_id, memory_id)

    async def insert_conflicts(self, bank_id: int, conflicts: Sequence[Conflict]) -> None:
        """Keep records of refused statements."""
        await self._repeat(
            INSERT_CONFLICT,
            [
                (
                    *(bank_id, self._tenant_id, c.conflict_id, c.kept_id, c.rule, c.scope, c.kind, c.key, c.trigger, c.value),
                    *(c.source, c.session_id, c.turn, c.confidence, c.valid_from, c.principal, c.at),
                )
                for c in conflicts
            ],
        )

    async def _repeat(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        if len(rows) == 1:
            await self._connection.execute(statement, *rows[0])
        elif rows:
            await self._connection.executemany(statement, rows)

    @property
    def turns(self) -> TurnWriter:
        """The turns of the same tenant, in the same transaction."""
        return TurnWriter(self._connection, self._tenant_id)

    @property
    def sessions(self) -> SessionWriter:
        """The sessions and tasks of the same tenant, in the same transaction."""
        return SessionWriter(self._connection, self._tenant_id)

    @property
    def reviews(self) -> ReviewWriter:
        """The review queue of the same tenant, in the same transaction."""
        return ReviewWriter(self._connection, self._tenant_id)

    async def find_forgotten(self, bank_id: int, session_id: str) -> list[tuple[int, str]]:
        """What was heard in a session, became a memory, and was deleted: the turn and what it says."""
        return await find_forgotten(self._connection, bank_id, session_id)

    @property
    def outcomes(self) -> OutcomeWriter:
        """What became of answers of the same tenant, in the same transaction."""
        return OutcomeWriter(self._connection, self._tenant_id)

    @property
    def grants(self) -> GrantWriter:
        """What agents of the same tenant share, in the same transaction."""
        return GrantWriter(self._connection, self._tenant_id)

    @property
    def withdrawals(self) -> WithdrawalWriter:
        """The withdrawals of the same tenant, in the same transaction."""
        return WithdrawalWriter(self._connection, self._tenant_id)

    def enqueue(self, bank_id: int, kind: str, payload: Mapping[str, Any]) -> None:
        """Queue a job that follows this change; all of a transaction go out together at its end."""
        self._jobs.append(jobs.new_row(bank_id, self._tenant_id, kind, payload))

    def audit(self, act: audit.Act) -> None:
        """Account for a change; all of a transaction go out together at its end."""
        self._acts.append(act)

    async def flush(self) -> None:
        """Queue what was to be queued and account for what was changed, before the commit."""
        if self._jobs:
            await jobs.enqueue(self._connection, self._jobs)
        if self._acts:
            await audit.record(self._connection, self._tenant_id, self._acts)

    async def record_recalls(self, recalls: Sequence[receipts.RecordedRecall]) -> int:
        """Keep receipts and count their hits; how many are new."""
        return await receipts.record(self._connection, self._tenant_id, recalls)

    async def holds(self, job: jobs.Job) -> bool:
        """Whether the worker still has its job; then it keeps it until the end."""
        return bool(await self._connection.fetchval(HOLDS_JOB, job.bank_id, job.job_id, job.lease))

    async def complete(self, job: jobs.Job) -> bool:
        """Take a finished job off the queue; False where another worker has it by now."""
        return await jobs.complete(self._connection, job)

    def _row(self, bank_id: int, m: Memory) -> tuple[Any, ...]:
        counts = terms(search_text(m.key, m.trigger, m.value))
        return (
            *(bank_id, self._tenant_id, m.memory_id, m.revision, m.scope, m.kind, m.key, m.trigger, m.value, m.tags),
            *(m.importance, m.confidence, m.source, m.session_id, m.turn, m.principal, m.trust, dict(m.metadata)),
            *(m.is_core, m.status, m.derived_from, m.valid_from, m.valid_to, m.known_from, m.known_to, m.created_at),
            *(m.expires_at, m.standing, to_tsvector(counts), round(length(counts))),
        )


@asynccontextmanager
async def writing(pool: asyncpg.Pool, tenant_id: int) -> AsyncIterator[Writer]:
    """A writer of one tenant's rows; the end of the block commits, an exception rolls back."""
    async with transaction(pool, tenant_id, readonly=False) as connection:
        writer = Writer(connection, tenant_id)
        yield writer
        await writer.flush()


async def ensure_generation(
    pool: asyncpg.Pool, model_id: str, model_revision: str, *, dimension: int, window_tokens: int
) -> Generation:
    """The active generation; where there is none yet, this model's becomes it."""
    async with transaction(pool, 0, readonly=False) as connection:
        await connection.execute(CREATE_GENERATION, model_id, model_revision, dimension, window_tokens)
        row = await connection.fetchrow(
            "SELECT generation, model_id, model_revision, dimension FROM generations WHERE state = 'active'"
        )
    return Generation(**row)
