"""Calls that write, read and review memories."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from hindsight.v1 import ingest_pb2, memory_pb2, recall_pb2, review_pb2

from hindsight_memory.connection import Connection
from hindsight_memory.types.memories import (
    Conflict,
    Filter,
    ForgetMode,
    Memory,
    NewMemory,
    Relation,
    Review,
    Status,
    WriteResult,
)
from hindsight_memory.wire.fields import enum, enums, fill
from hindsight_memory.wire.memories import from_filter, from_new_memory, to_conflict, to_memory, to_relation, to_result, to_review


class MemoryCalls(Connection):
    """Writing memories, reading them one by one, and reviewing them."""

    async def write(self, memory: NewMemory, *, agent_id: str = "", request_id: str = "") -> WriteResult:
        """Write one memory, or bring the near-duplicate that is there up to date."""
        request = from_new_memory(memory)
        fill(request, self._identity(agent_id, request_id))
        return to_result((await self._call(self._ingest.Write, request)).result)

    async def write_batch(
        self, memories: Sequence[NewMemory], *, agent_id: str = "", request_id: str = "", all_or_nothing: bool = False
    ) -> list[WriteResult]:
        """Write up to 256 memories in one transaction; in order, what became of each."""
        request = ingest_pb2.WriteBatchRequest(all_or_nothing=all_or_nothing)
        fill(request, self._identity(agent_id, request_id))
        request.memories.extend(from_new_memory(memory).memory for memory in memories)
        return [to_result(r) for r in (await self._call(self._ingest.WriteBatch, request)).results]

    async def update(
        self,
        memory_id: str,
        fields: Mapping[str, Any],
        *,
        revision: int | None = None,
        agent_id: str = "",
        request_id: str = "",
    ) -> WriteResult:
        """Change fields of a memory: key, query, value, tags, importance, confidence, metadata, is_core, kind, expires_at."""
        request = ingest_pb2.UpdateRequest(memory_id=memory_id, revision=revision)
        changes = dict(fields)
        if changes.get("tags") is not None:
            changes["tags"] = fill(ingest_pb2.Tags(), {"values": changes["tags"]})
        if changes.get("kind") is not None:
            changes["kind"] = enum("KIND", changes["kind"], memory_pb2.Kind, "kind")
        fill(request, self._identity(agent_id, request_id) | changes)
        return to_result((await self._call(self._ingest.Update, request)).result)

    async def forget(
        self,
        *,
        memory_id: str = "",
        key: str = "",
        scope: str = "",
        mode: ForgetMode = "delete",
        agent_id: str = "",
        request_id: str = "",
    ) -> list[str]:
        """Fade or delete one memory, or every active one with a key in a scope; the ids."""
        number = enum("FORGET_MODE", mode, ingest_pb2.ForgetMode, "mode")
        request = fill(
            ingest_pb2.ForgetRequest(),
            {"memory_id": memory_id, "key": key, "scope": scope, "mode": number, **self._identity(agent_id, request_id)},
        )
        return list((await self._call(self._ingest.Forget, request)).memory_ids)

    async def restore(self, memory_id: str, revision: int, *, agent_id: str = "", request_id: str = "") -> WriteResult:
        """Make an earlier revision the current one again."""
        request = ingest_pb2.RestoreRequest(memory_id=memory_id, revision=revision)
        fill(request, self._identity(agent_id, request_id))
        return to_result((await self._call(self._ingest.Restore, request)).result)

    async def relate(
        self,
        ends: tuple[str, str],
        relation_type: str,
        *,
        weight: float | None = None,
        agent_id: str = "",
        request_id: str = "",
    ) -> float:
        """State a relation from one memory to another (their ids), or change its weight; the weight."""
        request = ingest_pb2.RelateRequest()
        fields = {"from_id": ends[0], "to_id": ends[1], "type": relation_type, "weight": weight}
        fill(request, fields | self._identity(agent_id, request_id))
        return (await self._call(self._ingest.Relate, request)).weight

    async def unrelate(self, ends: tuple[str, str], relation_type: str, *, agent_id: str = "", request_id: str = "") -> bool:
        """Take a relation from one memory to another back; whether there was one."""
        request = ingest_pb2.UnrelateRequest()
        fields = {"from_id": ends[0], "to_id": ends[1], "type": relation_type}
        fill(request, fields | self._identity(agent_id, request_id))
        return (await self._call(self._ingest.Unrelate, request)).removed

    async def get(self, memory_id: str, *, agent_id: str = "") -> Memory:
        """One memory by its id."""
        request = recall_pb2.GetRequest(agent_id=agent_id or self._agent_id, memory_id=memory_id)
        return to_memory((await self._call(self._recall.Get, request)).memory)

    async def list(
        self,
        where: Filter | None = None,
        *,
        statuses: Sequence[Status] = (),
        agent_id: str = "",
    ) -> AsyncIterator[Memory]:
        """Every memory under a filter, oldest first."""
        numbers = enums("STATUS", statuses, memory_pb2.Status, "statuses")
        fields = {"agent_id": agent_id or self._agent_id, "filter": from_filter(where or Filter()), "statuses": numbers}
        request = fill(recall_pb2.ListRequest(), fields)
        async for page in self._pages(self._recall.List, request):
            for memory in page.memories:
                yield to_memory(memory)

    async def revisions(self, memory_id: str, *, agent_id: str = "") -> AsyncIterator[Memory]:
        """Every revision of a memory, newest first."""
        request = recall_pb2.ListRevisionsRequest(agent_id=agent_id or self._agent_id, memory_id=memory_id)
        async for page in self._pages(self._recall.ListRevisions, request):
            for memory in page.revisions:
                yield to_memory(memory)

    async def list_relations(self, memory_id: str, *, agent_id: str = "") -> AsyncIterator[Relation]:
        """Every relation from or to a memory."""
        request = recall_pb2.ListRelationsRequest(agent_id=agent_id or self._agent_id, memory_id=memory_id)
        async for page in self._pages(self._recall.ListRelations, request):
            for relation in page.relations:
                yield to_relation(relation)

    async def list_conflicts(self, *, agent_id: str = "") -> AsyncIterator[Conflict]:
        """Every statement that was refused because it contradicts a memory, newest first."""
        request = recall_pb2.ListConflictsRequest(agent_id=agent_id or self._agent_id)
        async for page in self._pages(self._recall.ListConflicts, request):
            for conflict in page.conflicts:
                yield to_conflict(conflict)

    async def list_reviews(self, reason: str = "", *, agent_id: str = "") -> AsyncIterator[Review]:
        """What waits for a person's word, newest memory first; with a reason, that alone."""
        request = recall_pb2.ListReviewsRequest(reason=reason, agent_id=agent_id or self._agent_id)
        async for page in self._pages(self._recall.ListReviews, request):
            for review in page.reviews:
                yield to_review(review)

    async def approve(
        self, memory_id: str, edits: Mapping[str, str] | None = None, *, agent_id: str = "", request_id: str = ""
    ) -> WriteResult:
        """Let a memory in that waits for review, as it is or with another key, query or value."""
        request = review_pb2.ApproveRequest(memory_id=memory_id)
        fill(request, self._identity(agent_id, request_id) | dict(edits or {}))
        return to_result((await self._call(self._reviews.Approve, request)).result)

    async def reject(self, memory_id: str, *, agent_id: str = "", request_id: str = "") -> None:
        """Keep a memory out that waits for review: it is deleted."""
        request = review_pb2.RejectRequest(memory_id=memory_id)
        await self._call(self._reviews.Reject, fill(request, self._identity(agent_id, request_id)))
