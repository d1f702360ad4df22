"""Which statements are marked as standing, and where the weights that decide come from."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from hindsight_ingest.standing import MAX_CHARS, WEIGHTS, load_heads, mark, plain, read_heads, signs
from hindsight_ingest.standing_rules import RULES, find_rules
from hindsight_runtime.heads import load_weights

STATEMENTS = Path(__file__).parents[3] / "services/ingest/training/standing.jsonl"

INSTRUCTIONS = (
    ("Always answer me in Polish.", "回答我一律用波兰语。"),
    ("Never book a hotel without asking Joan first.", "没问过周姐之前不要订酒店。"),
    ("No emojis in messages to the board.", "给董事会的消息不要用表情。"),
    ("Keep summaries under six lines.", "总结控制在六行以内。"),
    ("From now on, give temperatures in Celsius.", "以后温度请用摄氏度。"),
    ("Remind Hal of his pills when a trip is planned.", "务必提醒老何出门带药。"),
)
PREFERENCES = (
    ("Prefers aisle seats.", "更喜欢靠过道的位置。"),
    ("Likes tea without milk.", "喜欢喝不加奶的茶。"),
    ("Is allergic to shellfish.", "对贝类过敏。"),
    ("Hates loud restaurants.", "讨厌吵闹的餐馆。"),
)
OTHERS = (
    ("The bakery on the corner never opens before eight.", "街角的面包房从来不在八点前开门。"),
    ("The form must be signed by both tenants.", "这张表必须由两位租客签字。"),
    ("The API requires a key in every request.", "每次请求接口都必须带密钥。"),
    ("Jean moved to Lille in March.", "小江三月搬到了合肥。"),
    ("Visitors must leave their bags at the desk.", "参观者必须把包存在前台。"),
    ("On Monday he asked me to send the invoice, and it was sent.", "周一他让我寄发票，已经寄了。"),
    ("The museum is closed on Tuesdays.", "博物馆周二闭馆。"),
    ("Please book me a flight to Chengdu next week.", "请帮我订一张下周去成都的机票。"),
    ("The key of the villa is at the desk.", "别墅的钥匙在前台。"),
)
CASES = [
    *((text, "instruction") for twins in INSTRUCTIONS for text in twins),
    *((text, "preference") for twins in PREFERENCES for text in twins),
    *((text, "") for twins in OTHERS for text in twins),
]


@pytest.mark.parametrize(("text", "wanted"), CASES)
def test_a_statement_is_marked_by_what_it_says_in_both_languages(text, wanted):
    assert mark("fact", text) == wanted


@pytest.mark.parametrize("text", ["The museum is closed on Tuesdays.", "博物馆周二闭馆。", "", "x" * 500])
def test_a_memory_of_kind_preference_is_marked_whatever_it_says(text):
    assert mark("preference", text) in ("preference", "instruction")


@pytest.mark.parametrize("text", ["Always answer me in Polish.", "回答我一律用波兰语。"])
def test_a_long_text_is_not_marked_unless_it_is_a_preference(text):
    assert mark("fact", f"{text}\n\n{text}") == ""
    long = text * (MAX_CHARS // len(text) + 1)
    assert mark("fact", long) == ""
    assert mark("preference", long) == "preference"


@pytest.mark.parametrize("kind", ["summary", "experience"])
def test_an_account_does_not_stand_whatever_it_quotes(kind):
    for text in ("Goal: always answer me in Polish.", "目标：回答我一律用波兰语。"):
        assert (mark("fact", text) != "", mark(kind, text)) == (True, "")


def test_of_a_long_value_only_the_beginning_is_read():
    assert len(plain("以后" * 16000)) == MAX_CHARS + 1


def test_full_width_forms_and_spaces_around_change_no_mark():
    assert mark("fact", "  Ａｌｗａｙｓ ａｎｓｗｅｒ ｍｅ ｉｎ Ｐｏｌｉｓｈ．\n") == mark("fact", "Always answer me in Polish.")


def test_equal_statements_get_equal_scores_from_heads_loaded_apart():
    again = read_heads(load_weights("hindsight_ingest", WEIGHTS))
    for text, _ in CASES:
        assert again.stands.score(text, signs(text)) == load_heads().stands.score(text, signs(text))


def test_the_weights_fit_the_features():
    size = len(signs("text"))
    assert load_heads().stands.pairs.shape == load_heads().instructs.pairs.shape == (size, size)


RULED = (
    ("from_now_on", "From now on", "从现在起"),
    ("imperative", "Use blue ink", "请用蓝墨水"),
    ("then", "When it rains, take the car", "给他打电话"),
    ("to_be", "It is to be kept", "一概不收"),
    ("wants_output", "Ann wants the price", "希望写清价钱"),
    ("named_habit", "Ann always walks home", "老安总走路"),
    ("forbids", "You must not", "不要"),
    ("without", "No sugar", "只要水"),
    ("each", "Every day", "所有人"),
    ("condition", "If it rains", "下雨的话"),
    ("output", "The report", "报告"),
    ("spoken_to", "You know", "你知道"),
    ("user", "The user", "用户"),
    ("wants", "Ann wants it", "希望"),
    ("is_to", "He should", "应该"),
    ("likes", "Ann likes it", "喜欢"),
    ("dislikes", "Ann hates it", "讨厌"),
    ("diet", "Allergic", "过敏"),
    ("others_rule", "The landlord", "房东"),
    ("past", "It was late", "下雨了。"),
    ("definite_subject", "The roof", "这件事"),
    ("quotes", "He said so", "写着"),
    ("habit", "Usually late", "从来"),
)


@pytest.mark.parametrize(("rule", "english", "chinese"), RULED)
def test_a_rule_fires_in_both_languages(rule, english, chinese):
    assert find_rules(english)[rule]
    assert find_rules(chinese)[rule]


def test_every_rule_about_words_of_both_languages_has_a_case_of_its_own():
    assert RULES.keys() - {rule for rule, _, _ in RULED} == {"number", "bare_verb"}


def test_the_packaged_weights_were_trained_on_the_statements_in_the_repository():
    assert load_heads().training_sha256 == hashlib.sha256(STATEMENTS.read_bytes()).hexdigest()


def test_the_training_statements_are_many_and_varied():
    rows = [json.loads(line) for line in STATEMENTS.read_text(encoding="utf-8").splitlines()]
    assert len({row["text"] for row in rows}) == len(rows) >= 1200
    for lang in ("en", "zh"):
        labels = [row["label"] for row in rows if row["lang"] == lang]
        assert len(labels) >= 600
        assert set(labels) == {"instruction", "preference", "none"}
        assert 0.3 <= np.mean([label == "none" for label in labels]) <= 0.6
