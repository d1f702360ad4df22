import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from hindsight.v1 import admin_pb2 as _admin_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ErasureState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERASURE_STATE_UNSPECIFIED: _ClassVar[ErasureState]
    ERASURE_STATE_PENDING: _ClassVar[ErasureState]
    ERASURE_STATE_REMOVED: _ClassVar[ErasureState]
    ERASURE_STATE_DONE: _ClassVar[ErasureState]
ERASURE_STATE_UNSPECIFIED: ErasureState
ERASURE_STATE_PENDING: ErasureState
ERASURE_STATE_REMOVED: ErasureState
ERASURE_STATE_DONE: ErasureState

class EraseRequest(_message.Message):
    __slots__ = ("request_id", "tenant", "agent_id", "scope", "source", "dry_run", "rewrite")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    REWRITE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    tenant: str
    agent_id: str
    scope: str
    source: _admin_pb2.MemorySource
    dry_run: bool
    rewrite: bool
    def __init__(self, request_id: _Optional[str] = ..., tenant: _Optional[str] = ..., agent_id: _Optional[str] = ..., scope: _Optional[str] = ..., source: _Optional[_Union[_admin_pb2.MemorySource, _Mapping]] = ..., dry_run: _Optional[bool] = ..., rewrite: _Optional[bool] = ...) -> None: ...

class ErasureReceipt(_message.Message):
    __slots__ = ("id", "kind", "name_hash", "asked_at", "removed_at", "vacuumed_at", "is_rewritten", "caches_cleared_at", "counts", "ids_digest", "signature")
    class CountsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_HASH_FIELD_NUMBER: _ClassVar[int]
    ASKED_AT_FIELD_NUMBER: _ClassVar[int]
    REMOVED_AT_FIELD_NUMBER: _ClassVar[int]
    VACUUMED_AT_FIELD_NUMBER: _ClassVar[int]
    IS_REWRITTEN_FIELD_NUMBER: _ClassVar[int]
    CACHES_CLEARED_AT_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    IDS_DIGEST_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: str
    name_hash: str
    asked_at: _timestamp_pb2.Timestamp
    removed_at: _timestamp_pb2.Timestamp
    vacuumed_at: _timestamp_pb2.Timestamp
    is_rewritten: bool
    caches_cleared_at: _timestamp_pb2.Timestamp
    counts: _containers.ScalarMap[str, int]
    ids_digest: str
    signature: str
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[str] = ..., name_hash: _Optional[str] = ..., asked_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., removed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., vacuumed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., is_rewritten: _Optional[bool] = ..., caches_cleared_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., counts: _Optional[_Mapping[str, int]] = ..., ids_digest: _Optional[str] = ..., signature: _Optional[str] = ...) -> None: ...

class EraseResponse(_message.Message):
    __slots__ = ("erasure_id", "state", "counts")
    class CountsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    ERASURE_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    erasure_id: str
    state: ErasureState
    counts: _containers.ScalarMap[str, int]
    def __init__(self, erasure_id: _Optional[str] = ..., state: _Optional[_Union[ErasureState, str]] = ..., counts: _Optional[_Mapping[str, int]] = ...) -> None: ...

class GetErasureRequest(_message.Message):
    __slots__ = ("tenant", "erasure_id")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    ERASURE_ID_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    erasure_id: str
    def __init__(self, tenant: _Optional[str] = ..., erasure_id: _Optional[str] = ...) -> None: ...

class GetErasureResponse(_message.Message):
    __slots__ = ("state", "receipt")
    STATE_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    state: ErasureState
    receipt: ErasureReceipt
    def __init__(self, state: _Optional[_Union[ErasureState, str]] = ..., receipt: _Optional[_Union[ErasureReceipt, _Mapping]] = ...) -> None: ...

class VerifyErasureRequest(_message.Message):
    __slots__ = ("tenant", "receipt")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    receipt: ErasureReceipt
    def __init__(self, tenant: _Optional[str] = ..., receipt: _Optional[_Union[ErasureReceipt, _Mapping]] = ...) -> None: ...

class VerifyErasureResponse(_message.Message):
    __slots__ = ("is_authentic", "is_gone")
    IS_AUTHENTIC_FIELD_NUMBER: _ClassVar[int]
    IS_GONE_FIELD_NUMBER: _ClassVar[int]
    is_authentic: bool
    is_gone: bool
    def __init__(self, is_authentic: _Optional[bool] = ..., is_gone: _Optional[bool] = ...) -> None: ...
