"""What a turn is, by its text alone: who speaks, and whether it only asks."""

from datetime import UTC, datetime

import pytest
from hindsight_recall.episodic import is_pure_question, speaker_of
from hindsight_recall.periods import MAX_PERIODS, find_periods
from hindsight_store.turns import Turn

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def turn(content: str) -> Turn:
    """A turn of this content."""
    return Turn("s", 0, "agent", "user", content, "", {}, "", False, (), "k", NOW, NOW)


@pytest.mark.parametrize(
    ("content", "speaker"),
    [("Caroline: Hey!", "Caroline"), ("小林：你好", "小林"), ("no colon here", ""), (": nothing", ""), ("x" * 60 + ": y", "")],
)
def test_a_speaker_is_a_short_name_before_a_colon(content: str, speaker: str):
    assert speaker_of(turn(content)) == speaker


@pytest.mark.parametrize("content", ["Where is the pier?", "码头在哪里？", "OK. And when does it open?"])
def test_a_turn_that_asks_about_something_else_is_a_pure_question(content: str):
    assert is_pure_question(content)


@pytest.mark.parametrize("content", ["Did I tell you?", "我说过吗？", "It opens at nine.", "x" * 201 + "?", ""])
def test_a_turn_that_tells_something_is_none(content: str):
    assert not is_pure_question(content)


def test_long_turns_and_queries_cost_no_more_than_short_ones():
    """Patterns are applied to a bounded piece of text: on all of it these would take many seconds."""
    for long in (('{"k": "v", ' * 3000)[:32_700], "，" * 10_000, "a" + " " * 32_000, "a:" * 16_000):
        assert not is_pure_question(long)
        assert len(speaker_of(turn(long))) < 64
    assert len(find_periods("7 May " * 1365, NOW)) == len(find_periods("三个月前" * 2048, NOW)) == MAX_PERIODS
