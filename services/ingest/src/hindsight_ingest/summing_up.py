"""What a session came to, in its own words: an extract, no LLM."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hindsight_language.simplified import simplify
from hindsight_store.turns import Turn

from hindsight_ingest import speech
from hindsight_ingest.listening import Finding, listen
from hindsight_ingest.listening_rules import RULES
from hindsight_ingest.wording import WORDS, Language, clip, say

MAX_CHARS, LINE_CHARS, GOAL_CHARS = 1200, 240, 300
MAX_SAID, MAX_LEARNED = 4, 4
LEAST_WORTH = 3  # points, see `weigh`; found on bench/sets/triggers_*.jsonl
LONG_ANSWERS = {"en": 120, "zh": 40}  # characters of all the agent's answers together
_PROBLEM = re.compile(
    (
        r"\b(?:fail\w*|error|broken|wrong|throws?|crash\w*|too (?:high|long|slow)|doesn't|won't|mou?ld|keeps? \w+ing|"
        r"forty minutes)\b|超时|报错|负数|缺|坏|不够|漏|不行|黑斑|失败|要求"
    ),
    re.IGNORECASE,
)
_TASK = re.compile(
    r"\b(?:help me|i (?:need|want|'d like)|i'd like|let's|please|can you|could you|compare|plan|write|draft|sort|set up|"
    r"cancel|book|why does|ideas|which \w+ \w+)\b|"
    r"帮|起草|写|排|出.{0,4}[道份]|算|方案|搞|办|怎么|咋|想把|列",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Summary:
    """A session in short."""

    topic: str
    text: str
    language: Language


def sum_up(turns: Sequence[Turn]) -> Summary | None:
    """The extract of a session, or None where nothing happened in it that is worth a summary."""
    said = [text for _, text in speech.user_texts(turns)]
    goal = speech.find_goal(said)
    findings = _listen_to_all(turns)
    if not goal or weigh(turns, said, findings) < LEAST_WORTH:
        return None
    language = speech.tell_language(said)
    learned = list(dict.fromkeys(clip(one.value, LINE_CHARS) for one in findings))[:MAX_LEARNED]
    told = [
        clip(text, LINE_CHARS)
        for text in said
        if speech.is_substantial(text) and not RULES["closed_question"].search(text.lower())
    ]
    decided = [text for text in dict.fromkeys(told) if text not in learned and text not in goal and goal not in text]
    outcome = find_outcome(turns)
    lines = [say(language, "label", label=WORDS[language]["goal"], text=goal)]
    lines += [
        say(language, ("label"), label=WORDS[language][("decided")], text=text) for text in decided[-MAX_SAID:] if text != outcome
    ]
    lines += [say(language, "label", label=WORDS[language]["learned"], text=text) for text in learned]
    if outcome and outcome not in learned:
        lines.append(say(language, "label", label=WORDS[language]["outcome"], text=outcome))
    return Summary(goal, "\n".join(_within(lines, MAX_CHARS)), language)


def weigh(turns: Sequence[Turn], said: Sequence[str], findings: Sequence[Finding]) -> int:
    """How much happened in a session, in points: its work, what was learned, what was asked for, and how much was said."""
    language = speech.tell_language(said)
    answered = sum(len(turn.content) for turn in turns if turn.role == "assistant")
    told = [simplify(text.lower()) for text in said if speech.is_substantial(text)]
    points = (
        2 * any(turn.role == "tool_call" for turn in turns),
        2 * bool(findings),
        2 * any(_TASK.search(text) for text in told),
        any(_PROBLEM.search(text) for text in told),
        len(told) >= 3,
        answered >= LONG_ANSWERS[language],
        -1 * (sum(RULES["mood"].search(text) is not None for text in told) >= 2),
        -1 * (len(told) < 2),
    )
    return sum(map(int, points))


def find_outcome(turns: Sequence[Turn]) -> str:
    """What was said last that says something."""
    for turn in reversed(turns):
        if turn.role in ("user", "assistant") and speech.is_substantial(turn.content[: speech.MAX_CHARS]):
            return clip(turn.content, LINE_CHARS)
    return ""


def _listen_to_all(turns: Sequence[Turn]) -> list[Finding]:
    """What was found in the turns and outlasts them."""
    before = dict(zip((turn.turn for turn in turns[1:]), turns, strict=False))
    return [one for turn in turns for one in listen(turn, before.get(turn.turn)) if one.timing != "desk"]


def _within(lines: Sequence[str], limit: int) -> list[str]:
    """The first lines that fit into so many characters."""
    kept: list[str] = []
    for line in lines:
        if sum(map(len, kept)) + len(kept) + len(line) <= limit:
            kept.append(line)
    return kept
