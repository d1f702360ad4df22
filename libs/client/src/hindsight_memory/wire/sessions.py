"""Turns, sessions and tasks, from and to messages."""

from datetime import UTC

from hindsight.v1 import memory_pb2, session_pb2

from hindsight_memory.types.sessions import Candidate, Session, Task, Turn
from hindsight_memory.wire.fields import enum, fill, moment, short, to_json


def from_turn(turn: Turn) -> memory_pb2.Turn:
    """A turn to observe."""
    fields = {name: getattr(turn, name) for name in ("content", "tool", "result", "is_error", "at")}
    fields |= {"role": enum("TURN_ROLE", turn.role, memory_pb2.TurnRole, "role"), "arguments": turn.arguments or None}
    return fill(memory_pb2.Turn(), fields)


def to_turn(t: memory_pb2.Turn) -> Turn:
    """A turn."""
    return Turn(
        role=short("TURN_ROLE", t.role, memory_pb2.TurnRole),
        content=t.content,
        tool=t.tool,
        arguments=to_json(t.arguments),
        result=t.result,
        is_error=t.is_error,
        at=moment(t, "at"),
        session_id=t.session_id,
        turn=t.turn,
        scope=t.scope,
        masked=tuple(t.masked),
    )


def to_candidate(c: session_pb2.Candidate) -> Candidate:
    """Something worth keeping."""
    return Candidate(
        turn=c.turn,
        trigger=c.trigger,
        rule=c.rule,
        kind=short("KIND", c.kind, memory_pb2.Kind),
        key=c.key,
        query=c.query,
        value=c.value,
        importance=c.importance,
        confidence=c.confidence,
        timing=short("TIMING", c.timing, session_pb2.Timing),
    )


def to_session(s: session_pb2.Session) -> Session:
    """A session with its tasks."""
    return Session(
        id=s.id,
        scope=s.scope,
        started_at=s.started_at.ToDatetime(tzinfo=UTC),
        last_turn_at=s.last_turn_at.ToDatetime(tzinfo=UTC),
        ended_at=moment(s, "ended_at"),
        turns=s.turns,
        summary_id=s.summary_id,
        judged_by=s.judged_by,
        tasks=tuple(map(to_task, s.tasks)),
    )


def to_task(t: session_pb2.Task) -> Task:
    """A task of a session."""
    return Task(
        id=t.id,
        first_turn=t.first_turn,
        end_turn=t.end_turn,
        boundary=short("BOUNDARY", t.boundary, session_pb2.Boundary),
        outcome=t.outcome,
        state=short("TASK_STATE", t.state, session_pb2.TaskState),
        reason=t.reason,
        judged_by=t.judged_by,
        experience_id=t.experience_id,
        memory_ids=tuple(t.memory_ids),
        looks=t.looks,
        created_at=t.created_at.ToDatetime(tzinfo=UTC),
        looked_at=moment(t, "looked_at"),
    )
