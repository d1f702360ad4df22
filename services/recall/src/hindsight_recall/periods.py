"""Time expressions in a query, Chinese and English, as spans of time in the caller's zone."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

MAX_CHARS = 2000  # of a query; whoever names a time does so early
MAX_PERIODS = 8
NEAR_DAYS = 3.0  # people tell of a thing some days later


@dataclass(frozen=True, slots=True)
class Period:
    """A half-open span of time that a query names."""

    since: datetime
    until: datetime

    def distance_days(self, moment: datetime) -> float:
        """How far a moment is outside, in days; 0 inside."""
        if moment < self.since:
            return (self.since - moment) / timedelta(days=1)
        return max(0.0, (moment - self.until) / timedelta(days=1))


def nearness(moment: datetime, periods: Sequence[Period]) -> float:
    """How near a moment is to the nearest of some spans: 1 inside; outside a half, falling to 0 at three days."""
    nearest = min((period.distance_days(moment) for period in periods), default=NEAR_DAYS)
    return 1.0 if nearest == 0 else max(0.0, 1 - nearest / NEAR_DAYS) / 2


MONTHS = {
    name: number
    for number, names in enumerate(
        (
            *("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug"),
            *("september sep sept", "october oct", "november nov", "december dec"),
        ),
        start=1,
    )
    for name in names.split()
}
WEEKDAYS = {name: i for i, name in enumerate(["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"])}
DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
NUMBERS = {
    w: i
    for i, w in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    )
} | {
    "a": 1,
    "an": 1,
    "couple of": 2,
    "few": 3,
}
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_NUMBER = r"\d{1,3}|" + "|".join(sorted(NUMBERS, key=len, reverse=True))
_HAN_NUMBER = r"\d{1,3}|[一二两三四五六七八九十]{1,3}"
_UNITS = {"day": 1, "week": 7, "month": 30, "year": 365, "天": 1, "日": 1, "周": 7, "星期": 7, "礼拜": 7, "月": 30, "年": 365}
_HAN_DAYS = {"今天": 0, "今日": 0, "昨天": -1, "昨日": -1, "昨晚": -1, "前天": -2, "大前天": -3, "明天": 1, "后天": 2}
_DAYS = {"today": 0, "tonight": 0, "yesterday": -1, "last night": -1, "tomorrow": 1}
_SHIFTS = {
    "last": -1,
    "previous": -1,
    "this": 0,
    "next": 1,
    "上": -1,
    "这": 0,
    "本": 0,
    "下": 1,
    "去": -1,
    "今": 0,
    "明": 1,
    "上个": -1,
}

Span = tuple[date, date]
Reader = Callable[[re.Match[str], date], Span | None]


def find_periods(text: str, now: datetime, zone: tzinfo = UTC) -> list[Period]:
    """The spans of time a text names, in the order of the rules below; each word counts for one rule."""
    today = day_in(now, zone)
    claimed: list[tuple[int, int]] = []
    periods: list[Period] = []
    for pattern, read in RULES:
        for match in pattern.finditer(text[:MAX_CHARS]):
            if len(periods) == MAX_PERIODS:
                break
            if any(match.start() < end and start < match.end() for start, end in claimed):
                continue
            claimed.append(match.span())
            try:
                if span := read(match, today):
                    periods.append(Period(*(_midnight(day, zone) for day in span)))
            except (ValueError, OverflowError, KeyError):
                continue  # the 31st of February, the year 0, the first night of the calendar in Shanghai, "laſt week"
    return periods


def day_in(now: datetime, zone: tzinfo) -> date:
    """The day it is in a zone; at the ends of the calendar, where the zone has none, the day it is in UTC."""
    try:
        return now.astimezone(zone).date()
    except OverflowError:
        return now.date()


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


def _day(day: date) -> Span:
    return day, day + timedelta(days=1)


def _month(year: int, month: int) -> Span:
    first = date(year, month, 1)
    return first, (first + timedelta(days=32)).replace(day=1)


def _year(year: int) -> Span:
    return date(year, 1, 1), date(year + 1, 1, 1)


def _latest(month: int, today: date, day: int | None = None) -> Span:
    """A month, or a day of it, without a year: the last one that has begun."""
    year = today.year if (month, day or 1) <= (today.month, today.day) else today.year - 1
    return _day(date(year, month, day)) if day else _month(year, month)


def _numbers(text: str) -> list[int]:
    """The number a text names; of one that is left open, the least and the most: 两三 is two or three, 二三十 20 to 30."""
    text = text.lower()
    if text.isdigit() or text in NUMBERS:
        return [int(text) if text.isdigit() else NUMBERS[text]]
    tens, mark, ones = text.partition("十")
    if not mark:
        tens, ones = "", text
    counts = [10 * DIGITS[t] if mark else 0 for t in tens or "一"]
    found = [count + DIGITS[o] for count in counts for o in ones or "零"]
    return sorted({min(found), max(found)})


def _some_ago(counts: Sequence[int], unit: str, today: date) -> Span:
    return _ago(counts[-1], unit, today)[0], _ago(counts[0], unit, today)[1]


def _lately(count: int, unit: str, today: date) -> Span:
    return today - timedelta(days=count * _UNITS[unit]), today + timedelta(days=1)


def _ago(count: int, unit: str, today: date) -> Span:
    if unit in ("month", "月"):
        months = today.year * 12 + today.month - 1 - count
        return _month(months // 12, months % 12 + 1)
    if unit in ("year", "年"):
        return _year(today.year - count)
    days = _UNITS[unit] * count
    width = 0 if _UNITS[unit] == 1 else 3
    return today - timedelta(days=days + width), today - timedelta(days=days - width - 1)


def _shifted(shift: int, unit: str, today: date) -> Span:
    if unit in ("week", "周", "星期", "礼拜"):
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=shift)
        return monday, monday + timedelta(days=7)
    if unit in ("weekend", "周末"):
        saturday = today - timedelta(days=today.weekday()) + timedelta(days=5, weeks=shift)
        return saturday, saturday + timedelta(days=2)
    if unit in ("month", "月", "个月"):
        months = today.year * 12 + today.month - 1 + shift
        return _month(months // 12, months % 12 + 1)
    return _year(today.year + shift)


def _weekday(shift: int | None, weekday: int, today: date) -> Span:
    if shift is None:
        return _day(today - timedelta(days=(today.weekday() - weekday) % 7))
    monday = today - timedelta(days=today.weekday()) + timedelta(weeks=shift)
    return _day(monday + timedelta(days=weekday))


def _rules() -> Iterator[tuple[re.Pattern[str], Reader]]:
    def rule(pattern: str, read: Reader) -> tuple[re.Pattern[str], Reader]:
        return re.compile(pattern, re.IGNORECASE), read

    yield rule(r"\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b", lambda m, t: _day(date(int(m[1]), int(m[2]), int(m[3]))))
    yield rule(r"(\d{4})年(\d{1,2})月(\d{1,2})[日号]?", lambda m, t: _day(date(int(m[1]), int(m[2]), int(m[3]))))
    yield rule(
        rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\.?,? (\d{{4}})\b",
        lambda m, t: _day(date(int(m[3]), MONTHS[m[2].lower()], int(m[1]))),
    )
    yield rule(
        rf"\b({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})\b",
        lambda m, t: _day(date(int(m[3]), MONTHS[m[1].lower()], int(m[2]))),
    )
    yield rule(rf"\b({_MONTH})\.?,? (?:of )?(\d{{4}})\b", lambda m, t: _month(int(m[2]), MONTHS[m[1].lower()]))
    yield rule(r"(\d{4})年(\d{1,2})月", lambda m, t: _month(int(m[1]), int(m[2])))
    yield rule(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\b", lambda m, t: _latest(MONTHS[m[2].lower()], t, int(m[1])))
    yield rule(rf"\b({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?\b", lambda m, t: _latest(MONTHS[m[1].lower()], t, int(m[2])))
    yield rule(r"(\d{1,2})月(\d{1,2})[日号]", lambda m, t: _latest(int(m[1]), t, int(m[2])))
    yield rule(rf"\b(?:a )?({_NUMBER}) (day|week|month|year)s? ago\b", lambda m, t: _some_ago(_numbers(m[1]), m[2].lower(), t))
    yield rule(rf"({_HAN_NUMBER})个?(天|日|周|星期|礼拜|月|年)(?:以)?前", lambda m, t: _some_ago(_numbers(m[1]), m[2], t))
    yield rule(
        rf"\b(?:last|past) ({_NUMBER}) (day|week|month|year)s?\b",
        lambda m, t: _lately(_numbers(m[1])[-1], m[2].lower(), t),
    )
    yield rule(
        rf"(?:最近|近|过去)({_HAN_NUMBER})个?(天|日|周|星期|月|年)",
        lambda m, t: _lately(_numbers(m[1])[-1], m[2], t),
    )
    weekdays = "|".join(WEEKDAYS)
    yield rule(
        rf"\b(?:(last|this|next) |on )({weekdays})\b",
        lambda m, t: _weekday(_SHIFTS[m[1].lower()] if m[1] else None, WEEKDAYS[m[2].lower()], t),
    )
    yield rule(
        r"(上|这|本|下)?个?(?:周|星期|礼拜)([一二三四五六]|[日天](?![程历报志记气]))",
        lambda m, t: _weekday(_SHIFTS[m[1]] if m[1] else None, "一二三四五六日".index(m[2].replace("天", "日")), t),
    )
    yield rule(
        r"\b(last|previous|this|next) (weekend|week|month|year)\b",
        lambda m, t: _shifted(_SHIFTS[m[1].lower()], m[2].lower(), t),
    )
    yield rule(r"(上|这|本|下)个?(周末|周|星期|礼拜|月)", lambda m, t: _shifted(_SHIFTS[m[1]], m[2], t))
    yield rule(r"(去|今|明)年", lambda m, t: _shifted(_SHIFTS[m[1]], "year", t))
    yield rule(r"\b(last night|today|tonight|yesterday|tomorrow)\b", lambda m, t: _day(t + timedelta(days=_DAYS[m[1].lower()])))
    yield rule("(大前天|今天|今日|昨天|昨日|昨晚|前天|明天|后天)", lambda m, t: _day(t + timedelta(days=_HAN_DAYS[m[1]])))
    yield rule(rf"\bin ({_MONTH})\b", lambda m, t: _latest(MONTHS[m[1].lower()], t))
    yield rule(r"\bin (\d{4})\b", lambda m, t: _year(int(m[1])))
    yield rule(r"(?<!\d)(\d{4})年", lambda m, t: _year(int(m[1])))
    yield rule(r"(?<!\d)(\d{1,2})月份", lambda m, t: _latest(int(m[1]), t))


RULES = tuple(_rules())
