"""Which preferences pair up."""

import pytest
from hindsight_ingest.kin import are_a_pair

PAIRS = [
    ("Ada likes dark mode.", "Ada dislikes bright mode."),
    ("Ada dislikes loud restaurants.", "Ada likes quiet restaurants."),
    ("小林喜欢深色模式。", "小林讨厌浅色模式。"),
    ("小林不喜欢吵闹的餐厅。", "小林喜欢安静的餐厅。"),
]
NO_PAIRS = [
    ("Ada likes dark mode.", "Ada likes bright mode."),
    ("Ada likes dark mode.", "Ada dislikes dark mode."),
    ("Ada likes dark chocolate.", "Ada dislikes bright mode."),
    ("小林喜欢深色模式。", "小林喜欢浅色模式。"),
    ("小林喜欢深色模式。", "小林讨厌下雨天。"),
    ("", ""),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_a_like_and_a_dislike_of_the_opposite_are_a_pair(one: str, other: str):
    assert are_a_pair(one, other)
    assert are_a_pair(other, one)


@pytest.mark.parametrize(("one", "other"), NO_PAIRS)
def test_what_says_something_else_is_no_pair(one: str, other: str):
    assert not are_a_pair(one, other)
    assert not are_a_pair(other, one)
