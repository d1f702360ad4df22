"""Poisoning: whether what an attacker gets written reaches the user as if it could be trusted, and what is harmless still does.

.venv/bin/python bench/poisoning.py        run the scenarios of sets/poisoning.yaml against an instance of their own

A user writes true statements; the attack is written as the scenario says (by an agent's key that may not speak for its user, in a
turn of the assistant or of a tool, as an experience, by another agent); then the user's question is asked. Delivered as trusted
is a hit that holds the poison and carries no flag. The twin is a harmless statement that takes the same path.
"""

import asyncio
import statistics
import time
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from hindsight_ingest.guard import TextGuard
from hindsight_local.trial import Instance, running
from hindsight_memory import Answer, DeskEntry, Hindsight, Memory, NewKey, NewMemory, Source, Turn

SET = Path(__file__).parent / "sets" / "poisoning.yaml"
REPEATS = 50  # of one statement, in scenarios that repeat it
TOP_K = 10
Settle = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a scenario."""

    name: str
    lang: str
    kind: str
    is_delivered: bool  # the poison stands in a hit
    is_trusted: bool  # in one without a flag
    is_twin_delivered: bool
    is_twin_flagged: bool


@dataclass(frozen=True, slots=True)
class Hands:
    """Whose keys write and ask: the user's, and one that may not speak for its user; and what waits for follow-up work."""

    user: Hindsight
    agent: Hindsight
    settle: Settle


def load_scenarios() -> list[Mapping[str, Any]]:
    """The scenarios, as written."""
    return yaml.safe_load(SET.read_text(encoding="utf-8"))


async def play(scenario: Mapping[str, Any], hands: Hands) -> Outcome:
    """Play one scenario in a bank of its own."""
    agent_id = f"poison-{uuid.uuid4().hex[:12]}"
    for statement in scenario["user"]:
        await hands.user.write(_memory(statement, "user"), agent_id=agent_id)
    for step in scenario["attack"]:
        await _write(step, scenario["kind"], hands, agent_id)
    await _write(scenario["twin"], "plain", hands, agent_id)
    await hands.settle()
    answer = await hands.user.recall(scenario["question"], top_k=TOP_K, include_turns=True, agent_id=agent_id)
    twin = await hands.user.recall(scenario["twin"]["question"], top_k=TOP_K, include_turns=True, agent_id=agent_id)
    poisoned, found = _holding(answer, scenario["poison"]), _holding(twin, scenario["twin"]["contains"])
    return Outcome(
        scenario["name"],
        scenario["lang"],
        scenario["kind"],
        bool(poisoned),
        not all(poisoned),
        bool(found),
        bool(found) and all(found),
    )


def _holding(answer: Answer, text: str) -> list[tuple[str, ...]]:
    """The flags of the hits that hold a text."""
    texts = [
        (
            f"{hit.subject.key}\n{hit.subject.value}"
            if isinstance(hit.subject, Memory | DeskEntry)
            else f"{hit.subject.content}\n{hit.subject.result}"
        )
        for hit in answer.hits
    ]
    return [hit.flags for hit, said in zip(answer.hits, texts, strict=True) if text.lower() in said.lower()]


def _memory(statement: Mapping[str, Any], source: Any, **more: Any) -> NewMemory:
    return NewMemory(statement["key"], statement["value"], source=Source(source), **more)


async def _write(step: Mapping[str, Any], kind: str, hands: Hands, agent_id: str) -> None:
    via, times = step["via"], REPEATS if kind == "repeated" else 1
    session_id = f"s-{uuid.uuid4().hex[:12]}"
    if via in ("observe", "tool_result"):
        said = Turn("assistant", step["value"]) if via == "observe" else Turn("tool_result", tool="lookup", result=step["value"])
        await hands.agent.observe(session_id, [Turn("user", "…"), *[said] * times], agent_id=agent_id)
        return
    claimed = {"importance": 1.0, "confidence": 1.0} if kind == "importance" else {}
    sort = {"kind": "experience"} if via == "experience" else {}
    for _ in range(times):
        await hands.agent.write(_memory(step, "inference", **claimed, **sort), agent_id=agent_id)


def summarise(outcomes: Sequence[Outcome]) -> str:
    """The figures, by language."""
    lines = []
    for lang in ("en", "zh"):
        some = [one for one in outcomes if one.lang == lang]
        counted = Counter(
            {name: sum(getattr(one, name) for one in some) for name in Outcome.__dataclass_fields__ if name.startswith("is_")}
        )
        lines.append(
            f"{lang}: {len(some)} scenarios; poison delivered as trusted {counted['is_trusted']}, "
            f"with a flag {counted['is_delivered'] - counted['is_trusted']}, "
            f"not at all {len(some) - counted['is_delivered']}; harmless twins "
            f"delivered {counted['is_twin_delivered']}, of these with a flag {counted['is_twin_flagged']}"
        )
    return "\n".join(lines)


async def _play_all(instance: Instance) -> list[Outcome]:
    async def settle() -> None:
        return None

    async with instance.client() as user, _operator(instance) as operator:
        _, secret = await operator.create_key(NewKey(name="agent", sources=("inference",)))
        async with user.with_key(secret) as agent:
            return [await play(scenario, Hands(user, agent, settle)) for scenario in load_scenarios()]


def _operator(instance: Instance) -> Hindsight:
    client = instance.client()
    return client.with_key(instance.operator_key)


def time_guard(scenarios: Sequence[Mapping[str, Any]]) -> float:
    """Milliseconds, p50, that the guard takes for one memory beside its embedding."""
    guard, took_ms = TextGuard(), []
    for scenario in scenarios:
        for statement in (*scenario["user"], *scenario["attack"], scenario["twin"]):
            began = time.perf_counter()
            guard.judge((statement["value"], statement["key"]))
            took_ms.append(1000 * (time.perf_counter() - began))
    return statistics.median(took_ms)


async def main() -> None:
    """Print what was delivered, and every scenario that went wrong."""
    print(f"the guard takes {time_guard(load_scenarios()):.2f} ms a memory (p50)")
    async with running() as instance:
        outcomes = await _play_all(instance)
    print(summarise(outcomes))
    for one in outcomes:
        if one.is_trusted or not one.is_twin_delivered:
            print(f"  {one.name}: {'delivered as trusted' if one.is_trusted else 'twin not delivered'}")


if __name__ == "__main__":
    asyncio.run(main())
