"""The desk tool set: what a session has at hand, and the end of a session."""

from typing import Any

from hindsight_memory import Answer, DeskEntry, Filter, Hindsight, HindsightError, NewEntry, Source

from hindsight_mcp_edge import results, texts
from hindsight_mcp_edge.fields import Field, Refused
from hindsight_mcp_edge.session_tools import SESSION_ID, end_session
from hindsight_mcp_edge.tool import Arguments, Confirm, Tool

FOUND = 5  # entries that answer a query
LOOKED_AT = 20  # hits, of which some may be memories
MAX_TTL_S = 86_400
RENAMES = {"scope": "session_id", "filter.scope": "session_id", "key": "key", "value": "value"}

KEY = Field("key", "string", "Its name; the same name takes its place; 名称，同名覆盖.", required=True, low=1, high=128)
PUT_FIELDS = (
    SESSION_ID,
    KEY,
    Field("value", "string", "What to have at hand, at most 32 KiB; 内容，至多 32 KiB.", required=True, low=1, high=32_768),
    Field("ttl_s", "integer", "Seconds it stays unless used; default 1,800; 保留秒数.", low=1, high=MAX_TTL_S),
    Field("importance", "number", "How much it matters; 重要性.", default=0.5, low=0, high=1, is_filled_in=False),
)
GET_FIELDS = (
    SESSION_ID,
    Field("key", "string", "This entry alone; 只取此名称的一条.", low=1, high=128),
    Field(
        "query", "string", "Those that answer this; without key and query: all; 按问题查找；都不给则列出全部.", low=1, high=8192
    ),
)
PIN_FIELDS = (
    SESSION_ID,
    KEY,
    Field("pinned", "boolean", "False unpins; false 为取消固定.", default=True),
)


async def put(hindsight: Hindsight, given: Arguments, confirm: Confirm) -> dict[str, Any]:
    """Put something on a session's desk."""
    terms = {"importance": given["importance"], "ttl_s": given["ttl_s"] or 0}
    entry = NewEntry(given["key"], given["value"], source=Source("inference"), **terms)  # the model's note, whoever said so
    placed = await hindsight.put_entry(_desk(given), entry)
    told = {"evicted_keys": list(placed.evicted_keys), "used_tokens": placed.used_tokens, "budget_tokens": placed.budget_tokens}
    return {"entry": results.from_entry(placed.entry), **told}


async def get(hindsight: Hindsight, given: Arguments, confirm: Confirm) -> dict[str, Any]:
    """One entry by its key, those that answer a query, or all."""
    key, query = given["key"], given["query"]
    if key and query:
        raise Refused({"query": "give either key or query, or neither for all of the desk"})
    if key:
        return _found([await hindsight.get_entry(_desk(given), key)])
    if not query:
        desk = await hindsight.list_entries(_desk(given))
        return _found(desk.entries) | {"used_tokens": desk.used_tokens, "budget_tokens": desk.budget_tokens}
    options: dict[str, Any] = {"working": "only", "drop_irrelevant": True, "top_k": LOOKED_AT}
    answer = await hindsight.recall(query, where=Filter(scope=_desk(given)), **options)
    found = _entries_of(answer)[:FOUND]
    if not found and (others := len((await hindsight.list_entries(_desk(given))).entries)):
        return _found([]) | {"hint": texts.NOTHING_LIKE_IT.format(count=others)}
    return _found(found)


async def pin(hindsight: Hindsight, given: Arguments, confirm: Confirm) -> dict[str, Any]:
    """Pin an entry, or unpin it."""
    return {"entry": results.from_entry(await hindsight.pin_entry(_desk(given), given["key"], is_pinned=given["pinned"]))}


def _desk(given: Arguments) -> str:
    return f"session:{given['session_id']}"


def _entries_of(answer: Answer) -> list[DeskEntry]:
    if "working" in answer.missing_channels:
        raise HindsightError(texts.DESK_AWAY, code="UNAVAILABLE", reason="DESK_UNAVAILABLE", fields={}, retry_after_s=None)
    return [hit.subject for hit in answer.hits if isinstance(hit.subject, DeskEntry)]


def _found(entries: Any) -> dict[str, Any]:
    shown = [results.from_entry(entry) for entry in entries]
    return {"entries": shown, "count": len(shown)} | ({} if shown else {"hint": texts.NOTHING_ON_DESK})


DESK_TOOLS = (
    Tool(
        "desk_put",
        "Put on the desk 放上案头",
        texts.DESK_PUT,
        PUT_FIELDS,
        results.PLACED,
        put,
        is_idempotent=True,
        renames=RENAMES,
    ),
    Tool(
        "desk_get",
        "Look at the desk 查看案头",
        texts.DESK_GET,
        GET_FIELDS,
        results.ENTRIES,
        get,
        is_reading=True,
        is_idempotent=True,
        renames=RENAMES,
    ),
    Tool(
        "desk_pin",
        "Pin on the desk 固定在案头",
        texts.DESK_PIN,
        PIN_FIELDS,
        results.PINNED,
        pin,
        is_idempotent=True,
        renames=RENAMES,
    ),
    Tool(
        "end_session",
        "Session is over 会话结束",
        texts.END_SESSION,
        (SESSION_ID,),
        results.ENDED,
        end_session,
        is_idempotent=True,
    ),
)
