"""Contradictions of one word: a denial, an opposite, a turned order, the next step of a thing. English and Chinese."""

import re
from functools import lru_cache

from hindsight_language import lexicon
from hindsight_language.comparing import Comparison, change_of
from hindsight_language.statements import Reading, level, split_words

_NOT = r"\b(?:no longer|never|not|nor|no(?! \d)|(?:stopped|stops|has stopped|quit|gave up|ceased)(?= \w+ing\b))\b"
_PADDING = r"\b(?:do|does|did|has|have|had|been|always|usually|any|ever|even|at all)\b"
_NOT_ZH = re.compile(r"不再|再也不|再不|从来不|从不|从没|并不|并没有|不要|不用|不必|没有|未曾|没|不|别|勿|未|无|停止")
_NOT_CHARS_ZH = re.compile(r"[不没别勿未无]")
_PADDING_ZH = re.compile(r"总是|一直|经常|仍然|还是|始终|再|都|已|[的了呢啊吧呀着很，, ]")
_NO_DENIAL = re.compile(r"(?i)\bnot only\b|不仅|不但|不只|不得不|无论|不管")
_NARROWING = lexicon.NARROWING


def is_negation(c: Comparison) -> bool:
    """One denies what the other says, and nothing else is different."""
    if _NO_DENIAL.search(c.a.text) or _NO_DENIAL.search(c.b.text):
        return False
    if c.a.is_chinese:
        return any(x == y and (m - n) % 2 for x, m in _cores_zh(c.a.text) for y, n in _cores_zh(c.b.text))
    (x, m), (y, n) = _core(c.a.text), _core(c.b.text)
    if not (m - n) % 2:
        return False
    # "no longer likes coffee" denies "likes coffee after dinner" too; "likes coffee" does not deny "no coffee after dinner".
    is_wider = n > m and len(y) > 2 and x[: len(y)] == y and x[len(y)] in _NARROWING if len(x) > len(y) else False
    return x == y or is_wider


@lru_cache(maxsize=4096)
def _core(text: str) -> tuple[tuple[str, ...], int]:
    """A statement without its negations, and how many they were."""
    text, count = re.subn(rf"(?i){_NOT}", " ", text)
    text = re.sub(rf"(?i){_PADDING}", " ", text)
    return tuple(word for word, _ in split_words(text)), count


@lru_cache(maxsize=4096)
def _cores_zh(text: str) -> tuple[tuple[str, int], ...]:
    cores = []
    text = re.sub(r"戒(?:掉|了)*(?=[\u3400-\u9fff]*烟)", "不抽", text)
    text = re.sub(r"戒(?:掉|了)*(?=[\u3400-\u9fff]*(?:酒|咖啡|茶))", "不喝", text)
    for pattern in (_NOT_ZH, _NOT_CHARS_ZH):
        core, count = pattern.subn("", text)
        cores.append((_PADDING_ZH.sub("", core), count))
    return tuple(cores)


def is_antonym(c: Comparison) -> bool:
    """One word is the other's opposite, and nothing else is different."""
    if c.a.is_chinese:
        x, y = (_PADDING_ZH.sub("", r.text) for r in (c.a, c.b))
        return any(
            (m in x and n in y and x.replace(m, n, 1) == y) or (n in x and m in y and x.replace(n, m, 1) == y)
            for m, n in lexicon.ANTONYMS_ZH
        )
    change = change_of(c)
    return change is not None and (
        len(change.a) == len(change.b) == 1
        and change.start > 0
        and ((change.a[0], change.b[0]) in lexicon.ANTONYMS or (change.b[0], change.a[0]) in lexicon.ANTONYMS)
    )


_OVER = re.compile(
    r"(?i)(?P<s>.+?) (?:prefers?|likes?|favou?rs?) (?P<a>.+?) (?:over|to|more than|better than|rather than) (?P<b>.+)"
)
_OVER_ZH = re.compile(r"(?P<s>.+?)(?:更喜欢|喜欢|偏爱)(?P<a>.+?)(?:胜过|多过|超过|而不是|而非|不喜欢)(?P<b>.+)")


def is_order_turned(c: Comparison) -> bool:
    """Prefers A over B, and now B over A."""
    pattern = _OVER_ZH if c.a.is_chinese else _OVER
    m, n = pattern.fullmatch(c.a.text), pattern.fullmatch(c.b.text)
    if not (m and n) or level(m["s"]) != level(n["s"]):
        return False
    return (level(m["a"]), level(m["b"])) == (level(n["b"]), level(n["a"]))


_STEP = r"(?:is|are|has|have|was|were|got|gets?|went|goes)"
_SUBJECT_ZH = re.compile(rf"(?P<s>.*?)(?:正在|正|已|刚|还|仍|被|处于|进入|在等|等待|待|未|没|开始|(?:{lexicon.PROGRESS_ZH}))")


def is_next_step(c: Comparison) -> bool:
    """One thing has gone on to its next step."""
    if set(c.a.words) <= set(c.b.words) or set(c.b.words) <= set(c.a.words):
        return False  # one says more than the other, not something else
    if c.a.named != c.b.named or not (c.are_states or c.key.names_state):
        both = _has_step(c.a) and _has_step(c.b)
        return c.a.named == c.b.named and both and bool(c.a.named) and _subject(c.a) == _subject(c.b) and bool(_subject(c.a))
    s, t = _subject(c.a), _subject(c.b)
    has_steps = _has_step(c.a) and _has_step(c.b)
    if not (c.key.names_state or has_steps):
        return False
    if c.a.is_chinese:
        one, other = "".join(s), "".join(t)
        is_same = one.startswith(other) or other.startswith(one) if one and other else has_steps
    else:
        is_same = set(s) <= set(t) or set(t) <= set(s)
        is_same = is_same and (bool(s) == bool(t) or has_steps)
    return is_same and (has_steps or (c.are_states and s == t and bool(s)))


@lru_cache(maxsize=4096)
def _subject(reading: Reading) -> tuple[str, ...]:
    """What a statement of a state is about, as far as it says so."""
    if reading.is_chinese:
        match = _SUBJECT_ZH.match(reading.text)
        return level(match["s"]) if match else level(reading.text)
    raw = [w.lower() for w in reading.raw]
    for i, (word, written) in enumerate(zip(reading.words, raw, strict=True)):
        if (
            re.fullmatch(_STEP, written)
            or (word in lexicon.PROGRESS and written.endswith(("ed", "ing", "en", "t")))
            or written in ("shipped", "paid")
        ):
            return reading.words[:i]
    return reading.words


@lru_cache(maxsize=4096)
def _has_step(reading: Reading) -> bool:
    if reading.is_chinese:
        return bool(re.search(lexicon.PROGRESS_ZH, reading.text))
    return bool(set(reading.words) & lexicon.PROGRESS)
