"""Arguments of tools: the flat schema clients see, and the checks behind it, each refusal with the field and the remedy."""

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

MAX_DEPTH = 16
SAFE_INTEGER = 2**53  # above it a number loses digits on its way
SHOWN_CHARS = 64
MAX_OBJECTS = 256
UNKNOWN_NAMES = 8  # at most so many are named
ARTICLES = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "an array of texts",
    "objects": "an array of objects",
    "object": "an object",
}


class Refused(Exception):
    """Arguments that are not accepted: each field with its remedy."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {remedy}" for name, remedy in fields.items()))
        self.fields = dict(fields)


@dataclass(frozen=True, slots=True)
class Field:
    """One argument. `low` and `high` bound a number, or the characters of a text (of each text in an array). An array of
    objects names the fields of each in `items`."""

    name: str
    type: Literal["string", "number", "integer", "boolean", "array", "object", "objects"]
    description: str
    required: bool = False
    default: Any = None
    is_filled_in: bool = True  # with the default; else the service decides by the key
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    items: tuple["Field", ...] = ()

    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        schema: dict[str, Any] = {"type": self.type, "description": self.description}
        if self.type == "objects":
            return schema | {"type": "array", "items": to_schema(self.items), "minItems": 1, "maxItems": MAX_OBJECTS}
        if self.type == "string":
            schema |= self._text_schema()
        elif self.type == "array":
            schema |= {"items": {"type": "string", **self._text_schema()}, "maxItems": 64}
        elif self.type in ("number", "integer"):
            schema |= {k: v for k, v in (("minimum", self.low), ("maximum", self.high)) if v is not None}
        elif self.type == "object":
            schema["additionalProperties"] = True
        return schema if self.default is None else schema | {"default": self.default}

    def _text_schema(self) -> dict[str, Any]:
        if self.choices:
            return {"enum": list(self.choices)}
        return {name: bound for name, bound in (("minLength", self.low), ("maxLength", self.high)) if bound}


def to_schema(fields: Sequence[Field]) -> dict[str, Any]:
    """The schema of a tool's arguments: flat, nothing beside them."""
    return {
        "type": "object",
        "properties": {field.name: field.schema() for field in fields},
        "required": [field.name for field in fields if field.required],
        "additionalProperties": False,
    }


def read_arguments(fields: Sequence[Field], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, with the defaults of those left out; None where there is no default. Nothing is coerced.

    Raises:
        Refused: naming every argument that is missing, unknown or not accepted.
    """
    known = {field.name: field for field in fields}
    unknown = islice((name for name in arguments if name not in known), UNKNOWN_NAMES)
    problems = {shown(name): _unknown(name, list(known)) for name in unknown}
    read: dict[str, Any] = {}
    for name, field in known.items():
        read[name] = arguments.get(name, field.default if field.is_filled_in else None)
        if name not in arguments:
            if field.required:
                problems[name] = f"required; give {_wanted(field)}"
        elif remedy := _refuse(field, name, arguments[name]):
            problems.setdefault(*remedy)
        elif field.type == "integer":
            read[name] = int(arguments[name])
        elif field.type == "objects":
            read[name] = _read_objects(field, arguments[name], problems)
    if problems:
        raise Refused(problems)
    return read


def _read_objects(field: Field, values: list[dict[str, Any]], problems: dict[str, str]) -> list[dict[str, Any]]:
    """The objects of an array, each with its defaults; what is not accepted is added to the problems."""
    read = []
    for i, value in enumerate(values):
        try:
            read.append(read_arguments(field.items, value))
        except Refused as refused:
            problems.update({f"{field.name}[{i}].{name}": remedy for name, remedy in refused.fields.items()})
    return read


def shown(text: str) -> str:
    """A client's own words, short and printable."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\x00", "\\0")[:SHOWN_CHARS]


def name_type(value: Any) -> str:
    """What JSON calls a value's type."""
    if value is None:
        return "null"
    for kind, name in ((bool, "boolean"), (str, "string"), (int | float, "number"), (list, "array"), (dict, "object")):
        if isinstance(value, kind):
            return name
    return type(value).__name__


def _unknown(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name[:SHOWN_CHARS], known, n=1, cutoff=0.4)
    meant = f"did you mean '{close[0]}'? " if close else ""
    return f"unknown argument; {meant}this tool takes {', '.join(known)}"


def _wanted(field: Field) -> str:
    if field.choices:
        return "one of: " + ", ".join(field.choices)
    if field.type in ("number", "integer"):
        if field.low is not None and field.high is not None:
            return f"{ARTICLES[field.type]} from {field.low:g} to {field.high:,}"
        return ARTICLES[field.type] + (f" of at least {field.low:g}" if field.low is not None else "")
    return ARTICLES[field.type]


def _refuse(field: Field, path: str, value: Any) -> tuple[str, str] | None:
    """The path and the remedy, if the value is not accepted."""
    found = name_type(value)
    if found == "number" and field.type in ("number", "integer") and not _is_finite(value):
        return path, f"give {_wanted(field)}; NaN and infinities are not allowed"
    if found == "number" and field.type == "integer" and not float(value).is_integer():
        return path, f"give {_wanted(field)}, got a fraction"
    if found != field.type and (found, field.type) not in (("number", "integer"), ("array", "objects")):
        leave_out = "; or leave it out" if value is None and not field.required else ""
        return path, f"give {_wanted(field)}, got {_named(value)}{leave_out}"
    if field.type == "objects":
        return _refuse_objects(path, value)
    if field.type == "array":
        return _refuse_array(field, path, value)
    if field.type == "object":
        return refuse_json(path, value, MAX_DEPTH)
    if field.type == "string":
        remedy = _refuse_text(field, value)
        return (path, remedy) if remedy else None
    if field.type in ("number", "integer") and not _is_between(field, value):
        return path, f"give {_wanted(field)}, got {value:g}"
    return None


def _named(value: Any) -> str:
    kind = name_type(value)
    return kind if value is None else f"{'an' if kind in ('array', 'object') else 'a'} {kind}"


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond any float
        return False


def _is_between(field: Field, value: float) -> bool:
    return (field.low is None or value >= field.low) and (field.high is None or value <= field.high)


def _refuse_array(field: Field, path: str, values: list[Any]) -> tuple[str, str] | None:
    if len(values) > 64:
        return path, f"give at most 64 texts, got {len(values):,}"
    for i, value in enumerate(values):
        if not isinstance(value, str):
            return f"{path}[{i}]", f"give a text, got {_named(value)}"
        if remedy := _refuse_text(field, value):
            return f"{path}[{i}]", remedy
    return None


def _refuse_objects(path: str, values: list[Any]) -> tuple[str, str] | None:
    if not 1 <= len(values) <= MAX_OBJECTS:
        return path, f"give 1 to {MAX_OBJECTS} objects, got {len(values):,}"
    wrong = next((i for i, value in enumerate(values) if not isinstance(value, dict)), None)
    return None if wrong is None else (f"{path}[{wrong}]", f"give an object, got {_named(values[wrong])}")


def _refuse_text(field: Field, text: str) -> str | None:
    if remedy := refuse_characters(text):
        return remedy
    if field.choices and text not in field.choices:
        return f"give {_wanted(field)}; got '{shown(text)}'"
    if field.high and len(text) > field.high:
        return f"at most {field.high:,} characters, got {len(text):,}; shorten it"
    return "give a text that is not blank" if field.low and not text.strip() else None


def refuse_characters(text: str) -> str | None:
    """The remedy, if the text has characters that no memory can hold."""
    if "\x00" in text or not _is_unicode(text):
        return "remove the NUL characters and lone surrogates (half of an emoji, say)"
    return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def refuse_json(path: str, value: Any, depth: int) -> tuple[str, str] | None:
    """The path and the remedy, if something inside free JSON cannot be kept as it is."""
    if isinstance(value, str):
        remedy = refuse_characters(value)
        return (path, remedy) if remedy else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not _is_finite(value):
            return path, "NaN and infinities are not allowed; leave it out"
        too_large = isinstance(value, int) and abs(value) > SAFE_INTEGER
        return (path, "a whole number this large loses digits; give it as a text") if too_large else None
    if not isinstance(value, list | dict):
        return None
    if depth == 0:
        return path[:SHOWN_CHARS], f"at most {MAX_DEPTH} levels deep; flatten it"
    for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(name, str) and refuse_characters(name):
            return f"{path}.{shown(name)}", "remove the NUL characters and lone surrogates from the name"
        step = f"{path}[{name}]" if isinstance(name, int) else f"{path}.{shown(name)}"
        if problem := refuse_json(step, inner, depth - 1):
            return problem
    return None
