"""Words that mean always or never are told from the same characters inside longer words and names."""

import pytest
from hindsight_language.whole_words import BLANK, BLANK_LETTER, blank_parts

ALL = BLANK_LETTER * 3


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("去成都、首都和都江堰都订靠窗的", f"去成{BLANK}、首{BLANK}和{BLANK}江堰都订靠窗的"),
        ("老总总是在总部", f"老{BLANK}总是在{BLANK}部"),
        ("别给别人特别的别墅", f"别给{BLANK}人特{BLANK}的{BLANK}墅"),
        ("千万别动，别提", "千万别动，别提"),
        ("凡是平凡的人", f"凡是平{BLANK}的人"),
        ("我每次都买《每一天》", f"我每次都买{BLANK * 5}"),
        ("魔都的夜景都好看", f"魔{BLANK}的夜景都好看"),
        (
            "All seats: an all-day pass to All Saints, for all of us",
            f"All seats: an {ALL}-day pass to {ALL} Saints, for all of us",
        ),
        ("NEVER USE ALL CAPS", "NEVER USE ALL CAPS"),
        ("", ""),
    ],
)
def test_a_word_is_left_where_it_stands_as_a_word(text: str, left: str):
    assert blank_parts(text) == left
    assert len(left) == len(text)
