from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROLE_UNSPECIFIED: _ClassVar[Role]
    ROLE_QUERY: _ClassVar[Role]
    ROLE_PASSAGE: _ClassVar[Role]
ROLE_UNSPECIFIED: Role
ROLE_QUERY: Role
ROLE_PASSAGE: Role

class Model(_message.Message):
    __slots__ = ("id", "revision", "dimension", "window_tokens", "cosine_floor", "cosine_span", "duplicate_cosine", "relevance_floor")
    ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    DIMENSION_FIELD_NUMBER: _ClassVar[int]
    WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COSINE_FLOOR_FIELD_NUMBER: _ClassVar[int]
    COSINE_SPAN_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_COSINE_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_FLOOR_FIELD_NUMBER: _ClassVar[int]
    id: str
    revision: str
    dimension: int
    window_tokens: int
    cosine_floor: float
    cosine_span: float
    duplicate_cosine: float
    relevance_floor: float
    def __init__(self, id: _Optional[str] = ..., revision: _Optional[str] = ..., dimension: _Optional[int] = ..., window_tokens: _Optional[int] = ..., cosine_floor: _Optional[float] = ..., cosine_span: _Optional[float] = ..., duplicate_cosine: _Optional[float] = ..., relevance_floor: _Optional[float] = ...) -> None: ...

class EmbedRequest(_message.Message):
    __slots__ = ("texts", "role")
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    texts: _containers.RepeatedScalarFieldContainer[str]
    role: Role
    def __init__(self, texts: _Optional[_Iterable[str]] = ..., role: _Optional[_Union[Role, str]] = ...) -> None: ...

class EmbedResponse(_message.Message):
    __slots__ = ("embeddings", "model")
    EMBEDDINGS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    embeddings: bytes
    model: Model
    def __init__(self, embeddings: _Optional[bytes] = ..., model: _Optional[_Union[Model, _Mapping]] = ...) -> None: ...

class RerankRequest(_message.Message):
    __slots__ = ("query", "texts")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    query: str
    texts: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, query: _Optional[str] = ..., texts: _Optional[_Iterable[str]] = ...) -> None: ...

class RerankResponse(_message.Message):
    __slots__ = ("relevances", "model_id", "model_revision")
    RELEVANCES_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_REVISION_FIELD_NUMBER: _ClassVar[int]
    relevances: _containers.RepeatedScalarFieldContainer[float]
    model_id: str
    model_revision: str
    def __init__(self, relevances: _Optional[_Iterable[float]] = ..., model_id: _Optional[str] = ..., model_revision: _Optional[str] = ...) -> None: ...

class DescribeModelRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeModelResponse(_message.Message):
    __slots__ = ("model", "rerank_model_id", "rerank_model_revision")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    RERANK_MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    RERANK_MODEL_REVISION_FIELD_NUMBER: _ClassVar[int]
    model: Model
    rerank_model_id: str
    rerank_model_revision: str
    def __init__(self, model: _Optional[_Union[Model, _Mapping]] = ..., rerank_model_id: _Optional[str] = ..., rerank_model_revision: _Optional[str] = ...) -> None: ...
