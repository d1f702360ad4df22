"""The retrospective: what a finished task taught, read from the structure of its trace alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hindsight_store.turns import Turn

from hindsight_ingest import speech, tagging
from hindsight_ingest.candidate import CEILINGS
from hindsight_ingest.differing import Difference, are_alike, flatten, leaf_name, show
from hindsight_ingest.lessons import Lesson, Lessons, find_lessons
from hindsight_ingest.masking import mask
from hindsight_ingest.trace import ToolCall, read_calls
from hindsight_ingest.wording import WORDS, Language, clip, quote, say

Outcome = Literal["success", "partial", "failure"]
OUTCOMES: Mapping[str, Outcome] = {
    "success": "success", "succeeded": "success", "done": "success", "成功": "success", "完成": "success",
    "partial": "partial", "部分完成": "partial", "部分": "partial",
    "failure": "failure", "failed": "failure", "失败": "failure",
}  # fmt: skip
MAX_STEPS, MAX_PITFALLS, MAX_KNOWLEDGE, MAX_ASIDE = 12, 8, 8, 8
TEXT_CHARS, SCENARIO_CHARS, SCENARIO_GOAL_CHARS = 300, 512, 240
ERROR_CHARS, VALUE_CHARS, NAME_CHARS, STEP_VALUE_CHARS = 90, 48, 48, 64
STEP_ARGUMENTS = 3
MAX_REQUESTS, REQUESTS_CHARS, REQUEST_CHARS = 12, 1500, 300
LISTS = ("key_steps", "pitfalls", "reusable_knowledge")


@dataclass(frozen=True, slots=True)
class Experience:
    """What a task taught; texts in its language, tags in English."""

    goal: str
    outcome: Outcome
    requests: tuple[str, ...]  # what the user asked for after the goal, in the user's words
    key_steps: tuple[str, ...]
    pitfalls: tuple[str, ...]
    reusable_knowledge: tuple[str, ...]
    scenario_summary: str  # where this applies, at most 512 characters
    tags: tuple[str, ...]
    facts: tuple[str, ...]  # the user's own words
    preferences: tuple[str, ...]  # the user's own words
    language: Language
    confidence: float  # at most what a retrospective may claim
    decided_by: str = ""  # what shows that it ended so, where a model said it


@dataclass(frozen=True, slots=True)
class Trace:
    """A task's turns, read: its calls and what the user said, with places among the turns."""

    calls: tuple[ToolCall, ...]
    said: tuple[tuple[int, str], ...]
    language: Language
    corrections: tuple[str, ...]
    preferences: tuple[str, ...]

    @property
    def requests(self) -> list[int]:
        """Places of the user's turns after the first that ask for something more."""
        return [at for at, text in self.said[1:] if not speech.is_closing(text) and not speech.find_corrections(text)]

    @property
    def corrected(self) -> dict[int, str]:
        """By place, what the user said was wrong."""
        return {at: found[0] for at, text in self.said[1:] if (found := speech.find_corrections(text))}


def retrospect(turns: Sequence[Turn], outcome: str = "", note: str = "", *, is_over: bool = False) -> Experience | None:
    """What the turns of one task teach, or None: small talk, a half-finished task, nothing worth keeping.

    `outcome` and `note` are the client's word, where it gave one. A task that ends with a call, a tool's answer or an
    unanswered request is half-finished, unless the client says that it `is_over`. How a task ended that called tools is
    worth keeping where the client tells it, and so is a failure without any call.
    """
    given = OUTCOMES.get(outcome.strip().lower())
    trace = read_trace(turns, note)
    goal = speech.find_goal(text for _, text in trace.said) or clip(note, speech.GOAL_CHARS)
    if not turns or not goal or not (is_over or _is_finished(turns, trace, is_told=given is not None)):
        return None
    found = find_lessons(trace.calls, trace.requests, trace.corrected)
    ended = given or judge_outcome(trace, found)
    lessons = [one for one in found.lessons if one.is_resolved or (ended != "success" and not _is_overcome(one, trace))]
    is_account = given is not None and (bool(trace.calls) or given != "success")
    is_wish = bool(trace.preferences) and (bool(trace.calls) or _asks_for_work(trace))  # a bare wish is kept by itself
    if not (lessons or trace.corrections or is_wish or note.strip() or is_account or _has_several_steps(trace.calls)):
        return None
    return _tell(trace, goal, ended, _Material(lessons, found.tries, note, is_told=given is not None))


def read_trace(turns: Sequence[Turn], note: str = "") -> Trace:
    """The turns of a task, read. The first thing a user says corrects nothing."""
    said = speech.user_texts(turns)
    opening = said[0][0] if said else 0
    corrections = [one for at, text in said if at > opening for one in speech.find_corrections(text)]
    preferences = [one for _, text in said for one in speech.find_preferences(text) if one not in corrections]
    language = speech.tell_language([text for _, text in said] or [note])
    return Trace(tuple(read_calls(turns)), tuple(said), language, _unique(corrections), _unique(preferences))


def judge_outcome(trace: Trace, found: Lessons) -> Outcome:
    """How a task ended by its trace: by its last calls and the user's last words."""
    answered = [call for call in trace.calls if call.answered_at is not None]
    last_at, last_said = trace.said[-1] if len(trace.said) > 1 else (-1, "")
    is_content = speech.has_thanks(last_said) or speech.is_closing(last_said)
    ends_failed = bool(answered) and answered[-1].has_failed
    is_open = bool(last_said) and not is_content and (speech.has_complaint(last_said) or bool(speech.find_corrections(last_said)))
    if is_open and any(call.has_succeeded and call.asked_at > last_at for call in answered) and not ends_failed:
        is_open = False  # what the user complained of was seen to
    if ends_failed:
        return "partial" if speech.has_thanks(last_said) else "failure"
    if is_open:
        return "partial"
    if any(not one.is_resolved and not _is_overcome(one, trace) for one in found.lessons) and not is_content:
        return "partial"
    return "success"


def to_candidate_text(experience: Experience) -> str:
    """An experience as text, each part labelled in its language, so that all of them take part in its embedding."""
    words = WORDS[experience.language]

    def label(name: str, text: str) -> str:
        return say(experience.language, "label", label=words[name], text=text).rstrip()

    decided = say(experience.language, "arguments", arguments=experience.decided_by) if experience.decided_by else ""
    lines = [label("goal", experience.goal), label("outcome", words[experience.outcome] + decided)]
    for name in ("requests", *LISTS):
        texts: tuple[str, ...] = getattr(experience, name)
        if texts:
            lines += [label(name, ""), *(f"- {text}" for text in texts)]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Material:
    """What an experience is told from, beside the trace."""

    lessons: Sequence[Lesson]
    tries: Mapping[int, int]
    note: str
    is_told: bool  # whether the client gave the outcome


def _tell(trace: Trace, goal: str, outcome: Outcome, material: _Material) -> Experience:
    calls, language = trace.calls, trace.language
    domains = tagging.tag_domain(goal, calls)
    tags = [*tagging.tag_tools(calls), *tagging.tag_task(goal, calls), *domains]
    facts = [one for _, text in trace.said for one in speech.find_facts(text) if one not in trace.preferences]
    return Experience(
        goal=goal,
        outcome=outcome,
        requests=_find_requests(trace),
        key_steps=_tell_steps(calls, material, language),
        pitfalls=_unique(clip(_tell_pitfall(one, language), TEXT_CHARS) for one in material.lessons)[:MAX_PITFALLS],
        reusable_knowledge=_tell_knowledge(trace, material),
        scenario_summary=_tell_scenario(goal, calls, domains, language),
        tags=_unique(clip(tag, tagging.TAG_CHARS) for tag in tags),
        facts=_unique(facts)[:MAX_ASIDE],
        preferences=trace.preferences[:MAX_ASIDE],
        language=language,
        confidence=_weigh(outcome, material, trace),
    )


def _is_finished(turns: Sequence[Turn], trace: Trace, *, is_told: bool) -> bool:
    """Whether the trace ends where a task ends: with the agent's word, or the user's thanks."""
    last = turns[-1]
    if last.role == "user":
        return speech.is_last_word(last.content[: speech.MAX_CHARS])
    spoken = max((at for at, turn in enumerate(turns) if turn.role in {"user", "assistant"}), default=-1)
    if any(call.answered_at is None and call.asked_at > spoken for call in trace.calls):
        return False
    return last.role == "assistant" or is_told


def _asks_for_work(trace: Trace) -> bool:
    """Whether the user says anything of substance beside wishes."""
    sentences = [one for _, text in trace.said for one in speech.split_sentences(text)]
    return any(speech.is_substantial(one) and not speech.find_preferences(one) for one in sentences)


def _has_several_steps(calls: Sequence[ToolCall]) -> bool:
    """Whether more than one different call worked."""
    worked = [call for call in calls if call.has_succeeded]
    return any(call.tool != worked[0].tool or call.arguments != worked[0].arguments for call in worked[1:])


def _is_overcome(lesson: Lesson, trace: Trace) -> bool:
    """Whether the tool worked afterwards, if for something else, so that "not resolved" would say too much."""
    failed = lesson.call
    return any(c.tool == failed.tool and c.has_succeeded and c.asked_at > failed.asked_at for c in trace.calls)


def _weigh(outcome: Outcome, material: _Material, trace: Trace) -> float:
    """0.5; surer by the client's word and by a lesson or correction; less sure of an outcome in doubt."""
    weight = 0.5 + 0.1 * material.is_told
    weight += 0.1 * any(one.is_resolved for one in material.lessons) or 0.1 * bool(trace.corrections)
    weight -= 0.1 * (outcome == "partial" and not material.is_told)
    return round(min(weight, CEILINGS["retrospective"]), 2)


def _tell_pitfall(lesson: Lesson, language: Language) -> str:
    error = quote(lesson.error, ERROR_CHARS).rstrip("。.;； ")
    told = "" if error else "_untold"
    if lesson.differences:
        sides = [_tell_difference(one, language) for one in lesson.differences]
        joint = WORDS[language]["and"]
        failed, worked = (joint.join(side[n] for side in sides) for n in (0, 1))
        return say(
            language, f"corrected{told}", tool=quote(lesson.call.tool, NAME_CHARS), failed=failed, worked=worked, error=error
        )
    if lesson.after:
        call, others = _tell_order(lesson, language)
        return say(language, f"ordered{told}", call=call, others=others, error=error)
    return say(language, f"unresolved{told}", call=_tell_call(lesson.call, language), error=error)


def _tell_order(lesson: Lesson, language: Language) -> tuple[str, str]:
    """The call that failed, and the calls it had to wait for; with arguments where one tool is both, as a shell."""
    is_one_tool = any(one.tool == lesson.call.tool for one in lesson.after)
    told = [_tell_call(one, language, is_brief=not is_one_tool) for one in (lesson.call, *lesson.after)]
    return told[0], WORDS[language]["and"].join(_unique(told[1:]))


def _tell_difference(one: Difference, language: Language) -> tuple[str, str]:
    """What failed and what worked."""
    name = quote(leaf_name(one.name) if one.kind == "added" else one.name, NAME_CHARS)
    before, after = quote(one.before, VALUE_CHARS), quote(one.after, VALUE_CHARS)
    shown = len(one.after) <= VALUE_CHARS and not _is_secret(name, one.after) and one.kind == "added" and one.after.strip()
    value = f"=`{after}`" if shown else ""
    failed, _, worked = say(language, one.kind, name=name, before=before, after=after, value=value).partition("|")
    return failed, worked + _tell_note(one, language)


def _tell_note(one: Difference, language: Language) -> str:
    """How a value came about: by a factor, or from the answer of another tool."""
    origin = say(language, "origin", tool=quote(one.origin, NAME_CHARS)) if one.origin else ""
    note = one.factor or origin
    return say(language, "arguments", arguments=note) if note else ""


def _is_secret(name: str, value: str) -> bool:
    """Whether an argument holds a secret, or part of one."""
    return "[masked" in value or bool(mask(f"{name}={value}")[1])


def _tell_call(call: ToolCall, language: Language, *, is_brief: bool = False) -> str:
    """A call by its tool and its first arguments."""
    told = [] if is_brief else _tell_arguments(flatten(call.arguments), 2)
    arguments = say(language, "arguments", arguments=WORDS[language]["and"].join(told)) if told else ""
    return f"`{quote(call.tool, NAME_CHARS)}`{arguments}"


def _tell_arguments(leaves: Mapping[str, Any], limit: int) -> list[str]:
    """The arguments that matter, shortly: no secrets, no long texts, no headers."""
    told = []
    for path, value in leaves.items():
        text, name = show(value), leaf_name(path)
        if len(text) > 4 * STEP_VALUE_CHARS or text.count("\n") > 3:
            continue
        if not text.strip() or text == "{}" or _is_secret(name, text) or "header" in path.lower():
            continue
        told.append(f"{quote(name, NAME_CHARS)}=`{quote(text, STEP_VALUE_CHARS)}`")
        if len(told) == limit:
            break
    return told


def _tell_steps(calls: Sequence[ToolCall], material: _Material, language: Language) -> tuple[str, ...]:
    """The calls that worked, in order; repeated calls in a row are one step, and of too many steps the middle is left out."""
    corrected = {lesson.call.asked_at for lesson in material.lessons}  # by the user, though the tool had raised no error
    worked = [call for call in calls if call.has_succeeded and call.asked_at not in corrected]
    groups: list[list[ToolCall]] = []
    for call in worked:
        if groups and groups[-1][0].tool == call.tool and are_alike(groups[-1][0].arguments, call.arguments):
            groups[-1].append(call)
        else:
            groups.append([call])
    if len(groups) > MAX_STEPS:
        merged: dict[str, list[ToolCall]] = {}
        for call in worked:
            merged.setdefault(call.tool, []).append(call)
        groups = list(merged.values())
    if len(groups) > MAX_STEPS:
        groups = groups[: MAX_STEPS // 2] + groups[-(MAX_STEPS - MAX_STEPS // 2) :]
    return tuple(clip(_tell_step(group, material.tries, language), TEXT_CHARS) for group in groups)


def _tell_step(group: Sequence[ToolCall], tries: Mapping[int, int], language: Language) -> str:
    tool, joint = quote(group[0].tool, NAME_CHARS), WORDS[language]["and"]
    if len(group) == 1:
        told = _tell_arguments(flatten(group[0].arguments), STEP_ARGUMENTS)
    else:
        told = _tell_varied([flatten(call.arguments) for call in group[:50]], joint)
    arguments = say(language, "arguments", arguments=joint.join(told)) if told else ""
    step = say(language, "step" if len(group) == 1 else "step_many", tool=tool, count=len(group), arguments=arguments)
    most = max(tries.get(call.asked_at, 1) for call in group)
    return step + (say(language, "retried" if len(group) == 1 else "retried_many", count=most) if most > 1 else "")


def _tell_varied(rows: Sequence[Mapping[str, Any]], joint: str) -> list[str]:
    """The arguments in which repeated calls differ: page 1-3, or the first values."""
    told = []
    for path in dict.fromkeys(path for row in rows for path in row):
        values = list(dict.fromkeys(show(row[path]) for row in rows if path in row))
        is_constant = len(values) < 2 and all(path in row for row in rows)
        if is_constant or any(len(one) > 4 * STEP_VALUE_CHARS or _is_secret(leaf_name(path), one) for one in values):
            continue
        name = quote(leaf_name(path), NAME_CHARS)
        numbers = [int(one) for one in values if one.isdecimal() and len(one) < 16]
        if 1 < len(numbers) == len(values) and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
            told.append(f"{name} {numbers[0]}–{numbers[-1]}")
        else:
            shown = joint.join(f"`{quote(one, VALUE_CHARS)}`" for one in values[:3])
            told.append(f"{name}={shown}" + (f"{joint}…" if len(values) > 3 else ""))
        if len(told) == 2:
            break
    return told or _tell_arguments(rows[0], STEP_ARGUMENTS)


def _tell_knowledge(trace: Trace, material: _Material) -> tuple[str, ...]:
    """What can be used again: the client's note, the user's corrections and wishes, what the pitfalls say of the tools."""
    language = trace.language
    texts = [say(language, "note", text=clip(material.note, TEXT_CHARS - 10))] if material.note.strip() else []
    texts += [say(language, "correction", text=one) for one in trace.corrections]
    texts += [say(language, "preference", text=one) for one in trace.preferences]
    for lesson in material.lessons:
        texts += [_tell_convention(lesson, one, language) for one in lesson.differences if one.kind != "secret"]
        if lesson.after:
            call, others = _tell_order(lesson, language)
            texts.append(say(language, "know_ordered", call=call, others=others))
    return _unique(clip(text, TEXT_CHARS) for text in texts)[:MAX_KNOWLEDGE]


def _tell_convention(lesson: Lesson, one: Difference, language: Language) -> str:
    before, after = quote(one.before, VALUE_CHARS), quote(one.after, VALUE_CHARS)
    tool, name = quote(lesson.call.tool, NAME_CHARS), quote(one.name, NAME_CHARS)
    note = _tell_note(one, language)
    return say(language, f"know_{one.kind}", tool=tool, name=name, before=before, after=after, note=note)


def _find_requests(trace: Trace) -> tuple[str, ...]:
    """What the user went on to ask or tell, without thanks, complaints, corrections and wishes; as much as there is room for."""
    told, left = [], REQUESTS_CHARS
    for _, text in trace.said[1:]:
        request = clip(" ".join(one for one in speech.split_sentences(text) if _goes_on(one)), REQUEST_CHARS)
        left -= len(request)
        if left < 0 or len(told) == MAX_REQUESTS:
            break
        told.append(request)
    return _unique(told)


def _goes_on(sentence: str) -> bool:
    is_aside = speech.is_closing(sentence) or speech.has_thanks(sentence) or speech.has_complaint(sentence)
    is_told_elsewhere = speech.find_corrections(sentence) or speech.find_preferences(sentence)
    return speech.is_substantial(sentence) and not is_aside and not is_told_elsewhere


def _tell_scenario(goal: str, calls: Sequence[ToolCall], domains: Sequence[str], language: Language) -> str:
    joint = WORDS[language]["and"]
    summary = say(language, "scenario", goal=clip(goal, SCENARIO_GOAL_CHARS).rstrip("。.!！"))
    tools = [quote(tool, NAME_CHARS) for tool in tagging.name_tools(calls)[:4]]
    if tools:
        summary += say(language, "scenario_tools", tools=joint.join(tools))
    if domains:
        named = [tagging.DOMAINS_ZH[one] for one in domains] if language == "zh" else domains
        summary += say(language, "scenario_domain", domain=joint.join(named))
    return clip(summary + ("。" if language == "zh" else "."), SCENARIO_CHARS)


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))
