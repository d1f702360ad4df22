"""Keys and questions made from a statement's own words."""

import pytest
from hindsight_mcp_edge.remembering import KEY_CHARS, derive_key, derive_query


@pytest.mark.parametrize(
    ("content", "key"),
    [
        ("Ada lives in Turin.", "Ada lives in Turin"),
        ("Please remember that Ada lives in Turin, near the river.", "Ada lives in Turin"),
        ("Note: the deploy takes 3.5 minutes. Do not interrupt it.", "the deploy takes 3.5 minutes"),
        ("Yes, the order E-4471 has shipped.", "Yes, the order E-4471 has shipped"),
        ("请记住：小林不吃辣，喜欢清淡的菜。", "小林不吃辣"),
        ("记住，会议改到周五下午三点。", "会议改到周五下午三点"),
        ("订单17已发货", "订单17已发货"),
        ("  spaced \n out  text ", "spaced out text"),
        ("remember", "remember"),
        ("...", "..."),
        ("x" * 200, "x" * KEY_CHARS),
        ("word " * 30, " ".join(["word"] * 12)),
        ("长" * 200, "长" * KEY_CHARS),
    ],
)
def test_a_key_is_the_first_clause_that_says_something(content: str, key: str):
    assert derive_key(content) == key


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("Ada lives in Turin.", "What is known: k?"),
        ("Ada prefers tea.", "What are the preferences: k?"),
        ("小林不吃辣。", "k：有什么偏好或习惯？"),
        ("订单17已发货", "k：是什么情况？"),
    ],
)
def test_a_question_is_asked_in_the_statements_language(content: str, query: str):
    assert derive_query(content, "k") == query
