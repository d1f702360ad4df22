import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RecordedRecall(_message.Message):
    __slots__ = ("tenant_id", "bank_id", "receipt_id", "principal", "at", "query", "memory_ids", "document", "contradicted_ids", "scope", "shared_hits", "agent_id")
    TENANT_ID_FIELD_NUMBER: _ClassVar[int]
    BANK_ID_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    MEMORY_IDS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    CONTRADICTED_IDS_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    SHARED_HITS_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    tenant_id: int
    bank_id: int
    receipt_id: str
    principal: str
    at: _timestamp_pb2.Timestamp
    query: str
    memory_ids: _containers.RepeatedScalarFieldContainer[str]
    document: bytes
    contradicted_ids: _containers.RepeatedScalarFieldContainer[str]
    scope: str
    shared_hits: _containers.RepeatedCompositeFieldContainer[SharedHit]
    agent_id: str
    def __init__(self, tenant_id: _Optional[int] = ..., bank_id: _Optional[int] = ..., receipt_id: _Optional[str] = ..., principal: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., query: _Optional[str] = ..., memory_ids: _Optional[_Iterable[str]] = ..., document: _Optional[bytes] = ..., contradicted_ids: _Optional[_Iterable[str]] = ..., scope: _Optional[str] = ..., shared_hits: _Optional[_Iterable[_Union[SharedHit, _Mapping]]] = ..., agent_id: _Optional[str] = ...) -> None: ...

class SharedHit(_message.Message):
    __slots__ = ("bank_id", "memory_id")
    BANK_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    bank_id: int
    memory_id: str
    def __init__(self, bank_id: _Optional[int] = ..., memory_id: _Optional[str] = ...) -> None: ...

class DeniedCall(_message.Message):
    __slots__ = ("tenant_id", "audit_id", "principal", "action", "subject")
    TENANT_ID_FIELD_NUMBER: _ClassVar[int]
    AUDIT_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    tenant_id: int
    audit_id: str
    principal: str
    action: str
    subject: str
    def __init__(self, tenant_id: _Optional[int] = ..., audit_id: _Optional[str] = ..., principal: _Optional[str] = ..., action: _Optional[str] = ..., subject: _Optional[str] = ...) -> None: ...

class RecordRequest(_message.Message):
    __slots__ = ("recalls", "denied")
    RECALLS_FIELD_NUMBER: _ClassVar[int]
    DENIED_FIELD_NUMBER: _ClassVar[int]
    recalls: _containers.RepeatedCompositeFieldContainer[RecordedRecall]
    denied: _containers.RepeatedCompositeFieldContainer[DeniedCall]
    def __init__(self, recalls: _Optional[_Iterable[_Union[RecordedRecall, _Mapping]]] = ..., denied: _Optional[_Iterable[_Union[DeniedCall, _Mapping]]] = ...) -> None: ...

class RecordResponse(_message.Message):
    __slots__ = ("recorded",)
    RECORDED_FIELD_NUMBER: _ClassVar[int]
    recorded: int
    def __init__(self, recorded: _Optional[int] = ...) -> None: ...
