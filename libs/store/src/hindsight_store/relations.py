"""Relations between memories: those of one, those among several, and those that lead to selected ones."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from hindsight_store.pool import Connection
from hindsight_store.records import Relation, RelationSeen, Selection
from hindsight_store.selections import MIN_ID, SELECTED, split_scopes, to_arguments

AMONG = """SELECT from_id, type, to_id, weight, created_at FROM memory_relations
    WHERE bank_id = $1 AND from_id = ANY ($2) AND to_id = ANY ($2) ORDER BY weight DESC, from_id, type, to_id LIMIT $3"""

# Each direction by itself, so that each uses its index. Only relations whose other end is selected count against the limit,
# and of those only what had been stated by the moment of record time.
TO_SELECTED = f"""SELECT edges.near_id, edges.memory_id, edges.weight FROM (
        SELECT r.from_id AS near_id, r.to_id AS memory_id, r.type, r.weight
        FROM memory_relations AS r
        WHERE r.bank_id = $1 AND r.from_id = ANY ($21) AND ($19::timestamptz IS NULL OR r.created_at <= $19)
        UNION ALL
        SELECT r.to_id AS near_id, r.from_id AS memory_id, r.type, r.weight
        FROM memory_relations AS r
        WHERE r.bank_id = $1 AND r.to_id = ANY ($21) AND ($19::timestamptz IS NULL OR r.created_at <= $19)
    ) AS edges JOIN memories AS m ON m.memory_id = edges.memory_id AND {SELECTED}
    ORDER BY edges.weight DESC, edges.near_id, edges.type, edges.memory_id LIMIT $22"""

# $6 the exact scopes that are seen and $7 the beginnings of others; both NULL: all.
OF = """SELECT r.from_id, r.type, r.to_id, r.weight, r.created_at
    FROM (
        SELECT from_id, type, to_id, weight, created_at, to_id AS other_id FROM memory_relations
        WHERE bank_id = $1 AND from_id = $2
        UNION ALL
        SELECT from_id, type, to_id, weight, created_at, from_id AS other_id FROM memory_relations
        WHERE bank_id = $1 AND to_id = $2
    ) AS r JOIN memories AS m ON m.bank_id = $1 AND m.memory_id = r.other_id AND m.known_to IS NULL
        AND m.status NOT IN ('deleted', 'pending_review')
    WHERE (r.from_id, r.type, r.to_id) > ($3, $4, $5) AND ($6::text[] IS NULL OR m.scope = ANY ($6)
        OR EXISTS (SELECT 1 FROM unnest($7::text[]) AS p(beginning) WHERE starts_with(m.scope, p.beginning)))
    ORDER BY r.from_id, r.type, r.to_id LIMIT $8"""


class RelationReader:
    """Reads the relations of one tenant's memories."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def of(
        self, bank_id: int, memory_id: UUID, scopes: Sequence[str] | None, *, after: Relation | None, limit: int
    ) -> list[RelationSeen]:
        """Relations of one memory in both directions to memories of some scopes (a trailing "*" is a prefix; None: all), by
        from, type, to, after one of them. What is deleted or waits for review is no other end."""
        start = (after.from_id, after.type, after.to_id) if after else (MIN_ID, "", MIN_ID)
        rows = await self._connection.fetch(OF, bank_id, memory_id, *start, *split_scopes(scopes), limit)
        return [_to_seen(row) for row in rows]

    async def among(self, bank_id: int, memory_ids: Sequence[UUID], *, limit: int) -> list[RelationSeen]:
        """Relations with both ends among some memories, the strongest first."""
        rows = await self._connection.fetch(AMONG, bank_id, list(memory_ids), limit)
        return [_to_seen(row) for row in rows]

    async def to_selected(
        self, bank_id: int, selection: Selection, memory_ids: Sequence[UUID], *, limit: int
    ) -> list[tuple[UUID, UUID, float]]:
        """The strongest relations between some memories and selected ones, in either direction: (one of them, the selected
        one, weight)."""
        rows = await self._connection.fetch(TO_SELECTED, *to_arguments(bank_id, selection), memory_ids, limit)
        return [(row["near_id"], row["memory_id"], row["weight"]) for row in rows]


def _to_seen(row: Mapping[str, Any]) -> RelationSeen:
    return RelationSeen(Relation(row["from_id"], row["type"], row["to_id"], row["weight"]), row["created_at"])
