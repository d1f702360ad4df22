"""Calls about sessions and tasks."""

from collections.abc import Sequence

from hindsight.v1 import ingest_pb2, recall_pb2, session_pb2

from hindsight_memory.connection import Connection
from hindsight_memory.types.sessions import Candidate, Ended, Observed, Session, Turn
from hindsight_memory.wire.fields import fill
from hindsight_memory.wire.sessions import from_turn, to_candidate, to_session


class SessionCalls(Connection):
    """Observing sessions and looking back on them."""

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
        request = ingest_pb2.ObserveRequest(turns=[from_turn(turn) for turn in turns])
        fields = {"session_id": session_id, "scope": scope, "first_turn": first_turn, **self._identity(agent_id, request_id)}
        response = await self._call(self._ingest.Observe, fill(request, fields))
        return Observed(response.first_turn, response.added, tuple(map(to_candidate, response.candidates)))

    async def should_write(self, text: str, *, before: str = "", agent_id: str = "") -> tuple[bool, list[Candidate]]:
        """Whether a user's turn holds anything worth keeping, and what, by rules alone; `before` is what the agent had said."""
        fields = {"text": text, "before": before, "agent_id": agent_id or self._agent_id}
        response = await self._call(self._sessions.ShouldWrite, fill(session_pb2.ShouldWriteRequest(), fields))
        return response.should_write, [to_candidate(c) for c in response.candidates]

    async def complete_task(
        self, session_id: str, *, outcome: str = "", note: str = "", agent_id: str = "", request_id: str = ""
    ) -> Ended:
        """Say that a session's task is over (success, partial, failure; empty: the trace decides); it is looked back on."""
        fields = {"session_id": session_id, "outcome": outcome, "note": note, **self._identity(agent_id, request_id)}
        request = fill(session_pb2.CompleteTaskRequest(), fields)
        response = await self._call(self._sessions.CompleteTask, request)
        return Ended(response.task_id, response.looks_back)

    async def end_session(self, session_id: str, *, agent_id: str = "", request_id: str = "") -> Ended:
        """Say that a session is over: its open task is looked back on, and the session is summed up."""
        fields = {"session_id": session_id, **self._identity(agent_id, request_id)}
        response = await self._call(self._sessions.EndSession, fill(session_pb2.EndSessionRequest(), fields))
        return Ended(response.task_id, response.looks_back)

    async def look_back(self, session_id: str, *, agent_id: str = "", request_id: str = "") -> int:
        """Let the tasks of a session be looked back on and tagged again; how many there are."""
        fields = {"session_id": session_id, **self._identity(agent_id, request_id)}
        return (await self._call(self._sessions.LookBack, fill(session_pb2.LookBackRequest(), fields))).tasks

    async def get_session(self, session_id: str, *, agent_id: str = "") -> Session:
        """A session with its tasks and what became of them."""
        request = recall_pb2.GetSessionRequest(agent_id=agent_id or self._agent_id, session_id=session_id)
        return to_session((await self._call(self._recall.GetSession, request)).session)
