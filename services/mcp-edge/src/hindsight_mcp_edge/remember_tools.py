"""The remember tool set: three tools that need no more than a text and a scope."""

from typing import Any

from hindsight_memory import Filter, Hindsight, HindsightError, NewMemory

from hindsight_mcp_edge import results, texts
from hindsight_mcp_edge.fields import Field
from hindsight_mcp_edge.memory_tools import CONTEXT
from hindsight_mcp_edge.remembering import derive_key, derive_query
from hindsight_mcp_edge.tool import Arguments, Confirm, Tool

SCOPE = Field("scope", "string", 'Whom it concerns: "user:42", "session:abc", "agent"; 范围.', required=True, low=1, high=160)
REMEMBER_FIELDS = (
    Field(
        "content",
        "string",
        "One statement, complete, at most 32 KiB; 一条完整、独立的内容，至多 32 KiB.",
        required=True,
        low=1,
        high=32_768,
    ),
    SCOPE,
    Field("confidence", "number", "How sure; below 0.5 it stays on the desk only; 把握程度.", default=0.8, low=0, high=1),
    Field("key", "string", "What it is about; derived where it is absent; 主题，可省略.", low=1, high=128),
    Field("query", "string", "The question it answers; derived where it is absent; 它能回答的问题，可省略.", low=1, high=2048),
)
RECALL_FIELDS = (
    Field("query", "string", "The question or situation; 问题或情境.", required=True, low=1, high=8192),
    SCOPE,
    Field("top_k", "integer", "How many; 返回条数.", default=5, low=1, high=200),
    CONTEXT,
)
FORGET_FIELDS = (
    Field("mem_key", "string", "The key as recall showed it; recall 返回的 key.", required=True, low=1, high=128),
    SCOPE,
)


async def remember(hindsight: Hindsight, given: Arguments, confirm: Confirm) -> dict[str, Any]:
    """Write one memory; key and query are made from its words where they are not given."""
    content = given["content"]
    key = given["key"] or derive_key(content)
    query = given["query"] or derive_query(content, key)
    memory = NewMemory(key, content, query=query, scope=given["scope"], confidence=given["confidence"])
    return results.from_written(await hindsight.write(memory)) | {"key": key, "query": query}


async def recall(hindsight: Hindsight, given: Arguments, confirm: Confirm) -> dict[str, Any]:
    """Recall from the desk of the scope first, and from memory where that does not suffice."""
    options: dict[str, Any] = {"working": "first", "drop_irrelevant": True, "context": given["context"] or ""}
    answer = await hindsight.recall(given["query"], where=Filter(scope=given["scope"]), top_k=given["top_k"], **options)
    return results.from_recalled(answer)


async def forget(hindsight: Hindsight, given: Arguments, confirm: Confirm) -> dict[str, Any]:
    """Delete every active memory with a key in a scope, and the entry of its desk."""
    key, scope = given["mem_key"], given["scope"]
    if not await confirm(texts.CONFIRM_FORGET_KEY.format(key=key, scope=scope)):
        return {"outcome": "declined", "count": 0, "memory_ids": []}
    ids = await hindsight.forget(key=key, scope=scope)
    away = {}
    try:
        cleared = await hindsight.clear_desk(scope, key)
    except HindsightError as error:
        if error.reason != "NOT_CONFIGURED" and error.code != "UNAVAILABLE":
            raise
        cleared = 0  # without Redis there is no desk; what a Redis that is away holds fades within a day
        away = {"degraded": True, "hint": texts.DESK_AWAY} if error.code == "UNAVAILABLE" else {}
    return {"outcome": "forgotten", "count": len(ids) + cleared, "memory_ids": ids, **away}


REMEMBER_TOOLS = (
    Tool(
        "remember",
        "Remember 记住",
        texts.REMEMBER,
        REMEMBER_FIELDS,
        results.REMEMBERED,
        remember,
        renames={"memory.value": "content", "memory.key": "key", "memory.query": "query"},
    ),
    Tool(
        "recall",
        "Recall 回忆",
        texts.RECALL,
        RECALL_FIELDS,
        results.RECALLED,
        recall,
        is_reading=True,
        is_idempotent=True,
    ),
    Tool(
        "forget",
        "Forget 忘记",
        texts.FORGET_KEY,
        FORGET_FIELDS,
        results.FORGOTTEN_KEY,
        forget,
        is_destructive=True,
        is_idempotent=True,
        renames={"key": "mem_key"},
    ),
)
