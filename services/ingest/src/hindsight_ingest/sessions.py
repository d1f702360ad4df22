"""SessionService: where tasks and sessions end, and what of a text would be kept."""

from typing import Any

from hindsight.v1 import session_pb2, session_pb2_grpc
from hindsight_runtime import checks
from hindsight_runtime.errors import InvalidField, NotFound
from hindsight_runtime.identity import SESSION_PREFIX, caller
from hindsight_store.desks import Desk, Desks
from hindsight_store.turns import Turn

from hindsight_ingest import validation
from hindsight_ingest.calls import to_call
from hindsight_ingest.listener import Listener
from hindsight_ingest.listening import Finding
from hindsight_ingest.masking import mask
from hindsight_ingest.observing import Observer
from hindsight_ingest.pipeline import Call
from hindsight_ingest.retrospecting import OUTCOMES

OUTCOME_CHARS = 32
TEXT_CHARS = 8192


class SessionServicer(session_pb2_grpc.SessionServiceServicer):
    """Answers SessionService."""

    def __init__(self, observer: Observer, listener: Listener, desks: Desks | None) -> None:
        self._desks = desks
        self._observer = observer
        self._listener = listener

    async def CompleteTask(self, request: session_pb2.CompleteTaskRequest, context: Any) -> session_pb2.CompleteTaskResponse:
        """End a task; of a session that was never observed there is only what lies on the desk for it."""
        call, session_id = to_call(request), _session_id(request)
        outcome = checks.check_text("outcome", request.outcome, max_chars=OUTCOME_CHARS)
        if outcome.strip() and outcome.strip().lower() not in OUTCOMES:
            raise InvalidField("outcome", "say success, partial or failure, or leave it out")
        note = checks.check_text("note", request.note, max_chars=validation.NOTE_CHARS)
        try:
            ended = await self._observer.complete_task(call, session_id, outcome, note)
        except NotFound:
            await self._clear(call, session_id, only_task_state=True)
            return session_pb2.CompleteTaskResponse()
        return session_pb2.CompleteTaskResponse(task_id=str(ended.task_id or ""), looks_back=ended.is_new)

    async def EndSession(self, request: session_pb2.EndSessionRequest, context: Any) -> session_pb2.EndSessionResponse:
        """End a session; of one that was never observed there is only the desk to clear."""
        call, session_id = to_call(request), _session_id(request)
        try:
            ended = await self._observer.end_session(call, session_id)
        except NotFound:
            await self._clear(call, session_id)
            return session_pb2.EndSessionResponse()
        return session_pb2.EndSessionResponse(task_id=str(ended.task_id or ""), looks_back=ended.is_new)

    async def _clear(self, call: Call, session_id: str, *, only_task_state: bool = False) -> None:
        """Clear the desk of a session that has no turns.

        Raises:
            NotFound: there is nothing on it either.
        """
        desk = Desk(call.principal.tenant_id, call.agent_id, call.principal.desk_of(SESSION_PREFIX + session_id))
        if self._desks is None or not await self._desks.entries(desk):
            raise NotFound("no such session of this agent, and nothing on its desk; observe its turns first")
        await self._desks.clear(desk, only_task_state=only_task_state)

    async def LookBack(self, request: session_pb2.LookBackRequest, context: Any) -> session_pb2.LookBackResponse:
        """Look back again."""
        tasks = await self._observer.look_back(to_call(request), _session_id(request))
        return session_pb2.LookBackResponse(tasks=tasks)

    async def ShouldWrite(self, request: session_pb2.ShouldWriteRequest, context: Any) -> session_pb2.ShouldWriteResponse:
        """What of a text would be kept."""
        principal = caller()
        principal.require("write")
        checks.check_label("agent_id", request.agent_id, max_chars=checks.AGENT_ID_CHARS)
        principal.resolve_agent(request.agent_id)
        text = checks.check_text("text", request.text, max_chars=TEXT_CHARS, required=True)
        before = checks.check_text("before", request.before, max_chars=TEXT_CHARS)
        now = self._observer.clock()
        said = _said(1, "user", mask(text)[0], now)
        findings = await self._listener.hear(said, _said(0, "assistant", mask(before)[0], now) if before else None)
        should = any(one.timing != "desk" for one in findings)
        return session_pb2.ShouldWriteResponse(should_write=should, candidates=[to_message(one, turn=0) for one in findings])


def to_message(finding: Finding, *, turn: int | None = None) -> session_pb2.Candidate:
    """A finding on the wire."""
    return session_pb2.Candidate(
        turn=finding.turn if turn is None else turn,
        trigger=finding.trigger,
        rule=finding.rule,
        kind=f"KIND_{finding.kind.upper()}",
        key=finding.key,
        query=finding.query,
        value=finding.value,
        importance=finding.importance,
        confidence=finding.confidence,
        timing=f"TIMING_{finding.timing.upper()}",
    )


def _session_id(request: Any) -> str:
    return checks.check_session_id("session_id", request.session_id)


def _said(number: int, role: str, text: str, now: Any) -> Turn:
    """A text as a turn of no session."""
    return Turn("", number, "", role, text, "", {}, "", False, (), "", now, now)
