import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from hindsight.v1 import memory_pb2 as _memory_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Timing(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TIMING_UNSPECIFIED: _ClassVar[Timing]
    TIMING_NOW: _ClassVar[Timing]
    TIMING_ROUND: _ClassVar[Timing]
    TIMING_DESK: _ClassVar[Timing]

class Boundary(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BOUNDARY_UNSPECIFIED: _ClassVar[Boundary]
    BOUNDARY_CLIENT: _ClassVar[Boundary]
    BOUNDARY_DONE: _ClassVar[Boundary]
    BOUNDARY_CHAIN: _ClassVar[Boundary]
    BOUNDARY_RESOLVED: _ClassVar[Boundary]
    BOUNDARY_TOPIC: _ClassVar[Boundary]
    BOUNDARY_IDLE: _ClassVar[Boundary]
    BOUNDARY_END: _ClassVar[Boundary]

class TaskState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TASK_STATE_UNSPECIFIED: _ClassVar[TaskState]
    TASK_STATE_WAITING: _ClassVar[TaskState]
    TASK_STATE_REMEMBERED: _ClassVar[TaskState]
    TASK_STATE_NOTHING: _ClassVar[TaskState]
TIMING_UNSPECIFIED: Timing
TIMING_NOW: Timing
TIMING_ROUND: Timing
TIMING_DESK: Timing
BOUNDARY_UNSPECIFIED: Boundary
BOUNDARY_CLIENT: Boundary
BOUNDARY_DONE: Boundary
BOUNDARY_CHAIN: Boundary
BOUNDARY_RESOLVED: Boundary
BOUNDARY_TOPIC: Boundary
BOUNDARY_IDLE: Boundary
BOUNDARY_END: Boundary
TASK_STATE_UNSPECIFIED: TaskState
TASK_STATE_WAITING: TaskState
TASK_STATE_REMEMBERED: TaskState
TASK_STATE_NOTHING: TaskState

class Candidate(_message.Message):
    __slots__ = ("turn", "trigger", "rule", "kind", "key", "query", "value", "importance", "confidence", "timing")
    TURN_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    TIMING_FIELD_NUMBER: _ClassVar[int]
    turn: int
    trigger: str
    rule: str
    kind: _memory_pb2.Kind
    key: str
    query: str
    value: str
    importance: float
    confidence: float
    timing: Timing
    def __init__(self, turn: _Optional[int] = ..., trigger: _Optional[str] = ..., rule: _Optional[str] = ..., kind: _Optional[_Union[_memory_pb2.Kind, str]] = ..., key: _Optional[str] = ..., query: _Optional[str] = ..., value: _Optional[str] = ..., importance: _Optional[float] = ..., confidence: _Optional[float] = ..., timing: _Optional[_Union[Timing, str]] = ...) -> None: ...

class Task(_message.Message):
    __slots__ = ("id", "first_turn", "end_turn", "boundary", "outcome", "state", "reason", "judged_by", "experience_id", "memory_ids", "looks", "created_at", "looked_at")
    ID_FIELD_NUMBER: _ClassVar[int]
    FIRST_TURN_FIELD_NUMBER: _ClassVar[int]
    END_TURN_FIELD_NUMBER: _ClassVar[int]
    BOUNDARY_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    JUDGED_BY_FIELD_NUMBER: _ClassVar[int]
    EXPERIENCE_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORY_IDS_FIELD_NUMBER: _ClassVar[int]
    LOOKS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    LOOKED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    first_turn: int
    end_turn: int
    boundary: Boundary
    outcome: str
    state: TaskState
    reason: str
    judged_by: str
    experience_id: str
    memory_ids: _containers.RepeatedScalarFieldContainer[str]
    looks: int
    created_at: _timestamp_pb2.Timestamp
    looked_at: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., first_turn: _Optional[int] = ..., end_turn: _Optional[int] = ..., boundary: _Optional[_Union[Boundary, str]] = ..., outcome: _Optional[str] = ..., state: _Optional[_Union[TaskState, str]] = ..., reason: _Optional[str] = ..., judged_by: _Optional[str] = ..., experience_id: _Optional[str] = ..., memory_ids: _Optional[_Iterable[str]] = ..., looks: _Optional[int] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., looked_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Session(_message.Message):
    __slots__ = ("id", "scope", "started_at", "last_turn_at", "ended_at", "turns", "summary_id", "judged_by", "tasks")
    ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_TURN_AT_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_ID_FIELD_NUMBER: _ClassVar[int]
    JUDGED_BY_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    id: str
    scope: str
    started_at: _timestamp_pb2.Timestamp
    last_turn_at: _timestamp_pb2.Timestamp
    ended_at: _timestamp_pb2.Timestamp
    turns: int
    summary_id: str
    judged_by: str
    tasks: _containers.RepeatedCompositeFieldContainer[Task]
    def __init__(self, id: _Optional[str] = ..., scope: _Optional[str] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_turn_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., turns: _Optional[int] = ..., summary_id: _Optional[str] = ..., judged_by: _Optional[str] = ..., tasks: _Optional[_Iterable[_Union[Task, _Mapping]]] = ...) -> None: ...

class CompleteTaskRequest(_message.Message):
    __slots__ = ("request_id", "agent_id", "session_id", "outcome", "note")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    agent_id: str
    session_id: str
    outcome: str
    note: str
    def __init__(self, request_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., session_id: _Optional[str] = ..., outcome: _Optional[str] = ..., note: _Optional[str] = ...) -> None: ...

class CompleteTaskResponse(_message.Message):
    __slots__ = ("task_id", "looks_back")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    LOOKS_BACK_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    looks_back: bool
    def __init__(self, task_id: _Optional[str] = ..., looks_back: _Optional[bool] = ...) -> None: ...

class EndSessionRequest(_message.Message):
    __slots__ = ("request_id", "agent_id", "session_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    agent_id: str
    session_id: str
    def __init__(self, request_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., session_id: _Optional[str] = ...) -> None: ...

class EndSessionResponse(_message.Message):
    __slots__ = ("task_id", "looks_back")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    LOOKS_BACK_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    looks_back: bool
    def __init__(self, task_id: _Optional[str] = ..., looks_back: _Optional[bool] = ...) -> None: ...

class LookBackRequest(_message.Message):
    __slots__ = ("request_id", "agent_id", "session_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    agent_id: str
    session_id: str
    def __init__(self, request_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., session_id: _Optional[str] = ...) -> None: ...

class LookBackResponse(_message.Message):
    __slots__ = ("tasks",)
    TASKS_FIELD_NUMBER: _ClassVar[int]
    tasks: int
    def __init__(self, tasks: _Optional[int] = ...) -> None: ...

class ShouldWriteRequest(_message.Message):
    __slots__ = ("agent_id", "text", "before")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    text: str
    before: str
    def __init__(self, agent_id: _Optional[str] = ..., text: _Optional[str] = ..., before: _Optional[str] = ...) -> None: ...

class ShouldWriteResponse(_message.Message):
    __slots__ = ("should_write", "candidates")
    SHOULD_WRITE_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    should_write: bool
    candidates: _containers.RepeatedCompositeFieldContainer[Candidate]
    def __init__(self, should_write: _Optional[bool] = ..., candidates: _Optional[_Iterable[_Union[Candidate, _Mapping]]] = ...) -> None: ...
