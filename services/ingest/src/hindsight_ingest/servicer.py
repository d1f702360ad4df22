"""IngestService: protobuf in, the pipeline, protobuf out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import asyncpg
from hindsight.v1 import ingest_pb2, ingest_pb2_grpc, memory_pb2
from hindsight_runtime import checks
from hindsight_runtime.errors import BatchRejected, DeskFull, DisguisedText, InstructionNotAllowed, InvalidField, PermissionDenied
from hindsight_store.desks import Desk, DesksUnavailable

from hindsight_ingest import validation
from hindsight_ingest.calls import check_caller, to_call, to_opened_call
from hindsight_ingest.candidate import Candidate
from hindsight_ingest.changes import Changes
from hindsight_ingest.desk_writing import DeskWriter
from hindsight_ingest.errands import Errands
from hindsight_ingest.observing import Observer
from hindsight_ingest.pipeline import Call, NotOpened, Pipeline, Result
from hindsight_ingest.quota import Quota
from hindsight_ingest.relating import Relating
from hindsight_ingest.reporting import Reporting
from hindsight_ingest.results import to_message
from hindsight_ingest.sessions import to_message as to_candidate
from hindsight_ingest.superseding import MOMENT

AS_INFERENCE = "kept as an inference: the key of another agent does not speak for this agent's user"


@dataclass(frozen=True, slots=True)
class Unsure:
    """What is too unsure for a memory."""

    candidate: Candidate
    confidence: float


class IngestServicer(ingest_pb2_grpc.IngestServiceServicer):
    """Answers IngestService."""

    def __init__(  # noqa: PLR0913 - one for each thing that changes
        self,
        pool: asyncpg.Pool,
        pipeline: Pipeline,
        changes: Changes,
        relating: Relating,
        reporting: Reporting,
        observer: Observer,
        quota: Quota,
        desk: DeskWriter,
        errands: Errands,
    ) -> None:
        self._desk = desk
        self._errands = errands
        self._pool = pool
        self._pipeline = pipeline
        self._changes = changes
        self._relating = relating
        self._reporting = reporting
        self._observer = observer
        self._quota = quota

    async def Write(self, request: ingest_pb2.WriteRequest, context: Any) -> ingest_pb2.WriteResponse:
        """Write one memory."""
        call = await to_opened_call(self._pool, request, self._pipeline.clock())
        await self._quota.check(call.principal.tenant_id)
        if not request.HasField("memory"):
            raise InvalidField("memory", "required; give the memory to write")
        candidate = self._read(call, "memory", request.memory, self._pipeline.clock())
        try:
            results = await self._write(call, [candidate], all_or_nothing=True)
        except BatchRejected as error:
            raise InvalidField(error.violations[0].field, error.violations[0].remedy) from None
        return ingest_pb2.WriteResponse(result=to_message(_noted(call, results[0])))

    async def WriteBatch(self, request: ingest_pb2.WriteBatchRequest, context: Any) -> ingest_pb2.WriteBatchResponse:
        """Write several memories."""
        call = await to_opened_call(self._pool, request, self._pipeline.clock())
        await self._quota.check(call.principal.tenant_id)
        checks.check_items("memories", request.memories, low=1, high=validation.BATCH)
        # What does not say since when it holds does so in the order given, as if written one by one: the last holds since now.
        first = self._pipeline.clock() - (len(request.memories) - 1) * MOMENT
        checked = []
        for i, memory in enumerate(request.memories):
            try:
                checked.append(self._read(call, f"memories[{i}]", memory, first + i * MOMENT))
            except InvalidField as error:
                checked.append(error)
            except PermissionDenied as denied:  # of a scope, a source or a key alone: this memory's affair
                error = InvalidField(f"memories[{i}]", denied.message)
                error.reason = denied.reason
                checked.append(error)
        results = await self._write(call, checked, all_or_nothing=request.all_or_nothing)
        return ingest_pb2.WriteBatchResponse(results=[to_message(_noted(call, one)) for one in results])

    def _read(self, call: Call, field: str, memory: memory_pb2.NewMemory, now: datetime) -> Candidate | Unsure:
        """A memory to be written, or what is too unsure for one and goes to a desk, where there are desks."""
        is_unsure = memory.HasField("confidence") and 0 <= memory.confidence < validation.MIN_CONFIDENCE
        if not is_unsure or call.grants or self._desk.desks is None:
            return _read_candidate(call, field, memory, now)
        surer = memory_pb2.NewMemory()
        surer.CopyFrom(memory)
        surer.confidence = validation.MIN_CONFIDENCE
        return Unsure(_read_candidate(call, field, surer, now), memory.confidence)

    async def _write(
        self, call: Call, checked: Sequence[Candidate | Unsure | InvalidField], *, all_or_nothing: bool
    ) -> list[Result]:
        """Write what is sure enough, then put the rest on desks; in order, what became of each. All or nothing: the rest first,
        and what a desk refuses fails the call."""
        sure = [one for one in checked if not isinstance(one, Unsure)]
        unsure = {i: one for i, one in enumerate(checked) if isinstance(one, Unsure)}
        put: dict[int, Result] = {}
        if all_or_nothing and not any(isinstance(one, InvalidField) for one in checked):
            put = {i: await self._desk.put_unsure(call, one.candidate, one.confidence) for i, one in unsure.items()}
        written = iter(await self._pipeline.write(call, sure, all_or_nothing=all_or_nothing) if sure else [])
        put = put or {i: await self._put(call, one) for i, one in unsure.items()}
        results = [put[i] if i in put else next(written) for i in range(len(checked))]
        for scope in {one.scope for one in sure if isinstance(one, Candidate)}:
            of_scope = zip(checked, results, strict=True)
            ids = [str(r.memory_id) for one, r in of_scope if isinstance(one, Candidate) and one.scope == scope and r.memory_id]
            self._errands.warm(Desk(call.principal.tenant_id, call.agent_id, scope), ids)
        return results

    async def _put(self, call: Call, unsure: Unsure) -> Result:
        try:
            return await self._desk.put_unsure(call, unsure.candidate, unsure.confidence)
        except (DeskFull, InstructionNotAllowed, DisguisedText) as error:
            return Result("rejected", reason=error.reason, field=unsure.candidate.path, detail=error.message)
        except DesksUnavailable:  # the others of the batch are written
            detail = "Redis does not answer, and nothing this unsure is kept elsewhere; write it again later"
            return Result("rejected", reason="DEPENDENCY_UNAVAILABLE", field=unsure.candidate.path, detail=detail)

    async def Update(self, request: ingest_pb2.UpdateRequest, context: Any) -> ingest_pb2.UpdateResponse:
        """Change fields of a memory."""
        call = await to_opened_call(self._pool, request, self._pipeline.clock())
        await self._quota.check(call.principal.tenant_id)
        memory_id = checks.check_id("memory_id", request.memory_id)
        fields = validation.read_changes(request)
        revision = _revision(request) if request.HasField("revision") else None
        result = await self._changes.update(call, memory_id, fields, revision)
        return ingest_pb2.UpdateResponse(result=to_message(result))

    async def Forget(self, request: ingest_pb2.ForgetRequest, context: Any) -> ingest_pb2.ForgetResponse:
        """Fade or delete memories."""
        call = await to_opened_call(self._pool, request, self._pipeline.clock())
        if bool(request.memory_id) == bool(request.key):
            raise InvalidField("memory_id", "give either memory_id or key, and not both")
        memory_id = checks.check_id("memory_id", request.memory_id) if request.memory_id else None
        mode = checks.check_name("mode", request.mode, validation.FORGET_MODES)
        named = checks.check_scope("scope", request.scope)
        place = ("", "")
        if memory_id is None:
            place = (validation.check_key("key", request.key), call.principal.writable_scope(named))
            if not call.admits(place[1], place[0]):
                raise NotOpened
        forgotten = await self._changes.forget(call, memory_id, place, mode)
        return ingest_pb2.ForgetResponse(memory_ids=map(str, forgotten))

    async def Restore(self, request: ingest_pb2.RestoreRequest, context: Any) -> ingest_pb2.RestoreResponse:
        """Go back to an earlier revision."""
        call = to_call(request)
        memory_id = checks.check_id("memory_id", request.memory_id)
        result = await self._changes.restore(call, memory_id, _revision(request))
        return ingest_pb2.RestoreResponse(result=to_message(result))

    async def Relate(self, request: ingest_pb2.RelateRequest, context: Any) -> ingest_pb2.RelateResponse:
        """State a relation."""
        call = to_call(request)
        relation = validation.read_relation(request)
        await self._relating.relate(call, relation)
        return ingest_pb2.RelateResponse(weight=relation.weight)

    async def Unrelate(self, request: ingest_pb2.UnrelateRequest, context: Any) -> ingest_pb2.UnrelateResponse:
        """Take a relation back."""
        call = to_call(request)
        removed = await self._relating.unrelate(call, validation.read_relation(request))
        return ingest_pb2.UnrelateResponse(removed=removed)

    async def Observe(self, request: ingest_pb2.ObserveRequest, context: Any) -> ingest_pb2.ObserveResponse:
        """Keep turns of a session."""
        call = to_call(request)
        await self._quota.check(call.principal.tenant_id)
        session_id = checks.check_session_id("session_id", request.session_id)
        scope = checks.check_scope("scope", request.scope)
        checks.check_items("turns", request.turns, low=1, high=validation.BATCH)
        first_turn = request.first_turn if request.HasField("first_turn") else None
        if first_turn is not None and not 0 <= first_turn <= validation.MAX_TURN:
            raise InvalidField("first_turn", "count turns from 0")
        now = self._observer.clock()
        turns = [validation.read_turn(i, turn, session_id, call.principal, now) for i, turn in enumerate(request.turns)]
        observed = await self._observer.observe(call, session_id, scope, turns, first_turn)
        candidates = map(to_candidate, observed.findings)
        return ingest_pb2.ObserveResponse(first_turn=observed.first_turn, added=observed.added, candidates=candidates)

    async def ReportOutcome(self, request: ingest_pb2.ReportOutcomeRequest, context: Any) -> ingest_pb2.ReportOutcomeResponse:
        """Keep what became of an answer."""
        await self._quota.check(check_caller(request).tenant_id)
        receipt_id = checks.check_id("receipt_id", request.receipt_id)
        outcome = checks.check_name("outcome", request.outcome, validation.REPORTED_OUTCOMES)
        note = checks.check_text("note", request.note, max_chars=validation.NOTE_CHARS)
        final_prompt = validation.check_prompt("final_prompt", request.final_prompt)
        await self._reporting.report_outcome(request, receipt_id, outcome, note, final_prompt)
        return ingest_pb2.ReportOutcomeResponse()


def _read_candidate(call: Call, field: str, memory: memory_pb2.NewMemory, now: datetime) -> Candidate:
    """The memory to be written; within what is open and as an inference, where the agent is another's."""
    if not call.grants:
        return validation.read_candidate(field, memory, call.principal, now)
    said = memory_pb2.NewMemory()
    said.CopyFrom(memory)
    if said.source.kind in validation.SOURCES:
        said.source.kind = memory_pb2.SOURCE_KIND_INFERENCE
    candidate = validation.read_candidate(field, said, call.principal, now)
    if not call.admits(candidate.scope, candidate.key):
        raise NotOpened
    return candidate


def _noted(call: Call, result: Result) -> Result:
    """The result; it says so where a memory was written to another agent's bank."""
    if not call.grants or result.outcome == "rejected":
        return result
    return replace(result, detail="; ".join(part for part in (result.detail, AS_INFERENCE) if part))


def _revision(request: Any) -> int:
    if request.revision < 1:
        raise InvalidField("revision", "give a revision of the memory, counted from 1")
    return request.revision
