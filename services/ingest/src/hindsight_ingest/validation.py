"""Requests as candidates: every limit of a memory, each with an error that names the field."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from hindsight.v1 import ingest_pb2, memory_pb2, review_pb2
from hindsight_runtime import checks
from hindsight_runtime.errors import InvalidField, PermissionDenied
from hindsight_runtime.identity import Principal
from hindsight_store.records import Relation
from hindsight_store.turns import Turn

from hindsight_ingest.candidate import Candidate, lower_to_ceiling

TRIGGER_CHARS = 2048
VALUE_BYTES = 32 * 1024
METADATA_BYTES = 16 * 1024
DERIVED_FROM = 64
BATCH = 256
DEFAULT_IMPORTANCE = 0.5
DEFAULT_CONFIDENCE = 0.8
MIN_CONFIDENCE = 0.5  # what is less sure never enters long-term memory

KINDS = {v: k.removeprefix("KIND_").lower() for k, v in memory_pb2.Kind.items()} | {0: "fact"}
SOURCES = {v: k.removeprefix("SOURCE_KIND_").lower() for k, v in memory_pb2.SourceKind.items()} | {0: ""}
TURN_ROLES = {v: k.removeprefix("TURN_ROLE_").lower() for k, v in memory_pb2.TurnRole.items() if v}
TOOL_CHARS = 128
MAX_TURN = 2**31 - 1024
RELATION_TYPE_CHARS = 32
FORGET_MODES = {0: "delete", 1: "fade", 2: "delete"}
REPORTED_OUTCOMES = {v: k.removeprefix("REPORTED_OUTCOME_").lower() for k, v in memory_pb2.ReportedOutcome.items() if v}
NOTE_CHARS = 2000
PROMPT_BYTES = 32 * 1024


def check_key(field: str, key: str) -> str:
    """A memory's key."""
    return checks.check_text(field, key, max_chars=checks.KEY_CHARS, required=True)


def check_trigger(field: str, trigger: str) -> str:
    """A memory's trigger; empty is none."""
    return checks.check_text(field, trigger, max_chars=TRIGGER_CHARS)


def check_value(field: str, value: str) -> str:
    """A memory's content."""
    checks.check_size(field, value, max_bytes=VALUE_BYTES)
    return checks.check_text(field, value, max_chars=VALUE_BYTES, required=True)


def check_prompt(field: str, prompt: str) -> str:
    """A prompt that an answer went into."""
    checks.check_size(field, prompt, max_bytes=PROMPT_BYTES)
    return checks.check_text(field, prompt, max_chars=PROMPT_BYTES)


def check_confidence(field: str, confidence: float) -> float:
    """A confidence that long-term memory accepts."""
    checks.check_fraction(field, confidence)
    if confidence < MIN_CONFIDENCE:
        raise InvalidField(field, f"below {MIN_CONFIDENCE} nothing enters long-term memory; write it when it is surer")
    return confidence


def check_source(field: str, source: memory_pb2.Source, principal: Principal) -> str:
    """The kind of source a write claims, which the credential must allow."""
    checks.check_text(f"{field}.session_id", source.session_id, max_chars=checks.SESSION_ID_CHARS)
    if source.HasField("turn") and source.turn < 0:
        raise InvalidField(f"{field}.turn", "count turns from 0")
    kind = checks.check_name(f"{field}.kind", source.kind, SOURCES)
    if not kind:
        return "user" if "user" in principal.sources else "inference"
    if kind != "inference" and kind not in principal.sources:
        raise PermissionDenied(f"the key may not claim the source '{kind}'; leave the source out or use 'inference'")
    return kind


def read_candidate(field: str, memory: memory_pb2.NewMemory, principal: Principal, now: datetime) -> Candidate:
    """The memory to be written, checked. It holds from `now` where it does not say since when.

    Raises:
        InvalidField: a field is not accepted; its name begins with `field`.
        PermissionDenied: the credential does not admit the scope or the source.
    """
    source = check_source(f"{field}.source", memory.source, principal)
    importance = memory.importance if memory.HasField("importance") else DEFAULT_IMPORTANCE
    confidence = memory.confidence if memory.HasField("confidence") else DEFAULT_CONFIDENCE
    checks.check_fraction(f"{field}.importance", importance)
    check_confidence(f"{field}.confidence", confidence)
    importance, confidence, lowered = lower_to_ceiling(source, importance, confidence)
    valid_from = checks.check_time(f"{field}.valid_from", memory.valid_from) if memory.HasField("valid_from") else now
    valid_to = checks.check_time(f"{field}.valid_to", memory.valid_to) if memory.HasField("valid_to") else None
    checks.check_range(f"{field}.valid_to", valid_from, valid_to)
    expires_at = checks.check_time(f"{field}.expires_at", memory.expires_at) if memory.HasField("expires_at") else None
    checks.check_items(f"{field}.derived_from", memory.derived_from, high=DERIVED_FROM)
    return Candidate(
        scope=principal.writable_scope(checks.check_scope(f"{field}.scope", memory.scope)),
        kind=checks.check_name(f"{field}.kind", memory.kind, KINDS),
        key=check_key(f"{field}.key", memory.key),
        trigger=check_trigger(f"{field}.query", memory.query),
        value=check_value(f"{field}.value", memory.value),
        tags=checks.check_tags(f"{field}.tags", memory.tags),
        importance=importance,
        confidence=confidence,
        source=source,
        session_id=memory.source.session_id,
        turn=memory.source.turn if memory.source.HasField("turn") else None,
        metadata=checks.check_struct(f"{field}.metadata", memory.metadata, max_bytes=METADATA_BYTES),
        is_core=memory.is_core,
        valid_from=valid_from,
        valid_to=valid_to,
        expires_at=expires_at,
        derived_from=tuple(checks.check_id(f"{field}.derived_from[{i}]", text) for i, text in enumerate(memory.derived_from)),
        adjustments=lowered,
        path=field,
    )


def read_relation(request: ingest_pb2.RelateRequest | ingest_pb2.UnrelateRequest) -> Relation:
    """The relation that a request states or takes back.

    Raises:
        InvalidField: a field is not accepted.
    """
    from_id = checks.check_id("from_id", request.from_id)
    to_id = checks.check_id("to_id", request.to_id)
    if from_id == to_id:
        raise InvalidField("to_id", "a memory has no relation to itself; name another one")
    kind = checks.check_text("type", request.type, max_chars=RELATION_TYPE_CHARS, required=True)
    weight = 1.0
    if isinstance(request, ingest_pb2.RelateRequest) and request.HasField("weight"):
        weight = checks.check_fraction("weight", request.weight)
        if weight == 0:
            raise InvalidField("weight", "give a number above 0 and at most 1; take the relation back instead")
    return Relation(from_id, kind, to_id, weight)


def read_changes(request: ingest_pb2.UpdateRequest) -> dict[str, Any]:
    """The fields of a memory that an update changes, by their names in the record.

    Raises:
        InvalidField: a field is not accepted, or none was given.
    """
    readers: dict[str, tuple[str, Callable[[], Any]]] = {
        "key": ("key", lambda: check_key("key", request.key)),
        "query": ("trigger", lambda: check_trigger("query", request.query)),
        "value": ("value", lambda: check_value("value", request.value)),
        "tags": ("tags", lambda: checks.check_tags("tags.values", request.tags.values)),
        "importance": ("importance", lambda: checks.check_fraction("importance", request.importance)),
        "confidence": ("confidence", lambda: check_confidence("confidence", request.confidence)),
        "metadata": (
            "metadata",
            lambda: checks.check_struct("metadata", request.metadata, max_bytes=METADATA_BYTES),
        ),
        "is_core": ("is_core", lambda: request.is_core),
        "expires_at": ("expires_at", lambda: checks.check_time("expires_at", request.expires_at)),
    }
    changes = {record: read() for field, (record, read) in readers.items() if request.HasField(field)}  # pyright: ignore[reportArgumentType]
    if request.kind:
        changes["kind"] = checks.check_name("kind", request.kind, KINDS)
    if not changes:
        raise InvalidField("memory_id", "nothing to change: give at least one field beside it")
    return changes


def read_edits(request: review_pb2.ApproveRequest) -> dict[str, str]:
    """The words that a reviewer changes, by their names in the record.

    Raises:
        InvalidField: a field is not accepted.
    """
    readers = {"key": ("key", check_key), "query": ("trigger", check_trigger), "value": ("value", check_value)}
    return {
        record: read(field, getattr(request, field))
        for field, (record, read) in readers.items()
        if request.HasField(field)  # pyright: ignore[reportArgumentType]
    }


def read_turn(index: int, turn: memory_pb2.Turn, session_id: str, principal: Principal, now: datetime) -> Turn:
    """A turn to keep, checked, numbered by its place in the request.

    Raises:
        InvalidField: a field is not accepted; its name begins with "turns[index]".
    """
    field = f"turns[{index}]"
    role = checks.check_name(f"{field}.role", turn.role, TURN_ROLES)
    tool = checks.check_text(f"{field}.tool", turn.tool, max_chars=TOOL_CHARS, required=role.startswith("tool"))
    checks.check_size(f"{field}.content", turn.content, max_bytes=VALUE_BYTES)
    checks.check_size(f"{field}.result", turn.result, max_bytes=VALUE_BYTES)
    return Turn(
        session_id=session_id,
        turn=index,
        scope="",
        role=role,
        content=checks.check_text(f"{field}.content", turn.content, max_chars=VALUE_BYTES, required=not tool),
        tool=tool,
        arguments=checks.check_struct(f"{field}.arguments", turn.arguments, max_bytes=METADATA_BYTES),
        result=checks.check_text(f"{field}.result", turn.result, max_chars=VALUE_BYTES),
        is_error=turn.is_error,
        masked=(),
        principal=principal.key_id,
        at=checks.check_time(f"{field}.at", turn.at) if turn.HasField("at") else now,
        known_from=now,
    )
