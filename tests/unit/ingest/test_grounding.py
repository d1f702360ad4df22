"""Whether what an LLM says rests on what it was shown."""

import pytest
from hindsight_ingest.grounding import Ground, find_numbers

SHOWN = ["The invoice of 1,200 euros goes to the Lisbon office.", "发票金额是１２００元，寄到里斯本办公室。"]


@pytest.mark.parametrize(
    "text",
    [
        "The invoice goes to the Lisbon office.",
        "An invoice over 1200 euros is sent to Lisbon.",
        "发票寄到里斯本办公室。",
        "发票金额为1200元。",
    ],
)
def test_what_was_shown_is_grounded(text: str):
    assert Ground.of(SHOWN).holds(text)


@pytest.mark.parametrize(
    "text",
    [
        "The invoice of 1,300 euros goes to the Lisbon office.",
        "The invoice of 200 euros goes to the Lisbon office.",
        "The grandmother in Lisbon bakes wonderful bread.",
        "发票金额是1300元，寄到里斯本办公室。",
        "外婆喜欢做面包。",
        "It is.",
        "",
    ],
)
def test_other_numbers_and_other_things_are_not(text: str):
    assert not Ground.of(SHOWN).holds(text)


def test_a_number_is_the_same_however_it_is_written():
    assert find_numbers("1,200 or １２００, at 8:30, for 12.5, in 3,5") == {"1200", "8:30", "12.5", "3", "5"}
