"""What was heard in turns lies on desks as a copy, and in memory as what counts: what is in force no more is not shown."""

from collections.abc import Sequence
from datetime import datetime

import asyncpg

from hindsight_store.desks import Entry
from hindsight_store.pool import transaction

# The places of statements that became memories and are none any more: forgotten, changed, superseded, held back, withdrawn.
ENDED = """SELECT heard.place
    FROM unnest($2::text[], $3::int[], $4::text[]) WITH ORDINALITY AS heard(session_id, turn, value, place)
    JOIN memories AS m ON m.bank_id = $1 AND m.session_id <> '' AND m.session_id = heard.session_id AND m.turn = heard.turn
        AND m.value = heard.value
    GROUP BY heard.place HAVING NOT bool_or(m.known_to IS NULL AND m.status IN ('active', 'archived')
        AND (m.valid_to IS NULL OR m.valid_to > $5) AND (m.expires_at IS NULL OR m.expires_at > $5))"""


async def in_force(pool: asyncpg.Pool, tenant_id: int, bank_id: int, entries: Sequence[Entry], now: datetime) -> list[Entry]:
    """The entries without those that were heard, became memories of the bank, and are in force no more."""
    heard = [entry for entry in entries if entry.turn is not None]
    if not heard:
        return list(entries)
    sessions, turns, values = [e.session_id for e in heard], [e.turn for e in heard], [e.value for e in heard]
    async with transaction(pool, tenant_id, readonly=True) as connection:
        rows = await connection.fetch(ENDED, bank_id, sessions, turns, values, now)
    ended = {heard[row["place"] - 1].entry_id for row in rows}
    return [entry for entry in entries if entry.entry_id not in ended]
