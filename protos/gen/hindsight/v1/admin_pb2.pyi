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

class Right(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RIGHT_UNSPECIFIED: _ClassVar[Right]
    RIGHT_READ: _ClassVar[Right]
    RIGHT_WRITE: _ClassVar[Right]
    RIGHT_ADMIN: _ClassVar[Right]
    RIGHT_OPERATOR: _ClassVar[Right]
    RIGHT_INSTRUCT: _ClassVar[Right]

class JobState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    JOB_STATE_UNSPECIFIED: _ClassVar[JobState]
    JOB_STATE_QUEUED: _ClassVar[JobState]
    JOB_STATE_RUNNING: _ClassVar[JobState]
    JOB_STATE_DEAD: _ClassVar[JobState]
RIGHT_UNSPECIFIED: Right
RIGHT_READ: Right
RIGHT_WRITE: Right
RIGHT_ADMIN: Right
RIGHT_OPERATOR: Right
RIGHT_INSTRUCT: Right
JOB_STATE_UNSPECIFIED: JobState
JOB_STATE_QUEUED: JobState
JOB_STATE_RUNNING: JobState
JOB_STATE_DEAD: JobState

class Key(_message.Message):
    __slots__ = ("id", "tenant", "name", "agent_ids", "default_agent_id", "scopes", "rights", "sources", "created_at", "expires_at", "revoked_at")
    ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    AGENT_IDS_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    RIGHTS_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    REVOKED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    tenant: str
    name: str
    agent_ids: _containers.RepeatedScalarFieldContainer[str]
    default_agent_id: str
    scopes: _containers.RepeatedScalarFieldContainer[str]
    rights: _containers.RepeatedScalarFieldContainer[Right]
    sources: _containers.RepeatedScalarFieldContainer[_memory_pb2.SourceKind]
    created_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    revoked_at: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., tenant: _Optional[str] = ..., name: _Optional[str] = ..., agent_ids: _Optional[_Iterable[str]] = ..., default_agent_id: _Optional[str] = ..., scopes: _Optional[_Iterable[str]] = ..., rights: _Optional[_Iterable[_Union[Right, str]]] = ..., sources: _Optional[_Iterable[_Union[_memory_pb2.SourceKind, str]]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., revoked_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CreateKeyRequest(_message.Message):
    __slots__ = ("request_id", "tenant", "name", "agent_ids", "default_agent_id", "scopes", "rights", "sources", "expires_at")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    AGENT_IDS_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    RIGHTS_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    tenant: str
    name: str
    agent_ids: _containers.RepeatedScalarFieldContainer[str]
    default_agent_id: str
    scopes: _containers.RepeatedScalarFieldContainer[str]
    rights: _containers.RepeatedScalarFieldContainer[Right]
    sources: _containers.RepeatedScalarFieldContainer[_memory_pb2.SourceKind]
    expires_at: _timestamp_pb2.Timestamp
    def __init__(self, request_id: _Optional[str] = ..., tenant: _Optional[str] = ..., name: _Optional[str] = ..., agent_ids: _Optional[_Iterable[str]] = ..., default_agent_id: _Optional[str] = ..., scopes: _Optional[_Iterable[str]] = ..., rights: _Optional[_Iterable[_Union[Right, str]]] = ..., sources: _Optional[_Iterable[_Union[_memory_pb2.SourceKind, str]]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CreateKeyResponse(_message.Message):
    __slots__ = ("key", "secret")
    KEY_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    key: Key
    secret: str
    def __init__(self, key: _Optional[_Union[Key, _Mapping]] = ..., secret: _Optional[str] = ...) -> None: ...

class ListKeysRequest(_message.Message):
    __slots__ = ("tenant", "page_size", "page_token")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    page_size: int
    page_token: str
    def __init__(self, tenant: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListKeysResponse(_message.Message):
    __slots__ = ("keys", "next_page_token")
    KEYS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    keys: _containers.RepeatedCompositeFieldContainer[Key]
    next_page_token: str
    def __init__(self, keys: _Optional[_Iterable[_Union[Key, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RotateKeyRequest(_message.Message):
    __slots__ = ("request_id", "tenant", "key_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    KEY_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    tenant: str
    key_id: str
    def __init__(self, request_id: _Optional[str] = ..., tenant: _Optional[str] = ..., key_id: _Optional[str] = ...) -> None: ...

class RotateKeyResponse(_message.Message):
    __slots__ = ("key", "secret")
    KEY_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    key: Key
    secret: str
    def __init__(self, key: _Optional[_Union[Key, _Mapping]] = ..., secret: _Optional[str] = ...) -> None: ...

class RevokeKeyRequest(_message.Message):
    __slots__ = ("request_id", "tenant", "key_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    KEY_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    tenant: str
    key_id: str
    def __init__(self, request_id: _Optional[str] = ..., tenant: _Optional[str] = ..., key_id: _Optional[str] = ...) -> None: ...

class RevokeKeyResponse(_message.Message):
    __slots__ = ("key",)
    KEY_FIELD_NUMBER: _ClassVar[int]
    key: Key
    def __init__(self, key: _Optional[_Union[Key, _Mapping]] = ...) -> None: ...

class DescribeCallerRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeCallerResponse(_message.Message):
    __slots__ = ("key",)
    KEY_FIELD_NUMBER: _ClassVar[int]
    key: Key
    def __init__(self, key: _Optional[_Union[Key, _Mapping]] = ...) -> None: ...

class Job(_message.Message):
    __slots__ = ("id", "kind", "agent_id", "state", "attempts", "error", "created_at", "run_after")
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    RUN_AFTER_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: str
    agent_id: str
    state: JobState
    attempts: int
    error: str
    created_at: _timestamp_pb2.Timestamp
    run_after: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[str] = ..., agent_id: _Optional[str] = ..., state: _Optional[_Union[JobState, str]] = ..., attempts: _Optional[int] = ..., error: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., run_after: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListJobsRequest(_message.Message):
    __slots__ = ("tenant", "state", "page_size", "page_token")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    state: JobState
    page_size: int
    page_token: str
    def __init__(self, tenant: _Optional[str] = ..., state: _Optional[_Union[JobState, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListJobsResponse(_message.Message):
    __slots__ = ("jobs", "next_page_token")
    JOBS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[Job]
    next_page_token: str
    def __init__(self, jobs: _Optional[_Iterable[_Union[Job, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RequeueJobsRequest(_message.Message):
    __slots__ = ("tenant", "job_ids")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    JOB_IDS_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    job_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, tenant: _Optional[str] = ..., job_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class RequeueJobsResponse(_message.Message):
    __slots__ = ("job_ids",)
    JOB_IDS_FIELD_NUMBER: _ClassVar[int]
    job_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, job_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ListAuditRequest(_message.Message):
    __slots__ = ("tenant", "agent_id", "principal", "action", "since", "until", "page_size", "page_token")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    agent_id: str
    principal: str
    action: str
    since: _timestamp_pb2.Timestamp
    until: _timestamp_pb2.Timestamp
    page_size: int
    page_token: str
    def __init__(self, tenant: _Optional[str] = ..., agent_id: _Optional[str] = ..., principal: _Optional[str] = ..., action: _Optional[str] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class AuditLine(_message.Message):
    __slots__ = ("id", "at", "agent_id", "principal", "action", "subject", "outcome")
    ID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    id: str
    at: _timestamp_pb2.Timestamp
    agent_id: str
    principal: str
    action: str
    subject: str
    outcome: str
    def __init__(self, id: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., agent_id: _Optional[str] = ..., principal: _Optional[str] = ..., action: _Optional[str] = ..., subject: _Optional[str] = ..., outcome: _Optional[str] = ...) -> None: ...

class ListAuditResponse(_message.Message):
    __slots__ = ("lines", "next_page_token")
    LINES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    lines: _containers.RepeatedCompositeFieldContainer[AuditLine]
    next_page_token: str
    def __init__(self, lines: _Optional[_Iterable[_Union[AuditLine, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class MemorySource(_message.Message):
    __slots__ = ("principal", "session_id", "tool", "memory_id", "since", "until")
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    principal: str
    session_id: str
    tool: str
    memory_id: str
    since: _timestamp_pb2.Timestamp
    until: _timestamp_pb2.Timestamp
    def __init__(self, principal: _Optional[str] = ..., session_id: _Optional[str] = ..., tool: _Optional[str] = ..., memory_id: _Optional[str] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class RevokeSourceRequest(_message.Message):
    __slots__ = ("request_id", "agent_id", "source")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    agent_id: str
    source: MemorySource
    def __init__(self, request_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., source: _Optional[_Union[MemorySource, _Mapping]] = ...) -> None: ...

class Withdrawal(_message.Message):
    __slots__ = ("id", "kind", "source", "at", "principal", "reinstated_at", "withdrawn", "rolled_back", "turns")
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    REINSTATED_AT_FIELD_NUMBER: _ClassVar[int]
    WITHDRAWN_FIELD_NUMBER: _ClassVar[int]
    ROLLED_BACK_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: str
    source: str
    at: _timestamp_pb2.Timestamp
    principal: str
    reinstated_at: _timestamp_pb2.Timestamp
    withdrawn: int
    rolled_back: int
    turns: int
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[str] = ..., source: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., principal: _Optional[str] = ..., reinstated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., withdrawn: _Optional[int] = ..., rolled_back: _Optional[int] = ..., turns: _Optional[int] = ...) -> None: ...

class RevokeSourceResponse(_message.Message):
    __slots__ = ("withdrawal",)
    WITHDRAWAL_FIELD_NUMBER: _ClassVar[int]
    withdrawal: Withdrawal
    def __init__(self, withdrawal: _Optional[_Union[Withdrawal, _Mapping]] = ...) -> None: ...

class ReinstateRequest(_message.Message):
    __slots__ = ("request_id", "withdrawal_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    WITHDRAWAL_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    withdrawal_id: str
    def __init__(self, request_id: _Optional[str] = ..., withdrawal_id: _Optional[str] = ...) -> None: ...

class ReinstateResponse(_message.Message):
    __slots__ = ("withdrawal", "reinstated", "left")
    WITHDRAWAL_FIELD_NUMBER: _ClassVar[int]
    REINSTATED_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    withdrawal: Withdrawal
    reinstated: int
    left: int
    def __init__(self, withdrawal: _Optional[_Union[Withdrawal, _Mapping]] = ..., reinstated: _Optional[int] = ..., left: _Optional[int] = ...) -> None: ...

class ListWithdrawalsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListWithdrawalsResponse(_message.Message):
    __slots__ = ("withdrawals", "next_page_token")
    WITHDRAWALS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    withdrawals: _containers.RepeatedCompositeFieldContainer[Withdrawal]
    next_page_token: str
    def __init__(self, withdrawals: _Optional[_Iterable[_Union[Withdrawal, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
