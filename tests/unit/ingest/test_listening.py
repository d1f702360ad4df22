"""What listening finds in turns, in both languages, and what it leaves alone."""

import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hindsight_ingest.listening import TRIGGERS, VALUE_CHARS, WEIGHTS, listen, load_heads, read_heads
from hindsight_ingest.listening_rules import FOR, RULES
from hindsight_ingest.naming import RULE_NAMES
from hindsight_language.simplified import simplify
from hindsight_runtime.heads import load_weights
from hindsight_store.turns import Turn
from hypothesis import given
from hypothesis import strategies as st

NOW = datetime(2026, 1, 5, tzinfo=UTC)


def say(text, role="user", number=1):
    """A turn of a session."""
    return Turn("s", number, "agent", role, text, "", {}, "", False, (), "", NOW, NOW)


def told(result, **changes):
    """What a tool answered."""
    return replace(say("", "tool_result"), result=result, **changes)


def kinds(text, before=""):
    """The triggers that outlast the task, found in a turn."""
    found = listen(say(text), say(before, "assistant", 0) if before else None)
    return {one.trigger for one in found if one.timing != "desk"}


HEARD = [
    ("I always want metric units in recipes.", "", {"preference"}),
    ("以后给我的菜谱一律用公制单位。", "", {"preference"}),
    ("I can't stand long answers, keep them short.", "", {"preference"}),
    ("我受不了长篇大论，回答尽量短。", "", {"preference"}),
    ("The order has been delivered this morning.", "", {"state"}),
    ("订单今早已经送到了。", "", {"state"}),
    ("Order R-20931 has shipped.", "", {"entity", "state"}),
    ("订单 R-20931 已发货", "", {"entity", "state"}),
    ("The project has moved into testing.", "", {"state"}),
    ("项目进入测试阶段了", "", {"state"}),
    ("No, it should be blue.", "", {"correction"}),
    ("不对，应该是蓝色", "", {"correction"}),
    ("My sister Ines teaches the cello.", "", {"entity"}),
    ("我妹妹林蔚在教小提琴。", "", {"entity"}),
    ("I'm allergic to shellfish.", "", {"preference"}),
    ("我对海鲜过敏。", "好的", {"preference"}),
    ("I'm diabetic, is this dish safe?", "Here is the menu.", {"preference"}),
    ("我有糖尿病，这道菜能吃吗？", "菜单在这里。", {"preference"}),
    ("成都的酒店都订靠街的", "", {"preference"}),
    ("No, it should be three nights.", "I booked two nights.", {"correction"}),
    ("不对，应该是三晚。", "已为您订了两晚。", {"correction"}),
]
LEFT = [
    "Has the order been shipped?",
    "订单发货了吗？",
    "If the order is shipped tomorrow, we have it by Friday.",
    "如果订单明天发货，周五能到吗？",
    "Do you remember which seat I prefer?",
    "你还记得我喜欢哪种座位吗？",
    "Translate into German: my sister has moved to Madrid.",
    "翻译成英文：我妹妹搬到马德里了。",
    "Thanks a lot!",
    "谢谢你！",
    "Book me a flight to Chengdu next week.",
    "帮我安排下周去成都的出差。",
    "请帮我订一张去成都的机票",
    "给我订成都的酒店",
    "帮我安排下周去首都机场的接送",
    "帮我订都江堰的门票",
    "Please book an all-day pass for Friday.",
    "帮我订一栋海边别墅",
    "帮我给别人发邮件",
    "请帮我给总经理发一封邮件",
    "帮我订一本《每一天》",
    "我不吃了，谢谢",
    "Is this safe for people allergic to nuts?",
    "他对花生过敏吗？",
    "My sister is allergic to cats.",
    "我妹妹对猫过敏。",
    "Tests are running now.",
    "测试正在跑。",
]


@pytest.mark.parametrize(("text", "before", "wanted"), HEARD)
def test_what_is_worth_keeping_is_found_in_both_languages(text, before, wanted):
    assert kinds(text, before) == wanted


@pytest.mark.parametrize("text", LEFT)
def test_questions_suppositions_material_and_talk_are_left_alone(text):
    assert kinds(text) == set()


def test_a_short_thanks_corrects_nothing():
    assert kinds("ty", "Ich bevorzuge immer Tee gegenüber Kaffee.") == set()


@pytest.mark.parametrize(
    ("stated", "asked"),
    [("The parcel has been shipped.", "Has the parcel been shipped?"), ("包裹已经发货了。", "包裹发货了吗？")],
)
def test_a_state_is_found_where_it_is_told_and_not_where_it_is_asked_for(stated, asked):
    assert (kinds(stated), kinds(asked)) == ({"state"}, set())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Remember that the spare key is with the baker.", "fact"),
        ("记住，备用钥匙在面包店。", "fact"),
        ("Please remember: always answer me in Polish.", "preference"),
        ("记住，以后回答一律用波兰语。", "preference"),
    ],
)
def test_what_is_to_be_remembered_is_kept_at_once_as_what_it_is(text, kind):
    (found,) = [one for one in listen(say(text)) if one.trigger == "preference"]
    assert (found.rule, found.kind, found.timing, found.value) == ("remember", kind, "now", text)


def test_a_correction_is_kept_at_once_with_what_it_corrects():
    (found,) = listen(say("No, Thursday, not Friday."), say("I booked the table for Friday.", "assistant", 0))
    assert (found.trigger, found.timing) == ("correction", "now")
    assert found.value == 'No, Thursday, not Friday. (corrects: "I booked the table for Friday.")'


@pytest.mark.parametrize("text", ["ok the form is at step three", "表填到第三步了"])
def test_the_state_of_a_task_is_for_the_desk(text):
    (found,) = listen(say(text))
    assert (found.trigger, found.rule, found.timing) == ("state", "progress", "desk")


@pytest.mark.parametrize("role", ["assistant", "tool_call", "system"])
def test_nothing_is_learned_from_what_the_agent_says(role):
    assert listen(say("I always prefer window seats. The order has been shipped.", role)) == []


@pytest.mark.parametrize(
    ("text", "known"), [("Ines lives in Porto, Ines is my sister.", ""), ("我妹妹林蔚，林蔚在教小提琴。", "")]
)
def test_an_entity_is_introduced_once(text, known):
    names = [one.name for one in listen(say(text)) if one.trigger == "entity"]
    assert len(names) == len(set(names))


def test_a_name_of_the_turn_before_is_not_new():
    before = say("Is it about order R-20931?", "assistant", 0)
    assert not [one for one in listen(say("Yes, order R-20931 it is."), before) if one.trigger == "entity"]


def test_an_entity_has_its_name_type_and_key():
    (found,) = [one for one in listen(say("I ordered two lamps and only one came, order R-20931.")) if one.trigger == "entity"]
    assert (found.name, found.tags, found.key) == ("R-20931", ("entity", "order"), "order R-20931")


@pytest.mark.parametrize(
    "text",
    [
        "Fix this:\n```\n# I always want tabs, never spaces\n```",
        "> I always want tabs, never spaces\n",
        "x\n" * 1500 + "I always want tabs.",
    ],
)
def test_code_quotations_and_pasted_material_are_not_what_the_user_says(text):
    assert kinds(text) == set()


@pytest.mark.parametrize(
    ("result", "rule"),
    [
        ('{"order": "B-1204", "status": "shipped"}', "state_field"),
        ('Application A-17: status changed from "open" to "granted".', "state_changed"),
        ("状态：已签收；签收人：门卫", "state_field"),
        ("您的预约已由 6月3日 改为 6月10日", "state_changed"),
    ],
)
def test_a_state_is_found_in_a_tools_result(result, rule):
    (found,) = listen(told(result))
    assert (found.trigger, found.rule, found.value, found.confidence, found.timing) == ("state", rule, result, 0.8, "round")


@pytest.mark.parametrize(
    "result",
    [
        "214 passed, 3 failed in 41 s",
        "File saved. 12 lines changed.",
        "intro.md  setup.md",
        "Error 404: no such order",
        "页面已加载，当前步骤 2/5",
        '{"status": "running"}',
        "",
    ],
)
def test_what_a_tool_did_itself_is_no_state(result):
    assert listen(told(result)) == []


def test_a_failed_call_tells_no_state():
    assert listen(told('{"status": "shipped"}', is_error=True)) == []


def test_traditional_and_cantonese_are_read_as_simplified():
    assert simplify("訂單唔係我嘅") == "订单不是我的"


def test_every_sign_that_names_a_finding_is_a_rule():
    assert {name for names in FOR.values() for name in names} <= RULES.keys()
    assert len(RULE_NAMES) == len(set(RULE_NAMES))


def test_weights_are_those_of_the_sentences_in_this_repository(monkeypatch):
    monkeypatch.syspath_prepend("services/ingest/training")
    import train_listening

    assert load_heads().training_sha256 == train_listening.hash_training()
    heads = read_heads(load_weights("hindsight_ingest", WEIGHTS))
    assert heads.full.keys() == heads.bare.keys() == set(TRIGGERS)
    assert heads.model_id == "intfloat/multilingual-e5-small"


@pytest.mark.parametrize(
    "unit", ["a", "I always ", "我喜欢", "order 1 ", "My sister ", "不是", "A-1", '"', "the the ", "Aa ", "((", "is was "]
)
def test_a_long_turn_costs_no_more_than_its_length(unit):
    began = time.perf_counter()
    for length in (300, 2000, 100_000):
        listen(say(unit * (length // len(unit))))
    assert time.perf_counter() - began < 2


@given(st.text(max_size=600), st.text(max_size=200))
def test_any_text_is_answered_with_its_own_words(text, before):
    for one in listen(say(text), say(before, "assistant", 0)):
        own = one.value.partition(" (corrects: ")[0].partition("（更正：")[0]
        assert own in " ".join(text.split())
        assert 0.4 <= one.importance <= 0.9
        assert len(one.value) <= VALUE_CHARS + 200
        assert one.name in text
