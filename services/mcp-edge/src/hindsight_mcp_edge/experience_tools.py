"""The experience tool set: what a task taught, written down and looked for before the next one like it."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from hindsight_memory import Filter, Hindsight, Hit, Mode, NewMemory, Source

from hindsight_mcp_edge import results, texts
from hindsight_mcp_edge.fields import Field, Refused
from hindsight_mcp_edge.memory_tools import CONTEXT
from hindsight_mcp_edge.tool import Arguments, Confirm, Tool

OUTCOMES = ("success", "partial", "failure")
KEY_CHARS, VALUE_BYTES, METADATA_BYTES = 128, 32 * 1024, 16 * 1024
LISTS = {"key_steps": "Steps", "pitfalls": "Pitfalls", "reusable_knowledge": "Knowledge"}

WRITE_FIELDS = (
    Field("goal", "string", "What the task was to reach; 任务目标.", required=True, low=1, high=2000),
    Field("outcome", "string", "How it ended; 结果.", required=True, choices=OUTCOMES),
    Field(
        "scenario_summary",
        "string",
        "One sentence: in which situation this helps again; 一句话：什么场景下适用.",
        required=True,
        low=1,
        high=512,
    ),
    Field("key_steps", "array", "The steps that worked, in order; 关键步骤.", low=1, high=1000),
    Field("pitfalls", "array", "What failed and what worked instead; 踩过的坑及解决办法.", low=1, high=1000),
    Field("reusable_knowledge", "array", "API formats, parameter conventions, preferences; 可复用的知识.", low=1, high=1000),
    Field("tags", "array", "Tool type and name, task type, domain: database, query, order; 标签.", low=1, high=64),
)
SEARCH_FIELDS = (
    Field("query", "string", "The task at hand; needed unless mode is tag; 当前任务.", high=8192),
    Field("tags", "array", "Only with any of these tags; 含任一标签.", low=1, high=64),
    Field(
        "mode",
        "string",
        "hybrid: by meaning and words; semantic: by meaning; tag: all with the tags, newest first; 检索方式.",
        default="hybrid",
        choices=get_args(Mode),
    ),
    Field("limit", "integer", "How many; 返回条数.", default=5, low=1, high=200),
    CONTEXT,
)


async def write_experience(hindsight: Hindsight, given: Arguments, confirm: Confirm) -> dict[str, Any]:
    """Write down what a task taught."""
    parts = {name: list(given[name] or ()) for name in LISTS}
    value = to_text(given["goal"], given["outcome"], parts)
    if len(value.encode()) > VALUE_BYTES or _size(parts) > METADATA_BYTES:
        longest = max(parts, key=lambda name: sum(map(len, parts[name])))
        raise Refused({longest: "an experience holds 16 KiB at most; keep what is useful again and leave out the rest"})
    memory = NewMemory(
        key=given["goal"].strip()[:KEY_CHARS].strip(),
        value=value,
        query=given["scenario_summary"],
        kind="experience",
        tags=given["tags"] or (),
        source=Source("inference"),
        confidence=0.7,
        metadata={"outcome": given["outcome"], "goal": given["goal"], **{name: part for name, part in parts.items() if part}},
    )
    return results.from_written(await hindsight.write(memory))


async def search_experiences(hindsight: Hindsight, given: Arguments, confirm: Confirm) -> dict[str, Any]:
    """Look for what earlier tasks taught."""
    query = given["query"] or ""
    if given["mode"] != "tag" and not query.strip():
        raise Refused({"query": 'describe the task at hand; only mode "tag" works without'})
    where = Filter(kinds=("experience",), tags=given["tags"] or ())
    answer = await hindsight.recall(query, mode=given["mode"], where=where, top_k=given["limit"], context=given["context"] or "")
    found = {
        "experiences": [_from_hit(hit) | results.owner_of(answer, hit) for hit in answer.hits],
        "count": len(answer.hits),
        "more": bool(answer.next_page_token),
        "degraded": bool(answer.missing_channels),
        "receipt_id": answer.receipt_id,
    }
    hints = [texts.DEGRADED] * bool(answer.missing_channels) + [texts.NO_EXPERIENCE] * (not answer.hits)
    return found | results.from_guard(answer, hints)


def to_text(goal: str, outcome: str, parts: Mapping[str, Sequence[str]]) -> str:
    """An experience as text, each part labelled, so that all of them take part in its embedding."""
    lines = [f"Goal: {goal.strip()}", f"Outcome: {outcome}"]
    for name, label in LISTS.items():
        if parts[name]:
            lines += [f"{label}:", *(f"- {one.strip()}" for one in parts[name])]
    return "\n".join(lines)


def _size(parts: Mapping[str, Sequence[str]]) -> int:
    return sum(len(one.encode()) + 8 for part in parts.values() for one in part)


def _from_hit(hit: Hit) -> dict[str, Any]:
    memory, metadata = hit.memory, hit.memory.metadata
    return {
        "id": memory.id,
        "goal": str(metadata.get("goal", memory.key)),
        "outcome": str(metadata.get("outcome", "")),
        "scenario_summary": memory.query,
        **{name: [str(one) for one in metadata.get(name, ())] for name in LISTS},
        "text": memory.value,
        "tags": list(memory.tags),
        "confidence": round(memory.confidence, results.DIGITS),
        "similarity": round(hit.similarity, results.DIGITS),
        "final_score": round(hit.final_score, results.DIGITS),
        "created_at": results.to_text(memory.created_at),
        "why": results.explain(hit),
        **results.flags_of(hit),
    }


EXPERIENCE_TOOLS = (
    Tool("write_memory", "Write an experience 写入经验", texts.WRITE_EXPERIENCE, WRITE_FIELDS, results.WRITTEN, write_experience),
    Tool(
        "search_memory",
        "Search experiences 查询经验",
        texts.SEARCH_EXPERIENCES,
        SEARCH_FIELDS,
        results.EXPERIENCES,
        search_experiences,
        is_reading=True,
        is_idempotent=True,
    ),
)
