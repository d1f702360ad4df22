"""Calls that recall, and that account for recalls."""

from datetime import datetime
from typing import Literal

from hindsight.v1 import ingest_pb2, memory_pb2, recall_pb2, receipt_pb2

from hindsight_memory.connection import Connection
from hindsight_memory.types.contexts import Context
from hindsight_memory.types.memories import Filter
from hindsight_memory.types.recalls import Answer, Considered, GateVerdict, Mode, Receipt, ReportedOutcome, ThenAndNow, Working
from hindsight_memory.wire.contexts import to_context
from hindsight_memory.wire.fields import enum, fill
from hindsight_memory.wire.memories import from_filter
from hindsight_memory.wire.recalls import to_answer, to_considered, to_receipt, to_then_and_now, to_verdict


class RecallCalls(Connection):
    """Recalling, and the accounts of recalls."""

    async def recall(  # noqa: PLR0913 - the fields of the RPC
        self,
        query: str = "",
        *,
        mode: Mode = "hybrid",
        where: Filter | None = None,
        top_k: int = 5,
        relevance_floor: float | None = None,
        page_token: str = "",
        include_turns: bool = False,
        time_zone: str = "",
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        deadline_ms: int = 0,
        drop_irrelevant: bool = False,
        rerank: bool = False,
        context: str = "",
        working: Working | Literal[""] = "",
        session_id: str = "",
        agent_id: str = "",
    ) -> Answer:
        """The memories that answer a query, best first, each with its reasons; with `working` also, first or only the desk."""
        fields = {
            "query": query,
            "mode": enum("MODE", mode, recall_pb2.Mode, "mode"),
            "filter": from_filter(where or Filter()),
            "top_k": top_k,
            "relevance_floor": relevance_floor,
            "page_token": page_token,
            "include_turns": include_turns,
            "time_zone": time_zone,
            "as_of": as_of,
            "known_at": known_at,
            "deadline_ms": deadline_ms,
            "drop_irrelevant": drop_irrelevant,
            "rerank": rerank,
            "context": context,
            "working": enum("WORKING", working or None, recall_pb2.Working, "working"),
            "session_id": session_id,
            "agent_id": agent_id or self._agent_id,
        }
        return to_answer(await self._call(self._recall.Recall, fill(recall_pb2.RecallRequest(), fields)))

    async def recall_context(  # noqa: PLR0913 - the fields of the RPC
        self,
        query: str = "",
        *,
        session_id: str = "",
        scope: str = "",
        budget_tokens: int = 0,
        include_turns: bool = False,
        time_zone: str = "",
        deadline_ms: int = 0,
        context: str = "",
        agent_id: str = "",
    ) -> Context:
        """A context that is ready for a prompt: the desk, core memories and what answers the query, within a budget."""
        fields = {
            "query": query,
            "session_id": session_id,
            "scope": scope,
            "budget_tokens": budget_tokens,
            "include_turns": include_turns,
            "time_zone": time_zone,
            "deadline_ms": deadline_ms,
            "context": context,
            "agent_id": agent_id or self._agent_id,
        }
        return to_context(await self._call(self._recall.RecallContext, fill(recall_pb2.RecallContextRequest(), fields)))

    async def should_recall(self, text: str) -> GateVerdict:
        """Whether answering a user's turn well needs something from earlier sessions; cheaper than a recall."""
        request = fill(recall_pb2.ShouldRecallRequest(), {"text": text})
        return to_verdict(await self._call(self._recall.ShouldRecall, request))

    async def receipt(self, receipt_id: str, *, agent_id: str = "") -> Receipt:
        """The account of a recall, by the id its answer carries; there a moment after the answer, and for seven days."""
        request = receipt_pb2.GetReceiptRequest(agent_id=agent_id or self._agent_id, receipt_id=receipt_id)
        return to_receipt((await self._call(self._receipts.GetReceipt, request)).receipt)

    async def report_outcome(
        self,
        receipt_id: str,
        outcome: ReportedOutcome,
        note: str = "",
        final_prompt: str = "",
        *,
        agent_id: str = "",
        request_id: str = "",
    ) -> None:
        """Say what became of an answer, by the id it carries; kept with its receipt, in place of an earlier report."""
        number = enum("REPORTED_OUTCOME", outcome, memory_pb2.ReportedOutcome, "outcome")
        told = {"receipt_id": receipt_id, "outcome": number, "note": note, "final_prompt": final_prompt}
        fields = told | self._identity(agent_id, request_id)
        await self._call(self._ingest.ReportOutcome, fill(ingest_pb2.ReportOutcomeRequest(), fields))

    async def replay(self, receipt_id: str, *, agent_id: str = "") -> tuple[tuple[Considered, ...], bool]:
        """A recall's ranking, computed again from its receipt, and whether it is the one that was given."""
        request = receipt_pb2.ReplayRequest(agent_id=agent_id or self._agent_id, receipt_id=receipt_id)
        response = await self._call(self._receipts.Replay, request)
        return tuple(to_considered(c) for c in response.hits), response.is_identical

    async def recall_as_of_then(self, receipt_id: str, *, agent_id: str = "") -> ThenAndNow:
        """A receipt's query, asked of what was recorded then and of what is recorded now."""
        request = receipt_pb2.RecallAsOfThenRequest(agent_id=agent_id or self._agent_id, receipt_id=receipt_id)
        return to_then_and_now(await self._call(self._receipts.RecallAsOfThen, request))
