import datetime

from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from hindsight.v1 import error_reason_pb2 as _error_reason_pb2
from hindsight.v1 import memory_pb2 as _memory_pb2
from hindsight.v1 import session_pb2 as _session_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Outcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OUTCOME_UNSPECIFIED: _ClassVar[Outcome]
    OUTCOME_CREATED: _ClassVar[Outcome]
    OUTCOME_UPDATED: _ClassVar[Outcome]
    OUTCOME_SUPERSEDED: _ClassVar[Outcome]
    OUTCOME_CONFLICT: _ClassVar[Outcome]
    OUTCOME_QUARANTINED: _ClassVar[Outcome]
    OUTCOME_WORKING: _ClassVar[Outcome]
    OUTCOME_REJECTED: _ClassVar[Outcome]

class ForgetMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FORGET_MODE_UNSPECIFIED: _ClassVar[ForgetMode]
    FORGET_MODE_FADE: _ClassVar[ForgetMode]
    FORGET_MODE_DELETE: _ClassVar[ForgetMode]
OUTCOME_UNSPECIFIED: Outcome
OUTCOME_CREATED: Outcome
OUTCOME_UPDATED: Outcome
OUTCOME_SUPERSEDED: Outcome
OUTCOME_CONFLICT: Outcome
OUTCOME_QUARANTINED: Outcome
OUTCOME_WORKING: Outcome
OUTCOME_REJECTED: Outcome
FORGET_MODE_UNSPECIFIED: ForgetMode
FORGET_MODE_FADE: ForgetMode
FORGET_MODE_DELETE: ForgetMode

class Adjustment(_message.Message):
    __slots__ = ("field", "asked", "stored")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    ASKED_FIELD_NUMBER: _ClassVar[int]
    STORED_FIELD_NUMBER: _ClassVar[int]
    field: str
    asked: float
    stored: float
    def __init__(self, field: _Optional[str] = ..., asked: _Optional[float] = ..., stored: _Optional[float] = ...) -> None: ...

class WriteResult(_message.Message):
    __slots__ = ("outcome", "memory_id", "revision", "reason", "field", "detail", "adjustments", "superseded_ids", "superseded_by_id")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    ADJUSTMENTS_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_IDS_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_ID_FIELD_NUMBER: _ClassVar[int]
    outcome: Outcome
    memory_id: str
    revision: int
    reason: _error_reason_pb2.ErrorReason
    field: str
    detail: str
    adjustments: _containers.RepeatedCompositeFieldContainer[Adjustment]
    superseded_ids: _containers.RepeatedScalarFieldContainer[str]
    superseded_by_id: str
    def __init__(self, outcome: _Optional[_Union[Outcome, str]] = ..., memory_id: _Optional[str] = ..., revision: _Optional[int] = ..., reason: _Optional[_Union[_error_reason_pb2.ErrorReason, str]] = ..., field: _Optional[str] = ..., detail: _Optional[str] = ..., adjustments: _Optional[_Iterable[_Union[Adjustment, _Mapping]]] = ..., superseded_ids: _Optional[_Iterable[str]] = ..., superseded_by_id: _Optional[str] = ...) -> None: ...

class WriteRequest(_message.Message):
    __slots__ = ("request_id", "agent_id", "memory")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    agent_id: str
    memory: _memory_pb2.NewMemory
    def __init__(self, request_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., memory: _Optional[_Union[_memory_pb2.NewMemory, _Mapping]] = ...) -> None: ...

class WriteResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: WriteResult
    def __init__(self, result: _Optional[_Union[WriteResult, _Mapping]] = ...) -> None: ...

class WriteBatchRequest(_message.Message):
    __slots__ = ("request_id", "agent_id", "memories", "all_or_nothing")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    ALL_OR_NOTHING_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    agent_id: str
    memories: _containers.RepeatedCompositeFieldContainer[_memory_pb2.NewMemory]
    all_or_nothing: bool
    def __init__(self, request_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., memories: _Optional[_Iterable[_Union[_memory_pb2.NewMemory, _Mapping]]] = ..., all_or_nothing: _Optional[bool] = ...) -> None: ...

class WriteBatchResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[WriteResult]
    def __init__(self, results: _Optional[_Iterable[_Union[WriteResult, _Mapping]]] = ...) -> None: ...

class Tags(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, values: _Optional[_Iterable[str]] = ...) -> None: ...

class UpdateRequest(_message.Message):
    __slots__ = ("request_id", "agent_id", "memory_id", "revision", "key", "query", "value", "tags", "importance", "confidence", "metadata", "is_core", "kind", "expires_at")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    IS_CORE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    agent_id: str
    memory_id: str
    revision: int
    key: str
    query: str
    value: str
    tags: Tags
    importance: float
    confidence: float
    metadata: _struct_pb2.Struct
    is_core: bool
    kind: _memory_pb2.Kind
    expires_at: _timestamp_pb2.Timestamp
    def __init__(self, request_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., memory_id: _Optional[str] = ..., revision: _Optional[int] = ..., key: _Optional[str] = ..., query: _Optional[str] = ..., value: _Optional[str] = ..., tags: _Optional[_Union[Tags, _Mapping]] = ..., importance: _Optional[float] = ..., confidence: _Optional[float] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., is_core: _Optional[bool] = ..., kind: _Optional[_Union[_memory_pb2.Kind, str]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class UpdateResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: WriteResult
    def __init__(self, result: _Optional[_Union[WriteResult, _Mapping]] = ...) -> None: ...

class ForgetRequest(_message.Message):
    __slots__ = ("request_id", "agent_id", "memory_id", "key", "scope", "mode")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    agent_id: str
    memory_id: str
    key: str
    scope: str
    mode: ForgetMode
    def __init__(self, request_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., memory_id: _Optional[str] = ..., key: _Optional[str] = ..., scope: _Optional[str] = ..., mode: _Optional[_Union[ForgetMode, str]] = ...) -> None: ...

class ForgetResponse(_message.Message):
    __slots__ = ("memory_ids",)
    MEMORY_IDS_FIELD_NUMBER: _ClassVar[int]
    memory_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, memory_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class RestoreRequest(_message.Message):
    __slots__ = ("request_id", "agent_id", "memory_id", "revision")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    agent_id: str
    memory_id: str
    revision: int
    def __init__(self, request_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., memory_id: _Optional[str] = ..., revision: _Optional[int] = ...) -> None: ...

class RestoreResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: WriteResult
    def __init__(self, result: _Optional[_Union[WriteResult, _Mapping]] = ...) -> None: ...

class RelateRequest(_message.Message):
    __slots__ = ("request_id", "agent_id", "from_id", "to_id", "type", "weight")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_ID_FIELD_NUMBER: _ClassVar[int]
    TO_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    agent_id: str
    from_id: str
    to_id: str
    type: str
    weight: float
    def __init__(self, request_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., from_id: _Optional[str] = ..., to_id: _Optional[str] = ..., type: _Optional[str] = ..., weight: _Optional[float] = ...) -> None: ...

class RelateResponse(_message.Message):
    __slots__ = ("weight",)
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    weight: float
    def __init__(self, weight: _Optional[float] = ...) -> None: ...

class UnrelateRequest(_message.Message):
    __slots__ = ("request_id", "agent_id", "from_id", "to_id", "type")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_ID_FIELD_NUMBER: _ClassVar[int]
    TO_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    agent_id: str
    from_id: str
    to_id: str
    type: str
    def __init__(self, request_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., from_id: _Optional[str] = ..., to_id: _Optional[str] = ..., type: _Optional[str] = ...) -> None: ...

class UnrelateResponse(_message.Message):
    __slots__ = ("removed",)
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    removed: bool
    def __init__(self, removed: _Optional[bool] = ...) -> None: ...

class ObserveRequest(_message.Message):
    __slots__ = ("request_id", "agent_id", "session_id", "scope", "turns", "first_turn")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    FIRST_TURN_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    agent_id: str
    session_id: str
    scope: str
    turns: _containers.RepeatedCompositeFieldContainer[_memory_pb2.Turn]
    first_turn: int
    def __init__(self, request_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., session_id: _Optional[str] = ..., scope: _Optional[str] = ..., turns: _Optional[_Iterable[_Union[_memory_pb2.Turn, _Mapping]]] = ..., first_turn: _Optional[int] = ...) -> None: ...

class ObserveResponse(_message.Message):
    __slots__ = ("first_turn", "added", "candidates")
    FIRST_TURN_FIELD_NUMBER: _ClassVar[int]
    ADDED_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    first_turn: int
    added: int
    candidates: _containers.RepeatedCompositeFieldContainer[_session_pb2.Candidate]
    def __init__(self, first_turn: _Optional[int] = ..., added: _Optional[int] = ..., candidates: _Optional[_Iterable[_Union[_session_pb2.Candidate, _Mapping]]] = ...) -> None: ...

class ReportOutcomeRequest(_message.Message):
    __slots__ = ("request_id", "agent_id", "receipt_id", "outcome", "note", "final_prompt")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_ID_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    FINAL_PROMPT_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    agent_id: str
    receipt_id: str
    outcome: _memory_pb2.ReportedOutcome
    note: str
    final_prompt: str
    def __init__(self, request_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., receipt_id: _Optional[str] = ..., outcome: _Optional[_Union[_memory_pb2.ReportedOutcome, str]] = ..., note: _Optional[str] = ..., final_prompt: _Optional[str] = ...) -> None: ...

class ReportOutcomeResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
