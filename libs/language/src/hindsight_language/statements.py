"""A statement taken apart without a parser: its words, the entities it names, its subject, and what it says of it."""

import itertools
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import rjieba
import Stemmer

from hindsight_language import lexicon

HAN = re.compile(r"[\u3400-\u9fff]")
MAX_CHARS = 400  # of a statement that is taken apart; what is longer tells more than one thing
_MOVED = "moved|relocated|transferred|shifted"
_CHANGED = (
    "postponed|rescheduled|brought forward|pushed "
    "back|delayed|changed|switched|raised|increased|lowered|reduced|cut|updated|extended|set|"
    "went up|went down|gone up|dropped|upgraded|rose|fell|grew"
)
_LATELY = "(?:has |have |is |are |was |were |been )*"
_MONTH = "|".join(lexicon.MONTHS.split())
_WEEKDAY = "|".join(lexicon.WEEKDAYS.split())
_WHEN = (
    rf"(?:(?:last|this) (?:week|month|year|night|spring|summer|autumn|fall|winter|{_WEEKDAY})|yesterday|today|"
    rf"a (?:week|month|year) ago|"
    rf"(?:in|since|from|as of|effective|starting) (?:early |late |mid-?)?(?:\d{{4}}|{_MONTH}|spring|summer|autumn|"
    rf"winter|{_WEEKDAY})(?: \d{{1,4}})?)"
)
_EN = [
    (relation, re.compile(pattern, re.IGNORECASE))
    for relation, pattern in (
        ("move", rf"(?P<s>.+?) {_LATELY}(?:{_MOVED})(?: over| back| house| away)?(?: from (?P<f>.+?))? (?:to|into) (?P<v>.+)"),
        ("change", rf"(?P<s>.+?) {_LATELY}(?:{_CHANGED})(?: from (?P<f>.+?))? (?:to|into) (?P<v>.+)"),
        ("live", r"(?P<s>.+?) (?:lives?|resides?|is living|are living|is based|are based) (?:in|at|on) (?P<v>.+)"),
        ("work", r"(?P<s>.+?) (?:works?|is working|are working|is employed|is employed full-time) (?:at|for) (?P<v>.+)"),
        ("report", r"(?P<s>.+?) reports? to (?P<v>.+)"),
        ("belong", r"(?P<s>.+?) belongs? to (?P<v>.+)"),
        ("by", r"(?P<s>.+?) (?:is|are) (?:managed|led|run|owned|headed|maintained|chaired|handled|taught|hosted) by (?P<v>.+)"),
        ("marry", r"(?P<s>.+?) is married to (?P<v>.+)"),
        ("name", r"(?P<s>.+?) (?:is|are) (?:called|named|nicknamed) (?P<v>.+)"),
        ("set", r"(?P<s>.+?) (?:is|are) (?:set|fixed|pinned) (?:to|at) (?P<v>.+)"),
        ("set", r"(?P<s>[^:=]{1,60}?) ?(?:=|: |->|→) ?(?P<v>.+)"),
        (
            "in",
            r"(?P<s>.+?) (?:is|are|stands?|sits?)(?: due| located| situated| kept| stored| scheduled| planned|"
            r" parked)? (?:in|at|on|for) (?P<v>.+)",
        ),
        ("be", r"(?P<s>.+?) (?:is|are) (?P<v>.+)"),
        (
            "does",
            r"(?P<s>.+?) (?P<r>costs?|weighs?|measures?|takes?|lasts?|needs?|requires?|holds?|seats?|earns?|totals?|"
            r"equals?|starts?|begins?|"
            r"ends?|opens?|closes?|expires?|departs?|arrives?|has|have) (?:(?:in|at|on|for|by) )?(?P<v>.+)",
        ),
    )
]
_MOVED_ZH = "搬到 搬去 搬往 搬进 迁到 迁至 挪到 搬至"
_CHANGED_ZH = (
    "转到 调到 改成 改为 改到 改在 换成 换到 变成 变为 调整为 调整到 提高到 升到 涨到 降到 降低到 降为 增加到 增至 "
    "减到 减至 推迟到 延期到 延到 提前到 "
    "改叫 改名为 升级到 更新为 上调到 上调至 下调到 下调至 更换为 跳槽到 改用 换用 换为"
)
_ZH = [
    (relation, re.compile(pattern))
    for relation, pattern in (
        (
            "by",
            r"(?P<s>.+?)(?:改由|换由|由)(?P<v>.+?)(?P<r>主管|负责|管理|维护|主持|领导|带队|带|掌管|担任|经营|承运|审批|"
            r"保管|值班)",
        ),
        ("move", rf"(?P<s>.+?)(?:从(?P<f>.+?))?(?:{lexicon.alternatives(_MOVED_ZH)})(?P<v>.+)"),
        ("change", rf"(?P<s>.+?)(?:从(?P<f>.+?))?(?:{lexicon.alternatives(_CHANGED_ZH)})(?P<v>.+)"),
        ("work", r"(?P<s>.+?)在(?P<v>.+?)(?:工作|上班|任职|就职)"),
        ("live", r"(?P<s>.+?)(?:居住在|定居在?|常驻|家住|住在?)(?P<v>.+)"),
        ("name", r"(?P<s>.+?)(?:名叫|叫做|叫)(?P<v>.+)"),
        ("in", r"(?P<s>.+?)(?:定在|安排在|订在|约在|设在|放在|停在|存在|位于|坐落在|(?<!正)(?<!存)在)(?P<v>.+)"),
        ("be", r"(?P<s>.+?)(?:(?<!还)(?<!不)是|(?<!作)(?<!因)(?<!认)(?<!成)为|：|:|=|等于)(?P<v>.+)"),
        ("be", rf"(?P<s>.*?(?:{lexicon.ASKED_ZH['number']}))(?:有|共)?(?P<v>[\d一二两三四五六七八九十].*)"),
    )
]
_AUXILIARY = frozenset(["do", "doe", "did", "has", "have", "had", "be", "been", "is", "are", "am", "being"])
_ARTICLES = frozenset(["the", "a", "an", "that"])
_WORD = re.compile(
    r"[#$€£¥]?-?\d+(?:[.,:/-]\d+)*%?|[A-Za-z]+(?:[-_]?\d[\w.-]*\w|\d)|[^\W\d_]+(?:-[^\W\d_]+)*|"
    r"[\u3400-\u9fff]"
)
_CODE = re.compile(r"(?i)(?<![a-z])[a-z]+[-_]?\d[a-z0-9_-]*|#\d+")  # a Chinese word behind a code is none of it
_ZH_NAMED = re.compile(
    r"(?<!月)(?P<a>[\d一二两三四五六七八九十百]+(?:\.\d+)*)号(?=[\u3400-\u9fff])"
    r"|(?:订单|工单|发票|房间|合同|单号|编号|包裹|车次|航班|批次|项目|任务|问题|服务器|机器|节点|店铺|仓库|班级|账号|"
    r"设备|报销单)号?(?P<b>[\d一二两三四五六七八九十百]+)"
    r"|第(?P<c>[\d一二两三四五六七八九十百]+)(?=[章节批期版轮项条个])|(?P<d>\d+(?:\.\d+)+)版"
)
_HAN_DIGITS = {
    digit: value
    for value, digits in enumerate(("零〇", "一", "二两", "三", "四", "五", "六", "七", "八", "九"))
    for digit in digits
}
_CLOCK = re.compile(
    r"(?i)\b\d{1,2}(?::\d\d)?\s?[ap]\.?m\b|\b\d{1,2}:\d\d\b|o'clock|\bnoon\b|\bmidnight\b|"
    r"[\d一二两三四五六七八九十]+(?:点|时)(?!心)"
)
_DATE = re.compile(
    rf"(?i)\b\d{{4}}-\d\d?-\d\d?\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH})\b|\b(?:{_MONTH}) \d{{1,2}}\b|"
    rf"[\d一二三四五六七八九十]+月[\d一二三四五六七八九十]+[日号]|(?:^|(?<=[月个]))[\d一二三四五六七八九十]+[日号]$"
)
_DAY = re.compile(rf"(?i)\b(?:{_WEEKDAY})\b|(?:周|星期|礼拜)[一二三四五六日天末]")
_MONTH_ONLY = re.compile(rf"(?i)^(?:early |late |mid-)?(?:{_MONTH})$|^[\d一二三四五六七八九十]+月[初中底]?$")
_NUMBER_ZH = re.compile(r"^(?:每|约|大约|共)?[\d.,一二两三四五六七八九十百千万亿半]+(?P<unit>[^\d楼层室号店]{0,4})$")
_stemmer = Stemmer.Stemmer("english")


@dataclass(frozen=True, slots=True)
class Frame:
    """What a statement says of its subject: a relation that has one value at a time, the value, and what it was before."""

    subject: tuple[str, ...]
    relation: str
    value: str
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A statement taken apart. `raw` holds the words as written, one for each of `words`."""

    text: str
    is_chinese: bool
    words: tuple[str, ...]
    raw: tuple[str, ...]
    named: frozenset[str]
    frame: Frame | None


def tidy(text: str) -> str:
    """One line, one width, no closing mark, contractions written out."""
    text = " ".join(unicodedata.normalize("NFKC", text).replace("’", "'").split()).rstrip(" .!?。！…;,")
    text = re.sub(r"(?i)\bcan(?:no|')t\b", "can not", text)
    text = re.sub(r"(?i)\bwon't\b", "will not", text)
    text = re.sub(r"(?i)n't\b", " not", text)
    text = re.sub(rf"(?i)^(?:{_WHEN}),? (?=\S)", "", text)
    return re.sub(r"\s*(?<=[\u3400-\u9fff\d])\s+(?=[\u3400-\u9fff])|(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff\d])", "", text)


def split_words(text: str) -> list[tuple[str, str]]:
    """(levelled, as written) words: stems in English, segments in Chinese; articles and possessive endings left out."""
    found: list[tuple[str, str]] = []
    if HAN.search(text):
        return [(word.lower(), word) for word in rjieba.cut(text) if re.search(r"\w", word)]
    for word in _WORD.findall(re.sub(r"'s\b", "", text)):
        if word.lower() not in _ARTICLES:
            found.append((stem(word), word))
    return found


def stem(word: str) -> str:
    """A word without its ending, lower case."""
    return _stemmer.stemWord(word.lower()) if word.isalpha() else word.lower()


@lru_cache(maxsize=4096)
def read(value: str) -> Reading:
    """A statement taken apart."""
    text = tidy(value)
    is_chinese = bool(HAN.search(text))
    text = re.sub(lexicon.PASSING_ZH if is_chinese else rf"(?i){lexicon.PASSING}", "", text)
    text = re.sub(r"^[,，\s]+|(?<=\s)\s+|[,，\s]+$", "", text)
    if is_chinese:
        text = re.sub(r"^[把将](?=.+?(?:改|换|调|搬|挪))", "", text)
    pairs = split_words(text)
    words, raw = tuple(w for w, _ in pairs), tuple(r for _, r in pairs)
    return Reading(text, is_chinese, words, raw, _named(text, raw, is_chinese), _frame(text, is_chinese))


def level(text: str) -> tuple[str, ...]:
    """The words of a part of a statement, without auxiliaries; Chinese as characters, whose borders are never in doubt."""
    if HAN.search(text):
        return tuple(c.lower() for c in text if re.match(r"\w", c) and c not in "的了着")
    return tuple(word for word, _ in split_words(text) if word not in _AUXILIARY)


def _frame(text: str, is_chinese: bool) -> Frame | None:
    for relation, pattern in _ZH if is_chinese else _EN:
        if not (match := pattern.fullmatch(text) if relation != "by" or not is_chinese else pattern.match(text)):
            continue
        parts = match.groupdict()
        value = parts["v"].strip(" ,，")
        if not is_chinese and (cut := re.fullmatch(rf"(?i)(.+?),? {_WHEN}", value)):
            value = cut[1]
        ending = text[match.end() :] if relation == "by" else ""
        verb = f" {stem(parts['r'])}{ending}" if parts.get("r") else ""
        return Frame(level(parts["s"]), relation + verb, value, parts.get("f") or "")
    return None


def _named(text: str, raw: Sequence[str], is_chinese: bool) -> frozenset[str]:
    """The numbers and codes by which the statement names entities: "order 17", "E1042", "17号订单"."""
    found = {code.lower() for code in _CODE.findall(text)}
    if is_chinese:
        for match in _ZH_NAMED.finditer(text):
            found.add(number_of(next(group for group in match.groups() if group)))
    for before, number in itertools.pairwise(raw):
        is_noun = before.isalpha() and before.lower() not in lexicon.BEFORE_AMOUNTS and not HAN.search(before)
        if number[0].isdigit() and is_noun:
            found.add(number)
    if raw and raw[0][0].isdigit() and len(raw) > 1 and not is_chinese:
        found.add(raw[0])
    return frozenset(found)


def number_of(text: str) -> str:
    """A number below 1,000 in digits, from digits or Chinese numerals; other text as it is."""
    if not text or not all(c in _HAN_DIGITS or c in "十百" for c in text):
        return text
    total, digit = 0, 0
    for c in text:
        if c in "十百":
            total += (digit or 1) * (10 if c == "十" else 100)
            digit = 0
        else:
            digit = _HAN_DIGITS[c]
    return str(total + digit)


def times_of(value: str) -> list[str]:
    """The types of the times that a value names, the finest first."""
    kinds = (("clock", _CLOCK), ("date", _DATE), ("weekday", _DAY), ("month", _MONTH_ONLY))
    return [f"time {kind}" for kind, pattern in kinds if pattern.search(value)]


def type_of(value: str) -> str:
    """What sort of answer a value is: "time clock", "time date", "number euro", "color", "name", or "" where it is neither."""
    value = value.strip(" ,，。")
    if times := times_of(value):
        return times[0]
    if HAN.search(value):
        if match := _NUMBER_ZH.match(value):
            return f"number {match['unit']}".strip()
        return "color" if re.fullmatch(f"[深浅]?{lexicon.COLORS_ZH}的?", value) else ""
    words = re.findall(r"[#$€£¥]?-?\d[\d.,]*%?|[^\W\d_]+", re.sub(r"'s\b", "", value))
    plain = [w for w in words if w.lower() not in _ARTICLES]
    numbers = [w for w in plain if w[-1].isdigit() or w.endswith("%") or w[0].isdigit() or w.lower() in lexicon.NUMBERS]
    if numbers:
        units = [stem(w) for w in plain if w not in numbers and w.lower() not in lexicon.BEFORE_AMOUNTS]
        return " ".join(["number", *units])
    if plain and all(w.lower() in lexicon.COLORS | {"dark", "light"} for w in plain):
        return "color"
    return "name" if plain and all(w[0].isupper() or w in ("of", "de", "van", "von", "da", "and") for w in plain) else ""


def are_comparable(older: str, newer: str) -> bool:
    """Whether two types are of one sort: equal, or amounts of which one does not say its unit."""
    if older.startswith("number") and newer.startswith("number"):
        return older == newer or "number" in (older, newer)
    return bool(older) and older == newer
