"""An agent without a language model that reads the texts of experiences before it calls a tool.

It has a call in mind, as one makes it who has not met the tool, and looks at nothing but the texts. Its rules:

1. A text is about the call if it names the tool in backticks; the others are put aside. So is a line about another tool.
2. "takes `a`, not `b`": its own argument `b` goes under the name `a`.
3. "`n` works as `a` (×100), not as `b`": its own number is multiplied or divided. Without a factor it takes `a` where its own
   value is `b`, and else gives its own value the shape of `a`, if one of `SHAPES` turns `b` into `a`.
4. "in `n` write `a`, not `b`": replaces words inside its own value.
5. "without `n` failed … with `n`=`v` worked": adds `n` with that value; "works without `n`": leaves it out.
6. "`n`=`v` (from `tool`)": calls that tool first, and takes what its answer has under `n`.
7. "`tool` before `own tool`": calls that tool first.
8. The arguments of a tool to be called first are those its step shows: of each name its own value, if its call has such an
   argument; else the value it has for what had the same value in the step of its own tool; else the value shown.

Values that are cut off with "…" are not used. Each sentence above has its Chinese form.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from families import Call

READ = 3  # texts, the best
Shape = Callable[[str, str, str], str | None]

_RENAMED = re.compile(r"(?: takes|的参数是) `([^`]+)`[,，] ?(?:not|不是) `([^`]+)`")
_CHANGED = re.compile(
    r"`([^`]+)` (?:works as|写成) `([^`]+)`(?: ?[(（](?:([×÷])(\d+)|(?:from|取自) `[^`]+`)[)）])?"
    r"(?:, not as |可用，| 可用，)`([^`]+)`(?: 不可用)?"
)
_REPLACED = re.compile(r"(?:in `([^`]+)` write|的 `([^`]+)` 中用) `([^`]+)`[,，] ?(?:not|不用) `([^`]+)`")
_ADDED = re.compile(r"(?:with|加上) `([^`]+)`=`([^`]+)`(?: ?[(（](?:from|取自) `([^`]+)`[)）])?")
_REMOVED = re.compile(r"(?:works without|不带) `([^`]+)`(?: 可用)?$")
_BEFORE = re.compile(r"^(?:先 )?((?:`[^`]+`(?:, |、)?)+)(?: before |，再 )`([^`]+)`")
_STEP = re.compile(r"^`([^`]+)` ?[(（](.+)[)）]")
_ARGUMENT = re.compile(r"([^\s,、=`]+)=`([^`]*)`")
_NAME = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Plan:
    """The call as it is to be made, what is called before it, and which arguments come from the answers."""

    before: tuple[Call, ...]
    call: Call
    taken: Mapping[str, str]  # argument -> tool

    def fill(self, answers: Mapping[str, str]) -> Call:
        """The call with what the tools before it answered."""
        taken = {name: _take(name, answers.get(tool, "")) for name, tool in self.taken.items()}
        return Call(self.call.tool, {**self.call.arguments, **taken})


def plan(naive: Call, texts: Sequence[str]) -> Plan:
    """How the call is made by one who has read the texts."""
    lines = [line.removeprefix("- ") for text in texts[:READ] if f"`{naive.tool}`" in text for line in text.splitlines()]
    told = [line for line in lines if _NAME.search(line) and naive.tool in _NAME.findall(line)]
    arguments, taken, first = dict(naive.arguments), {}, []
    for line in told:
        for good, bad in _RENAMED.findall(line):
            if bad in arguments:
                arguments = {good if name == bad else name: value for name, value in arguments.items()}
        for name, good, sign, factor, bad in _CHANGED.findall(line):
            if name in arguments and "…" not in good + bad:
                arguments[name] = _change(arguments[name], good, bad, int(factor or 1) if sign != "÷" else 1 / int(factor))
        for one, other, good, bad in _REPLACED.findall(line):
            name = one or other
            if isinstance(arguments.get(name), str):
                arguments[name] = arguments[name].replace(bad, good)
        for name, value, source in _ADDED.findall(line):
            if name not in arguments and "…" not in value:
                arguments[name] = _read_value(value)
            if source:
                taken[name] = source
                first.append(source)
        for name in _REMOVED.findall(line):
            arguments.pop(name, None)
        for others, tool in _BEFORE.findall(line):
            first += _NAME.findall(others) if tool == naive.tool else []
    before = tuple(_call_first(tool, naive, lines) for tool in dict.fromkeys(first))
    return Plan(before, Call(naive.tool, arguments), taken)


def _call_first(tool: str, own: Call, lines: Iterable[str]) -> Call:
    """A call of a tool to be called first, by its step."""
    steps = {m[1]: dict(_ARGUMENT.findall(m[2])) for line in lines if (m := _STEP.match(line))}
    owners = {value: name for name, value in steps.get(own.tool, {}).items() if name in own.arguments}
    arguments = {}
    for name, value in steps.get(tool, {}).items():
        source = name if name in own.arguments else owners.get(value)
        arguments[name] = own.arguments[source] if source else _read_value(value)
    return Call(tool, arguments)


def _take(name: str, answer: str) -> Any:
    with suppress(ValueError):
        fields = json.loads(answer)
        return fields.get(name) if isinstance(fields, dict) else fields
    return answer


def _read_value(shown: str) -> Any:
    return int(shown) if re.fullmatch(r"[1-9]\d{0,8}|0", shown) else shown.strip('"')


def _change(own: Any, good: str, bad: str, factor: float) -> Any:
    """A value of one's own as `good` is to `bad`."""
    if isinstance(own, int | float) and factor != 1:
        scaled = round(float(own * factor), 6)
        return int(scaled) if scaled.is_integer() else scaled
    if str(own) == bad:
        return _read_value(good) if isinstance(own, int) else good
    shaped = next((one for shape in SHAPES if (one := shape(str(own), good, bad)) is not None), None)
    return own if shaped is None else shaped


DATES = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%Y年%m月%d日", "%d %B %Y", "%B %d, %Y",
    "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M", "%Y/%m/%d %H:%M", "%Y-%m", "%Y/%m", "%Y%m", "%m/%Y", "%Y年%m月", "unix",
)  # fmt: skip


def _as_date(own: str, good: str, bad: str) -> str | None:
    """Another way to write a moment."""
    for before in DATES:
        for after in DATES:
            moment = _parse(bad, before)
            if moment and moment == _parse(good, after) and (mine := _parse(own, before)):
                return str(int(mine.timestamp())) if after == "unix" else mine.strftime(after)
    return None


def _parse(text: str, form: str) -> datetime | None:
    if form == "unix":
        return datetime.fromtimestamp(int(text), UTC) if re.fullmatch(r"\d{9,10}", text) else None
    with suppress(ValueError):
        return datetime.strptime(text, form).replace(tzinfo=UTC)
    return None


def _as_phone(own: str, good: str, bad: str) -> str | None:
    """An international number: the country's digits for the leading zero."""
    wanted, given, mine = (re.sub(r"\D", "", text) for text in (good, bad, own))
    rest = given.lstrip("0")
    if not good.startswith("+") or len(rest) < 7 or not wanted.endswith(rest):
        return None
    return f"+{wanted.removesuffix(rest)}{mine.lstrip('0')}"


def _as_spelled(own: str, good: str, bad: str) -> str | None:
    """The same letters and digits: without the marks between them, in upper or in lower case."""
    if not _strip(bad) or _strip(good).lower() != _strip(bad).lower():
        return None
    for marked in (own, _strip(own)):
        for cased in (str, str.upper, str.lower):
            if cased(bad if marked is own else _strip(bad)) == good:
                return cased(marked)
    return None


def _strip(text: str) -> str:
    return re.sub(r"[\W_]", "", text)


def _as_padded(own: str, good: str, bad: str) -> str | None:
    """Zeros before it up to a length, something fixed before or behind it."""
    start, _, end = good.partition(bad)
    if not bad or bad not in good or re.search(r"\d", end):
        return None
    prefix = start.rstrip("0")
    width = len(bad) + len(start) - len(prefix)
    return f"{prefix}{own.zfill(width) if width > len(bad) else own}{end}"


def _as_grouped(own: str, good: str, bad: str) -> str | None:
    """Thousands apart."""
    grouped = [f"{int(text):,}" if text.isdecimal() else "" for text in (bad, own)]
    return grouped[1] if good == grouped[0] != bad else None


SHAPES: Sequence[Shape] = (_as_date, _as_phone, _as_spelled, _as_padded, _as_grouped)
