"""Errands: what the user wants done once, on a day or for a thing that is named. Rules in English and Chinese, no LLM."""

import re
import unicodedata

import rjieba
from hindsight_language.whole_words import blank_parts

MAX_CHARS = 400  # that are read: an errand is short
_WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = "(?:jan|febr)uary|march|april|may|june|july|august|(?:septem|octo|novem|decem)ber"
_COUNT = "a|an|one|two|three|four|five|six|seven|eight|nine|ten|[0-9]+"
_COUNT_ZH = r"[\d一二两三四五六七八九十几]+"

_ASKS = re.compile(
    r"(?:^|[.,;:!?] )(?:(?:please|pls|kindly|just|can|could|would|will|you|help me|i need you to|i want you to|then|"
    r"and|now) )*"
    r"(?:arrange|book|buy|call|cancel|check|draft|e-?mail|fetch|find|get|look up|mail|make|order|pay|pick up|plan|"
    r"prepare|print|"
    r"remind|reschedule|reserve|schedule|send|set|tell|text|write)\b(?! (?:[\w-]+ )?(?:is|was|were|has|had)\b)|"
    r"(?:^|[，,。；;：:！!？?\s])(?:请|麻烦|拜托|劳驾|能不能|可以|可否|你)*"
    r"(?:(?:再|先|去)?[帮给替为](?:我们?|咱们?|他们?|她们?|[\u3400-\u9fff]{1,3}?(?=[订买约发写]))|(?<=请|烦|托)|"
    r"(?=订(?![单金阅])|[买约查]|预[订约]|安排|提醒|取消))",
    re.IGNORECASE,
)
# With one of these it is no errand, or not a single one.
_LASTS = re.compile(
    r"\b(?:always|every|each|any|when(?:ever)?|if|unless|from now on|from then on|going forward|in (?:the )?future|"
    r"as a rule|by default|generally|usually|normally|until further notice|daily|weekly|monthly|starting|as of|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days|prefer\w*|like|love|hate|allerg\w+|remember|nothing|never|not|"
    r"don['’]t|avoid)\b(?!-)|"
    r"(?<![时钟天周月])以后|今后|往后|起|一律|一直|永远|每|凡|任何|所有|都|总[是要会得]|向来|从来|从不|默认|下次|平时|"
    r"一般|尽量|已经?|的话|如果|"
    r"时，|除非|遇到|不要|别|喜欢|习惯|讨厌|过敏|不吃|认准|(?<![一两几\d])只|记[住着得下牢]",
    re.IGNORECASE,
)
_DAY = re.compile(
    rf"\b(?:today|tonight|tomorrow|this (?:morning|afternoon|evening|week|weekend|month|year|{_WEEKDAY})|"
    rf"next (?:week|weekend|month|year|{_WEEKDAY})|(?:on|for|by|before|until) {_WEEKDAY}|in (?:{_COUNT}) (?:minute|"
    rf"hour|day|week)s?|"
    rf"\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH})|(?:{_MONTH}) \d{{1,2}}|\d{{4}}-\d\d-\d\d)\b|"
    r"今[天晚早]|明[天晚早]|后天|下下?个?(?:周|星期|礼拜|月)|[这本]个?(?:周|星期|礼拜|月)|(?:周|星期|"
    r"礼拜)[一二三四五六日天末]|"
    r"[\d一二三四五六七八九十]+月[\d一二三四五六七八九十]+[日号]|\d+[日号](?!线|楼)|待会|一会儿|"
    r"[\d一二两三四五六七八九十半]+个?(?:分钟|小时|钟头|天)[之以]?后",
    re.IGNORECASE,
)
_THING = re.compile(
    rf"(?i:\b(?:arrange|book|buy|find|get|order|reserve)(?: me| us)? (?:{_COUNT}|the|some)\b[^.!?;]{{0,40}} (?:to|in|"
    rf"from|at|on|near) )"
    rf"(?:the )?[A-Z]|"
    r"(?i:\b(?:book|buy|order|reserve)(?: me| us)? (?:two|three|four|five|six|seven|eight|nine|ten|[0-9]{1,2}) (?!was|"
    r"is|has)[a-z])|"
    rf"(?:[订买约叫抢]|预[订约])(?:了|上|下|好)?{_COUNT_ZH}[张间个份束栋辆台件盒位场部本瓶杯套双把只条晚]|"
    rf"[帮给替]我[^,，。;；]{{0,8}}?(?:写|做|画|发|寄|找|准备|打印|订|买)(?:了|上|下|"
    rf"好)?{_COUNT_ZH}[张间个份束栋辆台件盒位场部本瓶杯套双把只条篇封]|"
    r"[去到飞回往][\u3400-\u9fff]{2,8}的(?:[单往]程)?(?:[机车船]?票|火车票|高铁票|航班|出差|行程|接送)"
)
_TO_PLACE = frozenset(
    ["订", "买", "查", "查查", "预订", "预约", "安排", "一下", "订好", "去", "到", "飞", "回"]
)  # a place follows them, and what is there


def is_one_time(text: str) -> bool:
    """Whether a text asks for something to be done once, so that nothing of it holds for another time."""
    whole = unicodedata.normalize("NFKC", text[:MAX_CHARS])
    text = blank_parts(whole)
    if not _ASKS.search(text) or _LASTS.search(text):
        return False
    return bool(_DAY.search(text) or _THING.search(text)) or _names_place(whole)


def _names_place(text: str) -> bool:
    """Whether what is asked for is said to be in one place: 订成都的酒店."""
    words = rjieba.tag(text, False)
    return any(
        before in _TO_PLACE and tag == "ns" and after == "的"
        for (before, _), (_, tag), (after, _) in zip(words, words[1:], words[2:], strict=False)
    )
