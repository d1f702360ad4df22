"""RecallService: protobuf in, the answer, protobuf out."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import UUID

import asyncpg
from hindsight.v1 import recall_pb2, recall_pb2_grpc
from hindsight_language.tokens import Count
from hindsight_runtime import checks
from hindsight_runtime.errors import InvalidField, NotFound, PermissionDenied
from hindsight_runtime.identity import AGENT_SCOPE, SESSION_PREFIX, Principal, caller
from hindsight_store.desks import Desk
from hindsight_store.ids import uuid7
from hindsight_store.reader import Reader, reading
from hindsight_store.records import Kept, Relation, Use
from hindsight_store.sessions import reading_sessions

from hindsight_recall import wire
from hindsight_recall.calls import Banks, fit, reader_of, show
from hindsight_recall.context_making import ContextMaker
from hindsight_recall.judging import Judge
from hindsight_recall.recalling import Answer, Query, Recaller, Working
from hindsight_recall.receipts import receipt_of
from hindsight_recall.recorder import Recorder
from hindsight_recall.sharing import HIDDEN, find_opened, find_shared, merge, without_hidden_origins

QUERY_CHARS = 8192
TOP_K = 5
MAX_TOP_K = 200
MAX_DEADLINE_MS = 60_000
BUDGET_TOKENS, MIN_BUDGET_TOKENS, MAX_BUDGET_TOKENS = 2_000, 100, 100_000  # of a context
MIN_OFFERED, LINE_TOKENS = 20, 10  # a context is offered as many hits as would fit if they were short
PAGE = 100
MAX_PAGE = 1000
MODES = {0: "", 1: "semantic", 2: "tag", 3: "hybrid"}
REASON_CHARS = 64
MAX_TASKS = 1000  # of a session that are shown
TYPE_CHARS = 32  # of a relation
MAX_REVISION = 2**31 - 1
WORKING: Mapping[int, Working] = {0: "", 1: "also", 2: "first", 3: "only"}
REVISION_TOKEN = re.compile(r"[0-9]{1,10}")


class RecallServicer(recall_pb2_grpc.RecallServiceServicer):
    """Answers RecallService."""

    def __init__(self, pool: asyncpg.Pool, recaller: Recaller, judge: Judge, recorder: Recorder | None, count: Count) -> None:
        self._pool = pool
        self._recaller = recaller
        self._judge = judge
        self._recorder = recorder
        self._banks = Banks(pool)
        self._contexts = ContextMaker(pool, recaller, count)

    async def Recall(self, request: recall_pb2.RecallRequest, context: Any) -> recall_pb2.RecallResponse:
        """The memories that answer a query."""
        principal, agent_id = reader_of(request)
        query = await self._read_query(request, principal, agent_id)
        if not query.bank_id and not query.desks:
            return recall_pb2.RecallResponse(agent_id=agent_id)
        if request.mode == recall_pb2.MODE_TAG:
            return await self._browse(principal, query, agent_id, _token(request))
        answer = await self._recaller.recall(query)
        hits = await show(self._pool, principal, query.bank_id, answer.hits)
        return recall_pb2.RecallResponse(
            hits=fit([wire.to_hit(agent_id, rank, hit) for rank, hit in enumerate(hits, start=1)]),
            missing_channels=[f"CHANNEL_{channel.upper()}" for channel in sorted(answer.missing)],
            is_partial="deadline" in answer.missing.values(),
            is_degraded="unavailable" in answer.missing.values(),
            receipt_id=self._record(principal, agent_id, query, answer),
            withheld=wire.to_withheld(answer.withheld),
            agent_id=agent_id,
            is_from_working=answer.is_from_working,
        )

    async def _read_query(self, request: recall_pb2.RecallRequest, principal: Principal, agent_id: str) -> Query:
        """What a request asks, within what the caller may see; bank 0 where the agent has none yet.

        Raises:
            InvalidField: a field is not accepted.
            PermissionDenied: the credential does not admit the scope.
        """
        mode = checks.check_name("mode", request.mode, MODES)
        text = checks.check_text("query", request.query, max_chars=QUERY_CHARS, required=mode != "tag")
        top_k = checks.check_count("top_k", request.top_k, default=TOP_K, high=MAX_TOP_K)
        floor = checks.check_fraction("relevance_floor", request.relevance_floor)
        if request.drop_irrelevant and not request.HasField("relevance_floor"):
            floor = self._recaller.relevance_floor
        deadline_ms = checks.check_count("deadline_ms", request.deadline_ms, default=0, high=MAX_DEADLINE_MS)
        zone = wire.read_zone(request.time_zone)
        said = checks.check_text("context", request.context, max_chars=QUERY_CHARS)
        if _token(request) and mode != "tag":
            raise InvalidField("page_token", "pages exist in tag mode only; raise top_k instead")
        checks.check_name("working", request.working, WORKING)
        working = WORKING[request.working]
        checks.check_session_id("session_id", request.session_id, required=False)
        desks = _read_desks(principal, agent_id, request.filter.scope, request.session_id) if working else {}
        if working and not desks:
            raise InvalidField("session_id", "name the session, or a scope in the filter: a desk belongs to one of them")
        if working == "only" and request.filter.scope in desks and not principal.may_read(request.filter.scope):
            request.filter.scope = ""  # the desk of a session is the key's, no matter whose the scope of its memories is
        selection = wire.read_recall_selection(request, principal, self._recaller.clock())
        bank_id = await self._banks.find(principal, agent_id)
        if desks and request.filter.scope:
            whom = await self._scope_of(principal, bank_id, request.session_id)
            _check_same(whom, request.filter.scope)
        return Query(
            tenant_id=principal.tenant_id,
            bank_id=bank_id or 0,
            text=text,
            mode="semantic" if mode == "semantic" else "hybrid",
            selection=selection,
            top_k=top_k,
            relevance_floor=floor,
            include_turns=request.include_turns,
            zone=zone,
            deadline_ms=deadline_ms,
            rerank=request.rerank,
            context=said,
            working="only" if bank_id is None else working,
            desks=desks,
        )

    async def RecallContext(self, request: recall_pb2.RecallContextRequest, context: Any) -> recall_pb2.RecallContextResponse:
        """A context that is ready for a prompt."""
        principal, agent_id = reader_of(request)
        text = checks.check_text("query", request.query, max_chars=QUERY_CHARS)
        budget_tokens = checks.check_count("budget_tokens", request.budget_tokens, default=BUDGET_TOKENS, high=MAX_BUDGET_TOKENS)
        if budget_tokens < MIN_BUDGET_TOKENS:
            raise InvalidField("budget_tokens", f"give a whole number from {MIN_BUDGET_TOKENS} to {MAX_BUDGET_TOKENS:,}")
        deadline_ms = checks.check_count("deadline_ms", request.deadline_ms, default=0, high=MAX_DEADLINE_MS)
        zone = wire.read_zone(request.time_zone)
        said = checks.check_text("context", request.context, max_chars=QUERY_CHARS)
        session_id = checks.check_session_id("session_id", request.session_id, required=False)
        bank_id = await self._banks.find(principal, agent_id)
        whom = await self._scope_of(principal, bank_id, session_id)
        scope = checks.check_scope("scope", request.scope) or whom
        _check_same(whom, scope)
        selection = wire.read_context_selection(scope, session_id, principal, self._recaller.clock())
        query = Query(
            tenant_id=principal.tenant_id,
            bank_id=bank_id or 0,
            text=text,
            mode="hybrid",
            selection=selection,
            top_k=min(MAX_TOP_K, max(MIN_OFFERED, budget_tokens // LINE_TOKENS)),
            relevance_floor=self._recaller.relevance_floor,
            include_turns=request.include_turns,
            zone=zone,
            deadline_ms=deadline_ms,
            context=said,
            desks=_read_desks(principal, agent_id, scope, session_id),
        )
        made = await self._contexts.make(query, budget_tokens)
        receipt_id = self._record(principal, agent_id, query, made.answer, made.used) if made.answer else ""
        shown = await show(self._pool, principal, query.bank_id, [item.offer.hit for item in made.context.items])
        return wire.to_context(agent_id, made, shown, receipt_id, budget_tokens)

    async def _scope_of(self, principal: Principal, bank_id: int | None, session_id: str) -> str:
        """Whom a session concerns, as far as the caller may know; empty where it does not exist."""
        if bank_id is None or not session_id:
            return ""
        async with reading_sessions(self._pool, principal.tenant_id) as reader:
            session = await reader.find(bank_id, session_id)
        return session.scope if session and principal.may_use(session.scope) else ""

    async def _browse(self, principal: Principal, query: Query, agent_id: str, before: UUID | None) -> recall_pb2.RecallResponse:
        answer = await self._recaller.browse(query, before)
        shown = await show(self._pool, principal, query.bank_id, answer.hits)
        hits = fit([wire.to_hit(agent_id, rank, hit) for rank, hit in enumerate(shown, start=1)])
        more = hits and (len(hits) == query.top_k or len(hits) < len(answer.hits))
        token = hits[-1].memory.id if more else ""
        return recall_pb2.RecallResponse(hits=hits, next_page_token=token, agent_id=agent_id)

    def _record(
        self, principal: Principal, agent_id: str, query: Query, answer: Answer, used: Sequence[str] | None = None
    ) -> str:
        """Leave a receipt to be kept; its id."""
        if self._recorder is None or not query.bank_id:
            return ""
        receipt = receipt_of(uuid7(), self._recaller.clock(), principal.key_id, query, answer, used)
        self._recorder.record(receipt, agent_id)
        return str(receipt.receipt_id)

    async def ShouldRecall(self, request: recall_pb2.ShouldRecallRequest, context: Any) -> recall_pb2.ShouldRecallResponse:
        """Whether a turn needs something from earlier sessions."""
        caller().require("read")
        text = checks.check_text("text", request.text, max_chars=QUERY_CHARS, required=True)
        judged = await self._judge.judge(text)
        verdict = judged.verdict
        return recall_pb2.ShouldRecallResponse(
            should_recall=verdict.should_recall,
            score=verdict.score,
            threshold=verdict.threshold,
            reasons=verdict.reasons,
            missing_channels=[f"CHANNEL_{channel.upper()}" for channel in judged.missing],
        )

    async def Get(self, request: recall_pb2.GetRequest, context: Any) -> recall_pb2.GetResponse:
        """One memory by its id."""
        principal, agent_id = reader_of(request)
        memory_id = checks.check_id("memory_id", request.memory_id)
        bank_id = await self._banks.find(principal, agent_id)
        if bank_id is None:
            raise NotFound("no such memory")
        async with reading(self._pool, principal.tenant_id) as reader:
            kept = await _find(reader, bank_id, memory_id, principal)
            kept = kept or await find_shared(reader, bank_id, memory_id, principal, self._recaller.clock())
            if kept is None or not _is_shown(kept, principal):
                raise NotFound("no such memory")
            kept = (await without_hidden_origins(reader, bank_id, principal, [kept]))[0]
        return recall_pb2.GetResponse(memory=wire.to_kept(agent_id, kept))

    async def List(self, request: recall_pb2.ListRequest, context: Any) -> recall_pb2.ListResponse:
        """Memories under a filter, in pages."""
        principal, agent_id = reader_of(request)
        selection = wire.read_selection(request.filter, principal, self._recaller.clock(), request.statuses)
        if HIDDEN & set(selection.statuses):
            principal.require("admin")
        size = checks.check_count("page_size", request.page_size, default=PAGE, high=MAX_PAGE)
        after = _token(request)
        bank_id = await self._banks.find(principal, agent_id)
        if bank_id is None:
            return recall_pb2.ListResponse()
        async with reading(self._pool, principal.tenant_id) as reader:
            pages = [await reader.page(bank_id, selection, after=after, limit=size + 1)]
            for grant, part in await find_opened(reader, bank_id, selection, self._recaller.clock()):
                opened = await reader.page(grant.bank_id, part, after=after, limit=size + 1)
                pages.append([replace(kept, grant=grant) for kept in opened])
            page = merge(pages, newest_first=False, limit=size + 1)
            page = await without_hidden_origins(reader, bank_id, principal, page)
        memories = fit([wire.to_kept(agent_id, kept) for kept in page[:size]])
        token = memories[-1].id if len(memories) < len(page) else ""
        return recall_pb2.ListResponse(memories=memories, next_page_token=token)

    async def ListRevisions(self, request: recall_pb2.ListRevisionsRequest, context: Any) -> recall_pb2.ListRevisionsResponse:
        """Every revision of a memory, newest first."""
        principal, agent_id = reader_of(request)
        memory_id = checks.check_id("memory_id", request.memory_id)
        size = checks.check_count("page_size", request.page_size, default=PAGE, high=MAX_PAGE)
        if request.page_token and not REVISION_TOKEN.fullmatch(request.page_token):
            raise InvalidField("page_token", "give the token as it was returned")
        before = min(int(request.page_token or MAX_REVISION), MAX_REVISION)
        bank_id = await self._banks.find(principal, agent_id)
        async with reading(self._pool, principal.tenant_id) as reader:
            await _require_visible(reader, bank_id, memory_id, principal)
            with_held = "admin" in principal.rights
            revisions = await reader.revisions(bank_id or 0, memory_id, before=before, limit=size + 1, with_held=with_held)
            found = [Kept(memory, Use()) for memory in revisions]
            revisions = [k.memory for k in await without_hidden_origins(reader, bank_id or 0, principal, found)]
        fitting = fit([wire.to_memory(agent_id, memory, Use()) for memory in revisions[:size]])
        return recall_pb2.ListRevisionsResponse(
            revisions=[m for m in fitting if principal.may_read(m.scope)],
            next_page_token=str(fitting[-1].revision) if len(fitting) < len(revisions) else "",
        )

    async def ListRelations(self, request: recall_pb2.ListRelationsRequest, context: Any) -> recall_pb2.ListRelationsResponse:
        """The relations of a memory, in both directions."""
        principal, agent_id = reader_of(request)
        memory_id = checks.check_id("memory_id", request.memory_id)
        size = checks.check_count("page_size", request.page_size, default=PAGE, high=MAX_PAGE)
        after = _relation_token(request)
        bank_id = await self._banks.find(principal, agent_id)
        async with reading(self._pool, principal.tenant_id) as reader:
            await _require_visible(reader, bank_id, memory_id, principal)
            seen = await reader.relations.of(bank_id or 0, memory_id, _scopes_of(principal), after=after, limit=size + 1)
        last = seen[:size][-1].relation if len(seen) > size else None
        return recall_pb2.ListRelationsResponse(
            relations=[wire.to_relation(s) for s in seen[:size]],
            next_page_token=f"{last.from_id}:{last.to_id}:{last.type}" if last else "",
        )

    async def ListConflicts(self, request: recall_pb2.ListConflictsRequest, context: Any) -> recall_pb2.ListConflictsResponse:
        """Refused statements, newest first; those of withdrawn sources to an admin only."""
        principal, agent_id = reader_of(request)
        size = checks.check_count("page_size", request.page_size, default=PAGE, high=MAX_PAGE)
        before = _token(request)
        bank_id = await self._banks.find(principal, agent_id)
        if bank_id is None:
            return recall_pb2.ListConflictsResponse()
        is_admin = "admin" in principal.rights
        async with reading(self._pool, principal.tenant_id) as reader:
            scopes = _scopes_of(principal)
            page = await reader.conflicts(bank_id, scopes, with_withdrawn=is_admin, before=before, limit=size + 1)
        conflicts = fit([wire.to_conflict(c, with_principal=is_admin) for c in page[:size]])
        token = conflicts[-1].id if len(conflicts) < len(page) else ""
        return recall_pb2.ListConflictsResponse(conflicts=conflicts, next_page_token=token)

    async def GetSession(self, request: recall_pb2.GetSessionRequest, context: Any) -> recall_pb2.GetSessionResponse:
        """A session with its tasks."""
        principal, agent_id = reader_of(request)
        session_id = checks.check_session_id("session_id", request.session_id)
        bank_id = await self._banks.find(principal, agent_id)
        async with reading_sessions(self._pool, principal.tenant_id) as reader:
            session = await reader.find(bank_id, session_id) if bank_id is not None else None
            if bank_id is None or session is None or not principal.may_read(session.scope):
                raise NotFound("no such session of this agent; it begins with the first observed turn")
            tasks = await reader.list_tasks(bank_id, session_id, limit=MAX_TASKS)
        return recall_pb2.GetSessionResponse(session=wire.to_session(session, tasks))

    async def ListReviews(self, request: recall_pb2.ListReviewsRequest, context: Any) -> recall_pb2.ListReviewsResponse:
        """What waits for a person's word, newest memory first."""
        principal, agent_id = reader_of(request)
        principal.require("admin")
        reason = checks.check_text("reason", request.reason, max_chars=REASON_CHARS)
        size = checks.check_count("page_size", request.page_size, default=PAGE, high=MAX_PAGE)
        before = _token(request)
        bank_id = await self._banks.find(principal, agent_id)
        if bank_id is None:
            return recall_pb2.ListReviewsResponse()
        async with reading(self._pool, principal.tenant_id) as reader:
            page = await reader.reviews.pending(bank_id, reason=reason, before=before, limit=size + 1)
            waiting = [kept for one in page[:size] if (kept := await reader.get(bank_id, one.memory_id))]
            memories = {k.memory.memory_id: k for k in await without_hidden_origins(reader, bank_id, principal, waiting)}
            revoked = [one.memory_id for one in page[:size] if one.reason == "source_revoked"]
            writers = await reader.reviews.first_writers(bank_id, revoked)
        found = [(one, memories[one.memory_id]) for one in page[:size] if one.memory_id in memories]
        seen = [
            wire.to_review(agent_id, one, kept, writers.get(one.memory_id, kept.memory.principal))
            for one, kept in found
            if principal.may_use(kept.memory.scope)
        ]
        reviews = fit(seen)
        last = page[size - 1].memory_id if len(page) > size else ""
        token = reviews[-1].memory.id if len(reviews) < len(seen) else str(last)
        return recall_pb2.ListReviewsResponse(reviews=reviews, next_page_token=token)

    async def ListGrants(self, request: recall_pb2.ListGrantsRequest, context: Any) -> recall_pb2.ListGrantsResponse:
        """Grants by an agent and to it, newest first."""
        principal, agent_id = reader_of(request)
        size = checks.check_count("page_size", request.page_size, default=PAGE, high=MAX_PAGE)
        before = _token(request)
        bank_id = await self._banks.find(principal, agent_id)
        if bank_id is None:
            return recall_pb2.ListGrantsResponse()
        at = None if request.include_ended else self._recaller.clock()
        async with reading(self._pool, principal.tenant_id) as reader:
            page = await reader.grants.page(bank_id, before=before, at=at, limit=size + 1)
        with_principal = "admin" in principal.rights
        seen = [g for g in page[:size] if principal.may_read(g.scope)]
        return recall_pb2.ListGrantsResponse(
            grants=[wire.to_grant(grant, with_principal=with_principal) for grant in seen],
            next_page_token=str(page[size - 1].grant_id) if len(page) > size else "",
        )


def _check_same(session_scope: str, scope: str) -> None:
    """Raise InvalidField where a session concerns one user and another one is named, to whom its desk is not to be shown."""
    word, _, name = session_scope.partition(":")
    if name and scope != session_scope and scope.partition(":")[0] == word:
        raise InvalidField("session_id", f"the session concerns another {word}; name that one's scope, or another session")


def _read_desks(principal: Principal, agent_id: str, scope: str, session_id: str) -> dict[str, Desk]:
    """The desks of a session and of a scope, where they are named and are the caller's, by the scope that names them."""
    named = [*([SESSION_PREFIX + session_id] if session_id else []), *([scope] if scope else [])]
    desks = {}
    for name in dict.fromkeys(named):
        with suppress(PermissionDenied):  # the scope is for other keys
            desks[name] = Desk(principal.tenant_id, agent_id, principal.desk_of(name))
    return desks


def _scopes_of(principal: Principal) -> tuple[str, ...] | None:
    """The scopes that the credential may read; None: all."""
    return (AGENT_SCOPE, *principal.scopes) if principal.scopes else None


def _token(request: Any) -> UUID | None:
    return checks.check_id("page_token", request.page_token) if request.page_token else None


def _relation_token(request: Any) -> Relation | None:
    """The relation at which the page before ended."""
    parts = request.page_token.split(":", 2)
    if not request.page_token:
        return None
    if len(parts) != 3:
        raise InvalidField("page_token", "give the token as it was returned")
    from_id, to_id = (checks.check_id("page_token", part) for part in parts[:2])
    return Relation(from_id, checks.check_text("page_token", parts[2], max_chars=TYPE_CHARS), to_id)


async def _require_visible(reader: Reader, bank_id: int | None, memory_id: UUID, principal: Principal) -> None:
    """Return if the caller may see a memory; what is hidden, only an admin may.

    Raises:
        NotFound: it may not, or there is none.
    """
    kept = None if bank_id is None else await _find(reader, bank_id, memory_id, principal)
    if kept is None or (kept.memory.status in HIDDEN and "admin" not in principal.rights):
        raise NotFound("no such memory")


def _is_shown(kept: Kept, principal: Principal) -> bool:
    return kept.memory.status not in HIDDEN or (kept.memory.status != "deleted" and "admin" in principal.rights)


async def _find(reader: Reader, bank_id: int, memory_id: UUID, principal: Principal) -> Kept | None:
    kept = await reader.get(bank_id, memory_id)
    return kept if kept and principal.may_read(kept.memory.scope) else None
