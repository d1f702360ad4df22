"""The recall rules, case by case, each with its twin in the other language: what is written, asked, and must come back."""

from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hindsight_memory import Hindsight, NewMemory

FILES = (Path(__file__).parents[2] / "bench" / "sets" / "golden_recall.yaml", *sorted(Path(__file__).parent.glob("*.yaml")))
CASES = [case for file in FILES for case in yaml.safe_load(file.read_text(encoding="utf-8"))]


def moment(day: date | None) -> datetime | None:
    """Noon of a day."""
    return datetime.combine(day, time(12), UTC) if day else None


def check(asked: dict[str, Any], found: list[str]) -> list[str]:
    """What an answer does not keep of what is asked of it."""
    wrong = []
    if "first" in asked and found[:1] != [asked["first"]]:
        wrong.append(f"first {asked['first']}")
    for name in asked.get("within", {}).get("names", ()):
        if name not in found[: asked["within"]["top"]]:
            wrong.append(f"{name} within {asked['within']['top']}")
    wrong += [f"{name} absent" for name in asked.get("absent", ()) if name in found]
    return [f"{asked['query']} ({asked.get('as_of') or asked.get('now') or 'now'}): not {w}, but {found}" for w in wrong]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
async def test_a_golden_case_holds(client: Hindsight, case: dict[str, Any]):
    names = {}
    for memory in case["write"]:
        fields = {name: memory[name] for name in ("query", "kind", "scope") if name in memory}
        written = await client.write(NewMemory(memory["key"], memory["value"], valid_from=moment(memory["at"]), **fields))
        names[written.memory_id] = memory["name"]
    wrong = []
    for asked in case["recall"]:
        as_of = moment(asked.get("as_of") or asked.get("now"))
        answer = await client.recall(asked["query"], as_of=as_of)
        wrong += check(asked, [names[hit.memory.id] for hit in answer.hits])
    assert not wrong, "\n".join(wrong)


def test_every_rule_has_a_positive_a_negative_and_a_twin_in_the_other_language():
    by_name = {case["name"]: case for case in CASES}
    assert len(by_name) == len(CASES)
    for case in CASES:
        twin = by_name[case["twin"]]
        assert twin["twin"] == case["name"]
        assert {case["lang"], twin["lang"]} == {"en", "zh"}
    for rule in {case["rule"] for case in CASES}:
        sorts = {tuple(case["name"].rsplit("-", 2)[1:]) for case in CASES if case["rule"] == rule}
        assert sorts >= {(sort, lang) for sort in ("pos", "neg") for lang in ("en", "zh")}
