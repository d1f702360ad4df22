from hindsight.v1 import ingest_pb2 as _ingest_pb2
from hindsight.v1 import memory_pb2 as _memory_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PutEntryRequest(_message.Message):
    __slots__ = ("agent_id", "scope", "key", "query", "value", "source", "confidence", "importance", "ttl_s", "is_task_state", "is_pinned")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    TTL_S_FIELD_NUMBER: _ClassVar[int]
    IS_TASK_STATE_FIELD_NUMBER: _ClassVar[int]
    IS_PINNED_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    scope: str
    key: str
    query: str
    value: str
    source: _memory_pb2.Source
    confidence: float
    importance: float
    ttl_s: int
    is_task_state: bool
    is_pinned: bool
    def __init__(self, agent_id: _Optional[str] = ..., scope: _Optional[str] = ..., key: _Optional[str] = ..., query: _Optional[str] = ..., value: _Optional[str] = ..., source: _Optional[_Union[_memory_pb2.Source, _Mapping]] = ..., confidence: _Optional[float] = ..., importance: _Optional[float] = ..., ttl_s: _Optional[int] = ..., is_task_state: _Optional[bool] = ..., is_pinned: _Optional[bool] = ...) -> None: ...

class PutEntryResponse(_message.Message):
    __slots__ = ("entry", "evicted_keys", "used_tokens", "budget_tokens")
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    EVICTED_KEYS_FIELD_NUMBER: _ClassVar[int]
    USED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    BUDGET_TOKENS_FIELD_NUMBER: _ClassVar[int]
    entry: _memory_pb2.DeskEntry
    evicted_keys: _containers.RepeatedScalarFieldContainer[str]
    used_tokens: int
    budget_tokens: int
    def __init__(self, entry: _Optional[_Union[_memory_pb2.DeskEntry, _Mapping]] = ..., evicted_keys: _Optional[_Iterable[str]] = ..., used_tokens: _Optional[int] = ..., budget_tokens: _Optional[int] = ...) -> None: ...

class GetEntryRequest(_message.Message):
    __slots__ = ("agent_id", "scope", "key")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    scope: str
    key: str
    def __init__(self, agent_id: _Optional[str] = ..., scope: _Optional[str] = ..., key: _Optional[str] = ...) -> None: ...

class GetEntryResponse(_message.Message):
    __slots__ = ("entry",)
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    entry: _memory_pb2.DeskEntry
    def __init__(self, entry: _Optional[_Union[_memory_pb2.DeskEntry, _Mapping]] = ...) -> None: ...

class ListEntriesRequest(_message.Message):
    __slots__ = ("agent_id", "scope")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    scope: str
    def __init__(self, agent_id: _Optional[str] = ..., scope: _Optional[str] = ...) -> None: ...

class ListEntriesResponse(_message.Message):
    __slots__ = ("entries", "used_tokens", "pinned_tokens", "budget_tokens")
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    USED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    PINNED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    BUDGET_TOKENS_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[_memory_pb2.DeskEntry]
    used_tokens: int
    pinned_tokens: int
    budget_tokens: int
    def __init__(self, entries: _Optional[_Iterable[_Union[_memory_pb2.DeskEntry, _Mapping]]] = ..., used_tokens: _Optional[int] = ..., pinned_tokens: _Optional[int] = ..., budget_tokens: _Optional[int] = ...) -> None: ...

class PinEntryRequest(_message.Message):
    __slots__ = ("agent_id", "scope", "key", "is_pinned")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    IS_PINNED_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    scope: str
    key: str
    is_pinned: bool
    def __init__(self, agent_id: _Optional[str] = ..., scope: _Optional[str] = ..., key: _Optional[str] = ..., is_pinned: _Optional[bool] = ...) -> None: ...

class PinEntryResponse(_message.Message):
    __slots__ = ("entry",)
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    entry: _memory_pb2.DeskEntry
    def __init__(self, entry: _Optional[_Union[_memory_pb2.DeskEntry, _Mapping]] = ...) -> None: ...

class ClearDeskRequest(_message.Message):
    __slots__ = ("agent_id", "scope", "key", "only_task_state")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    ONLY_TASK_STATE_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    scope: str
    key: str
    only_task_state: bool
    def __init__(self, agent_id: _Optional[str] = ..., scope: _Optional[str] = ..., key: _Optional[str] = ..., only_task_state: _Optional[bool] = ...) -> None: ...

class ClearDeskResponse(_message.Message):
    __slots__ = ("cleared",)
    CLEARED_FIELD_NUMBER: _ClassVar[int]
    cleared: int
    def __init__(self, cleared: _Optional[int] = ...) -> None: ...

class PromoteEntryRequest(_message.Message):
    __slots__ = ("request_id", "agent_id", "scope", "key", "memory_scope", "kind", "tags", "is_core")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    MEMORY_SCOPE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    IS_CORE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    agent_id: str
    scope: str
    key: str
    memory_scope: str
    kind: _memory_pb2.Kind
    tags: _containers.RepeatedScalarFieldContainer[str]
    is_core: bool
    def __init__(self, request_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., scope: _Optional[str] = ..., key: _Optional[str] = ..., memory_scope: _Optional[str] = ..., kind: _Optional[_Union[_memory_pb2.Kind, str]] = ..., tags: _Optional[_Iterable[str]] = ..., is_core: _Optional[bool] = ...) -> None: ...

class PromoteEntryResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: _ingest_pb2.WriteResult
    def __init__(self, result: _Optional[_Union[_ingest_pb2.WriteResult, _Mapping]] = ...) -> None: ...
