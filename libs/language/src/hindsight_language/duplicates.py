"""Whether two statements say the same: the second, lexical look that a cosine needs."""

import re
import unicodedata
from functools import lru_cache

import rjieba

# Words that change nothing. Negations, prepositions, tenses, numbers and names all stay: they change everything.
NEUTRAL = frozenset(["a", "an", "the", "that", "really", "very", "please", "的", "啊", "呀", "呢", "很", "非常"])
NEUTRAL_MARKS = frozenset("，。、；：！“”‘’（）《》【】,.;:!\"'()[]…·")
SAME = {
    word: words[0]
    for words in (
        ("prefer", "like", "enjoy", "love"),
        ("app", "application"),
        ("photo", "picture", "image"),
        ("email", "e-mail", "mail"),
        ("ok", "okay"),
        ("喜欢", "偏好", "喜爱", "偏爱", "爱"),
        ("使用", "用"),
        ("邮件", "邮箱", "电邮"),
        ("应用", "应用程序", "app"),
    )
    for word in words
}
_TOKEN = re.compile(r"-?\d+(?:[.,:/]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|\w|[^\w\s]")
_NOT = re.compile(r"n['’]t$")
_HAN = re.compile(r"[\u3400-\u9fff]")


@lru_cache(maxsize=4096)
def sense(text: str) -> tuple[str, ...]:
    """A text as the sequence of what carries its meaning; equal sequences say the same.

    Case, width, articles, plural and third-person endings, intensifiers, closing marks and a few synonyms are levelled. A
    negation, a number, a name, an identifier or the order of words is not: where two texts differ in one of them, or in
    any other word, they are two statements.
    """
    found: list[str] = []
    for token in _TOKEN.findall(unicodedata.normalize("NFKC", text).lower()):
        if token in NEUTRAL_MARKS:
            continue
        found += _chinese(token) if _HAN.search(token) else _english(token)
    return tuple(SAME.get(word, word) for word in found if word not in NEUTRAL)


def _chinese(run: str) -> list[str]:
    return list(rjieba.cut(run))


def _english(word: str) -> list[str]:
    if _NOT.search(word):
        return [*_english(_NOT.sub("", word)), "not"]
    word = re.sub(r"['’]s$", "", word)
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return [word]
