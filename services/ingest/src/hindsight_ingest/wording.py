"""The fixed words of an experience in English and Chinese, and texts cut to their length without secrets."""

import re
from collections.abc import Mapping
from typing import Literal

from hindsight_ingest.masking import mask

Language = Literal["en", "zh"]
_MARK = re.compile(r"\[masked(?:: [^\]]{0,40})?(?:\]|$)")

WORDS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "goal": "Goal",
        "outcome": "Outcome",
        "requests": "Requests",
        "key_steps": "Steps",
        "pitfalls": "Pitfalls",
        "reusable_knowledge": "Knowledge",
        "label": "{label}: {text}",
        "success": "success",
        "partial": "partial",
        "failure": "failure",
        "and": ", ",
        "renamed": "`{before}`|`{after}`",
        "changed": "`{name}`=`{before}`|`{after}`",
        "origin": "from `{tool}`",
        "secret": "one value of `{name}`|another",
        "added": "without `{name}`|with `{name}`{value}",
        "removed": "with `{name}`|without `{name}`",
        "replaced": "`{before}` in `{name}`|`{after}`",
        "inserted": "without `{after}` in `{name}`|with `{after}`",
        "deleted": "with `{before}` in `{name}`|without `{before}`",
        "corrected": "`{tool}`: {failed} failed: {error}; {worked} worked",
        "corrected_untold": "`{tool}`: {failed} failed; {worked} worked",
        "ordered": "{call} failed: {error}; worked after {others}",
        "ordered_untold": "{call} failed; worked after {others}",
        "unresolved": "{call} failed with: {error}; not resolved",
        "unresolved_untold": "{call} failed; not resolved",
        "know_renamed": "`{tool}` takes `{after}`, not `{before}`",
        "know_changed": "`{tool}`: `{name}` works as `{after}`{note}, not as `{before}`",
        "know_added": "`{tool}` needs `{name}`{note}",
        "know_removed": "`{tool}` works without `{name}`",
        "know_replaced": "`{tool}`: in `{name}` write `{after}`, not `{before}`",
        "know_inserted": "`{tool}`: `{name}` needs `{after}`",
        "know_deleted": "`{tool}`: `{name}` works without `{before}`",
        "know_ordered": "{others} before {call}",
        "step": "`{tool}`{arguments}",
        "step_many": "called `{tool}` {count} times{arguments}",
        "arguments": " ({arguments})",
        "retried": "; worked at try {count}",
        "retried_many": "; one of them at try {count}",
        "correction": 'The user corrected: "{text}"',
        "preference": 'The user asks for: "{text}"',
        "note": "Note: {text}",
        "decided": "Said",
        "learned": "Learned",
        "scenario": 'For tasks such as "{goal}"',
        "scenario_tools": ", with {tools}",
        "scenario_domain": " (domain: {domain})",
    },
    "zh": {
        "goal": "目标",
        "outcome": "结果",
        "requests": "要求",
        "key_steps": "步骤",
        "pitfalls": "避坑",
        "reusable_knowledge": "知识",
        "label": "{label}：{text}",
        "success": "成功",
        "partial": "部分完成",
        "failure": "失败",
        "and": "、",
        "renamed": "`{before}`|改用 `{after}`",
        "changed": "`{name}`=`{before}`|改为 `{after}`",
        "origin": "取自 `{tool}`",
        "secret": "旧 `{name}`|换用另一个 `{name}`",
        "added": "缺少 `{name}`|加上 `{name}`{value}",
        "removed": "带 `{name}`|去掉 `{name}`",
        "replaced": "`{name}` 中的 `{before}`|改用 `{after}`",
        "inserted": "`{name}` 中缺少 `{after}`|加上 `{after}`",
        "deleted": "`{name}` 中带 `{before}`|去掉 `{before}`",
        "corrected": "`{tool}`：{failed} 失败：{error}；{worked} 成功",
        "corrected_untold": "`{tool}`：{failed} 失败；{worked} 成功",
        "ordered": "{call} 失败：{error}；先调用 {others} 后成功",
        "ordered_untold": "{call} 失败；先调用 {others} 后成功",
        "unresolved": "{call} 失败：{error}；未解决",
        "unresolved_untold": "{call} 失败；未解决",
        "know_renamed": "`{tool}` 的参数是 `{after}`，不是 `{before}`",
        "know_changed": "`{tool}` 的 `{name}` 写成 `{after}`{note} 可用，`{before}` 不可用",
        "know_added": "`{tool}` 需要 `{name}`{note}",
        "know_removed": "`{tool}` 不带 `{name}` 可用",
        "know_replaced": "`{tool}` 的 `{name}` 中用 `{after}`，不用 `{before}`",
        "know_inserted": "`{tool}` 的 `{name}` 需要 `{after}`",
        "know_deleted": "`{tool}` 的 `{name}` 不带 `{before}` 可用",
        "know_ordered": "先 {others}，再 {call}",
        "step": "`{tool}`{arguments}",
        "step_many": "调用 `{tool}` {count} 次{arguments}",
        "arguments": "（{arguments}）",
        "retried": "；第 {count} 次成功",
        "retried_many": "；其中一次试了 {count} 次",
        "correction": "用户纠正：“{text}”",
        "preference": "用户要求：“{text}”",
        "note": "备注：{text}",
        "decided": "用户提到",
        "learned": "记下",
        "scenario": "适用于“{goal}”这类任务",
        "scenario_tools": "，用到 {tools}",
        "scenario_domain": "（领域：{domain}）",
    },
}


def say(language: Language, phrase: str, /, **parts: object) -> str:
    """A phrase with its parts filled in."""
    return WORDS[language][phrase].format(**parts).replace("） ", "）")


def clip(text: str, limit: int) -> str:
    """A text on one line and without secrets, at most `limit` characters, cut with "…"."""
    shown, _ = mask(text[: 2 * limit + 400])
    shown = " ".join(_MARK.sub("…", shown).split())
    return shown if len(shown) <= limit else f"{shown[: limit - 1].rstrip()}…"


def quote(text: str, limit: int) -> str:
    """A clipped text to stand between backticks."""
    return clip(text, limit).replace("`", "'")
