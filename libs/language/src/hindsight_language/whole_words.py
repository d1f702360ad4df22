"""Words that mean always or never, told from the same characters inside longer words and names: 都 from 成都."""

import re
from functools import lru_cache

import rjieba

BLANK, BLANK_LETTER = "\u3400", "x"  # no rule knows the character; nor a word of such letters
_SIGN = re.compile("[都总别凡]")
# Longer words that mean nearly what the character means, and those that rules know as a whole.
_STILL_SIGN = frozenset(["都行", "全都", "总是", "总会", "总得", "总结", "总算", "凡是", "凡事", "别的"])
# 别 before anything else is "do not", whatever the dictionary has: 别动, 别提.
_BIE = re.compile("(?!千万).*[^别]别|别(?:[人处家墅针称名样字国院扭致克]|出心裁|具|开生面|来无恙|有[洞风用])")
_UNKNOWN = re.compile("(?<=[于魔新港])都(?=[的市])")  # cities that the dictionary takes apart
_TITLE = re.compile("《[^《》]{1,40}》")
_WORDS = "all|always|any|each|ever|every|everything|never|no|nothing"
_IN_NAME = re.compile(rf"\b(?:{_WORDS})(?=-[a-z])|(?<=[a-z] )(?:{_WORDS.title()})(?= [A-Z][a-z])")


@lru_cache(maxsize=1024)
def blank_parts(text: str) -> str:
    """A text of the same length where such words are left only as words: in 我都要, not in 首都, 总部 or an all-day pass."""
    text = _TITLE.sub(lambda title: BLANK * len(title[0]), text)
    text = _IN_NAME.sub(lambda word: BLANK_LETTER * len(word[0]), text)
    if not _SIGN.search(text):
        return text
    return _UNKNOWN.sub(BLANK, "".join(map(_blank, rjieba.cut(text, False))))


def _blank(word: str) -> str:
    if len(word) == 1 or word in _STILL_SIGN or ("别" in word and not _BIE.match(word)):
        return word
    return _SIGN.sub(BLANK, word)
