"""What statements are filed under, and when they are recalled."""

import pytest
from hindsight_ingest.deriving import derive_key, derive_query, name_subject
from hindsight_language.conflicts import Statement, contradicts
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("kind", "text", "name", "key"),
    [
        ("preference", "I prefer window seats.", "", "user preference"),
        ("preference", "我喜欢靠窗的座位。", "", "用户偏好"),
        ("state", "Order R-20931 has shipped.", "R-20931", "R-20931 status"),
        ("state", "订单 R-20931 已发货。", "R-20931", "R-20931 状态"),
        ("state", "The contract was signed yesterday.", "", "contract status"),
        ("state", "合同昨天签了。", "", "合同 状态"),
        ("fact", "I live in Turin.", "", "home city"),
        ("fact", "我住在都灵。", "", "居住地"),
        ("entity", "My sister Ines plays the cello.", "person Ines", "person Ines"),
        ("correction", "No, it should be three.", "", "correction"),
        ("experience", "Anything.", "", "experience"),
    ],
)
def test_a_key_names_the_subject_in_the_language_of_the_text(kind, text, name, key):
    assert derive_key(kind, text, name) == key


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I live in Turin.", "I moved to Lisbon."),
        ("我住在都灵。", "我搬到里斯本了。"),
        ("The contract has been signed.", "The contract has been cancelled."),
        ("合同已经签了。", "合同取消了。"),
    ],
)
@pytest.mark.parametrize("kind", ["state", "fact"])
def test_statements_that_may_contradict_each_other_share_a_key(kind, older, newer):
    assert derive_key(kind, older) == derive_key(kind, newer)


def test_a_state_under_its_key_contradicts_the_state_before():
    older, newer = "Order R-20931 has been shipped.", "Order R-20931 has been delivered."
    statements = [Statement(derive_key("state", text, "R-20931"), text, "state") for text in (newer, older)]
    assert contradicts(*statements) == "state"


@pytest.mark.parametrize(
    ("kind", "text", "query"),
    [
        ("state", "The contract was signed yesterday.", "status of contract; what has become of it?"),
        ("state", "合同昨天签了。", "合同现在怎么样了？"),
        ("entity", "Ines", "who or what is Ines?"),
        ("entity", "林蔚", "林蔚 是谁或是什么？"),
        ("preference", "I prefer window seats.", ""),
    ],
)
def test_a_query_is_the_situation_in_which_to_recall(kind, text, query):
    assert derive_query(kind, text) == query


@pytest.mark.parametrize(("language", "subject"), [("en", "person Ines"), ("zh", "人物 Ines")])
def test_an_entity_is_filed_under_its_type_and_name(language, subject):
    assert name_subject("Ines", "person", language) == subject


@given(
    st.text(max_size=400),
    st.sampled_from(["preference", "fact", "state", "entity", "correction", "summary"]),
    st.text(max_size=200),
)
def test_any_text_gets_a_key_within_the_limit(text, kind, name):
    assert 0 < len(derive_key(kind, text, name)) <= 128
    assert len(derive_query(kind, text)) <= 128
