"""Search terms in both languages."""

from hindsight_store.ids import uuid7
from hindsight_store.words import length, terms, to_tsquery, to_tsvector, weight


def test_english_is_stemmed_and_stop_words_are_left_out():
    assert terms("The deliveries were delivered to Ada") == {"deliveri": 1, "deliv": 1, "ada": 1} | terms("delivered")


def test_chinese_is_found_by_words_and_by_bigrams():
    found = terms("北京大学的学生")
    assert {"北京", "大学", "北京大学", "学生", "京大"} <= found.keys()


def test_identifiers_are_kept_whole_and_in_parts():
    assert {"e4471", "4471"} <= terms("Order E4471 is late").keys()
    assert {"new_ranking", "rank"} <= terms("the flag new_ranking").keys()


def test_mixed_script_gives_terms_of_both():
    assert {"api", "接口", "500"} <= terms("API接口返回500").keys()


def test_full_width_and_case_are_levelled():
    assert terms("ＡＰＩ") == terms("api")


def test_text_without_words_has_no_terms():
    assert terms("😀 … — !!!") == {}


def test_a_chinese_term_counts_half():
    assert (weight("北京"), weight("tea"), length({"北京": 2, "tea": 1})) == (0.5, 1.0, 2.0)


def test_quotes_and_backslashes_survive_the_text_form():
    assert to_tsvector({"a'b\\c": 2}) == "'a''b\\\\c':1,2"
    assert to_tsquery({"a": 1.0, "b": 1.0}) == "'a' | 'b'"


def test_ids_ascend_even_within_a_millisecond():
    ids = [uuid7() for _ in range(10_000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)
    assert {i.version for i in ids} == {7}
