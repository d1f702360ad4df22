"""AdminService: keys and who holds which right."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import asyncpg
from google.protobuf.timestamp_pb2 import Timestamp
from hindsight.v1 import admin_pb2, admin_pb2_grpc, memory_pb2
from hindsight_runtime import checks
from hindsight_runtime.errors import AlreadyExists, InvalidField, NotFound, PermissionDenied
from hindsight_runtime.identity import Principal, caller, hash_secret, new_secret
from hindsight_store import audit, jobs, withdrawals
from hindsight_store.audit import join_subjects
from hindsight_store.ids import uuid7
from hindsight_store.keys import KeyWriter, NewKey, ensure_tenant, managing_keys
from hindsight_store.reader import find_tenant

from hindsight_ingest.giving import Excess, find_excess, has_agents, has_scopes
from hindsight_ingest.revoking import Revoking, read_source

NAME_CHARS = 128
TENANT_CHARS = 64
LIST_ITEMS = 256
PAGE = 1000
RIGHTS = {v: k.removeprefix("RIGHT_").lower() for k, v in admin_pb2.Right.items() if v}
SOURCES = {v: k.removeprefix("SOURCE_KIND_").lower() for k, v in memory_pb2.SourceKind.items() if v}
JOB_STATES = {v: k.removeprefix("JOB_STATE_").lower() for k, v in admin_pb2.JobState.items()} | {0: ""}
MAX_JOBS, REQUEUED = 1000, 256


class AdminServicer(admin_pb2_grpc.AdminServiceServicer):
    """Answers AdminService."""

    def __init__(self, pool: asyncpg.Pool, revoking: Revoking, clock: Callable[[], datetime]) -> None:
        self._pool = pool
        self._revoking = revoking
        self._clock = clock

    async def CreateKey(self, request: admin_pb2.CreateKeyRequest, context: Any) -> admin_pb2.CreateKeyResponse:
        """Make a key."""
        principal = _admin()
        checks.check_text("request_id", request.request_id, max_chars=checks.REQUEST_ID_CHARS)
        checks.check_items("scopes", request.scopes, high=LIST_ITEMS)
        rights = checks.check_names("rights", request.rights, RIGHTS)
        sources = checks.check_names("sources", request.sources, SOURCES)
        secret = new_secret()
        key = NewKey(
            key_id=str(uuid7()),
            secret_hash=hash_secret(secret),
            name=checks.check_text("name", request.name, max_chars=NAME_CHARS),
            agent_ids=_texts("agent_ids", request.agent_ids, checks.AGENT_ID_CHARS),
            default_agent_id=checks.check_label("default_agent_id", request.default_agent_id, max_chars=checks.AGENT_ID_CHARS),
            scopes=[checks.check_scope_pattern(f"scopes[{i}]", s) for i, s in enumerate(request.scopes)],
            rights=rights or ["read", "write"],
            sources=sources or ["user", "tool", "inference"],
            expires_at=checks.check_time("expires_at", request.expires_at) if request.HasField("expires_at") else None,
        )
        if key.default_agent_id and key.agent_ids and key.default_agent_id not in key.agent_ids:
            raise InvalidField("default_agent_id", "name one of agent_ids")
        if excess := find_excess(principal, key):
            raise excess
        tenant_id = await self._tenant(principal, request.tenant, create=True)
        async with managing_keys(self._pool, tenant_id) as keys:
            await self._claim(keys, principal, request.request_id)
            await keys.insert(key)
            await keys.audit(principal.key_id, "create_key", key.key_id, "ok")
            row = await keys.get(key.key_id)
        return admin_pb2.CreateKeyResponse(key=to_key(Principal.from_row(row or {})), secret=secret)

    async def ListKeys(self, request: admin_pb2.ListKeysRequest, context: Any) -> admin_pb2.ListKeysResponse:
        """The tenant's keys, as far as the caller may manage them."""
        principal = _admin()
        tenant_id = await self._tenant(principal, request.tenant, create=False)
        size = checks.check_count("page_size", request.page_size, default=100, high=PAGE)
        after = str(checks.check_id("page_token", request.page_token)) if request.page_token else ""
        async with managing_keys(self._pool, tenant_id) as keys:
            rows = await keys.page(after=after, limit=size + 1)
        return admin_pb2.ListKeysResponse(
            keys=[to_key(key) for key in map(Principal.from_row, rows[:size]) if _manages(principal, key)],
            next_page_token=rows[size - 1]["key_id"] if len(rows) > size else "",
        )

    async def RotateKey(self, request: admin_pb2.RotateKeyRequest, context: Any) -> admin_pb2.RotateKeyResponse:
        """Give a key a new secret."""
        secret = new_secret()

        async def rotate(keys: KeyWriter, key: Principal) -> None:
            if key.revoked_at:
                raise InvalidField("key_id", "the key is revoked; make a new one")
            if excess := find_excess(caller(), key):
                remedy = f"it may do more than your key, see its {excess.violations[0].field}; ask the operator, or revoke it"
                raise Excess("key_id", remedy)
            await keys.rotate(key.key_id, hash_secret(secret))

        key = await self._change(request, "rotate_key", rotate)
        return admin_pb2.RotateKeyResponse(key=to_key(key), secret=secret)

    async def RevokeKey(self, request: admin_pb2.RevokeKeyRequest, context: Any) -> admin_pb2.RevokeKeyResponse:
        """End a key."""

        async def revoke(keys: KeyWriter, key: Principal) -> None:
            await keys.revoke(key.key_id, self._clock())

        return admin_pb2.RevokeKeyResponse(key=to_key(await self._change(request, "revoke_key", revoke)))

    async def ListJobs(self, request: admin_pb2.ListJobsRequest, context: Any) -> admin_pb2.ListJobsResponse:
        """The tenant's jobs."""
        tenant_id = await self._tenant(_admin_of_all(), request.tenant, create=False)
        state = checks.check_name("state", request.state, JOB_STATES)
        size = checks.check_count("page_size", request.page_size, default=100, high=MAX_JOBS)
        after = checks.check_id("page_token", request.page_token) if request.page_token else None
        page = await jobs.page(self._pool, tenant_id, state, after=after, limit=size + 1)
        token = str(page[size - 1].job_id) if len(page) > size else ""
        return admin_pb2.ListJobsResponse(jobs=map(_to_job, page[:size]), next_page_token=token)

    async def RequeueJobs(self, request: admin_pb2.RequeueJobsRequest, context: Any) -> admin_pb2.RequeueJobsResponse:
        """Let dead letters be tried again."""
        principal = _admin_of_all()
        tenant_id = await self._tenant(principal, request.tenant, create=False)
        checks.check_items("job_ids", request.job_ids, low=1, high=REQUEUED)
        wanted = [checks.check_id(f"job_ids[{i}]", text) for i, text in enumerate(request.job_ids)]
        async with managing_keys(self._pool, tenant_id) as keys:
            requeued = await keys.requeue_jobs(wanted)
            if requeued:
                await keys.audit(principal.key_id, "requeue_jobs", join_subjects(requeued), f"requeued {len(requeued)}")
        return admin_pb2.RequeueJobsResponse(job_ids=map(str, requeued))

    async def ListAudit(self, request: admin_pb2.ListAuditRequest, context: Any) -> admin_pb2.ListAuditResponse:
        """The tenant's audit log."""
        tenant_id = await self._tenant(_admin_of_all(), request.tenant, create=False)
        since, until = read_range("", request)
        wanted = audit.AuditFilter(
            checks.check_label("agent_id", request.agent_id, max_chars=checks.AGENT_ID_CHARS),
            checks.check_text("principal", request.principal, max_chars=NAME_CHARS),
            checks.check_text("action", request.action, max_chars=NAME_CHARS),
            since,
            until,
        )
        size = checks.check_count("page_size", request.page_size, default=100, high=PAGE)
        before = checks.check_id("page_token", request.page_token) if request.page_token else None
        page = await audit.page(self._pool, tenant_id, wanted, before=before, limit=size + 1)
        token = str(page[size - 1].audit_id) if len(page) > size else ""
        return admin_pb2.ListAuditResponse(lines=map(_to_line, page[:size]), next_page_token=token)

    async def RevokeSource(self, request: admin_pb2.RevokeSourceRequest, context: Any) -> admin_pb2.RevokeSourceResponse:
        """Withdraw what came from a source."""
        principal = _admin()
        checks.check_text("request_id", request.request_id, max_chars=checks.REQUEST_ID_CHARS)
        checks.check_label("agent_id", request.agent_id, max_chars=checks.AGENT_ID_CHARS)
        source = read_source("source", request.source, read_range("source", request.source))
        withdrawal = await self._revoking.revoke(principal, request.agent_id, source, request.request_id)
        return admin_pb2.RevokeSourceResponse(withdrawal=_to_withdrawal(withdrawal))

    async def Reinstate(self, request: admin_pb2.ReinstateRequest, context: Any) -> admin_pb2.ReinstateResponse:
        """Take a withdrawal back."""
        principal = _admin()
        checks.check_text("request_id", request.request_id, max_chars=checks.REQUEST_ID_CHARS)
        done = await self._revoking.reinstate(principal, checks.check_id("withdrawal_id", request.withdrawal_id))
        withdrawal = _to_withdrawal(done.withdrawal)
        return admin_pb2.ReinstateResponse(withdrawal=withdrawal, reinstated=done.reinstated, left=done.left)

    async def ListWithdrawals(self, request: admin_pb2.ListWithdrawalsRequest, context: Any) -> admin_pb2.ListWithdrawalsResponse:
        """The tenant's withdrawals."""
        principal = _admin_of_all()
        size = checks.check_count("page_size", request.page_size, default=100, high=PAGE)
        before = checks.check_id("page_token", request.page_token) if request.page_token else None
        page = await withdrawals.page(self._pool, principal.tenant_id, before=before, limit=size + 1)
        token = str(page[size - 1].withdrawal_id) if len(page) > size else ""
        return admin_pb2.ListWithdrawalsResponse(withdrawals=map(_to_withdrawal, page[:size]), next_page_token=token)

    async def DescribeCaller(self, request: admin_pb2.DescribeCallerRequest, context: Any) -> admin_pb2.DescribeCallerResponse:
        """Who the caller is."""
        return admin_pb2.DescribeCallerResponse(key=to_key(caller()))

    async def _change(self, request: Any, action: str, change: Callable[[KeyWriter, Principal], Any]) -> Principal:
        principal = _admin()
        checks.check_text("request_id", request.request_id, max_chars=checks.REQUEST_ID_CHARS)
        key_id = str(checks.check_id("key_id", request.key_id))
        tenant_id = await self._tenant(principal, request.tenant, create=False)
        async with managing_keys(self._pool, tenant_id) as keys:
            row = await keys.get(key_id)
            key = Principal.from_row(row) if row else None
            if key is None or not _manages(principal, key):
                raise NotFound("no such key")
            if "operator" in key.rights:
                principal.require("operator")
            if action == "rotate_key":
                await self._claim(keys, principal, request.request_id)
            await change(keys, key)
            await keys.audit(principal.key_id, action, key_id, "ok")
            return Principal.from_row(await keys.get(key_id) or {})

    async def _tenant(self, principal: Principal, name: str, *, create: bool) -> int:
        checks.check_label("tenant", name, max_chars=TENANT_CHARS)
        if not name or name == principal.tenant:
            return principal.tenant_id
        if "operator" not in principal.rights:
            raise PermissionDenied("another tenant needs the right 'operator'; leave tenant out")
        tenant_id = await (ensure_tenant if create else find_tenant)(self._pool, name)
        if tenant_id is None:
            raise NotFound("no such tenant")
        return tenant_id

    async def _claim(self, keys: KeyWriter, principal: Principal, request_id: str) -> None:
        if request_id and not await keys.claim_request(principal.key_id, request_id):
            raise AlreadyExists("this request_id was used; the secret was told once and cannot be told again")


def _manages(principal: Principal, key: Principal) -> bool:
    """Whether a key exists for a caller: one limited to agents or scopes is told nothing of keys beyond them."""
    return has_agents(principal, key) and has_scopes(principal, key)


def _admin() -> Principal:
    principal = caller()
    if "operator" not in principal.rights:
        principal.require("admin")
    return principal


def _admin_of_all() -> Principal:
    """The caller, an admin who is not limited to some agents or scopes: jobs and the audit log are of the whole tenant."""
    principal = _admin()
    if principal.agent_ids or principal.scopes:
        raise PermissionDenied("this is of the whole tenant; a key limited to agents or scopes may not see it")
    return principal


def read_range(field: str, message: Any) -> tuple[datetime | None, datetime | None]:
    """The half-open span between a message's `since` and `until`; `field` is where the message stands."""
    prefix = f"{field}." if field else ""
    moments = {
        name: checks.check_time(prefix + name, getattr(message, name)) if message.HasField(name) else None
        for name in ("since", "until")
    }
    checks.check_range(f"{prefix}until", moments["since"], moments["until"])
    return moments["since"], moments["until"]


def _to_withdrawal(w: withdrawals.Withdrawal) -> admin_pb2.Withdrawal:
    message = admin_pb2.Withdrawal(
        id=str(w.withdrawal_id) if w.withdrawal_id.int else "",
        kind=w.kind,
        source=w.source,
        principal=w.principal,
        withdrawn=w.withdrawn,
        rolled_back=w.rolled_back,
        turns=w.turns,
    )
    message.at.FromDatetime(w.at)
    if w.reinstated_at:
        message.reinstated_at.FromDatetime(w.reinstated_at)
    return message


def _to_line(line: audit.AuditLine) -> admin_pb2.AuditLine:
    message = admin_pb2.AuditLine(
        id=str(line.audit_id),
        agent_id=line.agent_id,
        principal=line.principal,
        action=line.action,
        subject=line.subject,
        outcome=line.outcome,
    )
    message.at.FromDatetime(line.at)
    return message


def _to_job(report: jobs.JobReport) -> admin_pb2.Job:
    job = admin_pb2.Job(
        id=str(report.job_id),
        kind=report.kind,
        agent_id=report.agent_id,
        state=f"JOB_STATE_{report.state.upper()}",
        attempts=report.attempts,
        error=report.error,
    )
    job.created_at.FromDatetime(report.created_at)
    job.run_after.FromDatetime(report.run_after)
    return job


def _texts(field: str, texts: Any, max_chars: int) -> list[str]:
    checks.check_items(field, texts, high=LIST_ITEMS)
    return [checks.check_text(f"{field}[{i}]", t, max_chars=max_chars, required=True) for i, t in enumerate(texts)]


def to_key(principal: Principal) -> admin_pb2.Key:
    """A principal as the key it stands for."""
    key = admin_pb2.Key(
        id=principal.key_id,
        tenant=principal.tenant,
        name=principal.name,
        agent_ids=principal.agent_ids,
        default_agent_id=principal.default_agent_id,
        scopes=principal.scopes,
        rights=[f"RIGHT_{name.upper()}" for name in RIGHTS.values() if name in principal.rights],
        sources=[f"SOURCE_KIND_{name.upper()}" for name in SOURCES.values() if name in principal.sources],
    )
    for name in ("created_at", "expires_at", "revoked_at"):
        if moment := getattr(principal, name):
            stamp = Timestamp()
            stamp.FromDatetime(moment)
            getattr(key, name).CopyFrom(stamp)
    return key
