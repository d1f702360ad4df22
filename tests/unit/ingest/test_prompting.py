"""What an LLM is shown: the JSON found in its answers, the turns quoted for it, its prompts."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hindsight_ingest.judging import CONTEXT, find_origin, is_ambiguous
from hindsight_ingest.llm import estimate_tokens, find_json
from hindsight_ingest.prompting import MATERIAL_CHARS, PART_CHARS, quote_ends, quote_newest, to_prompt
from hindsight_ingest.settings import WorkerSettings
from hindsight_store.llm_use import Use
from hindsight_store.turns import Turn
from pydantic import SecretStr, ValidationError

AT = datetime(2026, 3, 1, tzinfo=UTC)
SAID = Turn("s1", 0, "agent", "user", "hello", "", {}, "", False, (), "k1", AT, AT)
DATABASES: dict[str, Any] = {"port": 1, "database_url": "postgresql://x/x", "maintenance_database_url": "postgresql://x/x"}


def say(number: int, text: str, role: str = "user") -> Turn:
    return replace(SAID, turn=number, content=text, role=role)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (' [{"a": 1}] ', '[{"a": 1}]'),
        ("```json\n[1]\n```", "[1]"),
        ("Sure:\n```\n{}\n```\nAnything else?", "{}"),
        ("<think>perhaps [2]</think>[1]", "[1]"),
        ('["```json"]', '["```json"]'),
        ('```json\n["use ``` here"]\n```', '["use ``` here"]'),
        ("no", "no"),
        ("", ""),
    ],
)
def test_the_json_of_an_answer_is_found(answer: str, found: str):
    assert find_json(answer) == found


def test_tokens_are_estimated_rather_too_many():
    assert (estimate_tokens(""), estimate_tokens("abcdef"), estimate_tokens("你好 ok")) == (1, 3, 4)


def test_a_turn_is_a_line_with_all_it_holds():
    call = replace(say(3, "", "tool_call"), tool="sql", arguments={"城市": ["里斯本"]}, result='no\n"such"', is_error=True)
    material = quote_newest([say(2, "第一行\n第二行"), call], 3)
    earlier, now = material.text.splitlines()
    assert json.loads(earlier) == {"turn": 2, "role": "user", "text": "第一行\n第二行", "earlier": True}
    assert json.loads(now) == {
        "turn": 3, "role": "tool_call", "tool": "sql", "arguments": '{"城市": ["里斯本"]}', "result": 'no\n"such"', "error": True,
    }  # fmt: skip
    assert material.shown == ("第一行\n第二行", 'sql\n{"城市": ["里斯本"]}\nno\n"such"')


def test_a_long_turn_is_cut():
    [line] = quote_newest([say(0, "长" * 5000)], 0).text.splitlines()
    assert json.loads(line)["text"] == "长" * PART_CHARS + "…"


def test_of_many_turns_the_newest_are_quoted():
    material = quote_newest([say(n, f"{n} " * 300) for n in range(100)], 0)
    numbers = [json.loads(line)["turn"] for line in material.text.splitlines()]
    assert len(material.text) <= MATERIAL_CHARS
    assert numbers == list(range(numbers[0], 100))
    assert len(numbers) > 10


def test_of_many_turns_both_ends_are_quoted():
    material = quote_ends([say(n, f"{n} " * 300) for n in range(100)])
    lines = material.text.splitlines()
    numbers = [json.loads(line)["turn"] for line in lines if line != "…"]
    gap = lines.index("…")
    assert len(material.text) <= MATERIAL_CHARS + 2
    assert numbers == [*range(gap), *range(100 - (len(numbers) - gap), 100)]
    assert len(material.shown) == len(numbers)


def test_few_turns_are_all_quoted():
    turns = [say(n, "hello") for n in range(5)]
    assert [json.loads(line)["turn"] for line in quote_ends(turns).text.splitlines()] == [0, 1, 2, 3, 4]
    assert quote_ends([]).text == ""


@pytest.mark.parametrize("name", ["judge", "retrospect"])
def test_each_prompt_is_there_in_both_languages(name: str):
    english, chinese = (to_prompt(name, language, quote_ends([])) for language in ("en", "zh"))
    assert english.instructions.isascii() or "…" in english.instructions
    assert "不得编造" in chinese.instructions
    assert "Invent nothing" in english.instructions
    for field in ("JSON", '"value"' if name == "judge" else '"pitfalls"'):
        assert field in english.instructions
        assert field in chinese.instructions
    assert "{errors}" in english.again
    assert "{errors}" in chinese.again


def test_a_statement_comes_from_the_turn_that_holds_most_of_it():
    turns = [
        say(0, "We live in Lisbon."),
        say(1, "Our office in Lisbon opens at nine."),
        say(2, "Our office in Lisbon opens at nine."),
    ]
    assert find_origin("The office in Lisbon opens at nine.", turns).turn == 1


def test_only_a_round_in_which_the_user_says_something_is_ambiguous():
    talk = [say(0, "Mornings are hard for us."), say(1, "I see.", "assistant"), say(2, "Thanks!"), say(3, "Bye.", "assistant")]
    assert is_ambiguous(talk, 0, 4)
    assert not is_ambiguous(talk, 0, 3)
    assert not is_ambiguous(talk, 1, 4)
    assert CONTEXT >= 3  # the turns of a session that was short are still there when it no longer is


def test_without_a_url_there_is_no_llm():
    assert WorkerSettings(**DATABASES, llm_model="small").llm is None


def test_settings_become_an_endpoint_that_hides_its_key():
    settings = WorkerSettings(**DATABASES, llm_url="http://localhost:1/v1", llm_model="small", llm_api_key=SecretStr("sk-1"))
    endpoint = settings.llm
    assert endpoint is not None
    assert (endpoint.url, endpoint.api_key, endpoint.model, endpoint.retrospect_model, endpoint.timeout_s, endpoint.budget) == (
        "http://localhost:1/v1", "sk-1", "small", "small", 20.0, Use(200, 200_000),
    )  # fmt: skip
    assert "sk-1" not in f"{settings!r}{endpoint!r}"


@pytest.mark.parametrize("wrong", [{"llm_url": "http://localhost:1/v1"}, {"llm_url": "localhost", "llm_model": "small"}])
def test_a_url_without_a_model_and_a_url_that_is_none_are_refused(wrong: dict[str, Any]):
    with pytest.raises(ValidationError):
        WorkerSettings(**DATABASES, **wrong)
