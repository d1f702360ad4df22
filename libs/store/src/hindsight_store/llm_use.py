"""What an LLM was asked for a tenant on a day (UTC), within a budget."""

from dataclasses import dataclass
from datetime import date

import asyncpg

from hindsight_store.pool import transaction

# One statement, so that callers at the same time cannot all find the last call free.
RESERVE = """INSERT INTO llm_use AS u (tenant_id, day, calls, tokens)
    SELECT $1, $2, 1, $3::bigint WHERE $4::bigint >= 1 AND $3::bigint <= $5::bigint
    ON CONFLICT (tenant_id, day) DO UPDATE SET calls = u.calls + 1, tokens = u.tokens + EXCLUDED.tokens
        WHERE u.calls < $4::bigint AND u.tokens + EXCLUDED.tokens <= $5::bigint
    RETURNING u.calls"""

CORRECT = """UPDATE llm_use SET calls = greatest(0, calls + $3), tokens = greatest(0, tokens + $4)
    WHERE tenant_id = $1 AND day = $2"""


@dataclass(frozen=True, slots=True)
class Use:
    """An amount of calls and tokens."""

    calls: int
    tokens: int


async def reserve(pool: asyncpg.Pool, tenant_id: int, day: date, tokens: int, *, budget: Use) -> bool:
    """Take one call and some tokens from a tenant's budget of a day; False, and nothing taken, where that would exceed it."""
    async with transaction(pool, tenant_id, readonly=False) as connection:
        return await connection.fetchval(RESERVE, tenant_id, day, tokens, budget.calls, budget.tokens) is not None


async def correct(pool: asyncpg.Pool, tenant_id: int, day: date, difference: Use) -> None:
    """Add what a call came to beyond what was reserved for it; less than that is negative."""
    async with transaction(pool, tenant_id, readonly=False) as connection:
        await connection.execute(CORRECT, tenant_id, day, difference.calls, difference.tokens)
