"""What became of an answer: kept by its receipt, without secrets."""

import asyncio
from uuid import UUID

from hindsight_runtime.errors import NotFound
from hindsight_store.records import Report
from hindsight_store.writer import Writer

from hindsight_ingest.masking import mask
from hindsight_ingest.pipeline import Call, Pipeline, Result


class Reporting:
    """Keeps reports through the pipeline. One for the life of a process."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    async def report_outcome(self, call: Call, receipt_id: UUID, outcome: str, note: str, final_prompt: str) -> None:
        """Keep what became of an answer, in place of what was reported of it before. The receipt need not be there yet.

        Raises:
            NotFound: no such receipt, or another key's and the caller is no admin of the whole tenant.
        """
        principal = call.principal
        by_admin = "admin" in principal.rights and not principal.scopes
        note, final_prompt = await asyncio.to_thread(lambda: (mask(note)[0], mask(final_prompt)[0]))
        report = Report(principal.key_id, by_admin, outcome, note, final_prompt, self._pipeline.clock())

        async def make(writer: Writer, bank_id: int) -> list[Result]:
            if not await writer.outcomes.put(bank_id, receipt_id, report):
                raise NotFound("no such receipt; report within seven days, with the key and for the agent that asked")
            return [Result("reported", receipt_id)]

        await self._pipeline.change(call, make)
