import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from hindsight.v1 import memory_pb2 as _memory_pb2
from hindsight.v1 import recall_pb2 as _recall_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetReceiptRequest(_message.Message):
    __slots__ = ("agent_id", "receipt_id")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    receipt_id: str
    def __init__(self, agent_id: _Optional[str] = ..., receipt_id: _Optional[str] = ...) -> None: ...

class ImportanceParts(_message.Message):
    __slots__ = ("stored", "stage", "retention", "utility")
    STORED_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    RETENTION_FIELD_NUMBER: _ClassVar[int]
    UTILITY_FIELD_NUMBER: _ClassVar[int]
    stored: float
    stage: float
    retention: float
    utility: float
    def __init__(self, stored: _Optional[float] = ..., stage: _Optional[float] = ..., retention: _Optional[float] = ..., utility: _Optional[float] = ...) -> None: ...

class Considered(_message.Message):
    __slots__ = ("memory_id", "session_id", "turn", "rank", "reason", "similarity", "final_score", "contributions", "importance", "findings", "flags")
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    FINAL_SCORE_FIELD_NUMBER: _ClassVar[int]
    CONTRIBUTIONS_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    session_id: str
    turn: int
    rank: int
    reason: _recall_pb2.HitReason
    similarity: float
    final_score: float
    contributions: _containers.RepeatedCompositeFieldContainer[_recall_pb2.Contribution]
    importance: ImportanceParts
    findings: _containers.RepeatedCompositeFieldContainer[_recall_pb2.Finding]
    flags: _containers.RepeatedScalarFieldContainer[_memory_pb2.Flag]
    def __init__(self, memory_id: _Optional[str] = ..., session_id: _Optional[str] = ..., turn: _Optional[int] = ..., rank: _Optional[int] = ..., reason: _Optional[_Union[_recall_pb2.HitReason, str]] = ..., similarity: _Optional[float] = ..., final_score: _Optional[float] = ..., contributions: _Optional[_Iterable[_Union[_recall_pb2.Contribution, _Mapping]]] = ..., importance: _Optional[_Union[ImportanceParts, _Mapping]] = ..., findings: _Optional[_Iterable[_Union[_recall_pb2.Finding, _Mapping]]] = ..., flags: _Optional[_Iterable[_Union[_memory_pb2.Flag, str]]] = ...) -> None: ...

class ChannelAccount(_message.Message):
    __slots__ = ("channel", "found", "missing")
    CHANNEL_FIELD_NUMBER: _ClassVar[int]
    FOUND_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    channel: _recall_pb2.Channel
    found: int
    missing: str
    def __init__(self, channel: _Optional[_Union[_recall_pb2.Channel, str]] = ..., found: _Optional[int] = ..., missing: _Optional[str] = ...) -> None: ...

class Receipt(_message.Message):
    __slots__ = ("receipt_id", "at", "query", "mode", "top_k", "relevance_floor", "weight_similarity", "weight_importance", "hits", "near_misses", "channels", "took_ms", "as_of", "withheld", "outcome", "note", "final_prompt", "reported_at")
    class TookMsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    RECEIPT_ID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_FLOOR_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    HITS_FIELD_NUMBER: _ClassVar[int]
    NEAR_MISSES_FIELD_NUMBER: _ClassVar[int]
    CHANNELS_FIELD_NUMBER: _ClassVar[int]
    TOOK_MS_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    WITHHELD_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    FINAL_PROMPT_FIELD_NUMBER: _ClassVar[int]
    REPORTED_AT_FIELD_NUMBER: _ClassVar[int]
    receipt_id: str
    at: _timestamp_pb2.Timestamp
    query: str
    mode: _recall_pb2.Mode
    top_k: int
    relevance_floor: float
    weight_similarity: float
    weight_importance: float
    hits: _containers.RepeatedCompositeFieldContainer[Considered]
    near_misses: _containers.RepeatedCompositeFieldContainer[Considered]
    channels: _containers.RepeatedCompositeFieldContainer[ChannelAccount]
    took_ms: _containers.ScalarMap[str, float]
    as_of: _timestamp_pb2.Timestamp
    withheld: _containers.RepeatedCompositeFieldContainer[_recall_pb2.Withheld]
    outcome: _memory_pb2.ReportedOutcome
    note: str
    final_prompt: str
    reported_at: _timestamp_pb2.Timestamp
    def __init__(self, receipt_id: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., query: _Optional[str] = ..., mode: _Optional[_Union[_recall_pb2.Mode, str]] = ..., top_k: _Optional[int] = ..., relevance_floor: _Optional[float] = ..., weight_similarity: _Optional[float] = ..., weight_importance: _Optional[float] = ..., hits: _Optional[_Iterable[_Union[Considered, _Mapping]]] = ..., near_misses: _Optional[_Iterable[_Union[Considered, _Mapping]]] = ..., channels: _Optional[_Iterable[_Union[ChannelAccount, _Mapping]]] = ..., took_ms: _Optional[_Mapping[str, float]] = ..., as_of: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., withheld: _Optional[_Iterable[_Union[_recall_pb2.Withheld, _Mapping]]] = ..., outcome: _Optional[_Union[_memory_pb2.ReportedOutcome, str]] = ..., note: _Optional[str] = ..., final_prompt: _Optional[str] = ..., reported_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class GetReceiptResponse(_message.Message):
    __slots__ = ("receipt",)
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    receipt: Receipt
    def __init__(self, receipt: _Optional[_Union[Receipt, _Mapping]] = ...) -> None: ...

class ReplayRequest(_message.Message):
    __slots__ = ("agent_id", "receipt_id")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    receipt_id: str
    def __init__(self, agent_id: _Optional[str] = ..., receipt_id: _Optional[str] = ...) -> None: ...

class ReplayResponse(_message.Message):
    __slots__ = ("hits", "is_identical")
    HITS_FIELD_NUMBER: _ClassVar[int]
    IS_IDENTICAL_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[Considered]
    is_identical: bool
    def __init__(self, hits: _Optional[_Iterable[_Union[Considered, _Mapping]]] = ..., is_identical: _Optional[bool] = ...) -> None: ...

class RecallAsOfThenRequest(_message.Message):
    __slots__ = ("agent_id", "receipt_id")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    receipt_id: str
    def __init__(self, agent_id: _Optional[str] = ..., receipt_id: _Optional[str] = ...) -> None: ...

class Difference(_message.Message):
    __slots__ = ("memory_id", "session_id", "turn", "rank_then", "rank_now")
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    RANK_THEN_FIELD_NUMBER: _ClassVar[int]
    RANK_NOW_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    session_id: str
    turn: int
    rank_then: int
    rank_now: int
    def __init__(self, memory_id: _Optional[str] = ..., session_id: _Optional[str] = ..., turn: _Optional[int] = ..., rank_then: _Optional[int] = ..., rank_now: _Optional[int] = ...) -> None: ...

class RecallAsOfThenResponse(_message.Message):
    __slots__ = ("hits_then", "hits_now", "differences")
    HITS_THEN_FIELD_NUMBER: _ClassVar[int]
    HITS_NOW_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCES_FIELD_NUMBER: _ClassVar[int]
    hits_then: _containers.RepeatedCompositeFieldContainer[_recall_pb2.Hit]
    hits_now: _containers.RepeatedCompositeFieldContainer[_recall_pb2.Hit]
    differences: _containers.RepeatedCompositeFieldContainer[Difference]
    def __init__(self, hits_then: _Optional[_Iterable[_Union[_recall_pb2.Hit, _Mapping]]] = ..., hits_now: _Optional[_Iterable[_Union[_recall_pb2.Hit, _Mapping]]] = ..., differences: _Optional[_Iterable[_Union[Difference, _Mapping]]] = ...) -> None: ...
