"""DeskService: what a session, or a user, has at hand."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import asyncpg
from hindsight.v1 import desk_pb2, desk_pb2_grpc, memory_pb2
from hindsight_runtime import checks
from hindsight_runtime.errors import InvalidField, NotConfigured, NotFound
from hindsight_runtime.identity import SESSION_PREFIX, Principal, caller
from hindsight_store.desks import Desk, Desks, Entry
from hindsight_store.heard import in_force
from hindsight_store.reader import reading

from hindsight_ingest import validation
from hindsight_ingest.calls import to_call
from hindsight_ingest.candidate import lower_to_ceiling
from hindsight_ingest.desk_writing import DeskWriter
from hindsight_ingest.pipeline import Pipeline
from hindsight_ingest.quota import Quota
from hindsight_ingest.results import to_message

MAX_TTL_S = 86_400


class DeskServicer(desk_pb2_grpc.DeskServiceServicer):
    """Answers DeskService."""

    def __init__(self, pool: asyncpg.Pool, desks: Desks | None, writer: DeskWriter, pipeline: Pipeline, quota: Quota) -> None:
        self._pool = pool
        self._desks = desks
        self._writer = writer
        self._pipeline = pipeline
        self._quota = quota

    async def PutEntry(self, request: desk_pb2.PutEntryRequest, context: Any) -> desk_pb2.PutEntryResponse:
        """Put an entry on a desk."""
        desks, principal, desk = self._open(request, "write")
        entry = _read_entry(request, principal, self._pipeline.clock())
        ttl_s = checks.check_count("ttl_s", request.ttl_s, default=0, high=MAX_TTL_S)
        put = await self._writer.put(principal, desk, entry, ttl_s)
        return desk_pb2.PutEntryResponse(
            entry=to_entry(request.scope, put.entry),
            evicted_keys=put.evicted,
            used_tokens=put.used_tokens,
            budget_tokens=desks.budget_tokens,
        )

    async def GetEntry(self, request: desk_pb2.GetEntryRequest, context: Any) -> desk_pb2.GetEntryResponse:
        """One entry, which counts as a use."""
        desks, _, desk = self._open(request, "read")
        entry = _found(await desks.get(desk, validation.check_key("key", request.key)))
        return desk_pb2.GetEntryResponse(entry=to_entry(request.scope, _found(*await self._in_force(desk, [entry]))))

    async def ListEntries(self, request: desk_pb2.ListEntriesRequest, context: Any) -> desk_pb2.ListEntriesResponse:
        """All of a desk."""
        desks, _, desk = self._open(request, "read")
        entries = await desks.entries(desk)
        shown = await self._in_force(desk, entries)
        return desk_pb2.ListEntriesResponse(  # what is not shown takes its part of the budget until it fades
            entries=[to_entry(request.scope, entry) for entry in shown],
            used_tokens=sum(entry.tokens for entry in entries),
            pinned_tokens=sum(entry.tokens for entry in entries if entry.is_pinned),
            budget_tokens=desks.budget_tokens,
        )

    async def PinEntry(self, request: desk_pb2.PinEntryRequest, context: Any) -> desk_pb2.PinEntryResponse:
        """Pin or unpin an entry."""
        desks, _, desk = self._open(request, "write")
        key = validation.check_key("key", request.key)
        shown = await self._in_force(desk, await desks.entries(desk))
        _found(*(entry for entry in shown if entry.key == key))
        entry = await desks.pin(desk, key, is_pinned=request.is_pinned)
        return desk_pb2.PinEntryResponse(entry=to_entry(request.scope, _found(entry)))

    async def ClearDesk(self, request: desk_pb2.ClearDeskRequest, context: Any) -> desk_pb2.ClearDeskResponse:
        """Clear a desk or a part of it."""
        desks, _, desk = self._open(request, "write")
        key = checks.check_label("key", request.key, max_chars=checks.KEY_CHARS)
        cleared = await desks.clear(desk, key, only_task_state=request.only_task_state)
        return desk_pb2.ClearDeskResponse(cleared=cleared)

    async def PromoteEntry(self, request: desk_pb2.PromoteEntryRequest, context: Any) -> desk_pb2.PromoteEntryResponse:
        """Write an entry as a memory."""
        call = to_call(request)
        await self._quota.check(call.principal.tenant_id)
        desks, principal, desk = self._open(request, "write")
        key = validation.check_key("key", request.key)
        checks.check_name("kind", request.kind, validation.KINDS)
        checks.check_tags("tags", request.tags)
        checks.check_scope("memory_scope", request.memory_scope)
        past = await self._pipeline.recall_request(call)
        if past is not None:  # the entry may have left the desk since
            return desk_pb2.PromoteEntryResponse(result=to_message(past[0]))
        entry = _found(*await self._in_force(desk, [_found(await desks.get(desk, key))]))
        if entry.confidence < validation.MIN_CONFIDENCE:
            raise InvalidField("key", f"the entry is less sure than {validation.MIN_CONFIDENCE}; put it again when it is surer")
        memory = memory_pb2.NewMemory(
            key=entry.key,
            query=entry.trigger,
            value=entry.value,
            kind=request.kind,
            tags=request.tags,
            scope=request.memory_scope,
            importance=entry.importance,
            confidence=entry.confidence,
            source=memory_pb2.Source(kind=f"SOURCE_KIND_{_claimed(entry.source, principal).upper()}"),
            is_core=request.is_core,
        )
        candidate = validation.read_candidate("entry", memory, principal, self._pipeline.clock())
        results = await self._pipeline.write(call, [candidate], all_or_nothing=True)
        return desk_pb2.PromoteEntryResponse(result=to_message(results[0]))

    async def _in_force(self, desk: Desk, entries: Sequence[Entry]) -> list[Entry]:
        """The entries without copies of what became memories and is in force no more."""
        if all(entry.turn is None for entry in entries):
            return list(entries)
        async with reading(self._pool, desk.tenant_id) as reader:
            bank_id = await reader.find_bank(desk.tenant_id, desk.agent_id)
        now = self._pipeline.clock()
        return list(entries) if bank_id is None else await in_force(self._pool, desk.tenant_id, bank_id, entries, now)

    def _open(self, request: Any, right: str) -> tuple[Desks, Principal, Desk]:
        """The desk that a request names, once the caller may use it so."""
        principal = caller()
        principal.require(right)
        checks.check_label("agent_id", request.agent_id, max_chars=checks.AGENT_ID_CHARS)
        agent_id = principal.resolve_agent(request.agent_id)
        checks.check_text("scope", request.scope, max_chars=checks.SCOPE_CHARS, required=True)
        if request.scope.startswith(SESSION_PREFIX):
            checks.check_session_id("scope", request.scope.removeprefix(SESSION_PREFIX))
        scope = principal.desk_of(checks.check_scope("scope", request.scope))
        if self._desks is None:
            raise NotConfigured("desks live in Redis, which is not set up; the operator names it with HINDSIGHT_REDIS_URL")
        return self._desks, principal, Desk(principal.tenant_id, agent_id, scope)


def to_entry(scope: str, entry: Entry) -> memory_pb2.DeskEntry:
    """An entry on the wire, of a desk that the caller calls by this scope."""
    message = memory_pb2.DeskEntry(
        scope=scope,
        key=entry.key,
        query=entry.trigger,
        value=entry.value,
        source=memory_pb2.Source(kind=f"SOURCE_KIND_{entry.source.upper()}"),
        confidence=entry.confidence,
        importance=entry.importance,
        tokens=entry.tokens,
        is_pinned=entry.is_pinned,
        is_task_state=entry.is_task_state,
        uses=entry.uses,
        id=entry.entry_id,
    )
    message.put_at.FromDatetime(entry.put_at)
    if entry.expires_at:
        message.expires_at.FromDatetime(entry.expires_at)
    return message


def _claimed(source: str, principal: Principal) -> str:
    """The source that the caller may claim for what another key may have put: its own, or an inference."""
    return source if source in principal.sources else "inference"


def _found(entry: Entry | None = None) -> Entry:
    if entry is None:
        raise NotFound("no such entry on this desk; it may have faded")
    return entry


def _read_entry(request: desk_pb2.PutEntryRequest, principal: Principal, now: datetime) -> Entry:
    """The entry to put, checked."""
    source = validation.check_source("source", request.source, principal)
    importance = request.importance if request.HasField("importance") else validation.DEFAULT_IMPORTANCE
    confidence = request.confidence if request.HasField("confidence") else validation.DEFAULT_CONFIDENCE
    checks.check_fraction("importance", importance)
    checks.check_fraction("confidence", confidence)
    importance, confidence, _ = lower_to_ceiling(source, importance, confidence)
    return Entry(
        key=validation.check_key("key", request.key),
        trigger=validation.check_trigger("query", request.query),
        value=validation.check_value("value", request.value),
        source=source,
        confidence=confidence,
        importance=importance,
        tokens=0,
        is_pinned=request.is_pinned,
        is_task_state=request.is_task_state,
        put_at=now,
    )
