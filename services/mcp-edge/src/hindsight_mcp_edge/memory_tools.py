"""The tool set "memory": write, search, update and forget memories."""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from typing import Any, get_args

from hindsight_memory import Filter, ForgetMode, Hindsight, Kind, Mode, NewMemory, Source

from hindsight_mcp_edge import results, texts
from hindsight_mcp_edge.fields import Field, Refused, shown
from hindsight_mcp_edge.tool import Arguments, Confirm, Tool

SOURCES = ("user", "tool", "inference")
MAX_TURN = 2**31 - 1
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)

AGENT = Field("agent_id", "string", "Whose memory; 谁的记忆. The agent's name, always the same.", required=True, low=1, high=64)
MEMORY_ID = Field("memory_id", "string", "The id as memory_search or memory_write returned it; 记忆的 id.", high=64)
KEY = Field("memory_key", "string", 'What it is about, in a few words: "coffee preference"; 主题，如“订单状态”.', low=1, high=128)
VALUE = Field(
    "memory_value", "string", "The statement itself, complete, at most 32 KiB; 完整、独立的内容，至多 32 KiB.", low=1, high=32_768
)
TRIGGER = Field("memory_query", "string", "When to recall it: the question it answers; 何时应想起：它能回答的问题.", high=2048)
IMPORTANCE = Field("importance", "number", "How much it matters; 重要性.", low=0, high=1)
TAGS = Field("tags", "array", "Tags; 标签.", low=1, high=64)
SCOPE = Field("scope", "string", 'Whom it concerns: "agent", "user:42", "project:x", "session:abc"; 范围.', high=160)
IS_CORE = Field("is_core", "boolean", "A lasting preference that never fades; 永久保留的核心偏好.")
METADATA = Field("metadata", "object", "Free fields, at most 16 KiB; 自定义字段.")
REVISION = Field("revision", "integer", "Refuse unless this is the current revision; 仅当版本号一致时修改.", low=1, high=MAX_TURN)
REQUEST_ID = Field("request_id", "string", "Names this change, so that a repeat does nothing twice; 幂等标识.", high=128)


def _with(field: Field, **changes: Any) -> Field:
    return Field(**{name: getattr(field, name) for name in Field.__dataclass_fields__} | changes)


WRITE_FIELDS = (
    AGENT,
    _with(KEY, required=True),
    _with(VALUE, required=True),
    TRIGGER,
    _with(IMPORTANCE, default=0.5),
    Field("confidence", "number", "How sure it is: 0.9 said outright, 0.6 concluded; 可信度.", default=0.8, low=0, high=1),
    TAGS,
    _with(SCOPE, default="agent", is_filled_in=False),
    Field(
        "source",
        "string",
        'Who said it: "user", "tool" or "inference", then optionally "session:<id>" and "turn:<n>": "user turn:7"; 来源.',
        high=256,
    ),
    IS_CORE,
    METADATA,
    REQUEST_ID,
)
CONTEXT = Field(
    "context",
    "string",
    "The last turns or the task at hand; what contradicts it is flagged or withheld; 当前对话或任务，与之矛盾的记忆会被标记.",
    high=8192,
)
SEARCH_FIELDS = (
    AGENT,
    Field("query", "string", 'The question or situation; may be "" in mode "tag"; 问题或情境.', required=True, high=8192),
    Field("key_filter", "string", 'Only this key; "order*" is a prefix; 只看此 key，末尾 * 表示前缀.', high=129),
    Field("top_k", "integer", "How many; 返回条数.", default=5, low=1, high=200),
    Field("min_importance", "number", "Only at least this important; 最低重要性.", default=0.0, low=0, high=1),
    _with(TAGS, description="Only with any of these tags; 含任一标签."),
    _with(SCOPE, description='Only this scope and "agent"; default every permitted one; 只看此范围（及 agent）.'),
    Field(
        "mode",
        "string",
        "hybrid: by meaning and words; semantic: by meaning; tag: by the filters alone, newest first; 检索方式.",
        default="hybrid",
        choices=get_args(Mode),
    ),
    Field("kind", "string", "Only this kind; 类型.", choices=get_args(Kind)),
    Field("since", "string", "Only what began to hold at or after this date or date-time (RFC 3339); 起始时间.", high=64),
    Field(
        "until", "string", "Only what began to hold before it; a bare date is its first moment, UTC; 截止时间（不含）.", high=64
    ),
    Field("as_of", "string", "Answer with what held at this date or date-time; 以该时间点为准.", high=64),
    CONTEXT,
    Field("include_archived", "boolean", "Search archived memories too; 包括已归档.", default=False),
)
UPDATE_FIELDS = (
    AGENT,
    _with(MEMORY_ID, required=True, low=1),
    KEY,
    TRIGGER,
    VALUE,
    IMPORTANCE,
    _with(TAGS, description="All its tags from now on; 替换全部标签."),
    IS_CORE,
    METADATA,
    REVISION,
    REQUEST_ID,
)
FORGET_FIELDS = (
    AGENT,
    _with(MEMORY_ID, description="Which memory; give this or memory_key; 二选一.", low=1),
    _with(KEY, description="Every memory with this key; give this or memory_id; 二选一."),
    _with(SCOPE, description='With memory_key: in which scope; default "agent"; 范围.'),
    Field(
        "mode",
        "string",
        "delete: gone from every search; fade: matters less; 删除或淡化.",
        default="delete",
        choices=get_args(ForgetMode),
    ),
    REQUEST_ID,
)


async def write(hindsight: Hindsight, given: Arguments, confirm: Confirm) -> dict[str, Any]:
    """Write one memory."""
    memory = NewMemory(
        key=given["memory_key"],
        value=given["memory_value"],
        query=given["memory_query"] or "",
        scope=given["scope"] or "",
        tags=given["tags"] or (),
        importance=given["importance"],
        confidence=given["confidence"],
        source=read_source(given["source"]),
        metadata=given["metadata"] or {},
        is_core=bool(given["is_core"]),
    )
    result = await hindsight.write(memory, agent_id=given["agent_id"], request_id=given["request_id"] or "")
    return results.from_written(result)


async def search(hindsight: Hindsight, given: Arguments, confirm: Confirm) -> dict[str, Any]:
    """Search memories."""
    if given["mode"] != "tag" and not given["query"].strip():
        raise Refused({"query": 'give the question or situation; only mode "tag" works without'})
    where = Filter(
        key=given["key_filter"] or "",
        scope=given["scope"] or "",
        kinds=(given["kind"],) if given["kind"] else (),
        tags=given["tags"] or (),
        min_importance=given["min_importance"],
        valid_since=read_moment("since", given["since"]),
        valid_until=read_moment("until", given["until"]),
        include_archived=given["include_archived"],
    )
    answer = await hindsight.recall(
        given["query"],
        mode=given["mode"],
        where=where,
        top_k=given["top_k"],
        as_of=read_moment("as_of", given["as_of"]),
        context=given["context"] or "",
        agent_id=given["agent_id"],
    )
    return results.from_answer(answer)


async def update(hindsight: Hindsight, given: Arguments, confirm: Confirm) -> dict[str, Any]:
    """Change fields of one memory."""
    names = {"memory_key": "key", "memory_query": "query", "memory_value": "value"}
    names |= {name: name for name in ("importance", "tags", "is_core", "metadata")}
    fields = {field: given[name] for name, field in names.items() if given[name] is not None}
    if not fields:
        raise Refused({"memory_id": f"nothing to change: give at least one of {', '.join(names)}"})
    result = await hindsight.update(
        given["memory_id"],
        fields,
        revision=given["revision"],
        agent_id=given["agent_id"],
        request_id=given["request_id"] or "",
    )
    return results.from_written(result)


async def forget(hindsight: Hindsight, given: Arguments, confirm: Confirm) -> dict[str, Any]:
    """Forget one memory, or all with a key; deleting by key asks first."""
    memory_id, key, mode = given["memory_id"] or "", given["memory_key"] or "", given["mode"]
    if bool(memory_id) == bool(key):
        raise Refused({"memory_id": "give either memory_id or memory_key, and not both"})
    if key and mode == "delete":
        scope = given["scope"] or "agent"
        if not await confirm(texts.CONFIRM_FORGET.format(agent=given["agent_id"], key=key, scope=scope)):
            return {"outcome": "declined", "mode": mode, "count": 0, "memory_ids": []}
    ids = await hindsight.forget(
        memory_id=memory_id,
        key=key,
        scope=given["scope"] or "",
        mode=mode,
        agent_id=given["agent_id"],
        request_id=given["request_id"] or "",
    )
    return {"outcome": "forgotten", "mode": mode, "count": len(ids), "memory_ids": ids}


def read_source(text: str | None) -> Source | None:
    """A source from its text form: a kind, "session:<id>" and "turn:<n>", each at most once, separated by spaces.

    Raises:
        Refused: a part is none of these.
    """
    parts: dict[str, str] = {}
    for word in (text or "").split():
        name, _, rest = ("kind", "", word) if word in SOURCES else word.partition(":")
        if name in parts or not rest or (name not in ("session", "turn") and word not in SOURCES):
            raise Refused({"source": _remedy(f"'{shown(word)}' does not fit")})
        parts[name] = rest
    if not parts:
        return None
    turn = parts.get("turn")
    if turn is not None and not (turn.isascii() and turn.isdigit() and len(turn) <= 10 and int(turn) <= MAX_TURN):
        raise Refused({"source": _remedy(f"'turn:{shown(turn)}' has no whole number")})
    kind: Any = parts.get("kind")
    return Source(kind, parts.get("session", ""), None if turn is None else int(turn))


def _remedy(problem: str) -> str:
    return f'{problem}; write user, tool or inference, then session:<id> and turn:<n> where known, as in "user turn:7"'


def read_moment(name: str, text: str | None) -> datetime | None:
    """A moment from an RFC 3339 date (its first moment, UTC) or date-time.

    Raises:
        Refused: it is neither.
    """
    if text is None:
        return None
    try:
        if _DATE.fullmatch(text):
            return datetime.combine(date.fromisoformat(text), time(), UTC)
        if _DATE_TIME.fullmatch(text):
            return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise Refused({name: "give a date or a date-time with its offset, as in 2026-03-31 or 2026-03-31T08:00:00+08:00"})


# The services' names of fields (what is before the argument they came from) -> the arguments' names.
ARGUMENT_NAMES: Mapping[str, str] = {
    "tags.values": "tags",
    "memory.source": "source",
    "memory.key": "memory_key",
    "memory.query": "memory_query",
    "memory.value": "memory_value",
    "filter.key": "key_filter",
    "filter.kinds": "kind",
    "filter.valid_from.since": "since",
    "filter.valid_from.until": "until",
    "memory.": "",
    "filter.": "",
    "value": "memory_value",
    "key": "memory_key",
}


def to_argument(field: str, renames: Mapping[str, str]) -> str:
    """The argument a service's field came from, for a tool whose arguments have names of their own."""
    for prefix, name in (*renames.items(), *ARGUMENT_NAMES.items()):
        if field == prefix or (field.startswith(prefix) and (prefix.endswith(".") or field[len(prefix)] in ".[")):
            return name + field[len(prefix) :]
    return field


MEMORY_TOOLS = (
    Tool("memory_write", "Remember 写入记忆", texts.WRITE, WRITE_FIELDS, results.WRITTEN, write),
    Tool(
        "memory_search",
        "Search memory 查询记忆",
        texts.SEARCH,
        SEARCH_FIELDS,
        results.FOUND,
        search,
        is_reading=True,
        is_idempotent=True,
    ),
    Tool("memory_update", "Correct a memory 更正记忆", texts.UPDATE, UPDATE_FIELDS, results.WRITTEN, update, is_destructive=True),
    Tool(
        "memory_forget",
        "Forget 忘记",
        texts.FORGET,
        FORGET_FIELDS,
        results.FORGOTTEN,
        forget,
        is_destructive=True,
        is_idempotent=True,
    ),
)
