"""The client: one object for an agent's memory, over gRPC."""

import asyncio
import copy
import json
import os
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from types import TracebackType
from typing import Any, Self

import grpc
from hindsight.v1 import (
    admin_pb2,
    admin_pb2_grpc,
    erasure_pb2,
    erasure_pb2_grpc,
    ingest_pb2,
    ingest_pb2_grpc,
    memory_pb2,
    recall_pb2,
    recall_pb2_grpc,
    receipt_pb2,
    receipt_pb2_grpc,
    review_pb2,
    review_pb2_grpc,
    session_pb2,
    session_pb2_grpc,
    sharing_pb2,
    sharing_pb2_grpc,
)

from hindsight_memory import wire
from hindsight_memory.errors import to_error
from hindsight_memory.types import (
    Answer,
    AuditFilter,
    AuditLine,
    Candidate,
    Conflict,
    Considered,
    Ended,
    Erasure,
    ErasureReceipt,
    Filter,
    ForgetMode,
    GateVerdict,
    Grant,
    Job,
    Key,
    Memory,
    MemorySource,
    Mode,
    NewGrant,
    NewKey,
    NewMemory,
    Observed,
    Receipt,
    Relation,
    Review,
    Session,
    Status,
    ThenAndNow,
    Turn,
    Withdrawal,
    WriteResult,
)

INGEST_ADDRESS = "127.0.0.1:50051"
RECALL_ADDRESS = "127.0.0.1:50052"
TIMEOUT_S = 30.0
RETRIES = 4  # of UNAVAILABLE; every change carries a request id, so a repeat is safe
RETRY_PAUSE_S = 0.2
# gRPC answers CANCELLED to a call that reaches a server in the moment it stops; what the caller cancels raises no status here.
PASSING = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
CHANNEL_OPTIONS = (
    ("grpc.service_config", json.dumps({"loadBalancingConfig": [{"round_robin": {}}]})),
    ("grpc.max_receive_message_length", 64 * 2**20),
    ("grpc.max_send_message_length", 16 * 2**20),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.enable_http_proxy", 0),  # a proxy for the web is not on the way to a service
    ("grpc.dns_min_time_between_resolutions_ms", 2_000),  # a replica that came back may have another address
    ("grpc.max_reconnect_backoff_ms", 1_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
)


class Hindsight:
    """A connection to hindsight. An async context manager; safe for concurrent use.

    Every method raises HindsightError when the server refuses or fails. Calls answered UNAVAILABLE are repeated a few
    times; a change is never made twice, since each carries a request id (yours, or a fresh one).
    """

    def __init__(
        self,
        *,
        api_key: str = "",
        agent_id: str = "",
        ingest_address: str = INGEST_ADDRESS,
        recall_address: str = RECALL_ADDRESS,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._metadata = _metadata(api_key)
        self._agent_id = agent_id
        self._timeout_s = timeout_s
        self._channels = [
            grpc.aio.insecure_channel(a if a.startswith("unix:") else f"dns:///{a}", options=CHANNEL_OPTIONS)
            for a in (ingest_address, recall_address)
        ]
        self._ingest = ingest_pb2_grpc.IngestServiceStub(self._channels[0])
        self._sessions = session_pb2_grpc.SessionServiceStub(self._channels[0])
        self._reviews = review_pb2_grpc.ReviewServiceStub(self._channels[0])
        self._sharing = sharing_pb2_grpc.SharingServiceStub(self._channels[0])
        self._admin = admin_pb2_grpc.AdminServiceStub(self._channels[0])
        self._erasures = erasure_pb2_grpc.ErasureServiceStub(self._channels[0])
        self._recall = recall_pb2_grpc.RecallServiceStub(self._channels[1])
        self._receipts = receipt_pb2_grpc.ReceiptServiceStub(self._channels[1])

    @classmethod
    def from_environment(cls) -> Self:
        """A client for HINDSIGHT_API_KEY, at HINDSIGHT_INGEST_ADDRESS and HINDSIGHT_RECALL_ADDRESS where they are set."""
        return cls(
            api_key=os.environ.get("HINDSIGHT_API_KEY", ""),
            ingest_address=os.environ.get("HINDSIGHT_INGEST_ADDRESS", INGEST_ADDRESS),
            recall_address=os.environ.get("HINDSIGHT_RECALL_ADDRESS", RECALL_ADDRESS),
        )

    def with_key(self, api_key: str, *, timeout_s: float | None = None) -> Self:
        """The same connection under another key, and another timeout where one is given; closing it closes nothing."""
        other = copy.copy(self)
        other._metadata = _metadata(api_key)
        other._timeout_s = timeout_s or self._timeout_s
        other._channels = []
        return other

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        for channel in self._channels:
            await channel.close()

    async def write(self, memory: NewMemory, *, agent_id: str = "", request_id: str = "") -> WriteResult:
        """Write one memory, or bring the near-duplicate that is there up to date."""
        request = wire.from_new_memory(memory)
        wire.fill(request, self._identity(agent_id, request_id))
        return wire.to_result((await self._call(self._ingest.Write, request)).result)

    async def write_batch(
        self, memories: Sequence[NewMemory], *, agent_id: str = "", request_id: str = "", all_or_nothing: bool = False
    ) -> list[WriteResult]:
        """Write up to 256 memories in one transaction; in order, what became of each."""
        request = ingest_pb2.WriteBatchRequest(all_or_nothing=all_or_nothing)
        wire.fill(request, self._identity(agent_id, request_id))
        request.memories.extend(wire.from_new_memory(memory).memory for memory in memories)
        return [wire.to_result(r) for r in (await self._call(self._ingest.WriteBatch, request)).results]

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
            changes["tags"] = wire.fill(ingest_pb2.Tags(), {"values": changes["tags"]})
        if changes.get("kind") is not None:
            changes["kind"] = wire.enum("KIND", changes["kind"], memory_pb2.Kind, "kind")
        wire.fill(request, self._identity(agent_id, request_id) | changes)
        return wire.to_result((await self._call(self._ingest.Update, request)).result)

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
        number = wire.enum("FORGET_MODE", mode, ingest_pb2.ForgetMode, "mode")
        request = wire.fill(
            ingest_pb2.ForgetRequest(),
            {"memory_id": memory_id, "key": key, "scope": scope, "mode": number, **self._identity(agent_id, request_id)},
        )
        return list((await self._call(self._ingest.Forget, request)).memory_ids)

    async def restore(self, memory_id: str, revision: int, *, agent_id: str = "", request_id: str = "") -> WriteResult:
        """Make an earlier revision the current one again."""
        request = ingest_pb2.RestoreRequest(memory_id=memory_id, revision=revision)
        wire.fill(request, self._identity(agent_id, request_id))
        return wire.to_result((await self._call(self._ingest.Restore, request)).result)

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
        wire.fill(request, fields | self._identity(agent_id, request_id))
        return (await self._call(self._ingest.Relate, request)).weight

    async def unrelate(self, ends: tuple[str, str], relation_type: str, *, agent_id: str = "", request_id: str = "") -> bool:
        """Take a relation from one memory to another back; whether there was one."""
        request = ingest_pb2.UnrelateRequest()
        fields = {"from_id": ends[0], "to_id": ends[1], "type": relation_type}
        wire.fill(request, fields | self._identity(agent_id, request_id))
        return (await self._call(self._ingest.Unrelate, request)).removed

    async def observe(
        self,
        session_id: str,
        turns: Sequence[Turn],
        *,
        scope: str = "",
        first_turn: int | None = None,
        agent_id: str = "",
        request_id: str = "",
    ) -> Observed:
        """Keep up to 256 turns of a session, behind its last turn or from a number on."""
        request = ingest_pb2.ObserveRequest(turns=[wire.from_turn(turn) for turn in turns])
        fields = {"session_id": session_id, "scope": scope, "first_turn": first_turn, **self._identity(agent_id, request_id)}
        response = await self._call(self._ingest.Observe, wire.fill(request, fields))
        return Observed(response.first_turn, response.added, tuple(map(wire.to_candidate, response.candidates)))

    async def complete_task(
        self, session_id: str, *, outcome: str = "", note: str = "", agent_id: str = "", request_id: str = ""
    ) -> Ended:
        """Say that a session's task is over (success, partial, failure; empty: the trace decides); it is looked back on."""
        fields = {"session_id": session_id, "outcome": outcome, "note": note, **self._identity(agent_id, request_id)}
        request = wire.fill(session_pb2.CompleteTaskRequest(), fields)
        response = await self._call(self._sessions.CompleteTask, request)
        return Ended(response.task_id, response.looks_back)

    async def end_session(self, session_id: str, *, agent_id: str = "", request_id: str = "") -> Ended:
        """Say that a session is over: its open task is looked back on, and the session is summed up."""
        fields = {"session_id": session_id, **self._identity(agent_id, request_id)}
        response = await self._call(self._sessions.EndSession, wire.fill(session_pb2.EndSessionRequest(), fields))
        return Ended(response.task_id, response.looks_back)

    async def look_back(self, session_id: str, *, agent_id: str = "", request_id: str = "") -> int:
        """Let the tasks of a session be looked back on and tagged again; how many there are."""
        fields = {"session_id": session_id, **self._identity(agent_id, request_id)}
        return (await self._call(self._sessions.LookBack, wire.fill(session_pb2.LookBackRequest(), fields))).tasks

    async def get_session(self, session_id: str, *, agent_id: str = "") -> Session:
        """A session with its tasks and what became of them."""
        request = recall_pb2.GetSessionRequest(agent_id=agent_id or self._agent_id, session_id=session_id)
        return wire.to_session((await self._call(self._recall.GetSession, request)).session)

    async def should_write(self, text: str, *, before: str = "", agent_id: str = "") -> tuple[bool, list[Candidate]]:
        """Whether a user's turn holds anything worth keeping, and what, by rules alone; `before` is what the agent had said."""
        fields = {"text": text, "before": before, "agent_id": agent_id or self._agent_id}
        response = await self._call(self._sessions.ShouldWrite, wire.fill(session_pb2.ShouldWriteRequest(), fields))
        return response.should_write, [wire.to_candidate(c) for c in response.candidates]

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
        agent_id: str = "",
    ) -> Answer:
        """The memories that answer a query, best first, each with its reasons."""
        fields = {
            "query": query,
            "mode": wire.enum("MODE", mode, recall_pb2.Mode, "mode"),
            "filter": wire.from_filter(where or Filter()),
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
            "agent_id": agent_id or self._agent_id,
        }
        return wire.to_answer(await self._call(self._recall.Recall, wire.fill(recall_pb2.RecallRequest(), fields)))

    async def receipt(self, receipt_id: str, *, agent_id: str = "") -> Receipt:
        """The account of a recall, by the id its answer carries; there a moment after the answer, and for seven days."""
        request = receipt_pb2.GetReceiptRequest(agent_id=agent_id or self._agent_id, receipt_id=receipt_id)
        return wire.to_receipt((await self._call(self._receipts.GetReceipt, request)).receipt)

    async def replay(self, receipt_id: str, *, agent_id: str = "") -> tuple[tuple[Considered, ...], bool]:
        """A recall's ranking, computed again from its receipt, and whether it is the one that was given."""
        request = receipt_pb2.ReplayRequest(agent_id=agent_id or self._agent_id, receipt_id=receipt_id)
        response = await self._call(self._receipts.Replay, request)
        return tuple(wire.to_considered(c) for c in response.hits), response.is_identical

    async def recall_as_of_then(self, receipt_id: str, *, agent_id: str = "") -> ThenAndNow:
        """A receipt's query, asked of what was recorded then and of what is recorded now."""
        request = receipt_pb2.RecallAsOfThenRequest(agent_id=agent_id or self._agent_id, receipt_id=receipt_id)
        return wire.to_then_and_now(await self._call(self._receipts.RecallAsOfThen, request))

    async def should_recall(self, text: str) -> GateVerdict:
        """Whether answering a user's turn well needs something from earlier sessions; cheaper than a recall."""
        request = wire.fill(recall_pb2.ShouldRecallRequest(), {"text": text})
        return wire.to_verdict(await self._call(self._recall.ShouldRecall, request))

    async def get(self, memory_id: str, *, agent_id: str = "") -> Memory:
        """One memory by its id."""
        request = recall_pb2.GetRequest(agent_id=agent_id or self._agent_id, memory_id=memory_id)
        return wire.to_memory((await self._call(self._recall.Get, request)).memory)

    async def list(
        self,
        where: Filter | None = None,
        *,
        statuses: Sequence[Status] = (),
        agent_id: str = "",
    ) -> AsyncIterator[Memory]:
        """Every memory under a filter, oldest first."""
        numbers = wire.enums("STATUS", statuses, memory_pb2.Status, "statuses")
        fields = {"agent_id": agent_id or self._agent_id, "filter": wire.from_filter(where or Filter()), "statuses": numbers}
        request = wire.fill(recall_pb2.ListRequest(), fields)
        async for page in self._pages(self._recall.List, request):
            for memory in page.memories:
                yield wire.to_memory(memory)

    async def revisions(self, memory_id: str, *, agent_id: str = "") -> AsyncIterator[Memory]:
        """Every revision of a memory, newest first."""
        request = recall_pb2.ListRevisionsRequest(agent_id=agent_id or self._agent_id, memory_id=memory_id)
        async for page in self._pages(self._recall.ListRevisions, request):
            for memory in page.revisions:
                yield wire.to_memory(memory)

    async def list_relations(self, memory_id: str, *, agent_id: str = "") -> AsyncIterator[Relation]:
        """Every relation from or to a memory."""
        request = recall_pb2.ListRelationsRequest(agent_id=agent_id or self._agent_id, memory_id=memory_id)
        async for page in self._pages(self._recall.ListRelations, request):
            for relation in page.relations:
                yield wire.to_relation(relation)

    async def list_conflicts(self, *, agent_id: str = "") -> AsyncIterator[Conflict]:
        """Every statement that was refused because it contradicts a memory, newest first."""
        request = recall_pb2.ListConflictsRequest(agent_id=agent_id or self._agent_id)
        async for page in self._pages(self._recall.ListConflicts, request):
            for conflict in page.conflicts:
                yield wire.to_conflict(conflict)

    async def list_reviews(self, reason: str = "", *, agent_id: str = "") -> AsyncIterator[Review]:
        """What waits for a person's word, newest memory first; with a reason, that alone."""
        request = recall_pb2.ListReviewsRequest(reason=reason, agent_id=agent_id or self._agent_id)
        async for page in self._pages(self._recall.ListReviews, request):
            for review in page.reviews:
                yield wire.to_review(review)

    async def approve(
        self, memory_id: str, edits: Mapping[str, str] | None = None, *, agent_id: str = "", request_id: str = ""
    ) -> WriteResult:
        """Let a memory in that waits for review, as it is or with another key, query or value."""
        request = review_pb2.ApproveRequest(memory_id=memory_id)
        wire.fill(request, self._identity(agent_id, request_id) | dict(edits or {}))
        return wire.to_result((await self._call(self._reviews.Approve, request)).result)

    async def reject(self, memory_id: str, *, agent_id: str = "", request_id: str = "") -> None:
        """Keep a memory out that waits for review: it is deleted."""
        request = review_pb2.RejectRequest(memory_id=memory_id)
        await self._call(self._reviews.Reject, wire.fill(request, self._identity(agent_id, request_id)))

    async def share(self, grant: NewGrant, *, agent_id: str = "", request_id: str = "") -> Grant:
        """Open memories to another agent of the tenant."""
        request = wire.fill(wire.from_new_grant(grant), self._identity(agent_id, request_id))
        return wire.to_grant((await self._call(self._sharing.Share, request)).grant)

    async def unshare(self, grant_id: str, *, agent_id: str = "", request_id: str = "") -> Grant:
        """End a grant."""
        request = wire.fill(sharing_pb2.UnshareRequest(), self._identity(agent_id, request_id) | {"grant_id": grant_id})
        return wire.to_grant((await self._call(self._sharing.Unshare, request)).grant)

    async def list_grants(self, *, include_ended: bool = False, agent_id: str = "") -> AsyncIterator[Grant]:
        """What the agent has opened to others and others to it, newest first."""
        request = recall_pb2.ListGrantsRequest(agent_id=agent_id or self._agent_id, include_ended=include_ended)
        async for page in self._pages(self._recall.ListGrants, request):
            for grant in page.grants:
                yield wire.to_grant(grant)

    async def create_key(self, key: NewKey, *, request_id: str = "") -> tuple[Key, str]:
        """Make a key; the key and its secret, which is told only here."""
        request = wire.from_new_key(key)
        request.request_id = request_id
        response = await self._call(self._admin.CreateKey, request, repeatable=False)
        return wire.to_key(response.key), response.secret

    async def list_keys(self, *, tenant: str = "") -> AsyncIterator[Key]:
        """The tenant's keys, oldest first."""
        async for page in self._pages(self._admin.ListKeys, admin_pb2.ListKeysRequest(tenant=tenant)):
            for key in page.keys:
                yield wire.to_key(key)

    async def list_jobs(self, state: str = "", *, tenant: str = "") -> AsyncIterator[Job]:
        """The tenant's jobs in a state (queued, running, dead; empty: any), oldest first."""
        number = wire.enum("JOB_STATE", state, admin_pb2.JobState, "state") if state else None
        request = wire.fill(admin_pb2.ListJobsRequest(), {"tenant": tenant, "state": number})
        async for page in self._pages(self._admin.ListJobs, request):
            for job in page.jobs:
                yield wire.to_job(job)

    async def requeue_jobs(self, job_ids: Sequence[str], *, tenant: str = "") -> Sequence[str]:
        """Let up to 256 dead letters be tried again; the ids of those that were."""
        request = wire.fill(admin_pb2.RequeueJobsRequest(), {"tenant": tenant, "job_ids": list(job_ids)})
        return (await self._call(self._admin.RequeueJobs, request)).job_ids

    async def list_audit(self, wanted: AuditFilter | None = None, *, tenant: str = "") -> AsyncIterator[AuditLine]:
        """Who changed what in the tenant, newest first."""
        request = wire.fill(admin_pb2.ListAuditRequest(), {"tenant": tenant, **asdict(wanted or AuditFilter())})
        async for page in self._pages(self._admin.ListAudit, request):
            for line in page.lines:
                yield wire.to_audit_line(line)

    async def revoke_source(self, source: MemorySource, *, agent_id: str = "", request_id: str = "") -> Withdrawal:
        """Withdraw everything that was written from a source and everything derived from that; empty agent_id: of every agent."""
        fields = {"agent_id": agent_id, "request_id": request_id or str(uuid.uuid4())}
        request = wire.fill(admin_pb2.RevokeSourceRequest(source=wire.from_memory_source(source)), fields)
        return wire.to_withdrawal((await self._call(self._admin.RevokeSource, request)).withdrawal)

    async def reinstate(self, withdrawal_id: str) -> tuple[int, int]:
        """Take a withdrawal back: how many memories are as they were, and how many were left as they are."""
        request = wire.fill(admin_pb2.ReinstateRequest(), {"withdrawal_id": withdrawal_id})
        response = await self._call(self._admin.Reinstate, request)
        return response.reinstated, response.left

    async def list_withdrawals(self) -> AsyncIterator[Withdrawal]:
        """The tenant's withdrawals, newest first."""
        async for page in self._pages(self._admin.ListWithdrawals, admin_pb2.ListWithdrawalsRequest()):
            for withdrawal in page.withdrawals:
                yield wire.to_withdrawal(withdrawal)

    async def erase(  # noqa: PLR0913 - the fields of the RPC
        self,
        *,
        scope: str = "",
        source: MemorySource | None = None,
        agent_id: str = "",
        tenant: str = "",
        dry_run: bool = False,
        rewrite: bool = False,
        request_id: str = "",
    ) -> Erasure:
        """Erase a scope or a source for good, in the background; empty agent_id: of every agent. `dry_run` only counts."""
        fields = {"scope": scope, "agent_id": agent_id, "tenant": tenant, "dry_run": dry_run, "rewrite": rewrite}
        fields |= {"source": wire.from_memory_source(source) if source else None, "request_id": request_id or str(uuid.uuid4())}
        response = await self._call(self._erasures.Erase, wire.fill(erasure_pb2.EraseRequest(), fields))
        state = wire.short("ERASURE_STATE", response.state, erasure_pb2.ErasureState) if response.state else ""
        return Erasure(response.erasure_id, state, dict(response.counts))

    async def get_erasure(self, erasure_id: str, *, tenant: str = "") -> Erasure:
        """How far an erasure is; with its receipt once it is done."""
        request = wire.fill(erasure_pb2.GetErasureRequest(), {"erasure_id": erasure_id, "tenant": tenant})
        response = await self._call(self._erasures.GetErasure, request)
        receipt = wire.to_erasure_receipt(response.receipt) if response.HasField("receipt") else None
        state = wire.short("ERASURE_STATE", response.state, erasure_pb2.ErasureState)
        return Erasure(erasure_id, state, receipt.counts if receipt else {}, receipt)

    async def verify_erasure(self, receipt: ErasureReceipt, *, tenant: str = "") -> tuple[bool, bool]:
        """Whether a receipt is the server's own and unchanged, and whether nothing that it names is there any more."""
        request = erasure_pb2.VerifyErasureRequest(tenant=tenant, receipt=wire.from_erasure_receipt(receipt))
        response = await self._call(self._erasures.VerifyErasure, request)
        return response.is_authentic, response.is_gone

    async def rotate_key(self, key_id: str, *, tenant: str = "") -> tuple[Key, str]:
        """Give a key a new secret; the key and the secret."""
        request = admin_pb2.RotateKeyRequest(key_id=key_id, tenant=tenant)
        response = await self._call(self._admin.RotateKey, request, repeatable=False)
        return wire.to_key(response.key), response.secret

    async def revoke_key(self, key_id: str, *, tenant: str = "") -> Key:
        """End a key."""
        request = admin_pb2.RevokeKeyRequest(key_id=key_id, tenant=tenant)
        return wire.to_key((await self._call(self._admin.RevokeKey, request)).key)

    async def describe_caller(self) -> Key:
        """Who the caller is, as the server sees it."""
        return wire.to_key((await self._call(self._admin.DescribeCaller, admin_pb2.DescribeCallerRequest())).key)

    def _identity(self, agent_id: str, request_id: str) -> dict[str, Any]:
        return {"agent_id": agent_id or self._agent_id, "request_id": request_id or str(uuid.uuid4())}

    async def _pages(self, method: Callable[..., Any], request: Any) -> AsyncIterator[Any]:
        while True:
            page = await self._call(method, request)
            yield page
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def _call(self, method: Callable[..., Any], request: Any, *, repeatable: bool = True) -> Any:
        for attempt in range(RETRIES + 1):
            try:
                return await method(request, timeout=self._timeout_s, metadata=self._metadata)
            except grpc.aio.AioRpcError as error:
                if error.code() not in PASSING or attempt == RETRIES or not repeatable:
                    raise to_error(error) from None
                await asyncio.sleep((to_error(error).retry_after_s or RETRY_PAUSE_S) * 2**attempt / 2)
        raise AssertionError


def _metadata(api_key: str) -> tuple[tuple[str, str], ...]:
    """What names the caller in every call; gRPC would fail on a key with other characters without saying which field."""
    key = api_key.strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise wire.invalid("api_key", "not a key: it has characters that no key has; give it whole, as it was shown")
    return (("authorization", f"Bearer {key}"),) if key else ()
