"""Turns of observed sessions: written at once with their words, embedded later, found as episodic evidence."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import asyncpg
from pgvector import HalfVector

from hindsight_store.pool import Connection, aware, transaction
from hindsight_store.records import Vector
from hindsight_store.words import length, terms, to_tsquery, to_tsvector

TurnId = tuple[str, int]  # session and number
MAX_MATCHES = 20_000  # turns with any of a query's terms that one recall looks at

COLUMNS = """t.session_id, t.turn, t.scope, t.role, t.content, t.tool, t.arguments, t.result, t.is_error, t.masked, t.principal,
    t.at, t.known_from, t.is_withheld"""

# $1 bank, $2 scopes, $3 since, $4 until, $5 known at
SELECTED = """t.bank_id = $1 AND ($2::text[] IS NULL OR t.scope = ANY ($2))
    AND ($3::timestamptz IS NULL OR t.at >= $3) AND ($4::timestamptz IS NULL OR t.at < $4)
    AND ($5::timestamptz IS NULL OR t.known_from <= $5) AND NOT t.is_withheld AND t.withdrawals = '{}'"""

BETWEEN = f"""SELECT {COLUMNS} FROM turns AS t
    WHERE t.bank_id = $1 AND t.session_id = $2 AND t.turn >= $3 AND t.turn < $4 AND ($5 OR t.withdrawals = '{{}}')
    ORDER BY t.turn"""

INSERT_TURN = """INSERT INTO turns (bank_id, tenant_id, session_id, turn, scope, role, content, tool, arguments, result, is_error,
        masked, principal, at, known_from, is_withheld, words, word_count)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17::text::tsvector, $18)"""

INSERT_EMBEDDING = """INSERT INTO turn_embeddings (bank_id, generation, channel, session_id, turn, tenant_id, embedding)
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING"""

MATCHES = f"""SELECT t.session_id, t.turn, t.word_count, c.lexemes, c.counts
    FROM turns AS t CROSS JOIN LATERAL (
        SELECT array_agg(w.lexeme) AS lexemes, array_agg(cardinality(w.positions)) AS counts
        FROM unnest(t.words) AS w(lexeme, positions, weights) WHERE w.lexeme = ANY ($7)
    ) AS c
    WHERE {SELECTED} AND t.words @@ $6::text::tsquery LIMIT $8"""

SIZE = f"""SELECT count(*) AS turns, coalesce(nullif(avg(t.word_count), 0), 1)::float8 AS mean_length
    FROM turns AS t WHERE {SELECTED}"""

NEAREST = f"""SELECT e.session_id, e.turn, -(e.embedding <#> $8) AS score
    FROM turn_embeddings AS e JOIN turns AS t ON t.bank_id = e.bank_id AND t.session_id = e.session_id AND t.turn = e.turn
    WHERE e.bank_id = $1 AND e.generation = $6 AND e.channel = $7 AND {SELECTED}
    ORDER BY (e.embedding <#> $8) + 0, e.session_id, e.turn LIMIT $9"""

WITHIN = f"""SELECT t.session_id, t.turn FROM turns AS t
    WHERE {SELECTED} AND t.at >= $6 AND t.at < $7 ORDER BY t.at DESC, t.session_id, t.turn LIMIT $8"""

FETCH = f"""SELECT {COLUMNS}, alone.cosine AS turn_cosine, joint.cosine AS window_cosine
    FROM unnest($2::text[], $3::int[]) AS wanted(session_id, turn)
    JOIN turns AS t ON t.bank_id = $1 AND t.session_id = ANY ($2) AND t.session_id = wanted.session_id AND t.turn = wanted.turn
    LEFT JOIN (
        SELECT e.session_id, e.turn, -(e.embedding <#> $5) AS cosine FROM turn_embeddings AS e
        WHERE e.bank_id = $1 AND e.generation = $4 AND e.channel = 'turn' AND e.session_id = ANY ($2) AND e.turn = ANY ($3)
    ) AS alone ON alone.session_id = t.session_id AND alone.turn = t.turn
    LEFT JOIN (
        SELECT e.session_id, e.turn, -(e.embedding <#> $5) AS cosine FROM turn_embeddings AS e
        WHERE e.bank_id = $1 AND e.generation = $4 AND e.channel = 'window' AND e.session_id = ANY ($2) AND e.turn = ANY ($3)
    ) AS joint ON joint.session_id = t.session_id AND joint.turn = t.turn
    WHERE NOT t.is_withheld"""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message or tool call of a session."""

    session_id: str
    turn: int
    scope: str
    role: str
    content: str
    tool: str
    arguments: Mapping[str, Any]
    result: str
    is_error: bool
    masked: tuple[str, ...]
    principal: str
    at: datetime
    known_from: datetime
    is_withheld: bool = False  # it reads like an order to the agent: evidence that is not recalled

    @property
    def id(self) -> TurnId:
        """Session and number."""
        return self.session_id, self.turn


@dataclass(frozen=True, slots=True)
class TurnSelection:
    """Which turns to look at; None means any. Half-open."""

    scopes: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    known_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TurnMatch:
    """A turn that holds some of a query's terms."""

    id: TurnId
    length: float
    counts: Mapping[str, int]  # query term -> occurrences


@dataclass(frozen=True, slots=True)
class TurnMatches:
    """All turns that hold any of a query's terms, and what BM25 needs to know of the turns looked at."""

    turns: int = 0
    mean_length: float = 1.0
    matches: Mapping[TurnId, TurnMatch] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TurnFeatures:
    """A turn and its cosines to a query; None where it is not embedded yet."""

    turn: Turn
    turn_cosine: float | None
    window_cosine: float | None


def to_turn(row: Mapping[str, Any]) -> Turn:
    """A row of `turns` as a value."""
    fields: dict[str, Any] = {name: row[name] for name in Turn.__dataclass_fields__}
    fields |= {name: aware(row[name]) for name in ("at", "known_from")}
    return Turn(**{**fields, "masked": tuple(row["masked"])})


def search_text(turn: Turn) -> str:
    """The text of a turn that is searched."""
    arguments = " ".join(f"{name} {value}" for name, value in turn.arguments.items())
    return "\n".join(part for part in (turn.content, turn.tool, arguments, turn.result) if part)


class TurnReader:
    """Reads one tenant's turns over one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def between(self, bank_id: int, session_id: str, first: int, end: int, *, with_withdrawn: bool = False) -> list[Turn]:
        """Turns of a session from first (included) to end (excluded), in order, without those of a withdrawn source."""
        rows = await self._connection.fetch(BETWEEN, bank_id, session_id, first, end, with_withdrawn)
        return [to_turn(row) for row in rows]

    async def match_words(self, bank_id: int, selection: TurnSelection, wanted: Mapping[str, float]) -> TurnMatches:
        """Every selected turn with any of the wanted terms."""
        chosen = (bank_id, selection.scopes, selection.since, selection.until, selection.known_at)
        size = await self._connection.fetchrow(SIZE, *chosen)
        if not wanted or not size["turns"]:
            return TurnMatches(size["turns"], size["mean_length"])
        rows = await self._connection.fetch(MATCHES, *chosen, to_tsquery(wanted), list(wanted), MAX_MATCHES)
        matches = {}
        for row in rows:
            counts: dict[str, int] = dict(zip(row["lexemes"] or (), row["counts"] or (), strict=True))
            turn_id = (row["session_id"], row["turn"])
            matches[turn_id] = TurnMatch(turn_id, row["word_count"], counts)
        return TurnMatches(size["turns"], size["mean_length"], matches)

    async def search_embeddings(
        self, bank_id: int, selection: TurnSelection, channel: str, query: tuple[int, Vector], *, limit: int
    ) -> list[tuple[TurnId, float]]:
        """Selected turns by inner product with the query (generation, embedding) in a channel, best first, ties by id."""
        chosen = (bank_id, selection.scopes, selection.since, selection.until, selection.known_at)
        generation, embedding = query
        rows = await self._connection.fetch(NEAREST, *chosen, generation, channel, HalfVector(embedding), limit)
        return [((row["session_id"], row["turn"]), row["score"]) for row in rows]

    async def within(
        self, bank_id: int, selection: TurnSelection, since: datetime, until: datetime, *, limit: int
    ) -> list[TurnId]:
        """Selected turns of a half-open span of time, newest first."""
        chosen = (bank_id, selection.scopes, selection.since, selection.until, selection.known_at)
        rows = await self._connection.fetch(WITHIN, *chosen, since, until, limit)
        return [(row["session_id"], row["turn"]) for row in rows]

    async def fetch(self, bank_id: int, ids: Sequence[TurnId], query: tuple[int, Vector] | None) -> list[TurnFeatures]:
        """Turns with their cosines to a query, in no order; without a query no cosines."""
        generation, embedding = query if query else (None, None)
        vector = None if embedding is None else HalfVector(embedding)
        sessions, numbers = [s for s, _ in ids], [n for _, n in ids]
        rows = await self._connection.fetch(FETCH, bank_id, sessions, numbers, generation, vector)
        return [TurnFeatures(to_turn(row), row["turn_cosine"], row["window_cosine"]) for row in rows]


class TurnWriter(TurnReader):
    """Writes one tenant's turns within one transaction."""

    def __init__(self, connection: Connection, tenant_id: int) -> None:
        super().__init__(connection)
        self._tenant_id = tenant_id

    async def insert(self, bank_id: int, turns: Sequence[Turn]) -> None:
        """Add turns of one session."""
        rows = []
        for t in turns:
            await asyncio.sleep(0)  # the words of a long turn take tens of milliseconds; other calls go on in between
            counts = terms(search_text(t))
            identity = (bank_id, self._tenant_id, t.session_id, t.turn, t.scope, t.role, t.content, t.tool)
            rest = (dict(t.arguments), t.result, t.is_error, t.masked, t.principal, t.at, t.known_from, t.is_withheld)
            rows.append((*identity, *rest, to_tsvector(counts), round(length(counts))))
        await self._connection.executemany(INSERT_TURN, rows)

    async def insert_embeddings(
        self, bank_id: int, generation: int, channel: str, embedded: Sequence[tuple[TurnId, Vector]]
    ) -> None:
        """Add embeddings of turns; what is there already stays."""
        rows = [(bank_id, generation, channel, s, n, self._tenant_id, HalfVector(v)) for (s, n), v in embedded]
        await self._connection.executemany(INSERT_EMBEDDING, rows)


@asynccontextmanager
async def reading_turns(pool: asyncpg.Pool, tenant_id: int) -> AsyncIterator[TurnReader]:
    """A reader of one tenant's turns, in a read-only transaction."""
    async with transaction(pool, tenant_id, readonly=True) as connection:
        yield TurnReader(connection)
