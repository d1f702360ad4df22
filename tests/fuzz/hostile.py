"""Hostile values: what fields of protobuf messages and arguments of tools are attacked with."""

import math
import random
import struct
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

MEBIBYTE = 2**20
HUGE = 0.0005  # how often a text is a mebibyte: it costs a thousand times what another one costs
TEXTS = (
    *("", " ", "\t\n", "\u3000", "\x00", "a\x00b", "\x7f\x1b[2J", "\ufeff", "\u200b", "\u200b\u200d\u2060", "\u202e\u0627\u0628"),
    *("👩‍👩‍👧‍👦", "🇨🇳", "\U0010ffff", "\ufffe", "\ufdfa" * 300, "e" + "\u0301" * 500, "ﬃ" * 200, "㌀㌖" * 100, "İıſK"),
    *("'; DROP TABLE memories; --", "%", "_", "\\", "*", "key*", "a" * 128, "a" * 129, "中" * 128, "中" * 129, "𠀀" * 200),
    *("a:b & c | !d <-> (e", "'quoted''", "\\'", "it's n't", "e-4471_new.ranking@x:y#z", "-_-" * 500, "1e400", "9" * 5000),
    *("NaN", "null", "{}", '{"a":' * 50, "[" * 3000, "user:", "user:\n", "user:42*", "agent", "Agent", "../../etc/passwd"),
    *("\r\nauthorization: x", "${jndi:x}", "{{7*7}}", "%s%n%x", "x " * 4000, "w" * 5000, "的了是" * 1000, "东京都" * 3000),
)
NUMBERS = (0.0, -0.0, 1.0, 0.5, -1.0, 1.0000001, 5e-324, 1.7e308, -1.7e308, 2.0**53, 2.0**63, math.nan, math.inf, -math.inf)
INTEGERS = (0, 1, -1, 2, 5, 200, 201, 1000, 1001, 32767, 65536, 2**31 - 1, -(2**31), 2**32 - 1, 2**63 - 1, -(2**63), 2**64 - 1)
SECONDS = (0, -1, 253402300799, 253402300800, -62135596800, -62135596801, 2**63 - 1, -(2**63), 1_900_000_000, 2**53)
NANOS = (0, 1, 999, 999_999_999, 1_000_000_000, -1, -(2**31), 2**31 - 1)
ENUMS = (0, 1, 2, 3, 7, 8, 99, -1, 2**31 - 1, -(2**31))
IDS = (
    "",
    "x",
    "0",
    str(UUID(int=0)),
    str(UUID(int=2**128 - 1)),
    "{" + "0" * 32 + "}",
    "urn:uuid:" + "f" * 32,
    "-" * 32,
    "١" * 32,
)
PAGE_TOKENS = (*IDS, "1", "-1", "0", "99999999999999999999", "²", "1e5", "9" * 4000, " 1", "+1", "1_0")
LIMITS = {FieldDescriptor.CPPTYPE_INT32: 32, FieldDescriptor.CPPTYPE_UINT32: 32}
WORDS = ("Ada", "likes", "green", "tea", "order", "E4471", "订单", "已发货", "不", "喜欢", "绿茶", "42", "new_ranking", "isn't")
SOME_ID = "01890a5d-ac96-774b-bcce-b302099a8057"


def text(rng: random.Random) -> str:
    """A text somebody might send to break something."""
    if rng.random() < HUGE:
        return rng.choice(("x", "中", "👍", "a b ")) * (MEBIBYTE // 4)
    if rng.random() < 0.6:
        return rng.choice(TEXTS)
    if rng.random() < 0.5:
        return rng.choice(TEXTS) + rng.choice(TEXTS)
    return "".join(chr(_code_point(rng)) for _ in range(rng.randrange(60)))


def _code_point(rng: random.Random) -> int:
    code = rng.choice((rng.randrange(0x80), rng.randrange(0x3000), rng.randrange(0x110000), rng.randrange(0x4E00, 0x9FFF)))
    return code if not 0xD800 <= code < 0xE000 else 0xFFFD


def json_value(rng: random.Random, depth: int = 0) -> Any:
    """A JSON value of any type, hostile inside; some are not what the standard allows (NaN)."""
    choice = rng.random()
    if depth > 4 or choice < 0.3:
        return text(rng)
    if choice < 0.45:
        return rng.choice(NUMBERS)
    if choice < 0.6:
        return rng.choice((*INTEGERS, 10**400))
    if choice < 0.7:
        return rng.choice((None, True, False))
    if choice < 0.85:
        return [json_value(rng, depth + 1) for _ in range(rng.randrange(5))]
    if choice < 0.87:
        return deep_json(rng.choice((10, 17, 20)))
    return {text(rng)[:200]: json_value(rng, depth + 1) for _ in range(rng.randrange(4))}


def deep_json(depth: int) -> Any:
    """Objects in objects."""
    value: Any = 1
    for level in range(depth):
        value = {"a": value} if level % 2 else [value]
    return value


class Forge:
    """Makes requests of any message type: plausible ones, and such with hostile fields. `known` are ids that exist."""

    def __init__(self, known: Sequence[str]) -> None:
        self._known = known

    def request(self, rng: random.Random, descriptor: Descriptor) -> bytes:
        """The bytes of a request: broken, hostile everywhere, or plausible but for one field."""
        choice = rng.random()
        if choice < 0.04:
            return rng.randbytes(rng.randrange(200))
        message = self.plausible(rng, descriptor)
        if choice < 0.70:
            self._spoil(rng, message)
        elif choice < 0.85:
            message = self.hostile(rng, descriptor)
        elif choice < 0.87:
            return message.SerializeToString() + _deep_group(rng, descriptor)
        raw = message.SerializeToString()
        return _mutate(rng, raw) if rng.random() < 0.12 else raw

    def plausible(self, rng: random.Random, descriptor: Descriptor, share: float = 0.6) -> Message:
        """A message whose fields, as far as their names tell, hold what the service accepts; a share of them is set."""
        message = GetMessageClass(descriptor)()
        for field in descriptor.fields:
            wanted = 0.97 if field.name in ALWAYS else share
            if rng.random() < wanted:
                self._set(rng, message, field, self._plausible_value)
        return message

    def hostile(self, rng: random.Random, descriptor: Descriptor, depth: int = 0) -> Message:
        """A message whose fields hold hostile values."""
        message = GetMessageClass(descriptor)()
        for field in descriptor.fields:
            if rng.random() < (0.5 if depth < 5 else 0.1):
                self._set(rng, message, field, lambda r, f: self._hostile_value(r, f, depth + 1))
        return message

    def _spoil(self, rng: random.Random, message: Message) -> None:
        """Replace one field, at any depth."""
        if not message.DESCRIPTOR.fields:
            return
        field: Any = rng.choice(message.DESCRIPTOR.fields)
        inner = getattr(message, field.name)
        if (
            field.message_type
            and not _is_map(field)
            and rng.random() < 0.7
            and field.message_type.file.package != "google.protobuf"
        ):
            if field.is_repeated:
                self._spoil(rng, rng.choice(inner) if inner else inner.add())
            else:
                inner.SetInParent()
                self._spoil(rng, inner)
        else:
            message.ClearField(field.name)
            self._set(rng, message, field, lambda r, f: self._hostile_value(r, f, 1))

    def _set(self, rng: random.Random, message: Message, field: Any, make: Callable[..., Any]) -> None:
        if _is_map(field):
            value_field = field.message_type.fields_by_name["value"]
            for _ in range(rng.choice((0, 1, 3))):
                key = text(rng)[:5000]
                made = make(rng, value_field)
                entries = getattr(message, field.name)
                entries[key].CopyFrom(made) if value_field.message_type else entries.__setitem__(key, made)
        elif field.is_repeated:
            is_hostile = make != self._plausible_value
            count = rng.choice((0, 1, 2, 65, 300, 5000) if is_hostile and not field.message_type else (0, 1, 1, 2, 3))
            one = [make(rng, field) for _ in range(min(count, 3))]
            size_bytes = sum(len(o) * 4 for o in one if isinstance(o, str | bytes))
            count = min(count, max(3, MEBIBYTE // max(1, size_bytes)))  # a request stays within what is read at all
            getattr(message, field.name).extend((one * (count // 3 + 1))[:count])
        elif field.message_type:
            getattr(message, field.name).CopyFrom(make(rng, field))
        else:
            setattr(message, field.name, make(rng, field))

    def _plausible_value(self, rng: random.Random, field: FieldDescriptor) -> Any:
        if field.message_type:
            name = field.message_type.full_name
            if name == "google.protobuf.Timestamp":
                return GetMessageClass(field.message_type)(seconds=rng.randrange(1_600_000_000, 1_900_000_000))
            return self.plausible(rng, field.message_type, 0.3 if name.startswith("google.protobuf") else 0.6)
        if field.name in PLAUSIBLE:
            return PLAUSIBLE[field.name](rng)
        if field.name in ENDS and rng.random() < 0.8:  # two that exist are seldom met by chance
            return (SOME_ID, SOME_ID, *self._known)[ENDS[field.name]]
        is_text = field.type == FieldDescriptor.TYPE_STRING
        if is_text and (field.name.endswith(("id", "_ids")) or field.name in ("derived_from", "page_token")):
            return rng.choice((*self._known, SOME_ID)) if rng.random() < 0.9 else ""
        if field.enum_type:
            return rng.choice(field.enum_type.values).number
        kind = field.cpp_type
        if kind == FieldDescriptor.CPPTYPE_STRING:
            words = " ".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 9)))
            return words.encode() if field.type == FieldDescriptor.TYPE_BYTES else words
        if kind == FieldDescriptor.CPPTYPE_BOOL:
            return rng.random() < 0.3
        if kind in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT):
            return rng.choice((0.0, 0.3, 0.5, 0.9, 1.0))
        return rng.randrange(1, 20)

    def _hostile_value(self, rng: random.Random, field: FieldDescriptor, depth: int = 0) -> Any:
        if field.message_type:
            name = field.message_type.full_name
            if name == "google.protobuf.Timestamp":
                return GetMessageClass(field.message_type)(seconds=rng.choice(SECONDS), nanos=rng.choice(NANOS))
            if name == "google.protobuf.Struct":
                return _struct(rng, GetMessageClass(field.message_type)())
            return self.hostile(rng, field.message_type, depth)
        if field.enum_type:
            return rng.choice(ENUMS)
        kind = field.cpp_type
        if kind == FieldDescriptor.CPPTYPE_STRING:
            if field.type == FieldDescriptor.TYPE_BYTES:
                return rng.randbytes(rng.randrange(300))
            if field.name.endswith("_token") and rng.random() < 0.7:
                return rng.choice(PAGE_TOKENS)
            return rng.choice(IDS) if field.name.endswith("id") and rng.random() < 0.5 else text(rng)
        if kind == FieldDescriptor.CPPTYPE_BOOL:
            return rng.random() < 0.5
        if kind in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT):
            return rng.choice(NUMBERS)
        return _wrap(rng.choice(INTEGERS), LIMITS.get(kind, 64), signed="UINT" not in _name(kind))


ALWAYS = frozenset(
    {
        "memory",
        "memories",
        "memory_id",
        "key",
        "value",
        "query",
        "texts",
        "role",
        "revision",
        "key_id",
        "from_id",
        "to_id",
        "type",
    }
)
ENDS = {"from_id": -2, "to_id": -1}
PLAUSIBLE: dict[str, Callable[[random.Random], Any]] = {
    "agent_id": lambda r: r.choice(("", "ada", "bob")),
    "default_agent_id": lambda r: "",
    "agent_ids": lambda r: r.choice(("ada", "bob")),
    "grantee_agent_id": lambda r: r.choice(("ada", "bob")),
    "tenant": lambda r: r.choice(("", "acme")),
    "request_id": lambda r: f"r{r.randrange(500)}" if r.random() < 0.3 else "",
    "session_id": lambda r: f"s{r.randrange(5)}",
    "scope": lambda r: r.choice(("", "agent", "user:42", "user:小林", "session:abc")),
    "scopes": lambda r: r.choice(("agent", "user:*", "user:42")),
    "key": lambda r: r.choice(("drink", "order status", "订单状态", "home city", "dr*")),
    "importance": lambda r: r.random(),
    "type": lambda r: r.choice(("supports", "follows", "同一件事")),
    "weight": lambda r: 1 - r.random(),
    "confidence": lambda r: 0.5 + r.random() / 2,
    "revision": lambda r: r.randrange(1, 4),
    "page_size": lambda r: r.choice((0, 1, 10)),
    "budget_tokens": lambda r: r.choice((0, 100, 5000)),
    "top_k": lambda r: r.choice((0, 1, 50)),
    "turn": lambda r: r.randrange(100),
    "page_token": lambda r: "" if r.random() < 0.7 else r.choice(PAGE_TOKENS),
    "role": lambda r: r.choice((1, 2)),
    "rights": lambda r: r.choice((1, 2)),
    "sources": lambda r: r.choice((1, 2, 3)),
}


def _name(kind: int) -> str:
    return "UINT" if kind in (FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_UINT64) else "INT"


def _wrap(number: int, bits: int, *, signed: bool) -> int:
    low = number % 2**bits
    return low - 2**bits if signed and low >= 2 ** (bits - 1) else low


def _is_map(field: FieldDescriptor) -> bool:
    return bool(field.message_type and field.message_type.GetOptions().map_entry)


def _struct(rng: random.Random, message: Any) -> Any:
    """A Struct with hostile names and values; some are as deep as protobuf decodes."""
    for _ in range(rng.choice((1, 1, 2, 400))):
        _fill(message.fields[text(rng)[:5000]], json_value(rng))
    return message


def _fill(value: Any, made: Any) -> None:
    if made is None:
        value.null_value = 0
    elif isinstance(made, bool):
        value.bool_value = made
    elif isinstance(made, int | float):
        value.number_value = float(made) if abs(made) < 1e308 or made != made else math.inf
    elif isinstance(made, str):
        value.string_value = made
    elif isinstance(made, list):
        value.list_value.SetInParent()
        for element in made:
            _fill(value.list_value.values.add(), element)
    else:
        value.struct_value.SetInParent()
        for name, element in made.items():
            _fill(value.struct_value.fields[name], element)


def _varint(number: int) -> bytes:
    parts = []
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def _deep_group(rng: random.Random, descriptor: Descriptor) -> bytes:
    """A field as lengths nested in lengths, or a text of a lone surrogate: what no correct encoder writes."""
    number = rng.choice(descriptor.fields).number if descriptor.fields else 1
    tag = _varint(number << 3 | 2)
    inner = rng.choice((b"\xed\xa0\x80", b"\xff\xfe", b"\xc0\x80", b"\xf5\x80\x80\x80", b"\xe4\xb8"))
    for _ in range(rng.choice((0, 1, 2, 150))):
        inner = b"\x0a" + _varint(len(inner)) + inner
    return tag + _varint(len(inner)) + inner


def _mutate(rng: random.Random, raw: bytes) -> bytes:
    """Truncate, flip, repeat or insert bytes."""
    mutable = bytearray(raw)
    for _ in range(rng.choice((1, 1, 3, 10))):
        place = rng.randrange(len(mutable) + 1)
        match rng.randrange(5):
            case 0:
                del mutable[place:]
            case 1:
                mutable[place : place + 1] = rng.randbytes(1)
            case 2:
                mutable[place:place] = rng.choice((b"\xed\xa0\x80", b"\xff" * 10, b"\x80" * 11, struct.pack("<d", math.nan)))
            case 3:
                mutable += mutable[:place][:1000]
            case _:
                del mutable[place : place + rng.randrange(4)]
    return bytes(mutable)
