"""Checks of request fields: every refusal names the field and says what to do."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from google.protobuf.struct_pb2 import Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp

from hindsight_runtime.errors import InvalidField
from hindsight_runtime.identity import SESSION_PREFIX

MAX_JSON_DEPTH = 16
PATH_CHARS = 100  # of a field's path in an error: names inside a struct are the caller's own text
ENUM_VALUES = 64
REQUEST_ID_CHARS = 128
AGENT_ID_CHARS = 64
SCOPE_CHARS = 160
SESSION_ID_CHARS = 128
TAG_CHARS = 64
TAGS = 64
KEY_CHARS = 128
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SCOPE = re.compile(r"[a-z][a-z0-9_-]{0,31}(:.+)?", re.DOTALL)


def check_text(field: str, text: str, *, max_chars: int, required: bool = False) -> str:
    """The text, if it has no NUL, is not longer than allowed, and is not blank where it is required."""
    if "\x00" in text:
        raise InvalidField(field, "remove the NUL character")
    if len(text) > max_chars:
        raise InvalidField(field, f"at most {max_chars:,} characters, got {len(text):,}; shorten it")
    if required and not text.strip():
        raise InvalidField(field, "required; give a text that is not blank")
    return text


def check_label(field: str, text: str, *, max_chars: int) -> str:
    """The text, if it is empty or a name people can see: no NUL, not too long, not blank."""
    return check_text(field, text, max_chars=max_chars, required=bool(text))


def check_size(field: str, text: str, *, max_bytes: int) -> str:
    """The text, if it is not larger than allowed in UTF-8."""
    size = len(text.encode())
    if size > max_bytes:
        raise InvalidField(field, f"at most {max_bytes:,} bytes of UTF-8, got {size:,}; split it")
    return text


def check_fraction(field: str, value: float, *, low: float = 0.0) -> float:
    """The number, if it is between low and 1."""
    if not low <= value <= 1.0:  # false for NaN too
        raise InvalidField(field, f"give a number from {low:g} to 1")
    return value


def check_count(field: str, value: int, *, default: int, high: int) -> int:
    """The count, the default where it is 0."""
    if not 0 <= value <= high:
        raise InvalidField(field, f"give a whole number from 1 to {high:,}")
    return value or default


def check_items(field: str, items: Sequence[Any], *, high: int, low: int = 0) -> None:
    """Raise unless there are between low and high items."""
    if not low <= len(items) <= high:
        raise InvalidField(field, f"give {low} to {high} of them, got {len(items)}")


def check_tags(field: str, tags: Sequence[str]) -> tuple[str, ...]:
    """The tags without repeats, in order."""
    check_items(field, tags, high=TAGS)
    return tuple(dict.fromkeys(check_text(f"{field}[{i}]", t, max_chars=TAG_CHARS, required=True) for i, t in enumerate(tags)))


def check_scope(field: str, scope: str) -> str:
    """The scope, if it is empty, a plain word, or "word:free text"."""
    check_text(field, scope, max_chars=SCOPE_CHARS)
    if scope and not _SCOPE.fullmatch(scope):
        raise InvalidField(field, "write it as 'agent', 'user:42', 'project:x': a lower-case word, then a colon and free text")
    if scope.endswith("*"):
        raise InvalidField(field, "a scope does not end in '*'; patterns are for keys")
    return scope


def check_session_id(field: str, text: str, *, required: bool = True) -> str:
    """The id of a session, which is not the scope that is called after it."""
    check_text(field, text, max_chars=SESSION_ID_CHARS, required=required or bool(text))
    if text.startswith(SESSION_PREFIX):
        raise InvalidField(field, f"give the id alone, as {text.removeprefix(SESSION_PREFIX)[:32]!r}, without 'session:'")
    return text


def check_scope_pattern(field: str, pattern: str) -> str:
    """The scope, or the beginning of scopes with a trailing "*", if it is not blank."""
    check_text(field, pattern, max_chars=SCOPE_CHARS, required=True)
    check_scope(field, pattern.removesuffix("*").removesuffix(":") or "any")
    return pattern


def check_id(field: str, text: str) -> UUID:
    """The id as a UUID."""
    try:
        return UUID(text)
    except ValueError:
        raise InvalidField(field, "give the id as it was returned, a UUID such as 01890a5d-ac96-774b-bcce-b302099a8057") from None


def check_name(field: str, number: int, names: Mapping[int, str]) -> str:
    """The name of an enum value; the message lists what there is."""
    if number not in names:
        raise InvalidField(field, f"unknown value {number}; one of: {', '.join(n for n in names.values() if n)}")
    return names[number]


def check_names(field: str, numbers: Sequence[int], names: Mapping[int, str]) -> tuple[str, ...]:
    """The names of enum values without repeats, in order."""
    check_items(field, numbers, high=ENUM_VALUES)
    return tuple(dict.fromkeys(check_name(f"{field}[{i}]", number, names) for i, number in enumerate(numbers)))


def check_time(field: str, stamp: Timestamp) -> datetime:
    """The moment, aware, in UTC, between the years 1 and 9999."""
    try:
        if not 0 <= stamp.nanos < 1_000_000_000:
            raise ValueError
        return EPOCH + timedelta(seconds=stamp.seconds, microseconds=stamp.nanos // 1000)
    except (ValueError, OverflowError, OSError):
        raise InvalidField(field, "give a moment between the years 1 and 9999") from None


def check_range(field: str, since: datetime | None, until: datetime | None) -> None:
    """Raise unless the half-open span is not empty."""
    if since and until and until <= since:
        raise InvalidField(field, "the end must be later than the beginning")


def check_struct(field: str, struct: Struct, *, max_bytes: int) -> dict[str, Any]:
    """The struct as JSON values: whole numbers as int, no NaN, no NUL, at most 16 deep."""
    if struct.ByteSize() > max_bytes:
        raise InvalidField(field, f"at most {max_bytes:,} bytes; keep large content in the value")
    return _from_struct(field, struct, MAX_JSON_DEPTH)


def _from_struct(field: str, struct: Struct, depth: int) -> dict[str, Any]:
    if depth == 0:
        raise InvalidField(field, f"at most {MAX_JSON_DEPTH} levels deep; flatten it")
    for name in struct.fields:
        check_text(field, name, max_chars=KEY_CHARS)
    return {name: _from_value(_inside(field, f".{name}"), value, depth - 1) for name, value in struct.fields.items()}


def _inside(field: str, step: str) -> str:
    """The path one step further in, or as far as it may be told."""
    return field + step if len(field) + len(step) <= PATH_CHARS else field


def _from_value(field: str, value: Value, depth: int) -> Any:
    kind = value.WhichOneof("kind")
    if depth < 0:
        raise InvalidField(field, f"at most {MAX_JSON_DEPTH} levels deep; flatten it")
    if kind == "struct_value":
        return _from_struct(field, value.struct_value, depth)
    if kind == "list_value":
        return [_from_value(_inside(field, f"[{i}]"), v, depth - 1) for i, v in enumerate(value.list_value.values)]
    if kind == "number_value":
        if not math.isfinite(value.number_value):
            raise InvalidField(field, "NaN and infinities are not allowed; leave the field out")
        whole = value.number_value.is_integer() and abs(value.number_value) < 2**53
        return int(value.number_value) if whole else value.number_value
    if kind == "string_value":
        return check_text(field, value.string_value, max_chars=2**20)
    return value.bool_value if kind == "bool_value" else None
