"""What became of answers, as agents reported it by receipt: kept beside the receipts, and as long."""

from uuid import UUID

from hindsight_store.pool import Connection
from hindsight_store.records import Report

# Of receipts of the tenant's agents; $4: whether the caller may report of every key's.
ASKED_OF = """SELECT a.agent_id FROM agents AS a JOIN receipts AS r ON r.bank_id = a.bank_id AND r.receipt_id = $2
    WHERE a.tenant_id = $1 AND ($4 OR r.principal = $3)"""

PUT = """INSERT INTO outcomes (bank_id, receipt_id, tenant_id, principal, outcome, note, final_prompt, at)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8 WHERE EXISTS (SELECT FROM receipts WHERE bank_id = $1 AND receipt_id = $2)
    ON CONFLICT (bank_id, receipt_id) DO UPDATE SET principal = excluded.principal, outcome = excluded.outcome,
        note = excluded.note, final_prompt = excluded.final_prompt, at = excluded.at
    RETURNING true"""


class OutcomeWriter:
    """Keeps one tenant's reports within a transaction."""

    def __init__(self, connection: Connection, tenant_id: int) -> None:
        self._connection = connection
        self._tenant_id = tenant_id

    async def find_agent(self, receipt_id: UUID, principal: str, *, by_admin: bool) -> str | None:
        """The agent that was asked; None: there is no such receipt, or it is another key's and the caller is no admin."""
        return await self._connection.fetchval(ASKED_OF, self._tenant_id, receipt_id, principal, by_admin)

    async def put(self, bank_id: int, receipt_id: UUID, report: Report) -> bool:
        """Keep what was reported of a receipt, in place of what had been; False: the receipt is gone."""
        row = (bank_id, receipt_id, self._tenant_id, report.principal, report.outcome, report.note, report.final_prompt)
        return bool(await self._connection.fetchval(PUT, *row, report.at))
