"""ReceiptService: what recalls found, why, and what has changed since."""

from collections.abc import Sequence
from typing import Any

import asyncpg
from hindsight.v1 import receipt_pb2, receipt_pb2_grpc
from hindsight_runtime import checks
from hindsight_runtime.errors import NotFound
from hindsight_runtime.identity import Principal, caller
from hindsight_store.reader import reading
from hindsight_store.records import Report

from hindsight_recall.calls import Banks, fit, reader_of, show
from hindsight_recall.recalling import Recaller
from hindsight_recall.receipt_wire import to_considered, to_differences, to_receipt
from hindsight_recall.receipts import Receipt, asked_again, from_document
from hindsight_recall.wire import to_hit


class ReceiptServicer(receipt_pb2_grpc.ReceiptServiceServicer):
    """Answers ReceiptService."""

    def __init__(self, pool: asyncpg.Pool, recaller: Recaller) -> None:
        self._pool = pool
        self._recaller = recaller
        self._banks = Banks(pool)

    async def GetReceipt(self, request: receipt_pb2.GetReceiptRequest, context: Any) -> receipt_pb2.GetReceiptResponse:
        """The account of one recall."""
        receipt, report, _ = await self._find_receipt(request)
        return receipt_pb2.GetReceiptResponse(receipt=to_receipt(receipt, report))

    async def Replay(self, request: receipt_pb2.ReplayRequest, context: Any) -> receipt_pb2.ReplayResponse:
        """A recall's ranking, computed again from its receipt."""
        receipt, *_ = await self._find_receipt(request)
        again, is_identical = receipt.replay()
        hits = [to_considered(rank, place) for rank, place in enumerate(again, start=1)]
        return receipt_pb2.ReplayResponse(hits=hits, is_identical=is_identical)

    async def RecallAsOfThen(
        self, request: receipt_pb2.RecallAsOfThenRequest, context: Any
    ) -> receipt_pb2.RecallAsOfThenResponse:
        """A receipt's query, asked of what was recorded then and of what is recorded now."""
        receipt, _, agent_id = await self._find_receipt(request)
        answers = []
        for as_of_then in (True, False):
            query = asked_again(receipt, self._recaller.clock(), as_of_then=as_of_then)
            answer = await self._recaller.recall(query)
            answers.append(await show(self._pool, caller(), query.bank_id, answer.hits))
        then, now = ([to_hit(agent_id, rank, hit) for rank, hit in enumerate(hits, start=1)] for hits in answers)
        return receipt_pb2.RecallAsOfThenResponse(
            hits_then=fit(then), hits_now=fit(now), differences=to_differences(receipt.hits, answers[1])
        )

    async def _find_receipt(self, request: Any) -> tuple[Receipt, Report | None, str]:
        principal, agent_id = reader_of(request)
        receipt_id = checks.check_id("receipt_id", request.receipt_id)
        bank_id = await self._banks.find(principal, agent_id)
        async with reading(self._pool, principal.tenant_id) as reader:
            kept = None if bank_id is None else await reader.receipt(bank_id, receipt_id)
        if kept and kept.principal != principal.key_id and "admin" not in principal.rights:
            kept = None
        receipt = from_document(kept.document) if kept else None
        if kept is None or receipt is None or not _may_see_all(principal, receipt.query.selection.scopes):
            raise NotFound("no such receipt; it can be read a moment after the answer, for seven days, by the key that asked")
        return receipt, kept.report, agent_id


def _may_see_all(principal: Principal, scopes: Sequence[str] | None) -> bool:
    """Whether the credential admits every scope that a recall looked at: its query and its near misses tell of all of them."""
    return all(map(principal.may_read, scopes)) if scopes is not None else not principal.scopes
