"""RecordService: what the recall service reports of its answers."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import asyncpg
from hindsight.v1 import record_pb2, record_pb2_grpc
from hindsight_runtime import checks
from hindsight_runtime.errors import InvalidField
from hindsight_runtime.identity import caller
from hindsight_store.desks import Desk
from hindsight_store.keys import DeniedCall, audit_denied
from hindsight_store.receipts import RecordedRecall
from hindsight_store.writer import writing

from hindsight_ingest.errands import Errands

RECALLS = 256
HITS = 200
QUERY_CHARS = 8192
DOCUMENT_BYTES = 256 * 1024
NAME_CHARS, ACTION_CHARS, SUBJECT_CHARS = 128, 64, 256
MAX_ID = 2**63 - 1


class RecordServicer(record_pb2_grpc.RecordServiceServicer):
    """Answers RecordService."""

    def __init__(self, pool: asyncpg.Pool, errands: Errands) -> None:
        self._pool = pool
        self._errands = errands

    async def Record(self, request: record_pb2.RecordRequest, context: Any) -> record_pb2.RecordResponse:
        """Keep receipts, count hits, and audit refused calls."""
        caller().require("record")
        checks.check_items("recalls", request.recalls, low=0 if request.denied else 1, high=RECALLS)
        checks.check_items("denied", request.denied, high=RECALLS)
        denied: dict[int, list[DeniedCall]] = {}
        for number, call in enumerate(request.denied):
            tenant_id = _check_number(f"denied[{number}].tenant_id", call.tenant_id)
            denied.setdefault(tenant_id, []).append(_read_denied(f"denied[{number}]", call))
        by_tenant: dict[int, list[RecordedRecall]] = {}
        for number, message in enumerate(request.recalls):
            tenant_id = _check_number(f"recalls[{number}].tenant_id", message.tenant_id)
            by_tenant.setdefault(tenant_id, []).append(_read(f"recalls[{number}]", message))
        recorded = 0
        for tenant_id, recalls in sorted(by_tenant.items()):
            async with writing(self._pool, tenant_id) as writer:
                recorded += await writer.record_recalls(recalls)
        for message in request.recalls:
            agent_id = checks.check_text("agent_id", message.agent_id, max_chars=checks.AGENT_ID_CHARS)
            if agent_id and message.scope:
                self._errands.warm(Desk(message.tenant_id, agent_id, message.scope), message.memory_ids)
        for tenant_id, calls in sorted(denied.items()):
            await audit_denied(self._pool, tenant_id, calls)
        return record_pb2.RecordResponse(recorded=recorded)


def _read(path: str, message: record_pb2.RecordedRecall) -> RecordedRecall:
    if len(message.document) > DOCUMENT_BYTES:
        raise InvalidField(f"{path}.document", f"at most {DOCUMENT_BYTES // 1024} KiB")
    if not message.HasField("at"):
        raise InvalidField(f"{path}.at", "required; when the recall was answered")
    return RecordedRecall(
        _check_number(f"{path}.bank_id", message.bank_id),
        checks.check_id(f"{path}.receipt_id", message.receipt_id),
        checks.check_text(f"{path}.principal", message.principal, max_chars=NAME_CHARS, required=True),
        checks.check_time(f"{path}.at", message.at),
        checks.check_text(f"{path}.query", message.query, max_chars=QUERY_CHARS),
        _read_ids(f"{path}.memory_ids", message.memory_ids),
        message.document,
        _read_ids(f"{path}.contradicted_ids", message.contradicted_ids),
        checks.check_scope(f"{path}.scope", message.scope),
        _read_shared(f"{path}.shared_hits", message.shared_hits),
    )


def _read_denied(path: str, message: record_pb2.DeniedCall) -> DeniedCall:
    return DeniedCall(
        checks.check_id(f"{path}.audit_id", message.audit_id),
        checks.check_text(f"{path}.principal", message.principal, max_chars=NAME_CHARS, required=True),
        checks.check_text(f"{path}.action", message.action, max_chars=ACTION_CHARS, required=True),
        checks.check_text(f"{path}.subject", message.subject, max_chars=SUBJECT_CHARS),
    )


def _read_ids(path: str, ids: Sequence[str]) -> tuple[UUID, ...]:
    checks.check_items(path, ids, high=HITS)
    return tuple(checks.check_id(f"{path}[{number}]", text) for number, text in enumerate(ids))


def _read_shared(path: str, hits: Sequence[record_pb2.SharedHit]) -> tuple[tuple[int, UUID], ...]:
    checks.check_items(path, hits, high=HITS)
    return tuple(
        (_check_number(f"{path}[{n}].bank_id", hit.bank_id), checks.check_id(f"{path}[{n}].memory_id", hit.memory_id))
        for n, hit in enumerate(hits)
    )


def _check_number(path: str, number: int) -> int:
    if not 0 < number <= MAX_ID:
        raise InvalidField(path, "a positive number")
    return number
