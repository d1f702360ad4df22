"""Sessions being observed and the tasks found in them."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from hindsight_store import jobs
from hindsight_store.pool import Connection, aware, transaction

REMOVED_AT_ONCE = 1000
SESSION = """s.session_id, s.scope, s.started_at, s.last_turn_at, s.ended_at, s.kept_turn, s.task_turn, s.task_id, s.is_reopened,
    s.pulse, s.heard_at, s.due_at, s.summary_id, s.judged_by"""

TASK = """t.task_id, t.session_id, t.first_turn, t.end_turn, t.boundary, t.outcome, t.note, t.state, t.reason, t.judged_by,
    t.experience_id, t.memory_ids, t.looks, t.created_at, t.looked_at"""

FIND = f"""SELECT {SESSION}, (SELECT coalesce(max(t.turn) + 1, 0) FROM turns AS t
        WHERE t.bank_id = $1 AND t.session_id = $2) AS next_turn
    FROM sessions AS s WHERE s.bank_id = $1 AND s.session_id = $2"""

CREATE = """INSERT INTO sessions (bank_id, session_id, tenant_id, scope, started_at, last_turn_at, heard_at)
    VALUES ($1, $2, $3, $4, $5, $5, $6)"""

UPDATE = """UPDATE sessions SET last_turn_at = $3, ended_at = $4, kept_turn = $5, task_turn = $6, task_id = $7, is_reopened = $8,
        pulse = $9, heard_at = $10, due_at = $11, summary_id = $12, judged_by = $13
    WHERE bank_id = $1 AND session_id = $2"""

# Silence is looked at in a job of the tenant's own; the job sets when to look again.
LEASE_DUE = """UPDATE sessions SET due_at = NULL WHERE (bank_id, session_id) IN (
        SELECT bank_id, session_id FROM sessions WHERE due_at <= $1 ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED)
    RETURNING bank_id, tenant_id, session_id"""

INSERT_TASK = """INSERT INTO tasks (bank_id, task_id, tenant_id, session_id, first_turn, end_turn, boundary, outcome, note, state,
        created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'waiting', $10)"""

EXTEND_TASK = """UPDATE tasks SET end_turn = $3, boundary = $4, outcome = CASE WHEN $5 = '' THEN outcome ELSE $5 END,
        note = CASE WHEN $6 = '' THEN note ELSE $6 END, state = 'waiting', looks = looks + 1
    WHERE bank_id = $1 AND task_id = $2 RETURNING looks"""

# A task that went on meanwhile waits for another look.
FINISH_TASK = """UPDATE tasks SET state = CASE WHEN looks = $9 THEN $3 ELSE state END, reason = $4, judged_by = $5,
        experience_id = $6, memory_ids = $7, looked_at = $8
    WHERE bank_id = $1 AND task_id = $2"""

GET_TASK = f"SELECT {TASK} FROM tasks AS t WHERE t.bank_id = $1 AND t.task_id = $2"

LIST_TASKS = f"""SELECT {TASK} FROM tasks AS t
    WHERE t.bank_id = $1 AND t.session_id = $2 AND ($3::int IS NULL OR t.first_turn > $3)
    ORDER BY t.first_turn, t.task_id LIMIT $4"""

# Ids of hits begin with their time, so this is a range of the primary key. In a session of somebody's own, what was recalled
# for others tells nothing; one of the agent itself may have heard of anybody's.
RECALLED = """SELECT m.memory_id, m.value FROM memories AS m
    WHERE m.bank_id = $1 AND m.known_to IS NULL AND m.status IN ('active', 'archived', 'superseded')
        AND ($4 = 'agent' OR m.scope IN ('agent', $4)) AND m.memory_id IN (
            SELECT h.memory_id FROM memory_hits AS h WHERE h.bank_id = $1 AND h.hit_id >= $2 ORDER BY h.hit_id DESC LIMIT $3)"""

# Whether something was named before: in a memory, or in a turn before this one.
NAMED_BEFORE = """SELECT w.term FROM unnest($3::text[], $4::text[]) AS w(term, query)
    WHERE EXISTS (SELECT 1 FROM memories AS m WHERE m.bank_id = $1 AND m.known_to IS NULL AND m.scope = $2
            AND m.status IN ('active', 'archived') AND m.words @@ w.query::tsquery
            AND NOT (m.session_id = $5 AND m.turn IS NOT DISTINCT FROM $6))
        OR EXISTS (SELECT 1 FROM turns AS t WHERE t.bank_id = $1 AND t.scope = $2 AND t.words @@ w.query::tsquery
            AND (t.session_id <> $5 OR t.turn < $6) AND t.known_from <= $7)"""


# The last turn of a session that goes on stays, so that its numbers go on too.
REMOVE_TURNS = """DELETE FROM turns WHERE (bank_id, session_id, turn) IN (
        SELECT t.bank_id, t.session_id, t.turn FROM turns AS t JOIN sessions AS s USING (bank_id, session_id)
        WHERE t.known_from < $1 AND (s.heard_at < $1 OR t.turn < (
            SELECT max(last.turn) FROM turns AS last WHERE last.bank_id = t.bank_id AND last.session_id = t.session_id))
        LIMIT $2)"""

SILENT_SESSIONS = """SELECT s.bank_id, s.session_id FROM sessions AS s WHERE s.heard_at < $1 AND NOT EXISTS (
        SELECT FROM turns AS t WHERE t.bank_id = s.bank_id AND t.session_id = s.session_id) LIMIT $2 FOR UPDATE SKIP LOCKED"""

REMOVE_TASKS = "DELETE FROM tasks WHERE bank_id = $1 AND session_id = $2"

REMOVE_SESSION = "DELETE FROM sessions WHERE bank_id = $1 AND session_id = $2"


@dataclass(frozen=True, slots=True)
class Session:
    """A session as it stands: a row of `sessions`, and how many turns it has."""

    session_id: str
    scope: str
    started_at: datetime
    last_turn_at: datetime
    heard_at: datetime
    next_turn: int = 0  # the number its next turn gets
    ended_at: datetime | None = None
    kept_turn: int = 0  # what is worth keeping of the turns before it was decided
    task_turn: int = 0  # where the open task begins
    task_id: UUID | None = None  # the last task
    is_reopened: bool = False  # the open task is the last one, gone on with
    pulse: Mapping[str, Any] = field(default_factory=dict)
    due_at: datetime | None = None
    summary_id: UUID | None = None
    judged_by: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """A task found in a session; its turns are first_turn to end_turn, half-open."""

    task_id: UUID
    session_id: str
    first_turn: int
    end_turn: int
    boundary: str  # what ended it: client, done, chain, resolved, topic, idle, end
    outcome: str
    note: str
    state: str  # waiting, remembered, nothing
    reason: str
    judged_by: str
    experience_id: UUID | None
    memory_ids: tuple[UUID, ...]
    looks: int
    created_at: datetime
    looked_at: datetime | None


class SessionReader:
    """Reads one tenant's sessions and tasks over one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def find(self, bank_id: int, session_id: str) -> Session | None:
        """A session, or None."""
        row = await self._connection.fetchrow(FIND, bank_id, session_id)
        return _to_session(row) if row else None

    async def get_task(self, bank_id: int, task_id: UUID) -> Task | None:
        """A task, or None."""
        row = await self._connection.fetchrow(GET_TASK, bank_id, task_id)
        return _to_task(row) if row else None

    async def list_tasks(self, bank_id: int, session_id: str, *, after: int | None = None, limit: int) -> list[Task]:
        """A session's tasks in order, those that begin after a turn."""
        return [_to_task(row) for row in await self._connection.fetch(LIST_TASKS, bank_id, session_id, after, limit)]


class SessionWriter(SessionReader):
    """Writes one tenant's sessions and tasks within one transaction. Who changes a session holds its lock."""

    def __init__(self, connection: Connection, tenant_id: int) -> None:
        super().__init__(connection)
        self._tenant_id = tenant_id

    async def create(self, bank_id: int, session: Session) -> None:
        """Begin a session."""
        when = (session.started_at, session.heard_at)
        await self._connection.execute(CREATE, bank_id, session.session_id, self._tenant_id, session.scope, *when)

    async def update(self, bank_id: int, s: Session) -> None:
        """Store a session as it stands now."""
        places = (s.last_turn_at, s.ended_at, s.kept_turn, s.task_turn, s.task_id, s.is_reopened)
        rest = (dict(s.pulse), s.heard_at, s.due_at, s.summary_id, s.judged_by)
        await self._connection.execute(UPDATE, bank_id, s.session_id, *places, *rest)

    async def insert_task(self, bank_id: int, task: Task) -> None:
        """Add a task that waits for its retrospective."""
        turns = (task.session_id, task.first_turn, task.end_turn)
        rest = (task.boundary, task.outcome, task.note, task.created_at)
        await self._connection.execute(INSERT_TASK, bank_id, task.task_id, self._tenant_id, *turns, *rest)

    async def extend_task(self, bank_id: int, task_id: UUID, end_turn: int, boundary: str, told: tuple[str, str]) -> int:
        """Let a task go on to a later turn, to be looked back on again; how often that makes. What is told (outcome, note)
        and not empty takes the place of what was."""
        return await self._connection.fetchval(EXTEND_TASK, bank_id, task_id, end_turn, boundary, *told)

    async def finish_task(self, bank_id: int, task: Task) -> None:
        """Store what became of a task's retrospective."""
        became = (task.state, task.reason, task.judged_by, task.experience_id, list(task.memory_ids), task.looked_at, task.looks)
        await self._connection.execute(FINISH_TASK, bank_id, task.task_id, *became)

    async def recalled_since(self, bank_id: int, scope: str, first_hit: UUID, *, limit: int) -> dict[UUID, str]:
        """The content of memories that a session of a scope may have heard of: hits since a moment, given as the least id of
        a hit then."""
        rows = await self._connection.fetch(RECALLED, bank_id, first_hit, limit, scope)
        return {row["memory_id"]: row["value"] for row in rows}

    async def named_before(
        self, bank_id: int, scope: str, queries: Mapping[str, str], place: tuple[str, int, datetime]
    ) -> set[str]:
        """Which names (given with their tsquery) a scope's memories hold, or its turns before a place: session, turn, and
        when that was heard."""
        named = (list(queries), list(queries.values()))
        return {row["term"] for row in await self._connection.fetch(NAMED_BEFORE, bank_id, scope, *named, *place)}


@asynccontextmanager
async def reading_sessions(pool: asyncpg.Pool, tenant_id: int) -> AsyncIterator[SessionReader]:
    """A reader of one tenant's sessions, in a read-only transaction."""
    async with transaction(pool, tenant_id, readonly=True) as connection:
        yield SessionReader(connection)


async def enqueue_due(pool: asyncpg.Pool, kind: str, now: datetime, *, limit: int) -> int:
    """Queue a job for each session, of any tenant, in which silence now means something; as the maintenance role."""
    async with transaction(pool, 0, readonly=False) as connection:
        rows: Sequence[Any] = await connection.fetch(LEASE_DUE, now, limit)
        due = [jobs.new_row(row["bank_id"], row["tenant_id"], kind, {"session_id": row["session_id"]}) for row in rows]
        await jobs.enqueue(connection, due)
    return len(rows)


async def remove_old(pool: asyncpg.Pool, before: datetime) -> tuple[int, int]:
    """Remove turns that were heard before a moment, and sessions of which nothing is left, of every tenant; how many of each.
    As the maintenance role, in small transactions. What was learned from them stays."""
    removed = [0, 0]
    while True:
        async with transaction(pool, 0, readonly=False) as connection:
            turns = int((await connection.execute(REMOVE_TURNS, before, REMOVED_AT_ONCE)).split()[-1])
        removed[0] += turns
        if turns < REMOVED_AT_ONCE:
            break
    while True:
        async with transaction(pool, 0, readonly=False) as connection:
            rows = [tuple(row) for row in await connection.fetch(SILENT_SESSIONS, before, REMOVED_AT_ONCE)]
            await connection.executemany(REMOVE_TASKS, rows)
            await connection.executemany(REMOVE_SESSION, rows)
        removed[1] += len(rows)
        if len(rows) < REMOVED_AT_ONCE:
            return removed[0], removed[1]


def _to_session(row: Mapping[str, Any]) -> Session:
    fields: dict[str, Any] = {name: row[name] for name in Session.__dataclass_fields__}
    moments = {name: aware(row[name]) for name in ("started_at", "last_turn_at", "heard_at", "ended_at", "due_at")}
    return Session(**{**fields, **moments})


def _to_task(row: Mapping[str, Any]) -> Task:
    fields: dict[str, Any] = {name: row[name] for name in Task.__dataclass_fields__}
    return Task(**{**fields, "memory_ids": tuple(row["memory_ids"])})
