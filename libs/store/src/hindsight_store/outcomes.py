"""What became of answers, as agents reported it by receipt: kept beside the receipts, and as long."""

from datetime import datetime, timedelta
from uuid import UUID

from hindsight_store.ids import first_at
from hindsight_store.pool import Connection
from hindsight_store.records import Report

ON_THE_WAY = timedelta(hours=1)  # that a receipt may take to be recorded; it is sent again until ingest takes it
LONGEST_RECALL = timedelta(minutes=2)  # it has read before it is told when it was

ASKED_BY = "SELECT principal FROM receipts WHERE bank_id = $1 AND receipt_id = $2"

LAST_ERASURE = "SELECT max(removed_at) FROM erasures WHERE tenant_id = $1 AND $2 = ANY (bank_ids)"

# $9: whether the caller may take the place of what another key reported.
PUT = """INSERT INTO outcomes AS o (bank_id, receipt_id, tenant_id, principal, by_admin, outcome, note, final_prompt, at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $10)
    ON CONFLICT (bank_id, receipt_id) DO UPDATE SET principal = excluded.principal, by_admin = excluded.by_admin,
        outcome = excluded.outcome, note = excluded.note, final_prompt = excluded.final_prompt, at = excluded.at
        WHERE $9 OR o.principal = excluded.principal
    RETURNING true"""


class OutcomeWriter:
    """Keeps one tenant's reports within a transaction."""

    def __init__(self, connection: Connection, tenant_id: int) -> None:
        self._connection = connection
        self._tenant_id = tenant_id

    async def put(self, bank_id: int, receipt_id: UUID, report: Report) -> bool:
        """Keep what was reported of a receipt, in place of what had been; False where the receipt is not the reporter's, or
        there is none and none is to come."""
        asked_by = await self._connection.fetchval(ASKED_BY, bank_id, receipt_id)
        if asked_by is None and not await self._is_on_the_way(bank_id, receipt_id, report.at):
            return False
        if asked_by not in (None, report.principal) and not report.by_admin:
            return False
        row = (bank_id, receipt_id, self._tenant_id, report.principal, report.by_admin, report.outcome, report.note)
        is_own = report.by_admin or asked_by == report.principal
        return bool(await self._connection.fetchval(PUT, *row, report.final_prompt, is_own, report.at))

    async def _is_on_the_way(self, bank_id: int, receipt_id: UUID, now: datetime) -> bool:
        """Whether a receipt that is not there may still come: it is young, and of a recall after every erasure."""
        since = now - ON_THE_WAY
        if erased_at := await self._connection.fetchval(LAST_ERASURE, self._tenant_id, bank_id):
            since = max(since, erased_at + LONGEST_RECALL)
        return first_at(since) <= receipt_id <= first_at(now + ON_THE_WAY)
