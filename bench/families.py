"""Families of tasks with a trap in them, and the simulated tools that accept a call or answer with an error."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

FILE = Path(__file__).parent / "sets" / "families.yaml"
Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool."""

    tool: str
    arguments: Arguments


@dataclass(frozen=True, slots=True)
class Answered:
    """A call that the tools accept, and their answer."""

    call: Call
    result: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request, the call an agent without experience makes for it, and the calls that are right."""

    request: str
    naive: Call
    right: tuple[Answered, ...]


@dataclass(frozen=True, slots=True)
class Family:
    """A task met twice."""

    name: str
    lang: Literal["en", "zh"]
    trap: str
    tools: Mapping[str, Mapping[str, Any]]
    error: str  # what the naive call is answered with
    seems_fine: bool  # the naive call is answered as if it were right
    earlier: tuple[Answered, ...]
    correction: str
    reply: str
    first: Attempt
    again: Attempt


class World:
    """The tools of a family while one request is worked on."""

    def __init__(self, family: Family, attempt: Attempt) -> None:
        self._family = family
        self._attempt = attempt
        self._called: set[str] = set()

    def call(self, call: Call) -> str | None:
        """The answer to a call; None where the tool refuses it."""
        accepts = self._family.tools.get(call.tool, {}).get("accepts")
        if accepts is None or accepts.keys() != call.arguments.keys():
            return None
        if not all(re.fullmatch(accepts[name], str(value)) for name, value in call.arguments.items()):
            return None
        if not self._called.issuperset(self._family.tools[call.tool].get("after", ())):
            return None
        self._called.add(call.tool)
        return next((one.result for one in self._attempt.right if one.call == call), None)


def load_families(file: Path = FILE) -> list[Family]:
    """All families of a file."""
    return [_to_family(told) for told in yaml.safe_load(file.read_text(encoding="utf-8"))]


def _to_family(told: Mapping[str, Any]) -> Family:
    return Family(
        name=told["name"],
        lang=told["lang"],
        trap=told["trap"],
        tools=told["tools"],
        error=told["error"],
        seems_fine=told.get("seems_fine", False),
        earlier=_to_answered(told.get("earlier", ())),
        correction=told.get("correction", ""),
        reply=told.get("reply", ""),
        first=_to_attempt(told),
        again=_to_attempt(told["again"]),
    )


def _to_attempt(told: Mapping[str, Any]) -> Attempt:
    return Attempt(told["request"], Call(**told["naive"]), _to_answered(told["right"]))


def _to_answered(told: Sequence[Mapping[str, Any]]) -> tuple[Answered, ...]:
    return tuple(Answered(Call(one["tool"], one["arguments"]), one["result"]) for one in told)
