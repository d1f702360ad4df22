"""What binds the user whatever is asked is heard from himself, not from questions, suppositions, stories or about others."""

import time

import pytest
from hindsight_ingest.constraints import find_constraint, is_of_kin
from hindsight_ingest.standing import mark

OWN = [
    ("health", "I am allergic to peanuts.", "我对花生过敏。"),
    ("health", "I'm allergic to shellfish, what can I order?", "我海鲜过敏，能点什么？"),
    ("health", "By the way, I'm diabetic.", "对了，我有糖尿病。"),
    ("health", "I have a severe nut allergy and carry a pen.", "我有严重的坚果过敏，随身带着药。"),
    ("health", "I'm lactose intolerant.", "乳糖不耐受"),
    ("health", "I'm pregnant.", "我怀孕了。"),
    ("health", "My doctor says I'm diabetic.", "医生说我有高血压。"),
    ("health", "I'm no longer allergic to eggs.", "我对鸡蛋不过敏了。"),
    ("health", "The user has diabetes.", "用户有糖尿病。"),
    ("diet", "I'm vegan.", "我吃素。"),
    ("diet", "I can't eat gluten.", "我不能吃辣。"),
    ("diet", "Book a table for tonight; I don't drink.", "帮我订今晚的位子，我不喝酒。"),
    ("diet", "We never eat pork.", "我们不吃猪肉。"),
    ("called", "Please call me Lin.", "请叫我小林。"),
    ("called", "You can call me Dr Roth.", "叫我罗医生就行。"),
    ("called", "My pronouns are they/them.", "我的代词是他们。"),
]
NOT_OWN = [
    ("Is this safe for people allergic to nuts?", "他对花生过敏吗？"),
    ("Am I allergic to nuts?", "我对花生过敏吗？"),
    ("If I'm allergic to nuts, what happens?", "如果我对花生过敏，会怎样？"),
    ("My sister is allergic to cats.", "我妹妹对猫过敏。"),
    ("I have a friend with asthma.", "我有个朋友花生过敏。"),
    ("The hero says: I'm allergic to silver.", "小说里主角说：我对银过敏。"),
    ("Pretend I'm diabetic.", "假装我有糖尿病。"),
    ("Translate: I'm allergic to nuts.", "翻译：我对花生过敏。"),
    ("I can't eat another bite.", "我不能吃了，太饱了。"),
    ("I don't drink that.", "我不喝这个。"),
    ("I can't drink tonight, I'm driving.", "今天我不能喝酒，要开车。"),
    ("Call me back tomorrow.", "明天早上七点叫我。"),
    ("I'm allergic to Mondays.", "我对他说过敏的事。"),
    ("I have a question about diabetes.", "我有糖尿病的资料。"),
]


@pytest.mark.parametrize(("rule", "english", "chinese"), OWN)
def test_what_binds_the_user_is_found_and_stands_whatever_its_kind(rule: str, english: str, chinese: str):
    assert (find_constraint(english), find_constraint(chinese)) == (rule, f"{rule}_zh")
    for text in (english, chinese):
        assert mark("fact", text) != ""
        assert mark("preference", text) != ""


@pytest.mark.parametrize("text", [text for twins in NOT_OWN for text in twins])
def test_what_is_asked_supposed_told_or_of_a_moment_binds_nobody(text: str):
    assert find_constraint(text) == ""


@pytest.mark.parametrize(
    "text", ["My sister is allergic to cats.", "我妹妹对猫过敏。", "My son can't eat gluten.", "我儿子不能吃辣。"]
)
def test_the_health_of_others_does_not_stand_for_the_user(text: str):
    assert is_of_kin(text)
    assert mark("fact", text) == ""


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "I'm ",
        "I have a ",
        "I don't ",
        "note, ",
        "please ",
        "call me A",
        "我",
        "我对",
        "我是",
        "对了",
        "我有过敏",
        "- ",
        "a " * 5,
    ],
)
def test_a_long_text_costs_no_more_than_its_length(unit: str):
    began = time.perf_counter()
    find_constraint(unit * (10_000 // len(unit)))
    is_of_kin(unit * (10_000 // len(unit)))
    assert time.perf_counter() - began < 2
