"""How much text a tenant has stored."""

import asyncpg

from hindsight_store.pool import transaction

# Every revision counts, and what was deleted until it is erased: it takes the room.
STORED = """SELECT (SELECT coalesce(sum(octet_length(value) + octet_length(key) + octet_length(trigger)), 0) FROM memories)
    + (SELECT coalesce(sum(octet_length(content) + octet_length(result)), 0) FROM turns)"""


async def measure_stored(pool: asyncpg.Pool, tenant_id: int) -> int:
    """Bytes of text in a tenant's memories, all revisions, and turns. Reads all of them: for now and then."""
    async with transaction(pool, tenant_id, readonly=True) as connection:
        return int(await connection.fetchval(STORED))
