"""What came from a source: its turns, the memories written from it, and everything derived from those."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from hindsight_store.pool import Connection

# $1 bank, $2 kind, $3 name, $4 the memory's id, $5 since, $6 until, $7 whether the turn a memory was said in counts too: not one
# of others that it only claims to be from.
# A memory is of whoever wrote its first revision. Derived is what was derived when it was written, or is said to be by a
# relation; what came into a memory later, with a near-duplicate, touches it (see below) and does not make it the source's.
SAID = """said AS MATERIALIZED (
        SELECT t.session_id, t.turn FROM turns AS t
        WHERE t.bank_id = $1 AND ($5::timestamptz IS NULL OR t.known_from >= $5)
            AND ($6::timestamptz IS NULL OR t.known_from < $6)
            AND (($2 = 'principal' AND t.principal = $3) OR ($2 = 'session' AND t.session_id = $3)
                OR ($2 = 'tool' AND t.tool = $3) OR ($2 = 'scope' AND t.scope = $3))
        UNION
        SELECT m.session_id, m.turn FROM memories AS m JOIN turns AS t USING (bank_id, session_id, turn)
        WHERE $7 AND m.bank_id = $1 AND m.memory_id = $4 AND (t.scope = m.scope OR t.principal = m.principal)
    )"""

MEMORIES = f"""WITH RECURSIVE {SAID},
    written AS (
        SELECT m.memory_id FROM memories AS m
        WHERE m.bank_id = $1 AND ($5::timestamptz IS NULL OR m.known_from >= $5)
            AND ($6::timestamptz IS NULL OR m.known_from < $6)
            AND (($2 = 'principal' AND m.principal = $3 AND m.revision = 1) OR ($2 = 'session' AND m.session_id = $3)
                OR ($2 = 'scope' AND m.scope = $3))
        UNION
        SELECT m.memory_id FROM memories AS m WHERE m.bank_id = $1 AND m.memory_id = $4
        UNION
        SELECT m.memory_id FROM said AS s JOIN memories AS m
            ON m.bank_id = $1 AND m.session_id = s.session_id AND m.turn = s.turn
        UNION
        SELECT m.memory_id FROM sessions AS s JOIN memories AS m ON m.bank_id = $1 AND m.session_id = s.session_id
        WHERE s.bank_id = $1 AND $2 = 'scope' AND s.scope = $3
        UNION
        SELECT s.summary_id FROM sessions AS s
        WHERE s.bank_id = $1 AND s.summary_id IS NOT NULL AND s.session_id IN (SELECT session_id FROM said)
        UNION
        SELECT unnest(t.memory_ids || t.experience_id) FROM tasks AS t
        WHERE t.bank_id = $1 AND EXISTS (SELECT FROM said AS s
            WHERE s.session_id = t.session_id AND s.turn >= t.first_turn AND s.turn < t.end_turn)
    ),
    derived AS MATERIALIZED (
        SELECT m.memory_id, unnest(m.derived_from) AS origin FROM memories AS m
        WHERE m.bank_id = $1 AND m.revision = 1 AND m.derived_from <> '{{}}'
        UNION
        SELECT r.from_id, r.to_id FROM memory_relations AS r
        WHERE r.bank_id = $1 AND r.type = 'derived_from' AND NOT ($2 = 'principal' AND r.principal = $3)
            AND NOT EXISTS (SELECT FROM memories AS m WHERE m.bank_id = $1 AND m.memory_id = r.from_id AND m.revision > 1
                AND r.to_id = ANY (m.derived_from))
    ),
    found AS (
        SELECT w.memory_id FROM written AS w WHERE w.memory_id IS NOT NULL
        UNION
        SELECT d.memory_id FROM found AS f JOIN derived AS d ON d.origin = f.memory_id
    )
    SELECT f.memory_id FROM found AS f WHERE EXISTS (
        SELECT FROM memories AS m WHERE m.bank_id = $1 AND m.memory_id = f.memory_id) ORDER BY f.memory_id"""

TURNS = f"WITH {SAID} SELECT s.session_id, s.turn FROM said AS s"

# What others wrote and the source changed: the first revision that came of that. 1: it was born as the past of a memory found.
# $1 bank, $2 the memories found, $3 the key or NULL, $4 since, $5 until, $6 whether what is hidden by now counts too.
TOUCHED = """WITH changed AS (
        SELECT m.memory_id, m.revision FROM memories AS m
        WHERE m.bank_id = $1 AND m.revision > 1 AND m.principal = $3
            AND ($4::timestamptz IS NULL OR m.known_from >= $4) AND ($5::timestamptz IS NULL OR m.known_from < $5)
        UNION
        SELECT m.memory_id, m.revision FROM memories AS m
        WHERE m.bank_id = $1 AND m.revision > 1 AND m.derived_from && $2
        UNION
        SELECT m.memory_id, m.revision FROM memory_relations AS r JOIN memories AS m
            ON m.bank_id = $1 AND m.memory_id = r.to_id AND m.known_from = r.created_at
        WHERE r.bank_id = $1 AND r.type = 'supersedes' AND r.from_id = ANY ($2) AND m.valid_to IS NOT NULL
    )
    SELECT c.memory_id, min(c.revision) AS first, CASE WHEN m.status = 'pending_review' OR (m.status = 'deleted'
            AND m.principal IS DISTINCT FROM $3) THEN m.status ELSE '' END AS hidden
    FROM changed AS c JOIN memories AS m ON m.bank_id = $1 AND m.memory_id = c.memory_id AND m.known_to IS NULL
    WHERE c.memory_id <> ALL ($2) AND ($6 OR (m.status <> 'pending_review'
        AND (m.status <> 'deleted' OR m.principal IS NOT DISTINCT FROM $3)))
    GROUP BY c.memory_id, m.status, m.principal ORDER BY c.memory_id"""

# What the source $3 changed of others and another withdrawal hides: as what it wrote, so that it stays hidden when that one ends.
HIDDEN = """SELECT DISTINCT m.memory_id FROM memories AS m JOIN memories AS latest
        ON latest.bank_id = $1 AND latest.memory_id = m.memory_id AND latest.known_to IS NULL AND latest.status = 'pending_review'
    WHERE m.bank_id = $1 AND m.revision > 1 AND m.memory_id <> ALL ($2)
        AND ($4::timestamptz IS NULL OR m.known_from >= $4) AND ($5::timestamptz IS NULL OR m.known_from < $5)
        AND (m.principal = $3 OR m.derived_from && $2)"""

# When the memories $2 end, once the memories $3 are gone: where the first begins that took their place, or the place of what did.
ENDS = """WITH RECURSIVE chain(root, memory_id) AS (
        SELECT r.to_id, r.from_id FROM memory_relations AS r
        WHERE r.bank_id = $1 AND r.type = 'supersedes' AND r.to_id = ANY ($2)
        UNION
        SELECT c.root, r.from_id FROM chain AS c JOIN memory_relations AS r
            ON r.bank_id = $1 AND r.type = 'supersedes' AND r.to_id = c.memory_id
        WHERE c.memory_id = ANY ($3)
    )
    SELECT c.root, min(m.valid_from) AS ends FROM chain AS c
    JOIN memories AS m ON m.bank_id = $1 AND m.memory_id = c.memory_id AND m.known_to IS NULL
        AND m.status NOT IN ('deleted', 'pending_review')
    JOIN memories AS before ON before.bank_id = $1 AND before.memory_id = c.root AND before.known_to IS NULL
    WHERE c.memory_id <> ALL ($3) AND m.valid_from > before.valid_from GROUP BY c.root"""


@dataclass(frozen=True, slots=True)
class Source:
    """Where memories come from. Half-open."""

    kind: str  # principal, session, tool, memory; scope
    name: str
    since: datetime | None = None
    until: datetime | None = None

    @property
    def memory_id(self) -> UUID | None:
        """The one memory it is."""
        return UUID(self.name) if self.kind == "memory" else None


@dataclass(frozen=True, slots=True)
class Touched:
    """A memory of others that a source changed: the first revision that came of it, and when it ends without the source."""

    memory_id: UUID
    first: int
    ends: datetime | None
    hidden: str = ""  # its status, where others have deleted or withdrawn it since: it stays so


async def find_memories(connection: Connection, bank_id: int, source: Source, *, with_turn: bool = False) -> list[UUID]:
    """The memories of a source and what was derived from them, ascending. `with_turn`: also of the turn a memory was said in."""
    rows = await connection.fetch(MEMORIES, bank_id, *_named(source), with_turn)
    return [row["memory_id"] for row in rows]


async def find_turns(
    connection: Connection, bank_id: int, source: Source, *, with_turn: bool = False
) -> tuple[list[str], list[int]]:
    """The turns of a source: their sessions and numbers."""
    rows = await connection.fetch(TURNS, bank_id, *_named(source), with_turn)
    return [row["session_id"] for row in rows], [row["turn"] for row in rows]


async def find_hidden(connection: Connection, bank_id: int, source: Source, found: Sequence[UUID]) -> list[UUID]:
    """What is hidden by now and a source, of which these memories were found, had changed of others."""
    key = source.name if source.kind == "principal" else None
    rows = await connection.fetch(HIDDEN, bank_id, found, key, source.since, source.until)
    return [row["memory_id"] for row in rows]


async def find_touched(
    connection: Connection, bank_id: int, source: Source, found: Sequence[UUID], *, with_hidden: bool = False
) -> list[Touched]:
    """What a source, of which these memories were found, changed of others. `with_hidden`: also of what is hidden by now."""
    key = source.name if source.kind == "principal" else None
    rows = await connection.fetch(TOUCHED, bank_id, found, key, source.since, source.until, with_hidden)
    ids = [row["memory_id"] for row in rows]
    ends = {row["root"]: row["ends"] for row in await connection.fetch(ENDS, bank_id, ids, found)}
    return [Touched(row["memory_id"], row["first"], ends.get(row["memory_id"]), row["hidden"]) for row in rows]


def _named(source: Source) -> tuple[object, ...]:
    return source.kind, source.name, source.memory_id, source.since, source.until
