"""Time expressions in both languages, in the caller's zone."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hindsight_recall.periods import Period, find_periods

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)  # a Monday


def days(text: str) -> list[tuple[date, date]]:
    """The periods of a text as (first day, first day after)."""
    return [(p.since.date(), p.until.date()) for p in find_periods(text, NOW)]


def span(first: str, after: str) -> tuple[date, date]:
    """Two days."""
    return date.fromisoformat(first), date.fromisoformat(after)


@pytest.mark.parametrize(
    ("english", "chinese", "expected"),
    [
        ("What did I say yesterday?", "我昨天说了什么？", span("2026-11-29", "2026-11-30")),
        ("the plan for today", "今天的安排", span("2026-11-30", "2026-12-01")),
        ("what happens tomorrow", "明天有什么", span("2026-12-01", "2026-12-02")),
        ("the trip last week", "上周的旅行", span("2026-11-23", "2026-11-30")),
        ("this week", "这周", span("2026-11-30", "2026-12-07")),
        ("next week", "下周", span("2026-12-07", "2026-12-14")),
        ("last month's bill", "上个月的账单", span("2026-10-01", "2026-11-01")),
        ("last year", "去年", span("2025-01-01", "2026-01-01")),
        ("three months ago", "三个月前", span("2026-08-01", "2026-09-01")),
        ("two days ago", "两天前", span("2026-11-28", "2026-11-29")),
        ("on 7 May 2023", "在2023年5月7日", span("2023-05-07", "2023-05-08")),
        ("on May 7, 2023", "2023-05-07", span("2023-05-07", "2023-05-08")),
        ("in June 2023", "2023年6月", span("2023-06-01", "2023-07-01")),
        ("on March 3rd", "3月3日", span("2026-03-03", "2026-03-04")),
        ("in 2022", "2022年的事", span("2022-01-01", "2023-01-01")),
        ("last Friday", "上周五", span("2026-11-27", "2026-11-28")),
        ("the last 30 days", "最近30天", span("2026-10-31", "2026-12-01")),
        ("last weekend", "上周末", span("2026-11-28", "2026-11-30")),
        ("in December", "12月份", span("2025-12-01", "2026-01-01")),
        ("eleven years ago", "十一年前", span("2015-01-01", "2016-01-01")),
    ],
)
def test_an_expression_names_the_same_span_in_both_languages(english, chinese, expected):
    assert days(english) == [expected]
    assert days(chinese) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "May I come in?",
        "一天到晚",
        "the 31 of February 2023",
        "2023-13-45",
        "I march on",
        "order 4471",
        "version 1.2.3",
        "月亮",
        "",
    ],
)
def test_what_only_looks_like_a_time_names_none(text: str):
    assert days(text) == []


def test_a_day_begins_at_midnight_in_the_callers_zone():
    zone = ZoneInfo("Asia/Shanghai")
    late = datetime(2026, 11, 30, 17, 0, tzinfo=UTC)  # already December in Shanghai
    assert find_periods("昨天", late, zone)[0].since == datetime(2026, 11, 29, 16, 0, tzinfo=UTC)


def test_distance_is_zero_inside_and_counted_in_days_outside():
    period = Period(NOW, NOW + timedelta(days=2))
    moments = (NOW - timedelta(days=3), NOW, NOW + timedelta(days=1), NOW + timedelta(days=4))
    assert [period.distance_days(m) for m in moments] == [3, 0, 0, 2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("两三天前说了什么", span("2026-11-27", "2026-11-29")),
        ("三四个月前的账单", span("2026-07-01", "2026-09-01")),
        ("二三十天前", span("2026-10-31", "2026-11-11")),
        ("十一二年前", span("2014-01-01", "2016-01-01")),
        ("最近两三天", span("2026-11-27", "2026-12-01")),
        ("上周天气怎么样", span("2026-11-23", "2026-11-30")),
        ("下周日程有哪些", span("2026-12-07", "2026-12-14")),
        ("下周日有哪些安排", span("2026-12-13", "2026-12-14")),
    ],
)
def test_a_number_left_open_is_the_span_from_the_least_to_the_most_and_the_day_is_part_of_no_other_word(text, expected):
    assert days(text) == [expected]


@pytest.mark.parametrize("text", ["十十天前", "一二三四天前", "laſt week", "thıs year", "in auguſt", "5 auguſt", "yeſterday"])
def test_letters_that_only_look_like_a_time_cost_no_answer(text):
    assert isinstance(days(text), list)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai", "America/New_York"])
@pytest.mark.parametrize("now", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC), NOW])
def test_the_ends_of_the_calendar_cost_no_answer_in_any_zone(now, zone):
    text = "0001年 9999年 0001-01-01 9999-12-31 in 0001 yesterday tomorrow 上周 last year next month"
    for part in (text, *text.split(), "hello"):
        assert all(p.since < p.until for p in find_periods(part, now, ZoneInfo(zone)))
