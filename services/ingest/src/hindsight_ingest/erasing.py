"""ErasureService: asks for erasures, tells how far they are, and verifies their receipts."""

from collections.abc import Callable
from datetime import datetime
from secrets import compare_digest
from typing import Any

import asyncpg
from hindsight.v1 import erasure_pb2, erasure_pb2_grpc
from hindsight_runtime import checks
from hindsight_runtime.errors import InvalidField, NotFound, RequestIdReused
from hindsight_runtime.identity import Principal, caller
from hindsight_store import erasures
from hindsight_store.erasures import Asked, Erasure
from hindsight_store.pool import Connection, transaction
from hindsight_store.reader import find_tenant
from hindsight_store.sources import Source
from hindsight_store.writer import writing

from hindsight_ingest.admin import TENANT_CHARS, read_range
from hindsight_ingest.revoking import read_source

TEXT_CHARS = 64  # of a hash, as text
TABLES = 64
MOMENTS = ("asked_at", "removed_at", "vacuumed_at", "caches_cleared_at")


class ErasureServicer(erasure_pb2_grpc.ErasureServiceServicer):
    """Answers ErasureService."""

    def __init__(self, pool: asyncpg.Pool, clock: Callable[[], datetime]) -> None:
        self._pool = pool
        self._clock = clock

    async def Erase(self, request: erasure_pb2.EraseRequest, context: Any) -> erasure_pb2.EraseResponse:
        """Erase a memory, a scope or a source."""
        principal = _operator()
        checks.check_text("request_id", request.request_id, max_chars=checks.REQUEST_ID_CHARS)
        checks.check_label("agent_id", request.agent_id, max_chars=checks.AGENT_ID_CHARS)
        source = _read_source(request)
        tenant_id = await self._tenant(principal, request.tenant)
        async with writing(self._pool, tenant_id) as writer:
            banks = await writer.banks([request.agent_id] if request.agent_id else [])
        if not banks:
            raise NotFound("no such agent, or none yet")
        asked = Asked(source, tuple(banks), principal.key_id, self._clock(), request.rewrite)
        async with transaction(self._pool, tenant_id, readonly=False) as connection:
            counts = await erasures.estimate(connection, asked)
            if request.dry_run:
                return erasure_pb2.EraseResponse(counts=counts)
            erasure = await _ask(connection, tenant_id, asked, request.request_id)
        state = f"ERASURE_STATE_{erasure.state.upper()}"
        return erasure_pb2.EraseResponse(erasure_id=str(erasure.erasure_id), state=state, counts=counts)

    async def GetErasure(self, request: erasure_pb2.GetErasureRequest, context: Any) -> erasure_pb2.GetErasureResponse:
        """How far an erasure is."""
        erasure_id = checks.check_id("erasure_id", request.erasure_id)
        tenant_id = await self._tenant(_operator(), request.tenant)
        async with transaction(self._pool, tenant_id, readonly=True) as connection:
            erasure = await erasures.get(connection, tenant_id, erasure_id)
            if erasure is None:
                raise NotFound("no such erasure")
            response = erasure_pb2.GetErasureResponse(state=f"ERASURE_STATE_{erasure.state.upper()}")
            if erasure.state == "done":
                signature = await erasures.sign(connection, tenant_id, erasure)
                response.receipt.CopyFrom(to_receipt(erasure, signature))
        return response

    async def VerifyErasure(self, request: erasure_pb2.VerifyErasureRequest, context: Any) -> erasure_pb2.VerifyErasureResponse:
        """Whether a receipt is ours, and whether what it names is gone."""
        receipt = read_receipt(request.receipt)
        tenant_id = await self._tenant(_operator(), request.tenant)
        async with transaction(self._pool, tenant_id, readonly=True) as connection:
            signature = await erasures.sign(connection, tenant_id, receipt)
            is_authentic = compare_digest(signature.encode(), request.receipt.signature.encode())
            is_gone = is_authentic and await erasures.is_gone(connection, tenant_id, receipt.erasure_id)
        return erasure_pb2.VerifyErasureResponse(is_authentic=is_authentic, is_gone=is_gone)

    async def _tenant(self, principal: Principal, name: str) -> int:
        checks.check_label("tenant", name, max_chars=TENANT_CHARS)
        tenant_id = principal.tenant_id if name in ("", principal.tenant) else await find_tenant(self._pool, name)
        if tenant_id is None:
            raise NotFound("no such tenant")
        return tenant_id


async def _ask(connection: Connection, tenant_id: int, asked: Asked, request_id: str) -> Erasure:
    """A new erasure, or the one that the request id stands for."""
    past = await erasures.find_request(connection, tenant_id, asked, request_id) if request_id else None
    if past is None:
        return await erasures.ask(connection, tenant_id, asked, request_id)
    if not past[1]:
        raise RequestIdReused("this request_id was used for another erasure; give every erasure an id of its own")
    return past[0]


def to_receipt(erasure: Erasure, signature: str) -> erasure_pb2.ErasureReceipt:
    """The receipt of an erasure that is done."""
    receipt = erasure_pb2.ErasureReceipt(
        id=str(erasure.erasure_id),
        kind=erasure.kind,
        name_hash=erasure.name_hash,
        is_rewritten=erasure.is_rewritten,
        counts=erasure.counts or {},
        ids_digest=erasure.ids_digest,
        signature=signature,
    )
    for name in MOMENTS:
        if moment := getattr(erasure, name):
            getattr(receipt, name).FromDatetime(moment)
    return receipt


def read_receipt(receipt: erasure_pb2.ErasureReceipt) -> Erasure:
    """A receipt as it was signed."""
    erasure_id = checks.check_id("receipt.id", receipt.id)
    texts = {name: getattr(receipt, name) for name in ("kind", "name_hash", "ids_digest", "signature")}
    for name, text in texts.items():
        checks.check_text(f"receipt.{name}", text, max_chars=TEXT_CHARS)
    if len(receipt.counts) > TABLES or any("\0" in table or len(table) > TEXT_CHARS for table in receipt.counts):
        raise InvalidField("receipt.counts", "give the receipt as it was returned")
    moments = {
        name: checks.check_time(f"receipt.{name}", getattr(receipt, name)) if receipt.HasField(name) else None for name in MOMENTS
    }
    if moments["asked_at"] is None:
        raise InvalidField("receipt.asked_at", "give the receipt as it was returned")
    told: Any = {name: texts[name] for name in ("kind", "name_hash", "ids_digest")} | moments
    return Erasure(erasure_id, state="done", is_rewritten=receipt.is_rewritten, counts=dict(receipt.counts), **told)


def _read_source(request: erasure_pb2.EraseRequest) -> Source:
    scope = checks.check_scope("scope", request.scope)
    span = read_range("source", request.source)
    if scope and request.HasField("source"):
        raise InvalidField("source", "give either a scope or a source")
    if scope:
        return Source("scope", scope)
    if not request.HasField("source"):
        raise InvalidField("scope", "give a scope or a source")
    return read_source("source", request.source, span)


def _operator() -> Principal:
    principal = caller()
    principal.require("operator")
    return principal
