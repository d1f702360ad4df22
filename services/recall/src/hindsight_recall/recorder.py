"""Receipts, hits and refused calls on their way to ingest: in bounded batches, behind the answer, never in its way."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

import grpc
import structlog
from hindsight.v1 import record_pb2, record_pb2_grpc
from hindsight_runtime.boundary import Denial
from hindsight_runtime.channels import open_channel
from hindsight_runtime.identity import AGENT_SCOPE
from hindsight_store.ids import uuid7

from hindsight_recall.receipts import Receipt, to_document
from hindsight_recall.wire import to_stamp

PENDING = 2_000  # receipts; what comes on top of that drops the oldest
BATCH = 64
PAUSE_S = 0.1  # gathers what other recalls add meanwhile
AGAIN_S = 2.0  # after ingest did not answer
TIMEOUT_S = 10.0
LAST_S = 3.0  # at the end, for what is pending

T = TypeVar("T")
log = structlog.get_logger()


class Recorder:
    """Sends receipts and refused calls to ingest. Drops, counted in the log, rather than let a recall wait."""

    def __init__(self, stub: record_pb2_grpc.RecordServiceStub, token: str) -> None:
        self._stub = stub
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()
        self._pending: deque[tuple[Receipt, str]] = deque(maxlen=PENDING)  # with the agent's name
        self._denied: deque[record_pb2.DeniedCall] = deque(maxlen=PENDING)
        self._added = asyncio.Event()
        self._dropped = 0

    def record(self, receipt: Receipt, agent_id: str) -> None:
        """Take a receipt of an agent to be sent."""
        self._dropped += len(self._pending) == PENDING
        self._pending.append((receipt, agent_id))
        self._added.set()

    def deny(self, denial: Denial) -> None:
        """Take a refused call to be sent, for the audit log."""
        self._dropped += len(self._denied) == PENDING
        self._denied.append(
            record_pb2.DeniedCall(
                tenant_id=denial.tenant_id,
                audit_id=str(uuid7()),
                principal=denial.principal,
                action=denial.action,
                subject=denial.subject,
            )
        )
        self._added.set()

    async def send(self) -> None:
        """Send what is pending, over and over."""
        while True:
            await self._added.wait()
            await asyncio.sleep(PAUSE_S)
            if not await self.flush():
                await asyncio.sleep(AGAIN_S)

    async def flush(self) -> bool:
        """Send all that is pending; False where ingest does not take it now."""
        while self._pending or self._denied:
            batch, denied = _take(self._pending), _take(self._denied)
            request = record_pb2.RecordRequest(recalls=[_to_message(*one) for one in batch], denied=denied)
            try:
                await self._stub.Record(request, timeout=TIMEOUT_S, metadata=self._metadata)
            except asyncio.CancelledError:  # perhaps not recorded; what is sent twice is kept once
                self._put_back(batch, denied)
                raise
            except grpc.aio.AioRpcError as error:
                log.warning(
                    "receipts not recorded",
                    code=error.code().name,
                    receipts=len(batch),
                    denied=len(denied),
                    dropped=self._dropped,
                )
                if error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
                    self._put_back(batch, denied)
                    return False
        self._added.clear()
        return True

    def _put_back(self, batch: Sequence[tuple[Receipt, str]], denied: Sequence[record_pb2.DeniedCall]) -> None:
        self._pending.extendleft(reversed(batch[: PENDING - len(self._pending)]))
        self._denied.extendleft(reversed(denied[: PENDING - len(self._denied)]))


def _take(pending: deque[T]) -> list[T]:
    return [pending.popleft() for _ in range(min(BATCH, len(pending)))]


def _to_message(receipt: Receipt, agent_id: str) -> record_pb2.RecordedRecall:
    return record_pb2.RecordedRecall(
        tenant_id=receipt.query.tenant_id,
        bank_id=receipt.query.bank_id,
        receipt_id=str(receipt.receipt_id),
        principal=receipt.principal,
        at=to_stamp(receipt.at),
        query=receipt.query.text,
        memory_ids=receipt.memory_ids,
        document=to_document(receipt),
        scope=next((s for s in receipt.query.selection.scopes or () if s != AGENT_SCOPE), ""),
        contradicted_ids=receipt.contradicted,
        agent_id=agent_id,
        shared_hits=[record_pb2.SharedHit(bank_id=bank_id, memory_id=name) for name, bank_id in receipt.shared.items()],
    )


@asynccontextmanager
async def open_recorder(address: str, token: str) -> AsyncIterator[Recorder]:
    """A recorder that sends until the end of the block, and then what is still pending."""
    async with open_channel(address) as channel, asyncio.TaskGroup() as tasks:
        recorder = Recorder(record_pb2_grpc.RecordServiceStub(channel), token)
        sending = tasks.create_task(recorder.send())
        try:
            yield recorder
        finally:
            sending.cancel()
            await asyncio.wait([sending])
            try:
                async with asyncio.timeout(LAST_S):
                    await recorder.flush()
            except TimeoutError:
                log.warning("receipts not recorded", why="the process ends")
