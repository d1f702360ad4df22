"""Withdrawing what came from a source, in a few statements however much it is, and reinstating it exactly."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from hindsight_store.pool import Connection, transaction
from hindsight_store.sources import Source, Touched, find_hidden, find_memories, find_touched, find_turns

REASON = "source_revoked"
LOCK_KEY = 0x7769746864  # "withd": one withdrawal at a time

COLUMNS = (
    *("bank_id", "tenant_id", "memory_id", "revision", "scope", "kind", "key", "trigger", "value", "tags", "importance"),
    *("confidence", "source", "session_id", "turn", "principal", "trust", "metadata", "is_core", "status", "derived_from"),
    *("valid_from", "valid_to", "known_from", "known_to", "created_at", "expires_at", "standing", "words", "word_count"),
)


def _insert(changed: Mapping[str, str]) -> str:
    """Adds copies of revisions `m` in which some columns are other expressions."""
    values = ", ".join(changed.get(name, f"m.{name}") for name in COLUMNS)
    return f"INSERT INTO memories ({', '.join(COLUMNS)}) SELECT {values}"


_COPY = """INSERT INTO embeddings (bank_id, generation, channel, memory_id, revision, tenant_id, embedding)
    SELECT e.bank_id, e.generation, e.channel, e.memory_id, w.made_revision, e.tenant_id, e.embedding
    FROM withdrawn AS w JOIN embeddings AS e ON e.bank_id = w.bank_id AND e.memory_id = w.memory_id"""

HIDDEN = {
    "revision": "m.revision + 1",
    "principal": "$4",
    "status": "'pending_review'",
    "known_from": "$3",
    "known_to": "NULL",
}

# Until a table is analysed the planner expects few rows and would join thousands of memories one by one.
LOCK_BANK = "SELECT pg_advisory_xact_lock(1, hashint8($1)), set_config('enable_nestloop', 'off', true)"

# $1 bank, $2 memories, $3 now, $4 by whom, $5 withdrawal, $6 kind and $7 name of the source. What is hidden already is held, so
# that it stays so, unless this source's withdrawal does that already.
WITHDRAW = f"""WITH ended AS (
        UPDATE memories AS m SET known_to = $3
        WHERE m.bank_id = $1 AND m.known_to IS NULL AND m.memory_id = ANY ($2) AND m.status NOT IN ('deleted', 'pending_review')
        RETURNING m.*
    ), made AS (
        {_insert(HIDDEN)}
        FROM ended AS m RETURNING memory_id, revision
    )
    INSERT INTO withdrawn (bank_id, withdrawal_id, memory_id, tenant_id, first_revision, former_revision, made_revision,
        former_review)
    SELECT $1, $5, m.memory_id, m.tenant_id, 1, m.revision, made.revision, to_jsonb(r)
    FROM memories AS m LEFT JOIN made USING (memory_id) LEFT JOIN reviews AS r ON r.bank_id = $1 AND r.memory_id = m.memory_id
    WHERE m.bank_id = $1 AND m.known_to IS NULL AND m.memory_id = ANY ($2) AND (made.revision IS NOT NULL OR m.memory_id NOT IN (
        SELECT h.memory_id FROM withdrawn AS h JOIN withdrawals AS w USING (tenant_id, withdrawal_id)
        WHERE h.bank_id = $1 AND w.kind = $6 AND w.source = $7 AND w.reinstated_at IS NULL))"""

# $2 memories, $3 the first revisions that came from the source, $4 when they end now.
ROLL_BACK = f"""WITH wanted AS (
        SELECT * FROM unnest($2::uuid[], $3::int[], $4::timestamptz[]) AS w(memory_id, first, ends)
    ), ended AS (
        UPDATE memories AS m SET known_to = $5 FROM wanted AS w
        WHERE m.bank_id = $1 AND m.known_to IS NULL AND m.memory_id = w.memory_id RETURNING m.memory_id, m.revision
    ), made AS (
        {
    _insert(
        {
            "revision": "ended.revision + 1",
            "principal": "$6",
            "valid_to": "CASE WHEN w.first > 1 THEN least(m.valid_to, w.ends) ELSE w.ends END",
            "status": "CASE WHEN w.ends <= $5 THEN 'superseded' WHEN w.first = 1 THEN 'active' ELSE m.status END",
            "known_from": "$5",
            "known_to": "NULL",
        }
    )
}
        FROM wanted AS w JOIN ended USING (memory_id)
        JOIN memories AS m ON m.bank_id = $1 AND m.memory_id = w.memory_id
            AND m.revision = CASE WHEN w.first > 1 THEN w.first - 1 ELSE ended.revision END
        RETURNING memory_id, revision, tenant_id
    )
    INSERT INTO withdrawn (bank_id, withdrawal_id, memory_id, tenant_id, first_revision, former_revision, made_revision)
    SELECT $1, $7, made.memory_id, made.tenant_id, CASE WHEN w.first > 1 THEN w.first ELSE made.revision END,
        ended.revision, made.revision
    FROM made JOIN ended USING (memory_id) JOIN wanted AS w USING (memory_id)"""

# What was rolled back has the embeddings of the revision it went back to; what was withdrawn keeps its own.
COPY_EMBEDDINGS = f"""{_COPY}
        AND e.revision = CASE WHEN w.first_revision > 1 THEN w.first_revision - 1 ELSE w.former_revision END
    WHERE w.bank_id = $1 AND w.withdrawal_id = $2 AND w.made_revision IS NOT NULL"""

ASK = """INSERT INTO reviews (bank_id, memory_id, tenant_id, reason, signs, score, state, at)
    SELECT w.bank_id, w.memory_id, w.tenant_id, $3, '{}', 1, 'pending', $4 FROM withdrawn AS w
    WHERE w.bank_id = $1 AND w.withdrawal_id = $2 AND w.made_revision IS NOT NULL AND w.first_revision = 1
    ON CONFLICT (bank_id, memory_id) DO UPDATE SET reason = excluded.reason, signs = excluded.signs, score = excluded.score,
        at = excluded.at, copies = 1, state = 'pending', decided_by = '', decided_at = NULL"""

WITHHOLD = """UPDATE turns AS t SET withdrawals = t.withdrawals || $2::uuid
    FROM unnest($3::text[], $4::int[]) AS w(session_id, turn)
    WHERE t.bank_id = $1 AND t.session_id = w.session_id AND t.turn = w.turn AND NOT t.withdrawals && ARRAY(
        SELECT o.withdrawal_id FROM withdrawals AS o WHERE o.kind = $5 AND o.source = $6 AND o.reinstated_at IS NULL)"""

# $3 sessions and $4 turns that were found; of the source $5 kind, $6 name, $7 since, $8 until, $9 what the account calls it.
WITHHOLD_CONFLICTS = """UPDATE conflicts AS c SET withdrawals = c.withdrawals || $2::uuid
    WHERE c.bank_id = $1 AND ((c.session_id, c.turn) IN (SELECT * FROM unnest($3::text[], $4::int[]))
            OR ((($5 = 'principal' AND c.principal = $6) OR ($5 = 'session' AND c.session_id = $6))
                AND ($7::timestamptz IS NULL OR c.at >= $7) AND ($8::timestamptz IS NULL OR c.at < $8)))
        AND NOT c.withdrawals && ARRAY(
            SELECT o.withdrawal_id FROM withdrawals AS o WHERE o.kind = $5 AND o.source = $9 AND o.reinstated_at IS NULL)"""

# A job under way may have read what is withdrawn now: it begins anew.
RESTART_JOBS = """UPDATE jobs SET state = 'queued', lease = NULL, leased_until = NULL
    WHERE bank_id = $1 AND state = 'running' AND kind <> 'erase'"""

WITHDRAWAL = """w.withdrawal_id, w.kind, w.source, w.principal, w.at, w.reinstated_at, w.withdrawn, w.rolled_back, w.turns"""

# What a source is called in the account of it: what clients name freely, by a hash.
NAME = "SELECT CASE WHEN $2 IN ('principal', 'memory') THEN $3 ELSE keyed_name($1, $2, $3) END"

RECORD = """INSERT INTO withdrawals (tenant_id, withdrawal_id, kind, source, principal, request_name, asked, at, withdrawn,
        rolled_back, turns)
    VALUES ($1, $2, $3, $4, $5, CASE WHEN $6 = '' THEN '' ELSE keyed_name($1, 'request', $6) END, keyed_name($1, 'asked', $7), $8,
        $9, $10, $11)"""

BY_REQUEST = f"""SELECT {WITHDRAWAL}, w.asked IN ('', keyed_name($1, 'asked', $4)) AS is_same FROM withdrawals AS w
    WHERE w.tenant_id = $1 AND w.principal = $2 AND w.request_name = keyed_name($1, 'request', $3)"""

GET = f"SELECT {WITHDRAWAL} FROM withdrawals AS w WHERE w.tenant_id = $1 AND w.withdrawal_id = $2"

PAGE = f"""SELECT {WITHDRAWAL} FROM withdrawals AS w
    WHERE w.tenant_id = $1 AND ($2::uuid IS NULL OR w.withdrawal_id < $2) ORDER BY w.withdrawal_id DESC LIMIT $3"""

BANKS = """SELECT bank_id FROM withdrawn WHERE tenant_id = $1 AND withdrawal_id = $2
    UNION SELECT bank_id FROM turns WHERE tenant_id = $1 AND $2 = ANY (withdrawals)
    UNION SELECT bank_id FROM conflicts WHERE tenant_id = $1 AND $2 = ANY (withdrawals) ORDER BY bank_id"""

# What another withdrawal found hidden by this one is handed on to it, with the state it is to go back to one day.
HAND_ON = """UPDATE withdrawn AS other SET former_revision = mine.former_revision, made_revision = mine.made_revision,
        former_review = mine.former_review
    FROM withdrawn AS mine
    WHERE mine.bank_id = $1 AND mine.withdrawal_id = $2 AND other.bank_id = $1 AND other.memory_id = mine.memory_id
        AND other.withdrawal_id = (
            SELECT o.withdrawal_id FROM withdrawn AS o JOIN withdrawals AS w USING (tenant_id, withdrawal_id)
            WHERE o.bank_id = $1 AND o.memory_id = mine.memory_id AND o.withdrawal_id <> $2 AND w.reinstated_at IS NULL
                AND o.made_revision IS NULL AND o.former_revision = mine.made_revision
            ORDER BY o.withdrawal_id LIMIT 1)"""

LET_GO = """UPDATE withdrawn AS mine SET made_revision = NULL
    WHERE mine.bank_id = $1 AND mine.withdrawal_id = $2 AND EXISTS (SELECT FROM withdrawn AS o
        WHERE o.bank_id = $1 AND o.memory_id = mine.memory_id AND o.withdrawal_id <> $2
            AND o.made_revision = mine.made_revision)"""

REINSTATE = f"""WITH due AS (
        SELECT w.memory_id, w.former_revision, w.made_revision, w.first_revision, w.former_review FROM withdrawn AS w
        JOIN memories AS m ON m.bank_id = $1 AND m.memory_id = w.memory_id AND m.known_to IS NULL
            AND m.revision = w.made_revision
        WHERE w.bank_id = $1 AND w.withdrawal_id = $2
    ), ended AS (
        UPDATE memories AS m SET known_to = $3 FROM due AS d
        WHERE m.bank_id = $1 AND m.known_to IS NULL AND m.memory_id = d.memory_id RETURNING m.memory_id
    ), made AS (
        {_insert({"revision": "d.made_revision + 1", "principal": "$4", "known_from": "$3", "known_to": "NULL"})}
        FROM due AS d JOIN ended USING (memory_id)
        JOIN memories AS m ON m.bank_id = $1 AND m.memory_id = d.memory_id AND m.revision = d.former_revision
        RETURNING memory_id, revision
    ), copied AS (
        INSERT INTO embeddings (bank_id, generation, channel, memory_id, revision, tenant_id, embedding)
        SELECT e.bank_id, e.generation, e.channel, e.memory_id, made.revision, e.tenant_id, e.embedding
        FROM due AS d JOIN made USING (memory_id)
        JOIN embeddings AS e ON e.bank_id = $1 AND e.memory_id = d.memory_id AND e.revision = d.former_revision
    ), decided AS (
        UPDATE reviews AS r SET reason = coalesce(d.former_review ->> 'reason', r.reason),
            signs = CASE WHEN d.former_review IS NULL THEN r.signs
                ELSE ARRAY(SELECT jsonb_array_elements_text(d.former_review -> 'signs')) END,
            score = coalesce((d.former_review ->> 'score')::float8, r.score),
            copies = coalesce((d.former_review ->> 'copies')::int, r.copies),
            state = coalesce(d.former_review ->> 'state', 'approved'),
            at = coalesce((d.former_review ->> 'at')::timestamptz, r.at),
            decided_by = coalesce(d.former_review ->> 'decided_by', $4),
            decided_at = CASE WHEN d.former_review IS NULL THEN $3 ELSE (d.former_review ->> 'decided_at')::timestamptz END
        FROM due AS d WHERE d.first_revision = 1 AND r.bank_id = $1 AND r.memory_id = d.memory_id
    )
    SELECT count(*) FROM made"""

CLEAR = tuple(
    f"UPDATE {table} SET withdrawals = array_remove(withdrawals, $2) WHERE bank_id = $1 AND $2 = ANY (withdrawals)"
    for table in ("turns", "conflicts")
)

CLOSE = "UPDATE withdrawals SET reinstated_at = $3 WHERE tenant_id = $1 AND withdrawal_id = $2"

# Whether a revision `m` came from a source that is withdrawn.
HELD = """EXISTS (SELECT FROM withdrawn AS h JOIN withdrawals AS w USING (tenant_id, withdrawal_id)
    WHERE h.bank_id = m.bank_id AND h.memory_id = m.memory_id AND w.reinstated_at IS NULL AND h.first_revision <= m.revision
        AND (h.made_revision IS NULL OR h.made_revision > m.revision))"""

HOLDS = f"SELECT {HELD} FROM memories AS m WHERE m.bank_id = $1 AND m.memory_id = $2 AND m.revision = $3"


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """A withdrawal: what of, by whom, and how much. Field for field a row of `withdrawals`."""

    withdrawal_id: UUID
    kind: str
    source: str
    principal: str
    at: datetime
    reinstated_at: datetime | None
    withdrawn: int
    rolled_back: int
    turns: int


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be withdrawn: a source, of one agent or, where that is empty, of all."""

    agent_id: str
    source: Source

    def to_text(self) -> str:
        """What a request id stands for."""
        source = self.source
        return json.dumps([self.agent_id, source.kind, source.name, source.since, source.until], default=str)


@dataclass(frozen=True, slots=True)
class Counts:
    """How much was withdrawn."""

    withdrawn: int = 0
    rolled_back: int = 0
    turns: int = 0
    conflicts: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))


@dataclass(frozen=True, slots=True)
class By:
    """Whose withdrawal, when."""

    withdrawal_id: UUID
    principal: str
    at: datetime


class WithdrawalWriter:
    """Withdraws and reinstates within one transaction."""

    def __init__(self, connection: Connection, tenant_id: int) -> None:
        self._connection = connection
        self._tenant_id = tenant_id

    async def withdraw(self, bank_id: int, source: Source, by: By) -> Counts:
        """Withdraw what came from a source in a bank; no other change of the bank happens meanwhile."""
        run = self._connection.execute
        await run(LOCK_BANK, bank_id)
        found = await find_memories(self._connection, bank_id, source)
        touched = await find_touched(self._connection, bank_id, source, found)
        found += await find_hidden(self._connection, bank_id, source, found)
        turns = await find_turns(self._connection, bank_id, source)
        named = (source.kind, await self._connection.fetchval(NAME, self._tenant_id, source.kind, source.name))
        hidden = _count(await run(WITHDRAW, bank_id, found, by.at, by.principal, by.withdrawal_id, *named))
        await run(ROLL_BACK, bank_id, *_columns(touched), by.at, by.principal, by.withdrawal_id)
        await run(COPY_EMBEDDINGS, bank_id, by.withdrawal_id)
        await run(ASK, bank_id, by.withdrawal_id, REASON, by.at)
        withheld = _count(await run(WITHHOLD, bank_id, by.withdrawal_id, *turns, *named))
        told = (source.kind, source.name, source.since, source.until, named[1])
        conflicts = _count(await run(WITHHOLD_CONFLICTS, bank_id, by.withdrawal_id, *turns, *told))
        await run(RESTART_JOBS, bank_id)
        return Counts(hidden, len(touched), withheld, conflicts)

    async def record(self, asked: Asked, by: By, request_id: str, counts: Counts) -> Withdrawal:
        """Keep account of a withdrawal."""
        source = asked.source
        name = await self._connection.fetchval(NAME, self._tenant_id, source.kind, source.name)
        told = (source.kind, name, by.principal, request_id, asked.to_text(), by.at)
        numbers = (counts.withdrawn, counts.rolled_back, counts.turns)
        await self._connection.execute(RECORD, self._tenant_id, by.withdrawal_id, *told, *numbers)
        found = await self.get(by.withdrawal_id)
        assert found is not None
        return found

    async def get(self, withdrawal_id: UUID) -> Withdrawal | None:
        """A withdrawal, or None."""
        row = await self._connection.fetchrow(GET, self._tenant_id, withdrawal_id)
        return Withdrawal(**row) if row else None

    async def find_request(self, principal: str, request_id: str, asked: Asked) -> tuple[Withdrawal, bool] | None:
        """The withdrawal that a request id stands for, and whether the same is asked now; or None."""
        row = await self._connection.fetchrow(BY_REQUEST, self._tenant_id, principal, request_id, asked.to_text())
        return (Withdrawal(**{k: v for k, v in row.items() if k != "is_same"}), row["is_same"]) if row else None

    async def banks(self, withdrawal_id: UUID) -> list[int]:
        """The banks in which a withdrawal holds memories or turns, ascending."""
        return [row["bank_id"] for row in await self._connection.fetch(BANKS, self._tenant_id, withdrawal_id)]

    async def reinstate(self, bank_id: int, by: By) -> int:
        """Bring back what a withdrawal took from a bank, unless somebody changed it since; how many memories."""
        await self._connection.execute(LOCK_BANK, bank_id)
        await self._connection.execute(HAND_ON, bank_id, by.withdrawal_id)
        await self._connection.execute(LET_GO, bank_id, by.withdrawal_id)
        made = await self._connection.fetchval(REINSTATE, bank_id, by.withdrawal_id, by.at, by.principal)
        for statement in CLEAR:
            await self._connection.execute(statement, bank_id, by.withdrawal_id)
        return made

    async def close(self, withdrawal_id: UUID, at: datetime) -> None:
        """Note that a withdrawal was taken back."""
        await self._connection.execute(CLOSE, self._tenant_id, withdrawal_id, at)

    async def holds(self, bank_id: int, memory_id: UUID, revision: int) -> bool:
        """Whether a revision of a memory came from a source that is withdrawn."""
        return await self._connection.fetchval(HOLDS, bank_id, memory_id, revision)


async def page(pool: asyncpg.Pool, tenant_id: int, *, before: UUID | None, limit: int) -> list[Withdrawal]:
    """A tenant's withdrawals, newest first, before one."""
    async with transaction(pool, tenant_id, readonly=True) as connection:
        return [Withdrawal(**row) for row in await connection.fetch(PAGE, tenant_id, before, limit)]


def _columns(touched: Sequence[Touched]) -> tuple[list[Any], ...]:
    return [t.memory_id for t in touched], [t.first for t in touched], [t.ends for t in touched]


def _count(status: str) -> int:
    return int(status.split()[-1])
