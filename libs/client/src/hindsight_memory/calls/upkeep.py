"""Calls that look after a tenant: jobs, the audit log, hostile sources, erasures."""

import uuid
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict

from hindsight.v1 import admin_pb2, erasure_pb2

from hindsight_memory.connection import Connection
from hindsight_memory.types.upkeep import AuditFilter, AuditLine, Erasure, ErasureReceipt, Job, MemorySource, Withdrawal
from hindsight_memory.wire.fields import enum, fill, short
from hindsight_memory.wire.upkeep import (
    from_erasure_receipt,
    from_memory_source,
    to_audit_line,
    to_erasure_receipt,
    to_job,
    to_withdrawal,
)


class UpkeepCalls(Connection):
    """Looking after a tenant: jobs, the audit log, hostile sources, erasures."""

    async def list_jobs(self, state: str = "", *, tenant: str = "") -> AsyncIterator[Job]:
        """The tenant's jobs in a state (queued, running, dead; empty: any), oldest first."""
        number = enum("JOB_STATE", state, admin_pb2.JobState, "state") if state else None
        request = fill(admin_pb2.ListJobsRequest(), {"tenant": tenant, "state": number})
        async for page in self._pages(self._admin.ListJobs, request):
            for job in page.jobs:
                yield to_job(job)

    async def requeue_jobs(self, job_ids: Sequence[str], *, tenant: str = "") -> Sequence[str]:
        """Let up to 256 dead letters be tried again; the ids of those that were."""
        request = fill(admin_pb2.RequeueJobsRequest(), {"tenant": tenant, "job_ids": list(job_ids)})
        return (await self._call(self._admin.RequeueJobs, request)).job_ids

    async def list_audit(self, wanted: AuditFilter | None = None, *, tenant: str = "") -> AsyncIterator[AuditLine]:
        """Who changed what in the tenant, newest first."""
        request = fill(admin_pb2.ListAuditRequest(), {"tenant": tenant, **asdict(wanted or AuditFilter())})
        async for page in self._pages(self._admin.ListAudit, request):
            for line in page.lines:
                yield to_audit_line(line)

    async def revoke_source(self, source: MemorySource, *, agent_id: str = "", request_id: str = "") -> Withdrawal:
        """Withdraw everything that was written from a source and everything derived from that; empty agent_id: of every agent."""
        fields = {"agent_id": agent_id, "request_id": request_id or str(uuid.uuid4())}
        request = fill(admin_pb2.RevokeSourceRequest(source=from_memory_source(source)), fields)
        return to_withdrawal((await self._call(self._admin.RevokeSource, request)).withdrawal)

    async def reinstate(self, withdrawal_id: str) -> tuple[int, int]:
        """Take a withdrawal back: how many memories are as they were, and how many were left as they are."""
        request = fill(admin_pb2.ReinstateRequest(), {"withdrawal_id": withdrawal_id})
        response = await self._call(self._admin.Reinstate, request)
        return response.reinstated, response.left

    async def list_withdrawals(self) -> AsyncIterator[Withdrawal]:
        """The tenant's withdrawals, newest first."""
        async for page in self._pages(self._admin.ListWithdrawals, admin_pb2.ListWithdrawalsRequest()):
            for withdrawal in page.withdrawals:
                yield to_withdrawal(withdrawal)

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
        fields |= {"source": from_memory_source(source) if source else None, "request_id": request_id or str(uuid.uuid4())}
        response = await self._call(self._erasures.Erase, fill(erasure_pb2.EraseRequest(), fields))
        state = short("ERASURE_STATE", response.state, erasure_pb2.ErasureState) if response.state else ""
        return Erasure(response.erasure_id, state, dict(response.counts))

    async def get_erasure(self, erasure_id: str, *, tenant: str = "") -> Erasure:
        """How far an erasure is; with its receipt once it is done."""
        request = fill(erasure_pb2.GetErasureRequest(), {"erasure_id": erasure_id, "tenant": tenant})
        response = await self._call(self._erasures.GetErasure, request)
        receipt = to_erasure_receipt(response.receipt) if response.HasField("receipt") else None
        state = short("ERASURE_STATE", response.state, erasure_pb2.ErasureState)
        return Erasure(erasure_id, state, receipt.counts if receipt else {}, receipt)

    async def verify_erasure(self, receipt: ErasureReceipt, *, tenant: str = "") -> tuple[bool, bool]:
        """Whether a receipt is the server's own and unchanged, and whether nothing that it names is there any more."""
        request = erasure_pb2.VerifyErasureRequest(tenant=tenant, receipt=from_erasure_receipt(receipt))
        response = await self._call(self._erasures.VerifyErasure, request)
        return response.is_authentic, response.is_gone
