"""SharingService: memories of one agent, opened to another."""

from typing import Any
from uuid import UUID

import asyncpg
from hindsight.v1 import memory_pb2, sharing_pb2, sharing_pb2_grpc
from hindsight_runtime import checks
from hindsight_runtime.errors import InvalidField, NotFound, PermissionDenied
from hindsight_store.ids import uuid7
from hindsight_store.reader import reading
from hindsight_store.records import Grant
from hindsight_store.writer import Writer

from hindsight_ingest.calls import to_call
from hindsight_ingest.giving import find_outliving
from hindsight_ingest.pipeline import Call, Make, Pipeline, Result, lock_key

OPEN = 16  # grants in force to one agent: each is searched by every recall of it
ACCESS = {v: k.removeprefix("ACCESS_").lower() for k, v in memory_pb2.Access.items()} | {0: "read"}


class SharingServicer(sharing_pb2_grpc.SharingServiceServicer):
    """Answers SharingService."""

    def __init__(self, pool: asyncpg.Pool, pipeline: Pipeline) -> None:
        self._pool = pool
        self._pipeline = pipeline

    async def Share(self, request: sharing_pb2.ShareRequest, context: Any) -> sharing_pb2.ShareResponse:
        """Open memories to another agent."""
        call = _to_call(request)
        now = self._pipeline.clock()
        grantee = checks.check_text("grantee_agent_id", request.grantee_agent_id, max_chars=checks.AGENT_ID_CHARS, required=True)
        scope = checks.check_scope_pattern("scope", request.scope)
        key_prefix = checks.check_text("key_prefix", request.key_prefix, max_chars=checks.KEY_CHARS)
        access = checks.check_name("access", request.access, ACCESS)
        expires_at = checks.check_time("expires_at", request.expires_at) if request.HasField("expires_at") else None
        if grantee == call.agent_id:
            raise InvalidField("grantee_agent_id", "an agent needs no grant to its own memories; name another agent")
        if key_prefix.endswith("*"):
            raise InvalidField("key_prefix", "it is a prefix already, as it is written; leave the '*' out")
        if expires_at and expires_at <= now:
            raise InvalidField("expires_at", "give a moment to come")
        if not call.principal.may_use(scope):
            raise PermissionDenied("the key is limited to other scopes; it shares memories of its own only")
        if excess := find_outliving(call.principal, expires_at):
            raise excess

        async def make(writer: Writer, bank_id: int) -> list[Result]:
            grantee_bank_id = await writer.find_bank(call.principal.tenant_id, grantee)
            if grantee_bank_id is None:
                raise InvalidField("grantee_agent_id", "no such agent; there is one once something is written for it")
            await writer.lock([lock_key(grantee_bank_id, "grants")])
            if await writer.grants.count_given_to(grantee_bank_id, now) >= OPEN:
                raise InvalidField("grantee_agent_id", f"{OPEN} grants are open to this agent; end one of them first")
            terms = (scope, key_prefix, access, call.principal.key_id, now, expires_at)
            grant = Grant(uuid7(), bank_id, call.agent_id, grantee, *terms, revoked_at=None)
            await writer.grants.insert(grant, grantee_bank_id)
            return [Result("shared", grant.grant_id)]

        return sharing_pb2.ShareResponse(grant=await self._change(call, make))

    async def Unshare(self, request: sharing_pb2.UnshareRequest, context: Any) -> sharing_pb2.UnshareResponse:
        """End a grant."""
        call = _to_call(request)
        grant_id = checks.check_id("grant_id", request.grant_id)

        async def make(writer: Writer, bank_id: int) -> list[Result]:
            grant = await writer.grants.get(bank_id, grant_id)
            if grant is None or not call.principal.may_use(grant.scope):
                raise NotFound("no such grant of this agent")
            await writer.grants.revoke(bank_id, grant_id, self._pipeline.clock())
            return [Result("unshared", grant_id)]

        return sharing_pb2.UnshareResponse(grant=await self._change(call, make))

    async def _change(self, call: Call, make: Make) -> memory_pb2.Grant:
        """Make a change once; the grant as it stands after it."""
        grant_id = (await self._pipeline.change(call, make))[0].memory_id
        async with reading(self._pool, call.principal.tenant_id) as reader:
            bank_id = await reader.find_bank(call.principal.tenant_id, call.agent_id)
            grant = await reader.grants.get(bank_id or 0, grant_id or UUID(int=0))
        if grant is None:
            raise NotFound("no such grant of this agent")
        return _to_message(grant)


def _to_call(request: Any) -> Call:
    call = to_call(request)
    for right in ("admin", "read"):
        call.principal.require(right)
    return call


def _to_message(grant: Grant) -> memory_pb2.Grant:
    message = memory_pb2.Grant(
        id=str(grant.grant_id),
        agent_id=grant.owner,
        grantee_agent_id=grant.grantee,
        scope=grant.scope,
        key_prefix=grant.key_prefix,
        access=f"ACCESS_{grant.access.upper()}",
        created_by=grant.created_by,
    )
    for name in ("created_at", "expires_at", "revoked_at"):
        if (moment := getattr(grant, name)) is not None:
            getattr(message, name).FromDatetime(moment)
    return message
