"""Removes a source or a scope from a bank for good; as the maintenance role, which alone may delete. One statement a table."""

import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from hindsight_store.desks import ENTRY_PREFIX
from hindsight_store.pool import Connection
from hindsight_store.sources import Source, Touched, find_memories, find_touched, find_turns
from hindsight_store.withdrawals import LOCK_BANK, RESTART_JOBS

RECEIPTS_AT_ONCE = 500

RECEIPTS = """SELECT receipt_id, document FROM receipts WHERE bank_id = $1 AND ($2::uuid IS NULL OR receipt_id > $2)
    ORDER BY receipt_id LIMIT $3"""

ASKED = """SELECT receipt_id FROM receipts AS r WHERE r.bank_id = $1
    AND (($2 = 'scope' AND r.scope = $3) OR ($2 = 'principal' AND r.principal = $3))
    AND ($4::timestamptz IS NULL OR r.at >= $4) AND ($5::timestamptz IS NULL OR r.at < $5)"""

# The same recall's hits on what stays hold the query too, told by its moment and its words; those of another user's recall stay.
HITS = """WITH asked AS (
        SELECT r.at, r.query FROM receipts AS r WHERE r.bank_id = $1 AND r.receipt_id = ANY ($5)
        UNION SELECT h.at, h.query FROM memory_hits AS h WHERE h.bank_id = $1 AND h.memory_id = ANY ($2)
    )
    DELETE FROM memory_hits AS h WHERE h.bank_id = $1 AND (h.memory_id = ANY ($2) OR ($3 = 'scope' AND h.scope = $4)
        OR (h.scope = '' AND (h.at, h.query) IN (SELECT a.at, a.query FROM asked AS a)))"""

# Of a receipt that is gone.
OUTCOMES = """DELETE FROM outcomes AS o WHERE o.bank_id = $1
    AND (NOT EXISTS (SELECT FROM receipts AS r WHERE r.bank_id = $1 AND r.receipt_id = o.receipt_id)
        OR ($2 = 'principal' AND o.principal = $3
            AND ($4::timestamptz IS NULL OR o.at >= $4) AND ($5::timestamptz IS NULL OR o.at < $5)))"""

CONFLICTS = """DELETE FROM conflicts WHERE bank_id = $1 AND (kept_id = ANY ($2) OR ($3 = 'scope' AND scope = $4)
    OR (session_id, turn) IN (SELECT * FROM unnest($5::text[], $6::int[]))
    OR ((($3 = 'principal' AND principal = $4) OR ($3 = 'session' AND session_id = $4))
        AND ($7::timestamptz IS NULL OR at >= $7) AND ($8::timestamptz IS NULL OR at < $8)))"""

GRANTS = "DELETE FROM grants WHERE bank_id = $1 AND $2 = 'scope' AND scope = $3"

RELATIONS = """DELETE FROM memory_relations WHERE bank_id = $1
    AND (from_id = ANY ($2) OR to_id = ANY ($2) OR ($3 = 'principal' AND principal = $4
        AND ($5::timestamptz IS NULL OR created_at >= $5) AND ($6::timestamptz IS NULL OR created_at < $6)))"""

BY_MEMORY = {
    table: f"DELETE FROM {table} WHERE bank_id = $1 AND memory_id = ANY ($2)"
    for table in ("memory_use", "embeddings", "reviews", "withdrawn", "memories")
}

TASKS = """DELETE FROM tasks AS t WHERE t.bank_id = $1 AND (t.session_id = ANY ($2) OR EXISTS (
        SELECT FROM unnest($3::text[], $4::int[]) AS s(session_id, turn)
        WHERE s.session_id = t.session_id AND s.turn >= t.first_turn AND s.turn < t.end_turn)) RETURNING task_id"""

# The window of the turn that follows holds the turn as well.
WINDOWS = """DELETE FROM turn_embeddings AS e USING unnest($2::text[], $3::int[]) AS s(session_id, turn)
    WHERE e.bank_id = $1 AND e.session_id = s.session_id
        AND (e.turn = s.turn OR (e.turn = s.turn + 1 AND e.channel = 'window'))"""

TURNS = """DELETE FROM turns AS t USING unnest($2::text[], $3::int[]) AS s(session_id, turn)
    WHERE t.bank_id = $1 AND t.session_id = s.session_id AND t.turn = s.turn"""

# Sessions of the scope, or of which no turn is left.
WHOLE_SESSIONS = """SELECT s.session_id FROM sessions AS s WHERE s.bank_id = $1
    AND (($2 = 'scope' AND s.scope = $3)
        OR ($2 = 'session' AND s.session_id = $3 AND $6::timestamptz IS NULL AND $7::timestamptz IS NULL)
        OR (s.session_id = ANY ($4) AND NOT EXISTS (
        SELECT FROM turns AS t WHERE t.bank_id = $1 AND t.session_id = s.session_id
            AND NOT EXISTS (SELECT FROM unnest($4::text[], $5::int[]) AS g(session_id, turn)
                WHERE g.session_id = t.session_id AND g.turn = t.turn))))"""

SESSIONS = "DELETE FROM sessions WHERE bank_id = $1 AND session_id = ANY ($2)"

# What is known of the open task are words of the turns.
FORGET_PULSE = """UPDATE sessions SET pulse = '{}', task_id = CASE WHEN task_id = ANY ($3) THEN NULL ELSE task_id END,
        is_reopened = false, summary_id = CASE WHEN summary_id = ANY ($4) THEN NULL ELSE summary_id END
    WHERE bank_id = $1 AND session_id = ANY ($2)"""

JOBS = """DELETE FROM jobs WHERE bank_id = $1 AND (payload ->> 'session_id' = ANY ($2) OR payload ->> 'task_id' = ANY ($3))"""

# A request id goes on standing for what it did, so that a late repeat of the call does not do it again.
REQUESTS = """UPDATE requests AS q SET content_hash = '', outcome = '{"erased": true}'
    WHERE q.bank_id = $1 AND (q.session_name IN (SELECT keyed_name(q.tenant_id, 'session', s) FROM unnest($3::text[]) AS s)
        OR EXISTS (SELECT FROM jsonb_array_elements(q.outcome -> 'results') AS r WHERE r ->> 'memory_id' = ANY ($2)))"""

TOUCHED_EMBEDDINGS = """DELETE FROM embeddings AS e USING unnest($2::uuid[], $3::int[]) AS w(memory_id, first)
    WHERE e.bank_id = $1 AND e.memory_id = w.memory_id AND e.revision >= w.first AND w.first > 1"""

TOUCHED_REVISIONS = """DELETE FROM memories AS m USING unnest($2::uuid[], $3::int[]) AS w(memory_id, first)
    WHERE m.bank_id = $1 AND m.memory_id = w.memory_id AND m.revision >= w.first AND w.first > 1"""

# The revisions that come now get the same numbers, and no withdrawal speaks of those.
TOUCHED_WITHDRAWN = """DELETE FROM withdrawn AS d USING unnest($2::uuid[], $3::int[]) AS w(memory_id, first)
    WHERE d.bank_id = $1 AND d.memory_id = w.memory_id AND w.first > 1
        AND greatest(d.first_revision, d.former_revision, d.made_revision) >= w.first"""

REOPEN = """UPDATE memories AS m SET known_to = NULL,
        valid_to = CASE WHEN w.first > 1 THEN least(m.valid_to, w.ends) ELSE w.ends END,
        status = CASE WHEN w.hidden <> '' THEN w.hidden WHEN w.ends <= now() THEN 'superseded' WHEN w.first = 1 THEN 'active'
            ELSE m.status END
    FROM unnest($2::uuid[], $3::int[], $4::timestamptz[], $5::text[]) AS w(memory_id, first, ends, hidden)
    WHERE m.bank_id = $1 AND m.memory_id = w.memory_id
        AND ((w.first > 1 AND m.revision = w.first - 1) OR (w.first = 1 AND m.known_to IS NULL))"""


async def remove(connection: Connection, bank_id: int, source: Source) -> tuple[list[UUID], Counter[str]]:
    """Remove everything of a source or scope from a bank, inside the caller's transaction: the memories, and how many rows of
    each table. What it had taken the place of holds again."""
    run = connection.execute
    await run(LOCK_BANK, bank_id)
    named, span = (source.kind, source.name), (source.since, source.until)
    found = await find_memories(connection, bank_id, source, with_turn=True)
    touched = await find_touched(connection, bank_id, source, found, with_hidden=True)
    turns = await find_turns(connection, bank_id, source, with_turn=True)
    partly = sorted(set(turns[0]))
    whole = [r["session_id"] for r in await connection.fetch(WHOLE_SESSIONS, bank_id, *named, *turns, *span)]
    receipts = await _find_receipts(connection, bank_id, source, found, turns)
    gone: Counter[str] = Counter()
    gone["memory_hits"] = _count(await run(HITS, bank_id, found, *named, receipts))
    gone["receipts"] = _count(await run("DELETE FROM receipts WHERE bank_id = $1 AND receipt_id = ANY ($2)", bank_id, receipts))
    gone["outcomes"] = _count(await run(OUTCOMES, bank_id, *named, *span))
    if grants := _count(await run(GRANTS, bank_id, *named)):
        gone["grants"] = grants
    gone["conflicts"] = _count(await run(CONFLICTS, bank_id, found, *named, *turns, *span))
    gone["memory_relations"] = _count(await run(RELATIONS, bank_id, found, *named, *span))
    gone["tasks"] = len(tasks := [r["task_id"] for r in await connection.fetch(TASKS, bank_id, whole, *turns)])
    gone["turn_embeddings"] = _count(await run(WINDOWS, bank_id, *turns))
    gone["turns"] = _count(await run(TURNS, bank_id, *turns))
    gone["sessions"] = _count(await run(SESSIONS, bank_id, whole))
    await run(FORGET_PULSE, bank_id, partly, tasks, found)
    gone["jobs"] = _count(await run(JOBS, bank_id, whole, list(map(str, tasks))))
    await run(RESTART_JOBS, bank_id)
    gone["requests"] = _count(await run(REQUESTS, bank_id, list(map(str, found)), whole))
    await _restore(connection, bank_id, touched, gone)
    for table, statement in BY_MEMORY.items():
        gone[table] += _count(await run(statement, bank_id, found))
    return found, gone


async def _restore(connection: Connection, bank_id: int, touched: Sequence[Touched], gone: Counter[str]) -> None:
    """What others wrote goes back to what it was before the source changed it, also in its history."""
    ids, first = [t.memory_id for t in touched], [t.first for t in touched]
    gone["embeddings"] += _count(await connection.execute(TOUCHED_EMBEDDINGS, bank_id, ids, first))
    gone["memories"] += _count(await connection.execute(TOUCHED_REVISIONS, bank_id, ids, first))
    gone["withdrawn"] += _count(await connection.execute(TOUCHED_WITHDRAWN, bank_id, ids, first))
    await connection.execute(REOPEN, bank_id, ids, first, [t.ends for t in touched], [t.hidden for t in touched])


async def _find_receipts(
    connection: Connection, bank_id: int, source: Source, found: Sequence[UUID], turns: tuple[list[str], list[int]]
) -> list[UUID]:
    """The accounts of recalls that were asked within the scope, or by the key, or that name something that is removed."""
    receipts = {
        row["receipt_id"] for row in await connection.fetch(ASKED, bank_id, source.kind, source.name, source.since, source.until)
    }
    gone_turns = set(zip(*turns, strict=True))
    last = None
    while (found or gone_turns) and (page := await connection.fetch(RECEIPTS, bank_id, last, RECEIPTS_AT_ONCE)):
        for row in page:
            named = names_in(row["document"])
            if named.memories & set(found) or named.turns & gone_turns:
                receipts.add(row["receipt_id"])
        last = page[-1]["receipt_id"]
    return sorted(receipts)


@dataclass(frozen=True, slots=True)
class Named:
    """What the account of a recall names."""

    memories: frozenset[UUID] = frozenset()
    turns: frozenset[tuple[str, int]] = frozenset()


def names_in(document: bytes) -> Named:
    """The memories and turns that the account of a recall names; nothing where it cannot be read."""
    try:
        account: Mapping[str, Any] = json.loads(zlib.decompress(document))
        places = [place for part in ("hits", "near_misses") for place in account.get(part, ())]
        turns = [place["id"].rpartition("#") for place in places if place.get("is_turn")]
        rest = [place["id"] for place in places if not place.get("is_turn")]
        ids = [name for name in (*rest, *account.get("withheld", ())) if not name.startswith(ENTRY_PREFIX)]
        return Named(frozenset(map(UUID, ids)), frozenset((session, int(number)) for session, _, number in turns))
    except (zlib.error, ValueError, TypeError, KeyError, AttributeError):
        return Named()


def _count(status: str) -> int:
    return int(status.split()[-1])
