"""Everything that reads: one statement a method, always within one bank and one tenant."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg
from pgvector import HalfVector

from hindsight_store.grants import GrantReader
from hindsight_store.pool import Connection, aware, transaction
from hindsight_store.records import (
    Conflict,
    Features,
    Found,
    Generation,
    Kept,
    KeptReceipt,
    Memory,
    Report,
    Selection,
    Use,
    Vector,
    WordStatistics,
)
from hindsight_store.relations import RelationReader
from hindsight_store.reviews import ReviewReader
from hindsight_store.selections import KNOWN, MIN_ID, SELECTED, split_scopes, to_arguments
from hindsight_store.withdrawals import HELD
from hindsight_store.words import to_tsquery

COLUMNS = """m.memory_id, m.revision, m.scope, m.kind, m.key, m.trigger, m.value, m.tags, m.importance, m.confidence,
    m.source, m.session_id, m.turn, m.principal, m.trust, m.metadata, m.is_core, m.status, m.derived_from,
    m.valid_from, m.valid_to, m.known_from, m.known_to, m.created_at, m.expires_at, m.standing"""
DOUBTED = """EXISTS (SELECT FROM reviews AS r WHERE r.bank_id = m.bank_id AND r.memory_id = m.memory_id
        AND r.state = 'pending') AS is_doubted"""
USE = f"coalesce(u.hit_count, 0) AS hit_count, u.last_hit_at, coalesce(u.utility, 1) AS utility, {DOUBTED}"
JOIN_USE = "LEFT JOIN memory_use AS u ON u.bank_id = m.bank_id AND u.memory_id = m.memory_id"

FIND_BANK = "SELECT bank_id FROM agents WHERE tenant_id = $1 AND agent_id = $2"

FIND_AGENT = "SELECT agent_id FROM agents WHERE bank_id = $1"

FIND_KEY = """SELECT tenant_id, tenant, key_id, name, agent_ids, default_agent_id, scopes, rights, sources,
    created_at, expires_at, revoked_at FROM find_key($1)"""

ACTIVE_GENERATION = "SELECT generation, model_id, model_revision, dimension FROM generations WHERE state = 'active'"

SCOPES = "SELECT memory_id, scope FROM memories WHERE bank_id = $1 AND memory_id = ANY ($2) AND known_to IS NULL"

GET = f"""SELECT {COLUMNS}, {USE} FROM memories AS m {JOIN_USE}
    WHERE m.bank_id = $1 AND m.memory_id = $2 AND m.known_to IS NULL"""

PAGE = f"""SELECT {COLUMNS}, {USE} FROM memories AS m {JOIN_USE}
    WHERE {SELECTED} AND m.memory_id > $21 ORDER BY m.memory_id LIMIT $22"""

PAGE_NEWEST = f"""SELECT {COLUMNS}, {USE} FROM memories AS m {JOIN_USE}
    WHERE {SELECTED} AND ($21::uuid IS NULL OR m.memory_id < $21) ORDER BY m.memory_id DESC LIMIT $22"""

REVISIONS = f"""SELECT {COLUMNS} FROM memories AS m
    WHERE m.bank_id = $1 AND m.memory_id = $2 AND m.revision < $3 AND ($5 OR (m.status <> 'pending_review' AND NOT {HELD}))
    ORDER BY m.revision DESC LIMIT $4"""

# BM25 with k1 1.2 and b 0.75 over the selection: the same formula as in the recall service, here only to find the best.
LEXICAL = f"""WITH occurrence AS MATERIALIZED (
        SELECT m.memory_id, m.word_count, t.lexeme, cardinality(t.positions) AS count
        FROM memories AS m CROSS JOIN LATERAL unnest(m.words) AS t(lexeme, positions, weights)
        WHERE {SELECTED} AND m.words @@ $21::text::tsquery AND t.lexeme = ANY ($22)
    ), selection AS MATERIALIZED (
        SELECT count(*) AS memories, coalesce(nullif(avg(m.word_count), 0), 1)::float8 AS mean_length
        FROM memories AS m WHERE {SELECTED}
    ), frequencies AS MATERIALIZED (
        SELECT o.lexeme, count(*)::float8 AS frequency FROM occurrence AS o GROUP BY o.lexeme
    ), wanted AS MATERIALIZED (
        SELECT f.lexeme,
            w.weight * 2.2::float8 * ln(1 + (s.memories - f.frequency + 0.5::float8) / (f.frequency + 0.5::float8)) AS worth
        FROM frequencies AS f JOIN unnest($22::text[], $23::float8[]) AS w(lexeme, weight) USING (lexeme)
        CROSS JOIN selection AS s
    ), best AS MATERIALIZED (
        SELECT o.memory_id,
            sum(w.worth * o.count / (o.count + 0.3::float8 + 0.9::float8 * o.word_count / s.mean_length)) AS score
        FROM occurrence AS o JOIN wanted AS w USING (lexeme) CROSS JOIN selection AS s
        GROUP BY o.memory_id ORDER BY score DESC, o.memory_id LIMIT $24
    )
    SELECT (SELECT array_agg(memory_id ORDER BY score DESC, memory_id) FROM best) AS memory_ids,
        (SELECT array_agg(score ORDER BY score DESC, memory_id) FROM best) AS scores,
        (SELECT memories FROM selection) AS memories, (SELECT mean_length FROM selection) AS mean_length,
        (SELECT array_agg(lexeme) FROM frequencies) AS terms,
        (SELECT array_agg(frequency::int) FROM frequencies) AS frequencies"""

# "+ 0" keeps the planner from an approximate index: up to a few thousand rows the exact answer is as quick.
NEAREST = f"""SELECT e.memory_id, -(e.embedding <#> $23) AS score
    FROM embeddings AS e JOIN memories AS m
        ON m.bank_id = e.bank_id AND m.memory_id = e.memory_id AND m.revision = e.revision
    WHERE e.bank_id = $1 AND e.generation = $21 AND e.channel = $22 AND {SELECTED}
    ORDER BY (e.embedding <#> $23) + 0, e.memory_id LIMIT $24"""

# Each side is cut down to the ids by itself, so that whatever the planner believes, the work is that of the ids. Of a moment of
# record time, only the hits before it count.
FEATURES = f"""SELECT {COLUMNS},
        CASE WHEN $6::timestamptz IS NULL THEN coalesce(u.hit_count, 0) ELSE past.hit_count END AS hit_count,
        CASE WHEN $6::timestamptz IS NULL THEN u.last_hit_at ELSE past.last_hit_at END AS last_hit_at,
        coalesce(u.utility, 1) AS utility, {DOUBTED}, m.word_count, c.lexemes, c.counts,
        -(content.embedding <#> $4) AS content_cosine, -(triggers.embedding <#> $4) AS trigger_cosine
    FROM memories AS m
    LEFT JOIN memory_use AS u ON u.bank_id = $1 AND u.memory_id = ANY ($2) AND u.memory_id = m.memory_id
    LEFT JOIN embeddings AS content ON content.bank_id = $1 AND content.generation = $3 AND content.channel = 'content'
        AND content.memory_id = ANY ($2) AND content.memory_id = m.memory_id AND content.revision = m.revision
    LEFT JOIN embeddings AS triggers ON triggers.bank_id = $1 AND triggers.generation = $3 AND triggers.channel = 'trigger'
        AND triggers.memory_id = ANY ($2) AND triggers.memory_id = m.memory_id AND triggers.revision = m.revision
    CROSS JOIN LATERAL (
        SELECT array_agg(t.lexeme) AS lexemes, array_agg(cardinality(t.positions)) AS counts
        FROM unnest(m.words) AS t(lexeme, positions, weights) WHERE t.lexeme = ANY ($5)
    ) AS c
    CROSS JOIN LATERAL (
        SELECT count(*) AS hit_count, max(h.at) AS last_hit_at FROM memory_hits AS h
        WHERE $6::timestamptz IS NOT NULL AND h.bank_id = $1 AND h.memory_id = m.memory_id AND h.at < $6
    ) AS past
    WHERE m.bank_id = $1 AND m.memory_id = ANY ($2) AND {KNOWN.format("$6")}"""

# Standing memories, weightiest and newest first.
STANDING = f"""SELECT m.memory_id FROM memories AS m WHERE {SELECTED} AND m.standing <> ''
    ORDER BY m.importance DESC, m.valid_from DESC, m.memory_id LIMIT $21"""

# Of some memories those that are selected, in the order given.
CHOSEN = f"""SELECT m.memory_id FROM memories AS m
    WHERE {SELECTED} AND m.memory_id = ANY ($21) ORDER BY array_position($21, m.memory_id)"""

# What an agent should always know: core memories, then, where they are wanted too, standing ones; weightiest and newest first.
CORE = f"""SELECT {COLUMNS}, {USE} FROM memories AS m {JOIN_USE}
    WHERE {SELECTED} AND (m.is_core OR ($21 AND m.standing <> ''))
    ORDER BY m.is_core DESC, m.importance DESC, m.valid_from DESC, m.memory_id LIMIT $22"""

# What began within any of some spans of time, newest first.
WITHIN = f"""SELECT m.memory_id FROM memories AS m
    WHERE {SELECTED} AND m.valid_from >= $21 AND m.valid_from < $22 ORDER BY m.valid_from DESC, m.memory_id LIMIT $23"""

# One hop: of some terms the rarest that several memories share, and who shares them. $21 the terms as a query, $22 the terms,
# $23 what each says, $24 how many of them are followed, $25 how many memories may hold a rare one.
HOP = f"""WITH sharing AS MATERIALIZED (
        SELECT m.memory_id, t.lexeme
        FROM memories AS m CROSS JOIN LATERAL unnest(m.words) AS t(lexeme, positions, weights)
        WHERE {SELECTED} AND m.words @@ $21::text::tsquery AND t.lexeme = ANY ($22)
    ), rarest AS MATERIALIZED (
        SELECT w.lexeme, w.says FROM unnest($22::text[], $23::float8[]) AS w(lexeme, says)
        JOIN (SELECT s.lexeme, count(*) AS frequency FROM sharing AS s GROUP BY s.lexeme) AS f USING (lexeme)
        WHERE f.frequency BETWEEN 2 AND $25 ORDER BY f.frequency, w.says DESC, w.lexeme LIMIT $24
    )
    SELECT s.memory_id, (sum(r.says) / (SELECT sum(says) FROM rarest))::float8 AS share
    FROM sharing AS s JOIN rarest AS r USING (lexeme) GROUP BY s.memory_id ORDER BY share DESC, s.memory_id LIMIT $26"""

RECEIPT = """SELECT r.principal AS asked_by, r.document, o.principal, o.outcome, o.note, o.final_prompt, o.at
    FROM receipts AS r LEFT JOIN outcomes AS o ON o.bank_id = r.bank_id AND o.receipt_id = r.receipt_id
    WHERE r.bank_id = $1 AND r.receipt_id = $2"""


# $2 the exact scopes that are seen and $3 the beginnings of others; both NULL: all. $6 whether those of withdrawn sources too.
CONFLICTS = """SELECT c.conflict_id, c.kept_id, c.rule, c.scope, c.kind, c.key, c.trigger, c.value, c.source, c.session_id,
        c.turn, c.confidence, c.valid_from, c.principal, c.at
    FROM conflicts AS c
    WHERE c.bank_id = $1 AND ($4::uuid IS NULL OR c.conflict_id < $4) AND ($6 OR c.withdrawals = '{}')
        AND ($2::text[] IS NULL OR c.scope = ANY ($2)
            OR EXISTS (SELECT 1 FROM unnest($3::text[]) AS p(beginning) WHERE starts_with(c.scope, p.beginning)))
    ORDER BY c.conflict_id DESC LIMIT $5"""

DEFAULT_TENANT = "default"
_MOMENTS = ("valid_from", "valid_to", "known_from", "known_to", "created_at", "expires_at")
_FIELDS = tuple(Memory.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class Rarity:
    """Which terms of a memory are followed: so many of its rarest that no more than `most` memories hold."""

    terms: int
    most: int


def search_text(key: str, trigger: str, value: str) -> str:
    """The text of a memory that the lexical channel sees."""
    return f"{key}\n{trigger}\n{value}"


def to_memory(row: Mapping[str, Any]) -> Memory:
    """A row of `memories` as a value."""
    fields: dict[str, Any] = {name: row[name] for name in _FIELDS}
    fields.update(tags=tuple(row["tags"]), derived_from=tuple(row["derived_from"]))
    fields.update({name: aware(fields[name]) for name in _MOMENTS})
    return Memory(**fields)


def to_kept(row: Mapping[str, Any]) -> Kept:
    """A row of `memories` joined with its use."""
    return Kept(to_memory(row), Use(row["hit_count"], row["last_hit_at"], row["utility"], row["is_doubted"]))


class Reader:
    """Reads one tenant's rows over one connection. `bank_id` says whose."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def reviews(self) -> ReviewReader:
        """The review queue of the same tenant, in the same transaction."""
        return ReviewReader(self._connection)

    @property
    def relations(self) -> RelationReader:
        """The relations of the same tenant's memories, in the same transaction."""
        return RelationReader(self._connection)

    @property
    def grants(self) -> GrantReader:
        """What agents of the same tenant share, in the same transaction."""
        return GrantReader(self._connection)

    async def find_bank(self, tenant_id: int, agent_id: str) -> int | None:
        """The bank of an agent, or None."""
        return await self._connection.fetchval(FIND_BANK, tenant_id, agent_id)

    async def find_agent(self, bank_id: int) -> str:
        """The agent a bank belongs to."""
        return await self._connection.fetchval(FIND_AGENT, bank_id)

    async def get(self, bank_id: int, memory_id: UUID) -> Kept | None:
        """A memory as it stands now, whatever its status."""
        row = await self._connection.fetchrow(GET, bank_id, memory_id)
        return to_kept(row) if row else None

    async def scopes(self, bank_id: int, memory_ids: Collection[UUID]) -> dict[UUID, str]:
        """The scopes of some memories; what does not exist is missing."""
        return {row["memory_id"]: row["scope"] for row in await self._connection.fetch(SCOPES, bank_id, list(memory_ids))}

    async def page(self, bank_id: int, selection: Selection, *, after: UUID | None, limit: int) -> list[Kept]:
        """Selected memories, ascending by id, after an id."""
        rows = await self._connection.fetch(PAGE, *to_arguments(bank_id, selection), after or MIN_ID, limit)
        return [to_kept(row) for row in rows]

    async def page_newest(self, bank_id: int, selection: Selection, *, before: UUID | None, limit: int) -> list[Kept]:
        """Selected memories, descending by id, before an id."""
        rows = await self._connection.fetch(PAGE_NEWEST, *to_arguments(bank_id, selection), before, limit)
        return [to_kept(row) for row in rows]

    async def revisions(self, bank_id: int, memory_id: UUID, *, before: int, limit: int, with_held: bool) -> list[Memory]:
        """Revisions of a memory, newest first, below a number. `with_held`: also those that were held back for review, or came
        from a source that is withdrawn."""
        rows = await self._connection.fetch(REVISIONS, bank_id, memory_id, before, limit, with_held)
        return [to_memory(row) for row in rows]

    async def search_words(
        self, bank_id: int, selection: Selection, wanted: Mapping[str, float], *, limit: int
    ) -> tuple[list[Found], WordStatistics]:
        """The lexical run: selected memories with any of the wanted terms (term -> weight), best BM25 first, ties by id."""
        arguments = (to_tsquery(wanted), list(wanted), list(wanted.values()), limit)
        row = await self._connection.fetchrow(LEXICAL, *to_arguments(bank_id, selection), *arguments)
        found = [Found(i, s) for i, s in zip(row["memory_ids"] or (), row["scores"] or (), strict=True)]
        frequencies: dict[str, int] = dict(zip(row["terms"] or (), row["frequencies"] or (), strict=True))
        return found, WordStatistics(row["memories"], row["mean_length"], frequencies)

    async def search_embeddings(
        self, bank_id: int, selection: Selection, channel: str, query: tuple[int, Vector], *, limit: int
    ) -> list[Found]:
        """A vector run: selected memories by inner product with the query (generation, embedding), ties by id."""
        generation, embedding = query
        rows = await self._connection.fetch(
            NEAREST, *to_arguments(bank_id, selection), generation, channel, HalfVector(embedding), limit
        )
        return [Found(row["memory_id"], row["score"]) for row in rows]

    async def standing(self, bank_id: int, selection: Selection, *, limit: int) -> list[UUID]:
        """Selected standing instructions and preferences, weightiest and newest first."""
        rows = await self._connection.fetch(STANDING, *to_arguments(bank_id, selection), limit)
        return [row["memory_id"] for row in rows]

    async def selected(self, bank_id: int, selection: Selection, memory_ids: Sequence[UUID]) -> list[UUID]:
        """Of some memories those that are selected, in the order given."""
        rows = await self._connection.fetch(CHOSEN, *to_arguments(bank_id, selection), list(memory_ids))
        return [row["memory_id"] for row in rows]

    async def core(self, bank_id: int, selection: Selection, *, with_standing: bool, limit: int) -> list[Kept]:
        """Selected core memories, weightiest and newest first; behind them, where wanted, standing ones."""
        rows = await self._connection.fetch(CORE, *to_arguments(bank_id, selection), with_standing, limit)
        return [to_kept(row) for row in rows]

    async def within(self, bank_id: int, selection: Selection, since: datetime, until: datetime, *, limit: int) -> list[UUID]:
        """Selected memories that began to hold in a half-open span of time, newest first."""
        rows = await self._connection.fetch(WITHIN, *to_arguments(bank_id, selection), since, until, limit)
        return [row["memory_id"] for row in rows]

    async def hop(
        self, bank_id: int, selection: Selection, says: Mapping[str, float], *, rarity: Rarity, limit: int
    ) -> list[Found]:
        """Selected memories that share the rarest of some terms (term -> how much it says), most shared first, ties by id; the
        score is their share of what these say."""
        arguments = (to_tsquery(says), list(says), list(says.values()), rarity.terms, rarity.most, limit)
        rows = await self._connection.fetch(HOP, *to_arguments(bank_id, selection), *arguments)
        return [Found(row["memory_id"], row["share"]) for row in rows]

    async def receipt(self, bank_id: int, receipt_id: UUID) -> KeptReceipt | None:
        """A receipt with what was reported of it, or None."""
        row = await self._connection.fetchrow(RECEIPT, bank_id, receipt_id)
        if row is None:
            return None
        asked_by, document, *reported = row.values()
        return KeptReceipt(asked_by, document, Report(*reported) if reported[0] else None)

    async def conflicts(
        self, bank_id: int, scopes: Sequence[str] | None, *, with_withdrawn: bool, before: UUID | None, limit: int
    ) -> list[Conflict]:
        """Conflict records of some scopes (a trailing "*" is a prefix; None: all), newest first, before an id."""
        rows = await self._connection.fetch(CONFLICTS, bank_id, *split_scopes(scopes), before, limit, with_withdrawn)
        return [Conflict(**row) for row in rows]

    async def features(
        self,
        bank_id: int,
        memory_ids: Sequence[UUID],
        query: tuple[int, Vector] | None,
        wanted: Sequence[str],
        *,
        known_at: datetime | None,
    ) -> list[Features]:
        """What is measured of some memories against a query (generation, embedding), in no order; without a query no cosines.
        `known_at`: as they were recorded then; None: as they are recorded now."""
        generation, embedding = query if query else (None, None)
        vector = None if embedding is None else HalfVector(embedding)
        rows = await self._connection.fetch(FEATURES, bank_id, memory_ids, generation, vector, wanted, known_at)
        return [
            Features(
                to_kept(row),
                row["word_count"],
                dict(zip(row["lexemes"] or (), row["counts"] or (), strict=True)),
                row["content_cosine"],
                row["trigger_cosine"],
            )
            for row in rows
        ]


@asynccontextmanager
async def reading(pool: asyncpg.Pool, tenant_id: int) -> AsyncIterator[Reader]:
    """A reader of one tenant's rows, in a read-only transaction."""
    async with transaction(pool, tenant_id, readonly=True) as connection:
        yield Reader(connection)


async def find_key(pool: asyncpg.Pool, secret_hash: bytes) -> dict[str, Any] | None:
    """The key with this hash, revoked and expired ones too, or None."""
    async with transaction(pool, 0, readonly=True) as connection:
        row = await connection.fetchrow(FIND_KEY, secret_hash)
    return dict(row) if row else None


async def active_generation(pool: asyncpg.Pool) -> Generation | None:
    """The generation that recall reads, or None before the first write."""
    async with transaction(pool, 0, readonly=True) as connection:
        row = await connection.fetchrow(ACTIVE_GENERATION)
    return Generation(**row) if row else None


async def find_tenant(pool: asyncpg.Pool, name: str) -> int | None:
    """The tenant of this name, or None."""
    async with transaction(pool, 0, readonly=True) as connection:
        return await connection.fetchval("SELECT find_tenant($1)", name)
