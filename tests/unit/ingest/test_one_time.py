"""Errands that are done once are told from wishes that hold for another time, in both languages."""

import time

import pytest
from hindsight_ingest.one_time import is_one_time

ONCE = [
    ("Book me a flight to Chengdu next week.", "你好，我是小林，帮我安排下周去成都的出差。"),
    ("Please book a hotel in Lyon.", "给我订成都的酒店"),
    ("Please remind me to call Joan tomorrow.", "请提醒我明天给周姐打电话"),
    ("Can you order two pizzas?", "帮我订两张披萨"),
    ("Get me tickets to All Saints on Friday.", "帮我订都江堰周五的门票"),
    ("Hello! Please book an all-day pass for 5 May.", "您好！请订5月3日去首都机场的车"),
    ("Send the report to Bo in two hours.", "帮我两小时后把报告发给小博"),
]
FOR_GOOD = [
    ("Always book me a window seat.", "以后都帮我订靠窗的位置。"),
    ("Every Friday, send me the report.", "每周五帮我发一份报告。"),
    ("When I fly to Lyon, book a window seat.", "去成都出差都订靠窗的位置"),
    ("Book hotels in quiet streets.", "给我订安静的酒店"),
    ("From tomorrow on, answer in Polish.", "从明天起，回答用波兰语。"),
    ("I like the hotel in Lyon, book it tomorrow.", "我喜欢成都那家酒店，明天帮我订。"),
    ("Do not call me on Friday.", "周五别给我打电话"),
    ("Order 17 was shipped to Lyon today.", "订单今天已经发到成都。"),
]


@pytest.mark.parametrize("text", [text for twins in ONCE for text in twins])
def test_what_is_asked_for_a_day_or_a_named_thing_is_for_once(text: str):
    assert is_one_time(text)


@pytest.mark.parametrize("text", [text for twins in FOR_GOOD for text in twins])
def test_what_holds_for_another_time_is_not_for_once(text: str):
    assert not is_one_time(text)


@pytest.mark.parametrize("unit", ["请", "帮我", "please ", "book a ", "订一", "a, ", "九", "every-", "去成都的"])
def test_a_long_text_costs_no_more_than_its_length(unit: str):
    began = time.perf_counter()
    is_one_time(unit * (10_000 // len(unit)))
    assert time.perf_counter() - began < 2
