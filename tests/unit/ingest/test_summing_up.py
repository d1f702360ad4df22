"""What a session is summed up as, and which sessions are not."""

from datetime import UTC, datetime

import pytest
from hindsight_ingest.summing_up import MAX_CHARS, sum_up
from hindsight_store.turns import Turn

NOW = datetime(2026, 1, 5, tzinfo=UTC)


def converse(*said):
    """Turns of a session; a text with "> " before it is the agent's."""
    return [
        Turn(
            "s",
            n,
            "agent",
            "assistant" if text.startswith("> ") else "user",
            text.removeprefix("> "),
            "",
            {},
            "",
            False,
            (),
            "",
            NOW,
            NOW,
        )
        for n, text in enumerate(said)
    ]


ENGLISH = converse(
    "Please write a letter to the landlord about the mould in the bedroom.",
    "> Since when has it been there?",
    "Since December, on the north wall.",
    '> Draft: "Since November there has been mould on the north wall of the bedroom."',
    "I said December, not November.",
    "> Sorry, I have corrected it.",
    "From now on, always show me letters before you send them.",
)
CHINESE = converse(
    "帮我给房东写封信，说卧室发霉的事。",
    "> 从什么时候开始的？",
    "十二月开始的，北墙上。",
    "> 草稿：自十一月起卧室北墙发霉。",
    "不对，我说的是十二月，不是十一月。",
    "> 抱歉，已经改好了。",
    "以后所有信发出去之前都要先给我看。",
)


@pytest.mark.parametrize("turns", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_a_session_with_work_in_it_is_summed_up_in_its_own_words(turns):
    summary = sum_up(turns)
    assert summary is not None
    assert summary.topic == turns[0].content
    said = "\n".join(turn.content for turn in turns)
    for line in summary.text.splitlines():
        text = line.partition("：" if summary.language == "zh" else ": ")[2]
        assert any(part in said for part in (text, text.partition(" (corrects")[0], text.partition("（更正")[0]))
    assert turns[-1].content in summary.text


@pytest.mark.parametrize(("turns", "labels"), [(ENGLISH, {"Goal", "Said", "Learned"}), (CHINESE, {"目标", "用户提到", "记下"})])
def test_the_lines_of_a_summary_are_labelled_in_the_language_of_the_session(turns, labels):
    summary = sum_up(turns)
    assert summary is not None
    assert {line.replace("：", ": ").partition(": ")[0] for line in summary.text.splitlines()} == labels


@pytest.mark.parametrize(
    "said",
    [
        (),
        ("hi", "> Hello!", "how are you?", "> Fine, and you?", "great, bye"),
        ("早", "> 早上好！", "今天好冷", "> 多穿点。", "嗯嗯"),
        ("What's the capital of Mongolia?", "> Ulaanbaatar.", "thanks"),
        ("一斤是多少克", "> 500 克。", "好"),
    ],
)
def test_small_talk_and_a_trivial_question_are_not_summed_up(said):
    assert sum_up(converse(*said)) is None


def test_a_long_session_is_summed_up_in_few_words():
    long = converse(
        *[f"Please write a report about the failing pump number {n}, it matters a lot. " + "word " * 200 for n in range(40)]
    )
    summary = sum_up(long)
    assert summary is not None
    assert len(summary.text) <= MAX_CHARS
