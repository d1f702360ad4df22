import datetime

from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    KIND_UNSPECIFIED: _ClassVar[Kind]
    KIND_PREFERENCE: _ClassVar[Kind]
    KIND_FACT: _ClassVar[Kind]
    KIND_ENTITY: _ClassVar[Kind]
    KIND_STATE: _ClassVar[Kind]
    KIND_CORRECTION: _ClassVar[Kind]
    KIND_SUMMARY: _ClassVar[Kind]
    KIND_EXPERIENCE: _ClassVar[Kind]

class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STATUS_UNSPECIFIED: _ClassVar[Status]
    STATUS_ACTIVE: _ClassVar[Status]
    STATUS_PENDING_REVIEW: _ClassVar[Status]
    STATUS_SUPERSEDED: _ClassVar[Status]
    STATUS_ARCHIVED: _ClassVar[Status]
    STATUS_DELETABLE: _ClassVar[Status]
    STATUS_DELETED: _ClassVar[Status]

class SourceKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SOURCE_KIND_UNSPECIFIED: _ClassVar[SourceKind]
    SOURCE_KIND_USER: _ClassVar[SourceKind]
    SOURCE_KIND_TOOL: _ClassVar[SourceKind]
    SOURCE_KIND_INFERENCE: _ClassVar[SourceKind]
    SOURCE_KIND_RETROSPECTIVE: _ClassVar[SourceKind]
    SOURCE_KIND_IMPORT: _ClassVar[SourceKind]

class TurnRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TURN_ROLE_UNSPECIFIED: _ClassVar[TurnRole]
    TURN_ROLE_USER: _ClassVar[TurnRole]
    TURN_ROLE_ASSISTANT: _ClassVar[TurnRole]
    TURN_ROLE_TOOL_CALL: _ClassVar[TurnRole]
    TURN_ROLE_TOOL_RESULT: _ClassVar[TurnRole]

class Flag(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FLAG_UNSPECIFIED: _ClassVar[Flag]
    FLAG_CONTRADICTS_CONTEXT: _ClassVar[Flag]
    FLAG_ODD_ONE_OUT: _ClassVar[Flag]
    FLAG_UNDER_REVIEW: _ClassVar[Flag]
    FLAG_UNVERIFIED: _ClassVar[Flag]

class Access(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACCESS_UNSPECIFIED: _ClassVar[Access]
    ACCESS_READ: _ClassVar[Access]
    ACCESS_WRITE: _ClassVar[Access]

class ReportedOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REPORTED_OUTCOME_UNSPECIFIED: _ClassVar[ReportedOutcome]
    REPORTED_OUTCOME_SUCCESS: _ClassVar[ReportedOutcome]
    REPORTED_OUTCOME_PARTIAL: _ClassVar[ReportedOutcome]
    REPORTED_OUTCOME_FAILURE: _ClassVar[ReportedOutcome]
KIND_UNSPECIFIED: Kind
KIND_PREFERENCE: Kind
KIND_FACT: Kind
KIND_ENTITY: Kind
KIND_STATE: Kind
KIND_CORRECTION: Kind
KIND_SUMMARY: Kind
KIND_EXPERIENCE: Kind
STATUS_UNSPECIFIED: Status
STATUS_ACTIVE: Status
STATUS_PENDING_REVIEW: Status
STATUS_SUPERSEDED: Status
STATUS_ARCHIVED: Status
STATUS_DELETABLE: Status
STATUS_DELETED: Status
SOURCE_KIND_UNSPECIFIED: SourceKind
SOURCE_KIND_USER: SourceKind
SOURCE_KIND_TOOL: SourceKind
SOURCE_KIND_INFERENCE: SourceKind
SOURCE_KIND_RETROSPECTIVE: SourceKind
SOURCE_KIND_IMPORT: SourceKind
TURN_ROLE_UNSPECIFIED: TurnRole
TURN_ROLE_USER: TurnRole
TURN_ROLE_ASSISTANT: TurnRole
TURN_ROLE_TOOL_CALL: TurnRole
TURN_ROLE_TOOL_RESULT: TurnRole
FLAG_UNSPECIFIED: Flag
FLAG_CONTRADICTS_CONTEXT: Flag
FLAG_ODD_ONE_OUT: Flag
FLAG_UNDER_REVIEW: Flag
FLAG_UNVERIFIED: Flag
ACCESS_UNSPECIFIED: Access
ACCESS_READ: Access
ACCESS_WRITE: Access
REPORTED_OUTCOME_UNSPECIFIED: ReportedOutcome
REPORTED_OUTCOME_SUCCESS: ReportedOutcome
REPORTED_OUTCOME_PARTIAL: ReportedOutcome
REPORTED_OUTCOME_FAILURE: ReportedOutcome

class Source(_message.Message):
    __slots__ = ("kind", "session_id", "turn")
    KIND_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    kind: SourceKind
    session_id: str
    turn: int
    def __init__(self, kind: _Optional[_Union[SourceKind, str]] = ..., session_id: _Optional[str] = ..., turn: _Optional[int] = ...) -> None: ...

class Memory(_message.Message):
    __slots__ = ("id", "agent_id", "scope", "kind", "key", "query", "value", "tags", "importance", "confidence", "source", "metadata", "is_core", "status", "revision", "valid_from", "valid_to", "known_from", "known_to", "expires_at", "hit_count", "last_hit_at", "derived_from", "created_at")
    ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    IS_CORE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    VALID_TO_FIELD_NUMBER: _ClassVar[int]
    KNOWN_FROM_FIELD_NUMBER: _ClassVar[int]
    KNOWN_TO_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    HIT_COUNT_FIELD_NUMBER: _ClassVar[int]
    LAST_HIT_AT_FIELD_NUMBER: _ClassVar[int]
    DERIVED_FROM_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    agent_id: str
    scope: str
    kind: Kind
    key: str
    query: str
    value: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    importance: float
    confidence: float
    source: Source
    metadata: _struct_pb2.Struct
    is_core: bool
    status: Status
    revision: int
    valid_from: _timestamp_pb2.Timestamp
    valid_to: _timestamp_pb2.Timestamp
    known_from: _timestamp_pb2.Timestamp
    known_to: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    hit_count: int
    last_hit_at: _timestamp_pb2.Timestamp
    derived_from: _containers.RepeatedScalarFieldContainer[str]
    created_at: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., agent_id: _Optional[str] = ..., scope: _Optional[str] = ..., kind: _Optional[_Union[Kind, str]] = ..., key: _Optional[str] = ..., query: _Optional[str] = ..., value: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., importance: _Optional[float] = ..., confidence: _Optional[float] = ..., source: _Optional[_Union[Source, _Mapping]] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., is_core: _Optional[bool] = ..., status: _Optional[_Union[Status, str]] = ..., revision: _Optional[int] = ..., valid_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_to: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., known_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., known_to: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., hit_count: _Optional[int] = ..., last_hit_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., derived_from: _Optional[_Iterable[str]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class NewMemory(_message.Message):
    __slots__ = ("key", "query", "value", "scope", "kind", "tags", "importance", "confidence", "source", "metadata", "is_core", "valid_from", "valid_to", "expires_at", "derived_from")
    KEY_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    IS_CORE_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    VALID_TO_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    DERIVED_FROM_FIELD_NUMBER: _ClassVar[int]
    key: str
    query: str
    value: str
    scope: str
    kind: Kind
    tags: _containers.RepeatedScalarFieldContainer[str]
    importance: float
    confidence: float
    source: Source
    metadata: _struct_pb2.Struct
    is_core: bool
    valid_from: _timestamp_pb2.Timestamp
    valid_to: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    derived_from: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, key: _Optional[str] = ..., query: _Optional[str] = ..., value: _Optional[str] = ..., scope: _Optional[str] = ..., kind: _Optional[_Union[Kind, str]] = ..., tags: _Optional[_Iterable[str]] = ..., importance: _Optional[float] = ..., confidence: _Optional[float] = ..., source: _Optional[_Union[Source, _Mapping]] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., is_core: _Optional[bool] = ..., valid_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_to: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., derived_from: _Optional[_Iterable[str]] = ...) -> None: ...

class TimeRange(_message.Message):
    __slots__ = ("since", "until")
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    since: _timestamp_pb2.Timestamp
    until: _timestamp_pb2.Timestamp
    def __init__(self, since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Filter(_message.Message):
    __slots__ = ("key", "scope", "kinds", "tags", "all_tags", "min_importance", "min_confidence", "valid_from", "created_at", "metadata", "include_archived")
    KEY_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    ALL_TAGS_FIELD_NUMBER: _ClassVar[int]
    MIN_IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    MIN_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_ARCHIVED_FIELD_NUMBER: _ClassVar[int]
    key: str
    scope: str
    kinds: _containers.RepeatedScalarFieldContainer[Kind]
    tags: _containers.RepeatedScalarFieldContainer[str]
    all_tags: bool
    min_importance: float
    min_confidence: float
    valid_from: TimeRange
    created_at: TimeRange
    metadata: _struct_pb2.Struct
    include_archived: bool
    def __init__(self, key: _Optional[str] = ..., scope: _Optional[str] = ..., kinds: _Optional[_Iterable[_Union[Kind, str]]] = ..., tags: _Optional[_Iterable[str]] = ..., all_tags: _Optional[bool] = ..., min_importance: _Optional[float] = ..., min_confidence: _Optional[float] = ..., valid_from: _Optional[_Union[TimeRange, _Mapping]] = ..., created_at: _Optional[_Union[TimeRange, _Mapping]] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., include_archived: _Optional[bool] = ...) -> None: ...

class Turn(_message.Message):
    __slots__ = ("role", "content", "tool", "arguments", "result", "is_error", "at", "session_id", "turn", "scope", "masked")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    MASKED_FIELD_NUMBER: _ClassVar[int]
    role: TurnRole
    content: str
    tool: str
    arguments: _struct_pb2.Struct
    result: str
    is_error: bool
    at: _timestamp_pb2.Timestamp
    session_id: str
    turn: int
    scope: str
    masked: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, role: _Optional[_Union[TurnRole, str]] = ..., content: _Optional[str] = ..., tool: _Optional[str] = ..., arguments: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., result: _Optional[str] = ..., is_error: _Optional[bool] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., session_id: _Optional[str] = ..., turn: _Optional[int] = ..., scope: _Optional[str] = ..., masked: _Optional[_Iterable[str]] = ...) -> None: ...

class Grant(_message.Message):
    __slots__ = ("id", "agent_id", "grantee_agent_id", "scope", "key_prefix", "access", "created_by", "created_at", "expires_at", "revoked_at")
    ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    GRANTEE_AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    KEY_PREFIX_FIELD_NUMBER: _ClassVar[int]
    ACCESS_FIELD_NUMBER: _ClassVar[int]
    CREATED_BY_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    REVOKED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    agent_id: str
    grantee_agent_id: str
    scope: str
    key_prefix: str
    access: Access
    created_by: str
    created_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    revoked_at: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., agent_id: _Optional[str] = ..., grantee_agent_id: _Optional[str] = ..., scope: _Optional[str] = ..., key_prefix: _Optional[str] = ..., access: _Optional[_Union[Access, str]] = ..., created_by: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., revoked_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class DeskEntry(_message.Message):
    __slots__ = ("scope", "key", "query", "value", "source", "confidence", "importance", "tokens", "is_pinned", "is_task_state", "uses", "put_at", "expires_at", "id")
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    IS_PINNED_FIELD_NUMBER: _ClassVar[int]
    IS_TASK_STATE_FIELD_NUMBER: _ClassVar[int]
    USES_FIELD_NUMBER: _ClassVar[int]
    PUT_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    scope: str
    key: str
    query: str
    value: str
    source: Source
    confidence: float
    importance: float
    tokens: int
    is_pinned: bool
    is_task_state: bool
    uses: int
    put_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    id: str
    def __init__(self, scope: _Optional[str] = ..., key: _Optional[str] = ..., query: _Optional[str] = ..., value: _Optional[str] = ..., source: _Optional[_Union[Source, _Mapping]] = ..., confidence: _Optional[float] = ..., importance: _Optional[float] = ..., tokens: _Optional[int] = ..., is_pinned: _Optional[bool] = ..., is_task_state: _Optional[bool] = ..., uses: _Optional[int] = ..., put_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., id: _Optional[str] = ...) -> None: ...
