"""Prompts from their files, and turns quoted in them as material: a JSON object a line, so that no text can pass for a turn."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from hindsight_store.turns import Turn

from hindsight_ingest.llm import Prompt
from hindsight_ingest.wording import Language

MATERIAL_CHARS = 12_000
PART_CHARS = 1_500  # of a turn's content, arguments and result each
CUT = "…"


@dataclass(frozen=True, slots=True)
class Material:
    """Turns as they are shown, and the plain texts in them."""

    text: str
    shown: tuple[str, ...]


def to_prompt(name: str, language: Language, material: Material) -> Prompt:
    """A prompt in a language over some material."""
    return Prompt(_read(f"{name}.{language}.md"), material.text, _read(f"again.{language}.md"))


def quote_newest(turns: Sequence[Turn], first: int) -> Material:
    """As many of the last turns as there is room for; those before `first` are marked as earlier."""
    return _join([], _fitting([_quote(t, is_earlier=t.turn < first) for t in reversed(turns)], MATERIAL_CHARS)[::-1])


def quote_ends(turns: Sequence[Turn]) -> Material:
    """The first and the last turns, the middle left out where there is no room for all."""
    quoted = [_quote(t) for t in turns]
    whole = _fitting(quoted, MATERIAL_CHARS)
    if len(whole) == len(quoted):
        return _join([], whole)
    head = _fitting(quoted, MATERIAL_CHARS // 2)
    return _join(head, _fitting(quoted[len(head) :][::-1], MATERIAL_CHARS // 2)[::-1])


_Quoted = tuple[str, str]  # a turn as a line, and its plain text


def _quote(turn: Turn, *, is_earlier: bool = False) -> _Quoted:
    arguments = json.dumps(turn.arguments, ensure_ascii=False) if turn.arguments else ""
    texts = {"text": turn.content, "arguments": arguments, "result": turn.result}
    texts = {name: _cut(text) for name, text in texts.items() if text}
    marks = {name: True for name, applies in (("error", turn.is_error), ("earlier", is_earlier)) if applies}
    tool = {"tool": turn.tool} if turn.tool else {}
    line = json.dumps({"turn": turn.turn, "role": turn.role, **tool, **texts, **marks}, ensure_ascii=False)
    return line, "\n".join((*tool.values(), *texts.values()))


def _fitting(quoted: Sequence[_Quoted], room: int) -> list[_Quoted]:
    """The first turns that fit."""
    fitting = []
    for one in quoted:
        room -= len(one[0]) + 1
        if room < 0:
            break
        fitting.append(one)
    return fitting


def _join(head: Sequence[_Quoted], tail: Sequence[_Quoted]) -> Material:
    gap = [CUT] if head else []
    lines = [*(line for line, _ in head), *gap, *(line for line, _ in tail)]
    return Material("\n".join(lines), tuple(text for _, text in (*head, *tail)))


def _cut(text: str) -> str:
    return text if len(text) <= PART_CHARS else f"{text[:PART_CHARS]}{CUT}"


@cache
def _read(name: str) -> str:
    return files("hindsight_ingest").joinpath("prompts", name).read_text(encoding="utf-8")
