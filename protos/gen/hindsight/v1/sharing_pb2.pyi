import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from hindsight.v1 import memory_pb2 as _memory_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ShareRequest(_message.Message):
    __slots__ = ("request_id", "agent_id", "grantee_agent_id", "scope", "key_prefix", "access", "expires_at")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    GRANTEE_AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    KEY_PREFIX_FIELD_NUMBER: _ClassVar[int]
    ACCESS_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    agent_id: str
    grantee_agent_id: str
    scope: str
    key_prefix: str
    access: _memory_pb2.Access
    expires_at: _timestamp_pb2.Timestamp
    def __init__(self, request_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., grantee_agent_id: _Optional[str] = ..., scope: _Optional[str] = ..., key_prefix: _Optional[str] = ..., access: _Optional[_Union[_memory_pb2.Access, str]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ShareResponse(_message.Message):
    __slots__ = ("grant",)
    GRANT_FIELD_NUMBER: _ClassVar[int]
    grant: _memory_pb2.Grant
    def __init__(self, grant: _Optional[_Union[_memory_pb2.Grant, _Mapping]] = ...) -> None: ...

class UnshareRequest(_message.Message):
    __slots__ = ("request_id", "agent_id", "grant_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    GRANT_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    agent_id: str
    grant_id: str
    def __init__(self, request_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., grant_id: _Optional[str] = ...) -> None: ...

class UnshareResponse(_message.Message):
    __slots__ = ("grant",)
    GRANT_FIELD_NUMBER: _ClassVar[int]
    grant: _memory_pb2.Grant
    def __init__(self, grant: _Optional[_Union[_memory_pb2.Grant, _Mapping]] = ...) -> None: ...
