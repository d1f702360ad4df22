"""The audit log: who changed what and what came of it, as ids, names of acts and counts. Append-only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from hindsight_store.ids import uuid7
from hindsight_store.pool import Connection, transaction

SUBJECTS = 64  # ids in a line; of more the rest is counted

# A session's name is the client's own text, so it stands here as a hash.
INSERT = """INSERT INTO audit (tenant_id, audit_id, bank_id, principal, action, subject, outcome)
    VALUES ($1, $2, $3, $4, $5, CASE WHEN $6 = '' THEN $7 ELSE 'session:' || keyed_name($1, 'session', $6) END, $8)"""

PAGE = """SELECT l.audit_id, l.at, coalesce(a.agent_id, '') AS agent_id, l.principal, l.action, l.subject, l.outcome
    FROM audit AS l LEFT JOIN agents AS a ON a.bank_id = l.bank_id
    WHERE l.tenant_id = $1 AND ($2::uuid IS NULL OR l.audit_id < $2) AND ($4 = '' OR a.agent_id = $4)
        AND ($5 = '' OR l.principal = $5) AND ($6 = '' OR l.action = $6)
        AND ($7::timestamptz IS NULL OR l.at >= $7) AND ($8::timestamptz IS NULL OR l.at < $8)
    ORDER BY l.audit_id DESC LIMIT $3"""


@dataclass(frozen=True, slots=True)
class Act:
    """A change to be accounted for. `subject` are ids; `session` is a session's name, given instead."""

    principal: str
    action: str
    outcome: str
    subject: str = ""
    session: str = ""
    bank_id: int | None = None


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One line of the log; the agent is empty for what concerns the whole tenant."""

    audit_id: UUID
    at: datetime
    agent_id: str
    principal: str
    action: str
    subject: str
    outcome: str


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which lines; empty and None mean any. Half-open."""

    agent_id: str = ""
    principal: str = ""
    action: str = ""
    since: datetime | None = None
    until: datetime | None = None


def join_subjects(ids: Sequence[UUID]) -> str:
    """Ids as they stand in a line."""
    told = " ".join(map(str, ids[:SUBJECTS]))
    return told if len(ids) <= SUBJECTS else f"{told} +{len(ids) - SUBJECTS}"


def count_outcomes(counts: Mapping[str, Any]) -> str:
    """Counts and ids as they stand in a line: "created 2, updated 1"."""
    return ", ".join(f"{name} {count}" for name, count in counts.items())


async def record(connection: Connection, tenant_id: int, acts: Sequence[Act]) -> None:
    """Add lines, inside the transaction of the changes."""
    rows = [(tenant_id, uuid7(), a.bank_id, a.principal, a.action, a.session, a.subject, a.outcome) for a in acts]
    await connection.executemany(INSERT, rows)


async def page(pool: asyncpg.Pool, tenant_id: int, wanted: AuditFilter, *, before: UUID | None, limit: int) -> list[AuditLine]:
    """A tenant's lines, newest first, before one."""
    chosen = (wanted.agent_id, wanted.principal, wanted.action, wanted.since, wanted.until)
    async with transaction(pool, tenant_id, readonly=True) as connection:
        return [AuditLine(**row) for row in await connection.fetch(PAGE, tenant_id, before, limit, *chosen)]
