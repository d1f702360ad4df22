from hindsight.v1 import memory_pb2 as _memory_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Mode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MODE_UNSPECIFIED: _ClassVar[Mode]
    MODE_SEMANTIC: _ClassVar[Mode]
    MODE_TAG: _ClassVar[Mode]
    MODE_HYBRID: _ClassVar[Mode]

class Channel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CHANNEL_UNSPECIFIED: _ClassVar[Channel]
    CHANNEL_CONTENT: _ClassVar[Channel]
    CHANNEL_TRIGGER: _ClassVar[Channel]
    CHANNEL_LEXICAL: _ClassVar[Channel]
    CHANNEL_TAG: _ClassVar[Channel]
    CHANNEL_EPISODIC: _ClassVar[Channel]
MODE_UNSPECIFIED: Mode
MODE_SEMANTIC: Mode
MODE_TAG: Mode
MODE_HYBRID: Mode
CHANNEL_UNSPECIFIED: Channel
CHANNEL_CONTENT: Channel
CHANNEL_TRIGGER: Channel
CHANNEL_LEXICAL: Channel
CHANNEL_TAG: Channel
CHANNEL_EPISODIC: Channel

class RecallRequest(_message.Message):
    __slots__ = ("agent_id", "query", "mode", "filter", "top_k", "relevance_floor", "page_token", "include_turns", "time_zone")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_FLOOR_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_TURNS_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONE_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    query: str
    mode: Mode
    filter: _memory_pb2.Filter
    top_k: int
    relevance_floor: float
    page_token: str
    include_turns: bool
    time_zone: str
    def __init__(self, agent_id: _Optional[str] = ..., query: _Optional[str] = ..., mode: _Optional[_Union[Mode, str]] = ..., filter: _Optional[_Union[_memory_pb2.Filter, _Mapping]] = ..., top_k: _Optional[int] = ..., relevance_floor: _Optional[float] = ..., page_token: _Optional[str] = ..., include_turns: _Optional[bool] = ..., time_zone: _Optional[str] = ...) -> None: ...

class Finding(_message.Message):
    __slots__ = ("channel", "rank", "score")
    CHANNEL_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    channel: Channel
    rank: int
    score: float
    def __init__(self, channel: _Optional[_Union[Channel, str]] = ..., rank: _Optional[int] = ..., score: _Optional[float] = ...) -> None: ...

class Contribution(_message.Message):
    __slots__ = ("feature", "value", "weight")
    FEATURE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    feature: str
    value: float
    weight: float
    def __init__(self, feature: _Optional[str] = ..., value: _Optional[float] = ..., weight: _Optional[float] = ...) -> None: ...

class Hit(_message.Message):
    __slots__ = ("memory", "rank", "similarity", "final_score", "effective_importance", "findings", "contributions", "turn")
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    FINAL_SCORE_FIELD_NUMBER: _ClassVar[int]
    EFFECTIVE_IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    CONTRIBUTIONS_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    memory: _memory_pb2.Memory
    rank: int
    similarity: float
    final_score: float
    effective_importance: float
    findings: _containers.RepeatedCompositeFieldContainer[Finding]
    contributions: _containers.RepeatedCompositeFieldContainer[Contribution]
    turn: _memory_pb2.Turn
    def __init__(self, memory: _Optional[_Union[_memory_pb2.Memory, _Mapping]] = ..., rank: _Optional[int] = ..., similarity: _Optional[float] = ..., final_score: _Optional[float] = ..., effective_importance: _Optional[float] = ..., findings: _Optional[_Iterable[_Union[Finding, _Mapping]]] = ..., contributions: _Optional[_Iterable[_Union[Contribution, _Mapping]]] = ..., turn: _Optional[_Union[_memory_pb2.Turn, _Mapping]] = ...) -> None: ...

class RecallResponse(_message.Message):
    __slots__ = ("hits", "next_page_token", "missing_channels")
    HITS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    MISSING_CHANNELS_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[Hit]
    next_page_token: str
    missing_channels: _containers.RepeatedScalarFieldContainer[Channel]
    def __init__(self, hits: _Optional[_Iterable[_Union[Hit, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., missing_channels: _Optional[_Iterable[_Union[Channel, str]]] = ...) -> None: ...

class ShouldRecallRequest(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class ShouldRecallResponse(_message.Message):
    __slots__ = ("should_recall", "score", "threshold", "reasons", "missing_channels")
    SHOULD_RECALL_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    MISSING_CHANNELS_FIELD_NUMBER: _ClassVar[int]
    should_recall: bool
    score: float
    threshold: float
    reasons: _containers.RepeatedScalarFieldContainer[str]
    missing_channels: _containers.RepeatedScalarFieldContainer[Channel]
    def __init__(self, should_recall: _Optional[bool] = ..., score: _Optional[float] = ..., threshold: _Optional[float] = ..., reasons: _Optional[_Iterable[str]] = ..., missing_channels: _Optional[_Iterable[_Union[Channel, str]]] = ...) -> None: ...

class GetRequest(_message.Message):
    __slots__ = ("agent_id", "memory_id")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    memory_id: str
    def __init__(self, agent_id: _Optional[str] = ..., memory_id: _Optional[str] = ...) -> None: ...

class GetResponse(_message.Message):
    __slots__ = ("memory",)
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    memory: _memory_pb2.Memory
    def __init__(self, memory: _Optional[_Union[_memory_pb2.Memory, _Mapping]] = ...) -> None: ...

class ListRequest(_message.Message):
    __slots__ = ("agent_id", "filter", "statuses", "page_size", "page_token")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    STATUSES_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    filter: _memory_pb2.Filter
    statuses: _containers.RepeatedScalarFieldContainer[_memory_pb2.Status]
    page_size: int
    page_token: str
    def __init__(self, agent_id: _Optional[str] = ..., filter: _Optional[_Union[_memory_pb2.Filter, _Mapping]] = ..., statuses: _Optional[_Iterable[_Union[_memory_pb2.Status, str]]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListResponse(_message.Message):
    __slots__ = ("memories", "next_page_token")
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    memories: _containers.RepeatedCompositeFieldContainer[_memory_pb2.Memory]
    next_page_token: str
    def __init__(self, memories: _Optional[_Iterable[_Union[_memory_pb2.Memory, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListRevisionsRequest(_message.Message):
    __slots__ = ("agent_id", "memory_id", "page_size", "page_token")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    memory_id: str
    page_size: int
    page_token: str
    def __init__(self, agent_id: _Optional[str] = ..., memory_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListRevisionsResponse(_message.Message):
    __slots__ = ("revisions", "next_page_token")
    REVISIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    revisions: _containers.RepeatedCompositeFieldContainer[_memory_pb2.Memory]
    next_page_token: str
    def __init__(self, revisions: _Optional[_Iterable[_Union[_memory_pb2.Memory, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
