"""The session tool set: what a client's hooks call while a conversation goes on."""

from typing import Any

from hindsight_memory import Hindsight, Turn

from hindsight_mcp_edge import results, texts
from hindsight_mcp_edge.fields import Field
from hindsight_mcp_edge.memory_tools import read_moment
from hindsight_mcp_edge.tool import Arguments, Confirm, Tool

ROLES = ("user", "assistant", "tool_call", "tool_result")
TEXT_CHARS = 32_768

SESSION_ID = Field(
    "session_id", "string", 'The conversation, always the same id, as "abc"; 会话 id.', required=True, low=1, high=128
)
AGENT = Field(
    "agent_id", "string", "Whose memory; default: the key's agent, whose desk the desk tools use; 谁的记忆.", low=1, high=64
)
SCOPE = Field("scope", "string", 'Whom the session concerns: "user:42"; decided by its first turns; 范围.', high=160)
TURN_FIELDS = (
    Field("role", "string", "Who says it, or a call of a tool, or its answer; 角色.", required=True, choices=ROLES),
    Field("content", "string", "What is said, at most 32 KiB; 内容，至多 32 KiB.", high=TEXT_CHARS),
    Field("tool", "string", "Of a call and its answer: the tool's name; 工具名.", low=1, high=128),
    Field("arguments", "object", "Of a call: its arguments; 参数."),
    Field("result", "string", "Of an answer: what came back, at most 32 KiB; 返回结果，至多 32 KiB.", high=TEXT_CHARS),
    Field("is_error", "boolean", "Of an answer: whether the call failed; 是否出错.", default=False),
    Field("at", "string", "When, as an RFC 3339 date-time; default: now; 时间.", high=64),
)
OBSERVE_FIELDS = (
    SESSION_ID,
    Field("turns", "objects", "The turns since the last call, in order; 新增的对话轮次.", required=True, items=TURN_FIELDS),
    AGENT,
    SCOPE,
)
COMPLETE_FIELDS = (
    SESSION_ID,
    Field("outcome", "string", "How it ended; default: the turns decide; 结果.", choices=("success", "partial", "failure")),
    Field("note", "string", "What is worth knowing beside the turns; 补充说明.", high=2000),
)
REPORT_FIELDS = (
    Field(
        "receipt_id",
        "string",
        "The receipt_id of the answer that was used; 所用回答的 receipt_id.",
        required=True,
        low=1,
        high=64,
    ),
    Field("outcome", "string", "How it ended; 结果.", required=True, choices=("success", "partial", "failure")),
    Field("note", "string", "What helped, or was wrong or missing; 有用或有误之处.", high=2000),
    Field(
        "final_prompt", "string", "The prompt as the model got it last, at most 32 KiB; 最终提示词，至多 32 KiB.", high=TEXT_CHARS
    ),
)
CONTEXT_FIELDS = (
    SESSION_ID,
    Field(
        "query", "string", 'What is asked or to be done; "" as the session begins; 当前的问题或任务.', required=True, high=8192
    ),
    Field("budget_tokens", "integer", "How many tokens it may have; 词元上限.", default=2000, low=100, high=100_000),
    AGENT,
    Field("scope", "string", 'Whom it concerns: "user:42"; default: whom the session concerns; 范围.', high=160),
)


async def observe(hindsight: Hindsight, given: Arguments, confirm: Confirm) -> dict[str, Any]:
    """Keep turns of a session."""
    turns = [_to_turn(i, turn) for i, turn in enumerate(given["turns"])]
    agent_id, scope = given["agent_id"] or "", given["scope"] or ""
    observed = await hindsight.observe(given["session_id"], turns, agent_id=agent_id, scope=scope)
    shown = ("turn", "trigger", "rule", "kind", "key", "value", "timing")
    candidates = [{name: getattr(one, name) for name in shown} for one in observed.candidates]
    return {"first_turn": observed.first_turn, "added": observed.added, "candidates": candidates}


async def complete_task(hindsight: Hindsight, given: Arguments, confirm: Confirm) -> dict[str, Any]:
    """Say that the task at hand is over."""
    told = {"outcome": given["outcome"] or "", "note": given["note"] or ""}
    ended = await hindsight.complete_task(given["session_id"], **told)
    hint = texts.LOOKS_BACK if ended.looks_back else texts.NOTHING_TO_LOOK_BACK_ON
    return {"task_id": ended.task_id, "looks_back": ended.looks_back, "hint": hint}


async def report_outcome(hindsight: Hindsight, given: Arguments, confirm: Confirm) -> dict[str, Any]:
    """Say what became of an answer."""
    told = {"note": given["note"] or "", "final_prompt": given["final_prompt"] or ""}
    await hindsight.report_outcome(given["receipt_id"], given["outcome"], **told)
    return {"receipt_id": given["receipt_id"], "outcome": given["outcome"]}


async def recall_context(hindsight: Hindsight, given: Arguments, confirm: Confirm) -> dict[str, Any]:
    """A context that is ready for a prompt."""
    wanted = {"session_id": given["session_id"], "scope": given["scope"] or "", "agent_id": given["agent_id"] or ""}
    return results.from_context(await hindsight.recall_context(given["query"], budget_tokens=given["budget_tokens"], **wanted))


async def end_session(hindsight: Hindsight, given: Arguments, confirm: Confirm) -> dict[str, Any]:
    """Say that a session is over."""
    ended = await hindsight.end_session(given["session_id"])
    return {
        "task_id": ended.task_id,
        "looks_back": ended.looks_back,
        "hint": texts.SUMS_UP if ended.task_id else texts.DESK_CLEARED,
    }


def _to_turn(number: int, given: Arguments) -> Turn:
    return Turn(
        role=given["role"],
        content=given["content"] or "",
        tool=given["tool"] or "",
        arguments=given["arguments"] or {},
        result=given["result"] or "",
        is_error=given["is_error"],
        at=read_moment(f"turns[{number}].at", given["at"]) if given["at"] else None,
    )


SESSION_TOOLS = (
    Tool("observe", "Observe turns 记录对话", texts.OBSERVE, OBSERVE_FIELDS, results.OBSERVED, observe),
    Tool("complete_task", "Task is over 任务结束", texts.COMPLETE_TASK, COMPLETE_FIELDS, results.ENDED, complete_task),
    Tool(
        "report_outcome",
        "How it went 结果反馈",
        texts.REPORT_OUTCOME,
        REPORT_FIELDS,
        results.REPORTED,
        report_outcome,
        is_idempotent=True,
    ),
    Tool(
        "recall_context",
        "Context for a prompt 提示词上下文",
        texts.RECALL_CONTEXT,
        CONTEXT_FIELDS,
        results.CONTEXT,
        recall_context,
        is_reading=True,
        is_idempotent=True,
    ),
)
