"""Whether one statement contradicts another of the same key, by rules in English and Chinese. In doubt, both stand."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from hindsight_language import lexicon
from hindsight_language.comparing import BARE_WORDS, Comparison, read_key
from hindsight_language.duplicates import sense
from hindsight_language.opposites import is_antonym, is_negation, is_next_step, is_order_turned
from hindsight_language.other_answers import is_other_answer, is_other_holder, is_said_to_change
from hindsight_language.other_values import has_other_value
from hindsight_language.statements import MAX_CHARS, Reading, read

LEAST_IN_COMMON = 0.5  # of the words, under a key that names no subject
ACCOUNTS = frozenset({"experience", "summary"})  # of what happened: two of them differ, and both are true


@dataclass(frozen=True, slots=True)
class Statement:
    """What a contradiction is judged by. Its scope, key and agent are those of the statement it is compared with."""

    key: str
    value: str
    kind: str = "fact"


def contradicts(newer: Statement, older: Statement) -> str:
    """The rule by which the newer statement contradicts the older one; "" where both may stand.

    The names are negation, antonym, order, state, value, holder, answer and change; decision 0010 tells them.
    """
    if ACCOUNTS & {newer.kind, older.kind}:
        return ""
    pair = _differing(older.value, newer.value)
    if pair is None:
        return ""
    a, b = read(pair[0]), read(pair[1])
    if a.is_chinese != b.is_chinese or not (a.words and b.words) or _unreal_words(pair[0]) != _unreal_words(pair[1]):
        return ""
    key = read_key(older.key)
    bare = len(a.words) <= BARE_WORDS and len(b.words) <= BARE_WORDS
    if not bare and not set(a.words) & set(b.words) and not _share_characters(a, b):
        return ""
    if key.is_generic and not _are_alike(a, b):
        return ""
    for name, rule in RULES.items():
        if rule(Comparison(a, b, key, older.kind == newer.kind == "state", pair)):
            return name
    return ""


def _differing(older: str, newer: str) -> tuple[str, str] | None:
    """The one sentence in which two texts differ, or None where they differ in more, in none, or are too long to judge."""
    if max(len(older), len(newer)) > 4 * MAX_CHARS:
        return None
    a, b = _sentences(older), _sentences(newer)
    if len(a) != len(b):
        return None
    differing = [(x, y) for x, y in zip(a, b, strict=True) if sense(x) != sense(y)]
    if len(differing) != 1 or max(map(len, differing[0])) > MAX_CHARS:
        return None
    return differing[0]


@lru_cache(maxsize=4096)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(s for s in re.split(r"[!?。！？；;\n]+|\.(?=\s|$)", text) if s.strip())


@lru_cache(maxsize=4096)
def _unreal_words(text: str) -> tuple[str, ...]:
    """The words that make a statement a wish, a plan or a memory; two statements are compared where they are the same.

    The month May and a may are told apart by their first letter, so case counts."""
    return tuple(sorted(re.findall(lexicon.UNREAL, " ".join(text.split()))))


def _share_characters(a: Reading, b: Reading) -> bool:
    return a.is_chinese and len(set(a.text) & set(b.text)) >= 2


def _are_alike(a: Reading, b: Reading) -> bool:
    """Whether two statements share most of their words, as those under a generic key must."""
    return 2 * len(set(a.words) & set(b.words)) >= LEAST_IN_COMMON * (len(set(a.words)) + len(set(b.words)))


def _unless_added(rule: Callable[[Comparison], bool]) -> Callable[[Comparison], bool]:
    """The rule, but not where the newer says that it comes on top."""
    return lambda c: not re.search(rf"(?i){lexicon.ADDITIVE}", c.texts[1]) and rule(c)


RULES: dict[str, Callable[[Comparison], bool]] = {
    "negation": is_negation,
    "antonym": is_antonym,
    "order": is_order_turned,
    "state": is_next_step,
    "value": _unless_added(has_other_value),
    "holder": _unless_added(is_other_holder),
    "answer": _unless_added(is_other_answer),
    "change": is_said_to_change,
}
