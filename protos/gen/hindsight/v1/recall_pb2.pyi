import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from hindsight.v1 import memory_pb2 as _memory_pb2
from hindsight.v1 import session_pb2 as _session_pb2
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
    CHANNEL_RELATION: _ClassVar[Channel]
    CHANNEL_TEMPORAL: _ClassVar[Channel]
    CHANNEL_STANDING: _ClassVar[Channel]
    CHANNEL_RERANK: _ClassVar[Channel]
    CHANNEL_WORKING: _ClassVar[Channel]

class Working(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WORKING_UNSPECIFIED: _ClassVar[Working]
    WORKING_ALSO: _ClassVar[Working]
    WORKING_FIRST: _ClassVar[Working]
    WORKING_ONLY: _ClassVar[Working]

class HitReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HIT_REASON_UNSPECIFIED: _ClassVar[HitReason]
    HIT_REASON_TOPIC: _ClassVar[HitReason]
    HIT_REASON_STANDING: _ClassVar[HitReason]
    HIT_REASON_HISTORY: _ClassVar[HitReason]

class Section(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SECTION_UNSPECIFIED: _ClassVar[Section]
    SECTION_DESK: _ClassVar[Section]
    SECTION_CORE: _ClassVar[Section]
    SECTION_MEMORY: _ClassVar[Section]
    SECTION_TURN: _ClassVar[Section]

class LeftOutReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LEFT_OUT_REASON_UNSPECIFIED: _ClassVar[LeftOutReason]
    LEFT_OUT_REASON_BUDGET: _ClassVar[LeftOutReason]
    LEFT_OUT_REASON_DUPLICATE: _ClassVar[LeftOutReason]
    LEFT_OUT_REASON_WITHHELD: _ClassVar[LeftOutReason]
    LEFT_OUT_REASON_IRRELEVANT: _ClassVar[LeftOutReason]
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
CHANNEL_RELATION: Channel
CHANNEL_TEMPORAL: Channel
CHANNEL_STANDING: Channel
CHANNEL_RERANK: Channel
CHANNEL_WORKING: Channel
WORKING_UNSPECIFIED: Working
WORKING_ALSO: Working
WORKING_FIRST: Working
WORKING_ONLY: Working
HIT_REASON_UNSPECIFIED: HitReason
HIT_REASON_TOPIC: HitReason
HIT_REASON_STANDING: HitReason
HIT_REASON_HISTORY: HitReason
SECTION_UNSPECIFIED: Section
SECTION_DESK: Section
SECTION_CORE: Section
SECTION_MEMORY: Section
SECTION_TURN: Section
LEFT_OUT_REASON_UNSPECIFIED: LeftOutReason
LEFT_OUT_REASON_BUDGET: LeftOutReason
LEFT_OUT_REASON_DUPLICATE: LeftOutReason
LEFT_OUT_REASON_WITHHELD: LeftOutReason
LEFT_OUT_REASON_IRRELEVANT: LeftOutReason

class RecallRequest(_message.Message):
    __slots__ = ("agent_id", "query", "mode", "filter", "top_k", "relevance_floor", "page_token", "include_turns", "time_zone", "as_of", "known_at", "deadline_ms", "drop_irrelevant", "rerank", "context", "working", "session_id")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_FLOOR_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_TURNS_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONE_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    KNOWN_AT_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_MS_FIELD_NUMBER: _ClassVar[int]
    DROP_IRRELEVANT_FIELD_NUMBER: _ClassVar[int]
    RERANK_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    WORKING_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    query: str
    mode: Mode
    filter: _memory_pb2.Filter
    top_k: int
    relevance_floor: float
    page_token: str
    include_turns: bool
    time_zone: str
    as_of: _timestamp_pb2.Timestamp
    known_at: _timestamp_pb2.Timestamp
    deadline_ms: int
    drop_irrelevant: bool
    rerank: bool
    context: str
    working: Working
    session_id: str
    def __init__(self, agent_id: _Optional[str] = ..., query: _Optional[str] = ..., mode: _Optional[_Union[Mode, str]] = ..., filter: _Optional[_Union[_memory_pb2.Filter, _Mapping]] = ..., top_k: _Optional[int] = ..., relevance_floor: _Optional[float] = ..., page_token: _Optional[str] = ..., include_turns: _Optional[bool] = ..., time_zone: _Optional[str] = ..., as_of: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., known_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., deadline_ms: _Optional[int] = ..., drop_irrelevant: _Optional[bool] = ..., rerank: _Optional[bool] = ..., context: _Optional[str] = ..., working: _Optional[_Union[Working, str]] = ..., session_id: _Optional[str] = ...) -> None: ...

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
    __slots__ = ("memory", "rank", "similarity", "final_score", "effective_importance", "findings", "contributions", "turn", "reason", "flags", "entry")
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    FINAL_SCORE_FIELD_NUMBER: _ClassVar[int]
    EFFECTIVE_IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    CONTRIBUTIONS_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    memory: _memory_pb2.Memory
    rank: int
    similarity: float
    final_score: float
    effective_importance: float
    findings: _containers.RepeatedCompositeFieldContainer[Finding]
    contributions: _containers.RepeatedCompositeFieldContainer[Contribution]
    turn: _memory_pb2.Turn
    reason: HitReason
    flags: _containers.RepeatedScalarFieldContainer[_memory_pb2.Flag]
    entry: _memory_pb2.DeskEntry
    def __init__(self, memory: _Optional[_Union[_memory_pb2.Memory, _Mapping]] = ..., rank: _Optional[int] = ..., similarity: _Optional[float] = ..., final_score: _Optional[float] = ..., effective_importance: _Optional[float] = ..., findings: _Optional[_Iterable[_Union[Finding, _Mapping]]] = ..., contributions: _Optional[_Iterable[_Union[Contribution, _Mapping]]] = ..., turn: _Optional[_Union[_memory_pb2.Turn, _Mapping]] = ..., reason: _Optional[_Union[HitReason, str]] = ..., flags: _Optional[_Iterable[_Union[_memory_pb2.Flag, str]]] = ..., entry: _Optional[_Union[_memory_pb2.DeskEntry, _Mapping]] = ...) -> None: ...

class Withheld(_message.Message):
    __slots__ = ("memory_id", "reason")
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    reason: _memory_pb2.Flag
    def __init__(self, memory_id: _Optional[str] = ..., reason: _Optional[_Union[_memory_pb2.Flag, str]] = ...) -> None: ...

class RecallResponse(_message.Message):
    __slots__ = ("hits", "next_page_token", "missing_channels", "is_partial", "is_degraded", "receipt_id", "withheld", "agent_id", "is_from_working")
    HITS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    MISSING_CHANNELS_FIELD_NUMBER: _ClassVar[int]
    IS_PARTIAL_FIELD_NUMBER: _ClassVar[int]
    IS_DEGRADED_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_ID_FIELD_NUMBER: _ClassVar[int]
    WITHHELD_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    IS_FROM_WORKING_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[Hit]
    next_page_token: str
    missing_channels: _containers.RepeatedScalarFieldContainer[Channel]
    is_partial: bool
    is_degraded: bool
    receipt_id: str
    withheld: _containers.RepeatedCompositeFieldContainer[Withheld]
    agent_id: str
    is_from_working: bool
    def __init__(self, hits: _Optional[_Iterable[_Union[Hit, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., missing_channels: _Optional[_Iterable[_Union[Channel, str]]] = ..., is_partial: _Optional[bool] = ..., is_degraded: _Optional[bool] = ..., receipt_id: _Optional[str] = ..., withheld: _Optional[_Iterable[_Union[Withheld, _Mapping]]] = ..., agent_id: _Optional[str] = ..., is_from_working: _Optional[bool] = ...) -> None: ...

class RecallContextRequest(_message.Message):
    __slots__ = ("agent_id", "session_id", "scope", "query", "budget_tokens", "include_turns", "time_zone", "deadline_ms", "context")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    BUDGET_TOKENS_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_TURNS_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONE_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_MS_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    session_id: str
    scope: str
    query: str
    budget_tokens: int
    include_turns: bool
    time_zone: str
    deadline_ms: int
    context: str
    def __init__(self, agent_id: _Optional[str] = ..., session_id: _Optional[str] = ..., scope: _Optional[str] = ..., query: _Optional[str] = ..., budget_tokens: _Optional[int] = ..., include_turns: _Optional[bool] = ..., time_zone: _Optional[str] = ..., deadline_ms: _Optional[int] = ..., context: _Optional[str] = ...) -> None: ...

class ContextItem(_message.Message):
    __slots__ = ("section", "citation", "hit", "line", "tokens")
    SECTION_FIELD_NUMBER: _ClassVar[int]
    CITATION_FIELD_NUMBER: _ClassVar[int]
    HIT_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    section: Section
    citation: str
    hit: Hit
    line: str
    tokens: int
    def __init__(self, section: _Optional[_Union[Section, str]] = ..., citation: _Optional[str] = ..., hit: _Optional[_Union[Hit, _Mapping]] = ..., line: _Optional[str] = ..., tokens: _Optional[int] = ...) -> None: ...

class LeftOut(_message.Message):
    __slots__ = ("id", "section", "reason", "duplicate_of", "key", "tokens")
    ID_FIELD_NUMBER: _ClassVar[int]
    SECTION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_OF_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    id: str
    section: Section
    reason: LeftOutReason
    duplicate_of: str
    key: str
    tokens: int
    def __init__(self, id: _Optional[str] = ..., section: _Optional[_Union[Section, str]] = ..., reason: _Optional[_Union[LeftOutReason, str]] = ..., duplicate_of: _Optional[str] = ..., key: _Optional[str] = ..., tokens: _Optional[int] = ...) -> None: ...

class RecallContextResponse(_message.Message):
    __slots__ = ("text", "items", "relations", "left_out", "tokens", "budget_tokens", "receipt_id", "missing_channels", "is_partial", "is_degraded", "agent_id")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    RELATIONS_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    BUDGET_TOKENS_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_ID_FIELD_NUMBER: _ClassVar[int]
    MISSING_CHANNELS_FIELD_NUMBER: _ClassVar[int]
    IS_PARTIAL_FIELD_NUMBER: _ClassVar[int]
    IS_DEGRADED_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    text: str
    items: _containers.RepeatedCompositeFieldContainer[ContextItem]
    relations: _containers.RepeatedCompositeFieldContainer[Relation]
    left_out: _containers.RepeatedCompositeFieldContainer[LeftOut]
    tokens: int
    budget_tokens: int
    receipt_id: str
    missing_channels: _containers.RepeatedScalarFieldContainer[Channel]
    is_partial: bool
    is_degraded: bool
    agent_id: str
    def __init__(self, text: _Optional[str] = ..., items: _Optional[_Iterable[_Union[ContextItem, _Mapping]]] = ..., relations: _Optional[_Iterable[_Union[Relation, _Mapping]]] = ..., left_out: _Optional[_Iterable[_Union[LeftOut, _Mapping]]] = ..., tokens: _Optional[int] = ..., budget_tokens: _Optional[int] = ..., receipt_id: _Optional[str] = ..., missing_channels: _Optional[_Iterable[_Union[Channel, str]]] = ..., is_partial: _Optional[bool] = ..., is_degraded: _Optional[bool] = ..., agent_id: _Optional[str] = ...) -> None: ...

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

class ListRelationsRequest(_message.Message):
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

class Relation(_message.Message):
    __slots__ = ("from_id", "to_id", "type", "weight", "created_at")
    FROM_ID_FIELD_NUMBER: _ClassVar[int]
    TO_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    from_id: str
    to_id: str
    type: str
    weight: float
    created_at: _timestamp_pb2.Timestamp
    def __init__(self, from_id: _Optional[str] = ..., to_id: _Optional[str] = ..., type: _Optional[str] = ..., weight: _Optional[float] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListRelationsResponse(_message.Message):
    __slots__ = ("relations", "next_page_token")
    RELATIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    relations: _containers.RepeatedCompositeFieldContainer[Relation]
    next_page_token: str
    def __init__(self, relations: _Optional[_Iterable[_Union[Relation, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListConflictsRequest(_message.Message):
    __slots__ = ("agent_id", "page_size", "page_token")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    page_size: int
    page_token: str
    def __init__(self, agent_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class Conflict(_message.Message):
    __slots__ = ("id", "kept_id", "rule", "scope", "kind", "key", "query", "value", "source", "confidence", "valid_from", "principal", "at")
    ID_FIELD_NUMBER: _ClassVar[int]
    KEPT_ID_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    kept_id: str
    rule: str
    scope: str
    kind: _memory_pb2.Kind
    key: str
    query: str
    value: str
    source: _memory_pb2.Source
    confidence: float
    valid_from: _timestamp_pb2.Timestamp
    principal: str
    at: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., kept_id: _Optional[str] = ..., rule: _Optional[str] = ..., scope: _Optional[str] = ..., kind: _Optional[_Union[_memory_pb2.Kind, str]] = ..., key: _Optional[str] = ..., query: _Optional[str] = ..., value: _Optional[str] = ..., source: _Optional[_Union[_memory_pb2.Source, _Mapping]] = ..., confidence: _Optional[float] = ..., valid_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., principal: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListConflictsResponse(_message.Message):
    __slots__ = ("conflicts", "next_page_token")
    CONFLICTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    conflicts: _containers.RepeatedCompositeFieldContainer[Conflict]
    next_page_token: str
    def __init__(self, conflicts: _Optional[_Iterable[_Union[Conflict, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetSessionRequest(_message.Message):
    __slots__ = ("agent_id", "session_id")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    session_id: str
    def __init__(self, agent_id: _Optional[str] = ..., session_id: _Optional[str] = ...) -> None: ...

class GetSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: _session_pb2.Session
    def __init__(self, session: _Optional[_Union[_session_pb2.Session, _Mapping]] = ...) -> None: ...

class Review(_message.Message):
    __slots__ = ("memory", "reason", "signs", "score", "copies", "at", "principal")
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SIGNS_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    COPIES_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    memory: _memory_pb2.Memory
    reason: str
    signs: _containers.RepeatedScalarFieldContainer[str]
    score: float
    copies: int
    at: _timestamp_pb2.Timestamp
    principal: str
    def __init__(self, memory: _Optional[_Union[_memory_pb2.Memory, _Mapping]] = ..., reason: _Optional[str] = ..., signs: _Optional[_Iterable[str]] = ..., score: _Optional[float] = ..., copies: _Optional[int] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., principal: _Optional[str] = ...) -> None: ...

class ListReviewsRequest(_message.Message):
    __slots__ = ("agent_id", "reason", "page_size", "page_token")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    reason: str
    page_size: int
    page_token: str
    def __init__(self, agent_id: _Optional[str] = ..., reason: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListReviewsResponse(_message.Message):
    __slots__ = ("reviews", "next_page_token")
    REVIEWS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    reviews: _containers.RepeatedCompositeFieldContainer[Review]
    next_page_token: str
    def __init__(self, reviews: _Optional[_Iterable[_Union[Review, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListGrantsRequest(_message.Message):
    __slots__ = ("agent_id", "include_ended", "page_size", "page_token")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_ENDED_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    include_ended: bool
    page_size: int
    page_token: str
    def __init__(self, agent_id: _Optional[str] = ..., include_ended: _Optional[bool] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListGrantsResponse(_message.Message):
    __slots__ = ("grants", "next_page_token")
    GRANTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    grants: _containers.RepeatedCompositeFieldContainer[_memory_pb2.Grant]
    next_page_token: str
    def __init__(self, grants: _Optional[_Iterable[_Union[_memory_pb2.Grant, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
