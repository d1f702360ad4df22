from hindsight.v1 import ingest_pb2 as _ingest_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ApproveRequest(_message.Message):
    __slots__ = ("request_id", "agent_id", "memory_id", "key", "query", "value")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    agent_id: str
    memory_id: str
    key: str
    query: str
    value: str
    def __init__(self, request_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., memory_id: _Optional[str] = ..., key: _Optional[str] = ..., query: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class ApproveResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: _ingest_pb2.WriteResult
    def __init__(self, result: _Optional[_Union[_ingest_pb2.WriteResult, _Mapping]] = ...) -> None: ...

class RejectRequest(_message.Message):
    __slots__ = ("request_id", "agent_id", "memory_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    agent_id: str
    memory_id: str
    def __init__(self, request_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., memory_id: _Optional[str] = ...) -> None: ...

class RejectResponse(_message.Message):
    __slots__ = ("memory_id",)
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    def __init__(self, memory_id: _Optional[str] = ...) -> None: ...
