"""ReviewService: a person's word on what the guard holds back or has doubts about."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import asyncpg
from hindsight.v1 import review_pb2, review_pb2_grpc
from hindsight_runtime import checks
from hindsight_runtime.errors import NotFound
from hindsight_store.records import Memory
from hindsight_store.writer import writing

from hindsight_ingest import validation
from hindsight_ingest.calls import to_call
from hindsight_ingest.candidate import Candidate, reword
from hindsight_ingest.changes import Changes
from hindsight_ingest.pipeline import Call, Pipeline, Result
from hindsight_ingest.results import to_message

SAID = (
    *("scope", "kind", "key", "trigger", "value", "tags", "importance", "confidence", "source", "session_id", "turn"),
    *("metadata", "is_core", "valid_from", "valid_to", "expires_at", "derived_from"),
)


class Reviewing:
    """Lets memories in or keeps them out. One for the life of a process."""

    def __init__(self, pool: asyncpg.Pool, pipeline: Pipeline, changes: Changes) -> None:
        self._pool = pool
        self._pipeline = pipeline
        self._changes = changes

    async def approve(self, call: Call, memory_id: UUID, edits: Mapping[str, str]) -> Result:
        """Let a memory in, with other words where there are edits. One that is doubted is freed of the doubt.

        Raises:
            NotFound: no such memory waits within what the caller may use.
        """
        if past := await self._pipeline.recall_request(call):
            return past[0]
        memory = await self._read(call, memory_id)
        if memory.status != "pending_review":
            return await self._changes.clear(call, memory_id, edits)
        said = Candidate(**{name: getattr(memory, name) for name in SAID})
        said = reword(said, edits, call.principal.sources)
        return (await self._pipeline.write(call, [said], approved=memory_id))[0]

    async def reject(self, call: Call, memory_id: UUID) -> None:
        """Keep a memory out.

        Raises:
            NotFound: no such memory waits within what the caller may use.
        """
        if await self._pipeline.recall_request(call) is None:
            await self._read(call, memory_id)
        await self._changes.reject(call, memory_id)

    async def _read(self, call: Call, memory_id: UUID) -> Memory:
        async with writing(self._pool, call.principal.tenant_id) as writer:
            bank_id = await writer.find_bank(call.principal.tenant_id, call.agent_id)
            review = None if bank_id is None else await writer.reviews.find(bank_id, memory_id)
            memory = None if bank_id is None else (await writer.current(bank_id, [memory_id])).get(memory_id)
        if memory is None or review is None or review.state != "pending" or not call.principal.may_use(memory.scope):
            raise NotFound("no such memory waits for review")
        return memory


class ReviewServicer(review_pb2_grpc.ReviewServiceServicer):
    """Answers ReviewService."""

    def __init__(self, reviewing: Reviewing) -> None:
        self._reviewing = reviewing

    async def Approve(self, request: review_pb2.ApproveRequest, context: Any) -> review_pb2.ApproveResponse:
        """Let a memory in."""
        call = _to_call(request)
        memory_id = checks.check_id("memory_id", request.memory_id)
        edits = validation.read_edits(request)
        return review_pb2.ApproveResponse(result=to_message(await self._reviewing.approve(call, memory_id, edits)))

    async def Reject(self, request: review_pb2.RejectRequest, context: Any) -> review_pb2.RejectResponse:
        """Keep a memory out."""
        call = _to_call(request)
        memory_id = checks.check_id("memory_id", request.memory_id)
        await self._reviewing.reject(call, memory_id)
        return review_pb2.RejectResponse(memory_id=str(memory_id))


def _to_call(request: Any) -> Call:
    call = to_call(request)
    call.principal.require("admin")
    return call
