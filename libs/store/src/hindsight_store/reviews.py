"""The review queue: which memories wait for a person's word, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from hindsight_store.pool import Connection

REVIEW = "r.memory_id, r.reason, r.signs, r.score, r.copies, r.state, r.at, r.decided_by, r.decided_at"

# The same again while it waits is one review; doubts about what a person let in begin another.
ASK = """INSERT INTO reviews (bank_id, memory_id, tenant_id, reason, signs, score, state, at)
    VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7)
    ON CONFLICT (bank_id, memory_id) DO UPDATE SET reason = excluded.reason, signs = excluded.signs, score = excluded.score,
        at = excluded.at, copies = CASE WHEN reviews.state = 'pending' THEN reviews.copies + 1 ELSE 1 END,
        state = 'pending', decided_by = '', decided_at = NULL"""

DECIDE = """UPDATE reviews SET state = $3, decided_by = $4, decided_at = $5
    WHERE bank_id = $1 AND memory_id = $2 AND state = 'pending'"""

FIND = f"SELECT {REVIEW} FROM reviews AS r WHERE r.bank_id = $1 AND r.memory_id = $2"

PENDING = f"""SELECT {REVIEW} FROM reviews AS r
    WHERE r.bank_id = $1 AND r.state = 'pending' AND ($2::uuid IS NULL OR r.memory_id < $2) AND ($4 = '' OR r.reason = $4)
    ORDER BY r.memory_id DESC LIMIT $3"""

# A withdrawal makes the revision that waits, in the name of who asked for it.
FIRST_WRITERS = "SELECT memory_id, principal FROM memories WHERE bank_id = $1 AND memory_id = ANY ($2) AND revision = 1"

DOUBTED = "SELECT memory_id, reason FROM reviews WHERE bank_id = $1 AND memory_id = ANY ($2) AND state = 'pending'"


@dataclass(frozen=True, slots=True)
class Review:
    """Why a memory waits for a person's word, and what became of it. Field for field a row of `reviews`."""

    memory_id: UUID
    reason: str
    signs: tuple[str, ...]
    score: float
    at: datetime
    copies: int = 1
    state: str = "pending"  # approved, rejected
    decided_by: str = ""
    decided_at: datetime | None = None


def to_review(row: Mapping[str, Any]) -> Review:
    """A row as a value."""
    return Review(**{**row, "signs": tuple(row["signs"])})


class ReviewReader:
    """Reads one tenant's reviews within a transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def find(self, bank_id: int, memory_id: UUID) -> Review | None:
        """The review of a memory, or None."""
        row = await self._connection.fetchrow(FIND, bank_id, memory_id)
        return to_review(row) if row else None

    async def pending(self, bank_id: int, *, reason: str = "", before: UUID | None, limit: int) -> list[Review]:
        """What waits, the newest memory first, below an id."""
        return [to_review(row) for row in await self._connection.fetch(PENDING, bank_id, before, limit, reason)]

    async def first_writers(self, bank_id: int, memory_ids: Sequence[UUID]) -> dict[UUID, str]:
        """By which key each memory was first written."""
        rows = await self._connection.fetch(FIRST_WRITERS, bank_id, memory_ids) if memory_ids else ()
        return {row["memory_id"]: row["principal"] for row in rows}

    async def doubted(self, bank_id: int, memory_ids: Sequence[UUID]) -> dict[UUID, str]:
        """Which of some memories wait for review, with the reason."""
        rows = await self._connection.fetch(DOUBTED, bank_id, memory_ids) if memory_ids else ()
        return {row["memory_id"]: row["reason"] for row in rows}


class ReviewWriter(ReviewReader):
    """Reads and writes one tenant's reviews within a transaction."""

    def __init__(self, connection: Connection, tenant_id: int) -> None:
        super().__init__(connection)
        self._tenant_id = tenant_id

    async def ask(self, bank_id: int, reviews: Sequence[Review]) -> None:
        """Put memories into the queue."""
        for one in reviews:
            row = (bank_id, one.memory_id, self._tenant_id, one.reason, one.signs, one.score, one.at)
            await self._connection.execute(ASK, *row)

    async def decide(self, bank_id: int, memory_id: UUID, state: str, decided_by: str, at: datetime) -> bool:
        """Take a memory off the queue; False where it does not wait."""
        return await self._connection.execute(DECIDE, bank_id, memory_id, state, decided_by, at) != "UPDATE 0"
