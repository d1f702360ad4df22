"""What became of an answer: kept by its receipt, without secrets."""

import asyncio
import time
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg
from hindsight_runtime.errors import NotFound, PermissionDenied
from hindsight_runtime.identity import Principal
from hindsight_store.ids import first_at
from hindsight_store.records import Report
from hindsight_store.writer import Writer, writing

from hindsight_ingest.calls import check_caller, to_call_of
from hindsight_ingest.masking import mask
from hindsight_ingest.pipeline import Pipeline, Result

WAIT_S, PAUSE_S = 2.0, 0.1  # for the receipt of an answer that was given a moment ago
FRESH = timedelta(minutes=1)  # that moment, by another machine's clock
NO_RECEIPT = (
    "no such receipt of this key's recalls, or it is not kept yet: give the receipt_id of a recall's answer, within seven days; "
    "of one that was just given try again in a minute"
)


class Reporting:
    """Keeps reports through the pipeline. One for the life of a process."""

    def __init__(self, pool: asyncpg.Pool, pipeline: Pipeline) -> None:
        self._pool = pool
        self._pipeline = pipeline

    async def report_outcome(self, request: Any, receipt_id: UUID, outcome: str, note: str, final_prompt: str) -> None:
        """Keep what became of an answer, in place of what was reported of it before. Waits a moment for a receipt that is not
        there yet; the agent is the one that was asked.

        Raises:
            NotFound: no such receipt, or another key's and the caller is no admin of the whole tenant.
        """
        principal = check_caller(request)
        by_admin = "admin" in principal.rights and not principal.scopes
        agent_id = await self._find_agent(principal, request.agent_id, receipt_id, by_admin=by_admin)
        note, final_prompt = await asyncio.to_thread(lambda: (mask(note)[0], mask(final_prompt)[0]))
        report = Report(principal.key_id, outcome, note, final_prompt, self._pipeline.clock())

        async def make(writer: Writer, bank_id: int) -> list[Result]:
            if not await writer.outcomes.put(bank_id, receipt_id, report):
                raise NotFound(NO_RECEIPT)
            return [Result("reported", receipt_id)]

        await self._pipeline.change(to_call_of(request, principal, agent_id), make)

    async def _find_agent(self, principal: Principal, named: str, receipt_id: UUID, *, by_admin: bool) -> str:
        """The agent that was asked, if it is the one named, or none is."""
        now = self._pipeline.clock()
        is_fresh = first_at(now, before=FRESH) <= receipt_id < first_at(now, before=-FRESH)
        until = time.monotonic() + (WAIT_S if is_fresh else 0.0)  # a wait takes one of the tenant's calls at once
        while True:
            async with writing(self._pool, principal.tenant_id) as writer:
                agent_id = await writer.outcomes.find_agent(receipt_id, principal.key_id, by_admin=by_admin)
            if agent_id is not None or time.monotonic() >= until:
                break
            await asyncio.sleep(PAUSE_S)
        if agent_id is None:
            raise NotFound(NO_RECEIPT)
        try:
            principal.resolve_agent(agent_id)
        except PermissionDenied:
            raise NotFound(NO_RECEIPT) from None
        if named not in ("", agent_id):
            raise NotFound(f"no such receipt of this agent: it is of a recall of {agent_id!r}; leave agent_id out")
        return agent_id
