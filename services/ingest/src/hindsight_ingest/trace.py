"""A task's turns read as tool calls: what was called with what, what came back, and whether it failed."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from hindsight_store.turns import Turn

MAX_JSON_CHARS = 8192  # of a result that is read as JSON; a longer one is an answer, not an error
HEAD_CHARS = 400
MIN_CODE = 400  # below it, and 0 and 200 above all, a code tells success
MAX_MESSAGES = 5  # of a result that lists its errors
_FAILED = re.compile(
    r"\s*(?:[\w.]*(?:error|exception)\s*[:：]|traceback \(most recent|fatal:|panic:|(?:错误|出错|失败|异常)了?\s*[:：，,!！]|"
    r"http(?:/[\d.]+)? ?[45]\d\d\b|(?:status|status code|状态码)\s*[:：=]?\s*[45]\d\d\b|"
    r"(?:exit|return) (?:code|status)\s*[:：=]?\s*[1-9]|退出码\s*[:：=]?\s*[1-9])",
    re.IGNORECASE,
)
_TRANSIENT = re.compile(
    r"time[d -]?\s?out|\b(?:429|502|503|504)\b|too many requests|rate.?limit|temporar|unavailable|try again|"
    r"connection (?:reset|refused)|econnreset|overloaded|超时|限流|频繁|繁忙|稍后|暂时|不可用|连接(?:被)?(?:重置|中断)",
    re.IGNORECASE,
)
_READING_TEXT = re.compile(r"read|log|cat|view|tail|grep|search|日志|读取|搜索", re.IGNORECASE)
_MISSING_ELEMENT = re.compile(r"selector|locator|element|xpath|元素|选择器", re.IGNORECASE)  # a browser waits for it in vain
_BARE = re.compile(
    r"(?:error|failed|exception|错误|失败|http(?:/[\d.]+)? ?\d{3}[\w ]{0,24}|(?:exit|return) (?:code|status)\W*\d+)\W*",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"^(?:(?:error|fatal|错误|出错|失败)\s*[:：]\s*)+", re.IGNORECASE)
_ERROR_CODES = ("errcode", "errCode", "err_code", "error_code", "errno", "retcode")
_FINE = re.compile(
    r"\b(?:ok|success\w*|succeeded|done|sent|created)\b|(?<![不未没])成功|(?<!未)完成|已(?:发送|提交|创建|保存|受理|更新|删除)",
    re.IGNORECASE,
)
_STAMP = re.compile(r"(?:request|req|trace|log)_?id|time|timestamp", re.IGNORECASE)  # any answer may have one
_MESSAGES = (
    "error",
    "errors",
    "message",
    "msg",
    "detail",
    "details",
    "reason",
    "errmsg",
    "err_msg",
    "error_msg",
    "errorMessage",
    "error_description",
    "title",
    "错误",
    "原因",
    "消息",
)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool, with its answer where there is one. Positions are places among the turns of the trace."""

    tool: str
    arguments: Mapping[str, Any]
    asked_at: int
    answered_at: int | None = None
    result: str = ""
    has_failed: bool = False

    @property
    def has_succeeded(self) -> bool:
        """Whether it was answered, and without an error."""
        return self.answered_at is not None and not self.has_failed


def read_calls(turns: Sequence[Turn]) -> list[ToolCall]:
    """The tool calls of a trace in the order asked.

    A call carries its answer, or a tool_result of the same tool brings it: the one with the same arguments, or else the
    longest unanswered. A user's turn ends the wait: an answer that comes after it belongs to no earlier call.
    """
    calls: list[ToolCall] = []
    waiting: defaultdict[str, list[int]] = defaultdict(list)
    for at, turn in enumerate(turns):
        if turn.role == "user":
            waiting.clear()
        elif turn.role == "tool_call":
            call = ToolCall(turn.tool, turn.arguments, asked_at=at)
            if turn.result or turn.is_error:
                call = _answer(call, at, turn)
            else:
                waiting[turn.tool].append(len(calls))
            calls.append(call)
        elif turn.role == "tool_result" and waiting[turn.tool]:
            place = _find_asked(calls, waiting[turn.tool], turn)
            waiting[turn.tool].remove(place)
            calls[place] = _answer(calls[place], at, turn)
    return calls


def _find_asked(calls: Sequence[ToolCall], places: Sequence[int], turn: Turn) -> int:
    if turn.arguments:
        return next((n for n in places[:32] if calls[n].arguments == turn.arguments), places[0])
    return places[0]


def _answer(call: ToolCall, at: int, turn: Turn) -> ToolCall:
    result = turn.result or turn.content
    is_reading = bool(_READING_TEXT.search(call.tool))
    return replace(call, answered_at=at, result=result, has_failed=turn.is_error or tells_failure(result, is_reading=is_reading))


def tells_failure(result: str, *, is_reading: bool = False) -> bool:
    """Whether a result that is not marked as an error is one by its form: {"error": …}, "Error: …", "HTTP 404".

    Of a tool that reads texts, "Error: …" may be the text.
    """
    fields = _read_object(result)
    if fields is None:
        return not is_reading and bool(_FAILED.match(result[:HEAD_CHARS]))
    if any(_is_told(fields.get(name)) for name in ("error", "errors", "错误")):
        return True
    if any(fields.get(name) is False for name in ("success", "ok", "成功")) or fields.get("status") == "error":
        return True
    if _has_error_code(fields):
        return True
    return any(_is_http_error(fields.get(name)) for name in ("status", "status_code", "statusCode", "httpStatus"))


def _has_error_code(fields: Mapping[str, Any]) -> bool:
    """Whether an answer is a code and a message that is none of success. One with anything else may be any code."""
    if any(_is_number(fields.get(name)) and fields[name] for name in _ERROR_CODES):
        return True
    message = fields.get("msg") or fields.get("message")
    is_bare = not any(
        value for name, value in fields.items() if name not in {"code", "msg", "message"} and not _STAMP.fullmatch(name)
    )
    code = fields.get("code")
    return is_bare and _is_number(code) and code >= MIN_CODE and isinstance(message, str) and not _FINE.search(message)


def _is_told(error: Any) -> bool:
    return bool(error) and not (
        isinstance(error, str) and error.strip().lower() in {"none", "null", "ok", "no", "false", "0", "无"}
    )


def _is_http_error(status: Any) -> bool:
    return _is_number(status) and 400 <= status < 600


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def tell_error(result: str) -> str:
    """The message of a failed call's result on one line; empty where it has none."""
    fields = _read_object(result)
    if fields is not None:
        message = _find_message(fields, 0)
        if message:
            return _PREFIX.sub("", message)
    lines = [line.strip() for line in result[: 4 * MAX_JSON_CHARS].splitlines() if line.strip()]
    if not lines:
        return ""
    if lines[0].lower().startswith("traceback"):
        return lines[-1]
    if _BARE.fullmatch(lines[0]) and len(lines) > 1:
        return _PREFIX.sub("", f"{lines[0].rstrip(':：')}: {lines[1]}")
    return _PREFIX.sub("", lines[0])


def is_transient(error: str) -> bool:
    """Whether an error says that the same call may work later: a timeout, a rate limit."""
    return bool(_TRANSIENT.search(error[:HEAD_CHARS])) and not _MISSING_ELEMENT.search(error[:HEAD_CHARS])


def _read_object(text: str) -> dict[str, Any] | None:
    if len(text) > MAX_JSON_CHARS or not text.lstrip().startswith("{"):
        return None
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def _find_message(fields: Mapping[str, Any], depth: int) -> str:
    for name in _MESSAGES:
        value = fields.get(name)
        if isinstance(value, list) and depth < 3:
            value = "; ".join(filter(None, (_find_message({name: one}, depth + 1) for one in value[:MAX_MESSAGES])))
        if isinstance(value, Mapping) and depth < 3:
            value = _find_message(value, depth + 1)
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())
    return ""
