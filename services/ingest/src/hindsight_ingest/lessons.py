"""What the failed calls of a trace teach: how the same tool was made to work, or that it was not."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hindsight_language.lexicon import alternatives

from hindsight_ingest.differing import (
    Difference,
    are_same,
    find_differences,
    flatten,
    has_word,
    is_convention,
    is_primary,
    is_respelled,
    is_same_renamed,
    leaf_name,
    show,
)
from hindsight_ingest.tagging import split_name
from hindsight_ingest.trace import MAX_JSON_CHARS, ToolCall, is_transient, tell_error

MAX_FAILURES = 32  # that are looked at; the last ones
MAX_LATER = 24  # calls of the tool after a failure in which its cure is sought
MAX_TRIED = 6  # of those that worked and are compared
MAX_DIFFERENCES = 3  # a call that differs in more is another call
MAX_BETWEEN = 3  # calls that may be what was missing; of more, none is known to be it
_READING = re.compile(  # a word of a tool's name, or the first of a command
    alternatives(
        "get list read search find show query check count fetch view status wait sleep look select describe screenshot "
        "ls cat pwd grep head tail echo cd which"
    )
)
_READING_ZH = re.compile(r"查|看|搜|读取|获取|列出|等待")
_TOKEN = re.compile(r"(?=.*\d)[\w.:/+-]{4,128}")  # what an answer gives to be handed on: no word that stands anywhere
_RECORD = re.compile(r"\{[^{}]*\}")
_SIZE = re.compile(
    r".*(?:limit|size|timeout|batch|count|per_?page|top|window|days|max|chunk|数量|条数|超时)\w{0,8}", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Lesson:
    """A failed call, and what made it work: other arguments, or other calls first. With neither it was not resolved."""

    call: ToolCall
    error: str
    differences: tuple[Difference, ...] = ()
    after: tuple[ToolCall, ...] = ()

    @property
    def is_resolved(self) -> bool:
        """Whether the trace shows what made it work."""
        return bool(self.differences or self.after)


@dataclass(frozen=True, slots=True)
class Lessons:
    """All lessons in the order of the failures; and the calls that worked only when repeated, with the number of tries."""

    lessons: tuple[Lesson, ...]
    tries: Mapping[int, int] = field(default_factory=dict)  # place of asking -> tries


class _Comparer:
    """Arguments of the calls of one trace, each taken apart once."""

    def __init__(self) -> None:
        self._leaves: dict[int, dict[str, Any]] = {}

    def leaves(self, call: ToolCall) -> dict[str, Any]:
        if call.asked_at not in self._leaves:
            self._leaves[call.asked_at] = flatten(call.arguments)
        return self._leaves[call.asked_at]

    def are_equal(self, a: ToolCall, b: ToolCall) -> bool:
        one, other = self.leaves(a), self.leaves(b)
        return a.tool == b.tool and one.keys() == other.keys() and all(are_same(one[name], other[name]) for name in one)


def find_lessons(calls: Sequence[ToolCall], requests: Sequence[int], corrections: Mapping[int, str]) -> Lessons:
    """What each failure teaches, and each correction by the user.

    `requests` are places of further requests: a call after one may serve another end. `corrections` are what the user said
    was wrong, by place.
    """
    by_tool: defaultdict[str, list[ToolCall]] = defaultdict(list)
    for call in calls:
        if call.answered_at is not None:
            by_tool[call.tool].append(call)
    comparer, lessons, tries = _Comparer(), [], defaultdict(lambda: 1)
    places = {call.asked_at: n for tool_calls in by_tool.values() for n, call in enumerate(tool_calls)}
    for failed in [call for call in calls if call.has_failed][-MAX_FAILURES:]:
        start = places[failed.asked_at] + 1
        later = [c for c in by_tool[failed.tool][start : start + MAX_LATER] if _is_after(c, failed)]
        repeated = next((c for c in later if c.has_succeeded and comparer.are_equal(failed, c)), None)
        error = tell_error(failed.result)
        if repeated is None:
            differences, cured_at = _find_cure(failed, error, later, requests, comparer)
            if not differences:
                differences, cured_at = _find_looked_up(failed, later, calls, comparer)
            if differences or not _met_another_error(failed, error, later, comparer):
                earlier = [c for c in calls if c.has_succeeded and (c.answered_at or 0) < cured_at]
                lessons.append(Lesson(failed, error, tuple(_tell_origin(one, earlier, comparer) for one in differences)))
        elif between := _find_between(failed, error, repeated, calls, comparer):
            lessons.append(Lesson(failed, error, after=between))
        else:
            tries[repeated.asked_at] += 1
    lessons += [lesson for at, said in corrections.items() if (lesson := _find_corrected(at, said, calls, comparer))]
    return Lessons(tuple(sorted(lessons, key=lambda one: one.call.asked_at)), dict(tries))


def _find_corrected(at: int, said: str, calls: Sequence[ToolCall], comparer: _Comparer) -> Lesson | None:
    """The call that seemed to work until the user spoke, where the next call of its tool differs by a convention alone.

    Any other value may be what the user wants this time.
    """
    before = next((c for c in reversed(calls) if c.has_succeeded and (c.answered_at or 0) < at), None)
    after = before and next((c for c in calls if c.tool == before.tool and c.asked_at > at), None)
    if not (before and after and after.has_succeeded):
        return None
    differences = find_differences(comparer.leaves(before), comparer.leaves(after))
    is_corrected = 0 < len(differences) <= MAX_DIFFERENCES and all(map(is_convention, differences))
    return Lesson(before, said, tuple(differences)) if is_corrected else None


def _tell_origin(one: Difference, earlier: Sequence[ToolCall], comparer: _Comparer) -> Difference:
    """A difference with the tool that gave the value which was missing: the last whose answer has it and that was not told it."""
    is_new = one.kind == "added" or (one.kind == "changed" and not is_convention(one))
    if not is_new or not _TOKEN.fullmatch(one.after):
        return one
    whole = re.compile(rf"(?<!\w){re.escape(one.after)}(?!\w)")
    gave = (
        call.tool
        for call in reversed(earlier)
        if whole.search(call.result[:MAX_JSON_CHARS]) and one.after not in map(show, comparer.leaves(call).values())
    )
    return replace(one, origin=next(gave, ""))


def _is_after(call: ToolCall, failed: ToolCall) -> bool:
    """Whether a call was made in the knowledge that another had failed."""
    return failed.answered_at is not None and call.asked_at > failed.answered_at


def _find_between(
    failed: ToolCall, error: str, repeated: ToolCall, calls: Sequence[ToolCall], comparer: _Comparer
) -> tuple[ToolCall, ...]:
    """The other calls after which an equal call worked; none where the error passes by itself, or where any of many may be it."""
    if is_transient(error):
        return ()
    between = [
        c
        for c in calls
        if c.has_succeeded
        and _is_after(c, failed)
        and (c.answered_at or 0) < repeated.asked_at
        and not comparer.are_equal(c, failed)
    ]
    between = [c for c in between if not _is_reading(c)]
    return tuple(between) if len(between) <= MAX_BETWEEN else ()


def _is_reading(call: ToolCall) -> bool:
    """Whether a call, by its name or command, only looks or waits, so that nothing works for it."""
    commands = [value[:200] for name, value in call.arguments.items() if is_primary(name) and isinstance(value, str)]
    words = split_name(call.tool) + [word for command in commands for word in command.split()[:1]]
    return any(_READING.fullmatch(word) for word in words) or bool(_READING_ZH.search(call.tool))


def _find_cure(
    failed: ToolCall, error: str, later: Sequence[ToolCall], requests: Sequence[int], comparer: _Comparer
) -> tuple[list[Difference], int]:
    """The differences to the first later call of the tool that worked and is a corrected form of the failed one; its place."""
    worked = [c for c in later if c.has_succeeded][:MAX_TRIED]
    for n, call in enumerate(worked):
        found = find_differences(comparer.leaves(failed), comparer.leaves(call), error, is_next=n == 0)
        found = _select(found, error)
        is_interrupted = any(failed.asked_at < at < call.asked_at for at in requests)
        if is_interrupted and not any(_is_mentioned(one, error) or is_respelled(one.before, one.after) for one in found):
            continue
        if found and len(found) <= MAX_DIFFERENCES:
            return _narrow_to_next(failed, error, call, later, comparer) or found, call.asked_at
    return [], 0


def _find_looked_up(
    failed: ToolCall, later: Sequence[ToolCall], calls: Sequence[ToolCall], comparer: _Comparer
) -> tuple[list[Difference], int]:
    """The one value that was replaced by another, where one record found in between has both: a name and its id."""
    worked = next((c for c in later if c.has_succeeded), None)
    if worked is None:
        return [], 0
    before, after = comparer.leaves(failed), comparer.leaves(worked)
    names = [name for name in after if name in before and not are_same(before[name], after[name])]
    if len(names) != 1 or before.keys() != after.keys():
        return [], 0
    given, found = (show(leaves[names[0]]) for leaves in (before, after))
    between = [c for c in calls if c.has_succeeded and _is_after(c, failed) and (c.answered_at or 0) < worked.asked_at]
    records = [record for c in between for record in _RECORD.findall(c.result[:MAX_JSON_CHARS])]
    if not any(has_word(record, given) and re.search(rf"(?<!\w){re.escape(found)}(?!\w)", record) for record in records):
        return [], 0
    return [Difference("changed", names[0], given, found)], worked.asked_at


def _met_another_error(failed: ToolCall, error: str, later: Sequence[ToolCall], comparer: _Comparer) -> bool:
    """Whether the next try was a corrected form that met another error, so that "not resolved" is true of that one only."""
    if not later or later[0].has_succeeded or tell_error(later[0].result) == error:
        return False
    return bool(find_differences(comparer.leaves(failed), comparer.leaves(later[0]), error))


def _narrow_to_next(
    failed: ToolCall, error: str, worked: ToolCall, later: Sequence[ToolCall], comparer: _Comparer
) -> list[Difference]:
    """What the very next try changed and the working call kept, where that try met another error: the change cured the first."""
    following = later[0]
    if following.has_succeeded or tell_error(following.result) == error:
        return []
    cured = comparer.leaves(worked)
    steps = _select(find_differences(comparer.leaves(failed), comparer.leaves(following), error), error)
    kept = [one for one in steps if _is_kept(one, cured)]
    return kept if len(kept) == len(steps) <= MAX_DIFFERENCES else []


def _is_kept(difference: Difference, leaves: Mapping[str, Any]) -> bool:
    if difference.kind in {"replaced", "inserted"}:
        return difference.after in " ".join(show(leaves.get(difference.name)).split())
    if difference.kind == "changed":
        return difference.name in leaves and show(leaves[difference.name]) == difference.after.strip('"[]')
    if difference.kind in {"renamed", "added"}:
        return any(name == difference.name or name.startswith(f"{difference.name}.") for name in leaves)
    return difference.name not in leaves


def _select(differences: Sequence[Difference], error: str) -> list[Difference]:
    """The differences that can have cured an error: those it names, where it names any; of a passing error, those of size.

    Many tools name the first field they do not know: what was renamed beside it was cured as well.
    """
    if is_transient(error):
        return [one for one in differences if _SIZE.fullmatch(leaf_name(one.name))]
    named = [one for one in differences if _is_mentioned(one, error)]
    if any(one.kind == "renamed" for one in named):
        return [one for one in differences if one in named or is_same_renamed(one)]
    return named or list(differences)


def _is_mentioned(difference: Difference, error: str) -> bool:
    """Whether an error has the name or the text of a difference as a word."""
    names = [leaf_name(difference.name)]
    if difference.kind in {"renamed", "replaced", "deleted", "changed"}:
        names += re.split(r"[=.]", difference.before)[-2:] if difference.kind == "renamed" else [difference.before]
    if difference.kind in {"inserted", "replaced"}:
        names = names[1:]  # the argument's own name is in many an error: invalid query
    return any(has_word(error, name) for name in names)
