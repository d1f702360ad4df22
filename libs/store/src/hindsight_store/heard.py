"""What was heard in turns lies on desks as a copy, and in memory as what counts: what is in force no more is not shown."""

from collections.abc import Sequence
from datetime import datetime

import asyncpg

from hindsight_store.desks import Entry
from hindsight_store.pool import Connection, transaction

# The places of statements that became memories and are none any more: forgotten, changed, superseded, held back, withdrawn.
# What was said more than once in a session became one memory, of one of the turns; one that had ended before is not of it.
ENDED = """SELECT heard.place
    FROM unnest($2::text[], $3::int[], $4::text[], $5::timestamptz[])
        WITH ORDINALITY AS heard(session_id, turn, value, put_at, place)
    JOIN memories AS m ON m.bank_id = $1 AND m.session_id <> '' AND m.turn IS NOT NULL AND m.session_id = heard.session_id
        AND m.value = heard.value AND (m.turn = heard.turn OR m.status IN ('active', 'archived')
            AND coalesce(least(m.known_to, m.valid_to, m.expires_at), 'infinity') > heard.put_at)
    GROUP BY heard.place HAVING NOT bool_or(m.known_to IS NULL AND m.status IN ('active', 'archived')
        AND (m.valid_to IS NULL OR m.valid_to > $6) AND (m.expires_at IS NULL OR m.expires_at > $6))"""


# What memories of a session said that are deleted now, at any of their revisions, and no other memory of it says.
FORGOTTEN = """SELECT DISTINCT said.turn, said.value FROM memories AS gone
    JOIN memories AS said ON said.bank_id = $1 AND said.memory_id = gone.memory_id AND said.session_id = $2
    WHERE gone.bank_id = $1 AND gone.session_id = $2 AND gone.session_id <> '' AND gone.turn IS NOT NULL
        AND gone.known_to IS NULL AND gone.status = 'deleted' AND gone.kind NOT IN ('experience', 'summary')
        AND said.turn IS NOT NULL
        AND NOT EXISTS (SELECT FROM memories AS other WHERE other.bank_id = $1 AND other.session_id = $2
            AND other.session_id <> '' AND other.turn IS NOT NULL AND other.known_to IS NULL
            AND other.status IN ('active', 'archived') AND other.value = said.value)"""


async def find_forgotten(connection: Connection, bank_id: int, session_id: str) -> list[tuple[int, str]]:
    """What was heard in a session, became a memory, and was deleted: the turn and what it says."""
    rows = await connection.fetch(FORGOTTEN, bank_id, session_id)
    return [(row["turn"], row["value"]) for row in rows]


async def in_force(pool: asyncpg.Pool, tenant_id: int, bank_id: int, entries: Sequence[Entry], now: datetime) -> list[Entry]:
    """The entries without those that were heard, became memories of the bank, and are in force no more."""
    heard = [entry for entry in entries if entry.turn is not None]
    if not heard:
        return list(entries)
    columns = [[getattr(entry, name) for entry in heard] for name in ("session_id", "turn", "value", "put_at")]
    async with transaction(pool, tenant_id, readonly=True) as connection:
        rows = await connection.fetch(ENDED, bank_id, *columns, now)
    ended = {heard[row["place"] - 1].entry_id for row in rows}
    return [entry for entry in entries if entry.entry_id not in ended]
