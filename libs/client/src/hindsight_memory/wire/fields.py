"""Fields of messages: moments, enums, JSON."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp

from hindsight_memory.errors import HindsightError


def invalid(field: str, remedy: str) -> HindsightError:
    """The error for a field that cannot even be sent."""
    return HindsightError(
        f"{field}: {remedy}", code="INVALID_ARGUMENT", reason="INVALID_FIELD", fields={field: remedy}, retry_after_s=None
    )


def stamp(moment: datetime) -> Timestamp:
    """A moment as a message; a naive one is taken for UTC."""
    message = Timestamp()
    message.FromDatetime(moment if moment.tzinfo is None else moment.astimezone(UTC))
    return message


def moment(message: Message, field: str) -> datetime | None:
    """A message's moment, aware, or None where it is absent."""
    return getattr(message, field).ToDatetime(tzinfo=UTC) if message.HasField(field) else None


def fill(message: Any, fields: Mapping[str, Any]) -> Any:
    """Set fields of a message, leaving out what is None.

    Raises:
        HindsightError: INVALID_FIELD, a value has the wrong type or cannot be text; the field is named.
    """
    for field, value in fields.items():
        if value is None:
            continue
        try:
            if isinstance(value, datetime):
                getattr(message, field).CopyFrom(stamp(value))
            elif isinstance(value, Mapping):
                ParseDict(dict(value), getattr(message, field), max_recursion_depth=64)
                getattr(message, field).SetInParent()
            elif isinstance(value, Message):
                getattr(message, field).CopyFrom(value)
            elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
                getattr(message, field).extend(value)
            else:
                setattr(message, field, value)
        except (ParseError, TypeError, ValueError, RecursionError) as error:
            raise invalid(field, f"not accepted: {type(error).__name__}; see the field's type in the protos") from None
    return message


def enum(prefix: str, name: str | None, enum_type: Any, field: str) -> int | None:
    """The number of an enum's value by its short name."""
    if name is None:
        return None
    full = f"{prefix}_{name.upper()}" if isinstance(name, str) else ""
    if full not in enum_type.keys():  # noqa: SIM118 - not a mapping
        known = ", ".join(k.removeprefix(f"{prefix}_").lower() for k in enum_type.keys()[1:])
        raise invalid(field, f"one of: {known}")
    return enum_type.Value(full)


def enums(prefix: str, names: Sequence[str], enum_type: Any, field: str) -> list[int | None]:
    """The numbers of several values."""
    return [enum(prefix, name, enum_type, f"{field}[{i}]") for i, name in enumerate(names)]


def short(prefix: str, number: int, enum_type: Any) -> Any:
    """The short name of an enum's number."""
    return enum_type.Name(number).removeprefix(f"{prefix}_").lower()


def to_json(struct: Struct) -> dict[str, Any]:
    """A struct as JSON values; whole numbers as int."""
    return {name: _value(value) for name, value in struct.fields.items()}


def _value(value: Value) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return to_json(value.struct_value)
    if kind == "list_value":
        return [_value(v) for v in value.list_value.values]
    if kind == "number_value":
        return int(value.number_value) if value.number_value.is_integer() else value.number_value
    return None if kind in (None, "null_value") else getattr(value, kind)
