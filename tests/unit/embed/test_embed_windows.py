"""Long text in windows: nothing lost, nothing over the model's window."""

import numpy as np
import pytest
from hindsight_embedding.fake_model import FakeModel
from hindsight_embedding.model import Role
from hindsight_embedding.windows import pool, split
from hypothesis import given
from hypothesis import strategies as st

WINDOW = 8
ROOM = WINDOW - 3  # two special tokens and the prefix


class SharedCharacterModel(FakeModel):
    """Every character is three tokens, as where a normaliser spells a ligature out."""

    def spans(self, text):
        return [(i, i + 1) for i in range(len(text)) for _ in range(3)]


def test_short_text_is_one_window_with_its_prefix():
    (window,) = split("tea or coffee", Role.QUERY, FakeModel(WINDOW))
    assert (window.text, window.tokens, window.weight) == ("ask: tea or coffee", 6, 3)


def test_passage_gets_its_own_prefix():
    (window,) = split("tea", Role.PASSAGE, FakeModel(WINDOW))
    assert window.text == "say: tea"


@given(st.text(st.sampled_from("ab你好 \n"), min_size=1, max_size=200))
def test_windows_are_the_whole_text_in_order_and_each_fits(text):
    model = FakeModel(WINDOW)
    windows = split(text, Role.PASSAGE, model)
    assert "".join(w.text.removeprefix("say: ") for w in windows) == text
    assert all(w.tokens == model.count_tokens(w.text) + 2 <= WINDOW for w in windows)


def test_windows_are_about_equal_in_tokens():
    windows = split("a " * (2 * ROOM + 1), Role.QUERY, FakeModel(WINDOW))
    assert [w.weight for w in windows] == [3, 4, 4]


def test_tokens_that_share_a_character_make_no_empty_window():
    windows = split("ﷺ" * 9, Role.QUERY, SharedCharacterModel(WINDOW))
    assert "".join(w.text.removeprefix("ask: ") for w in windows) == "ﷺ" * 9
    assert all(w.text != "ask: " for w in windows)


def test_text_without_tokens_still_weighs_something():
    (window,) = split(" ", Role.QUERY, FakeModel(WINDOW))
    assert window.weight == 1


def test_pooling_weighs_windows_by_their_tokens():
    pooled = pool([np.array([1, 0], np.float32), np.array([0, 1], np.float32)], [3, 4])
    assert pooled == pytest.approx([0.6, 0.8])
    assert pooled.dtype == np.float32


def test_pooling_opposite_windows_gives_a_unit_vector():
    pooled = pool([np.array([1, 0], np.float32), np.array([-1, 0], np.float32)], [1, 1])
    assert np.linalg.norm(pooled) == pytest.approx(1)
