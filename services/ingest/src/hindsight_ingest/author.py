"""In whose name follow-up work writes: the key that observed the turns, with the rights over sources it was given."""

import asyncpg
from hindsight_runtime.identity import Principal
from hindsight_store.keys import managing_keys

ANYONE = "anyone"  # who observes where authentication is off


async def find_author(pool: asyncpg.Pool, tenant_id: int, key_id: str) -> Principal:
    """The principal that a turn's key stands for; what is not known may speak for nobody."""
    if key_id == ANYONE:
        return Principal.of_anyone(tenant_id, "")
    async with managing_keys(pool, tenant_id) as keys:
        row = await keys.get(key_id)
    return Principal.from_row(row) if row else Principal(tenant_id, "", key_id, rights=frozenset({"write"}))
