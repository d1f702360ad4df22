"""Contradictions of what a key asks for: another holder or answer; and what is said to have changed. English and Chinese."""

import re

from hindsight_language import lexicon
from hindsight_language.comparing import BARE_WORDS, SLOT_WORDS, Change, Comparison, change_of, is_within, names_several
from hindsight_language.statements import Reading, are_comparable, level, stem, type_of


def is_other_holder(c: Comparison) -> bool:
    """The key asks for one person, and the same is said of another."""
    change = change_of(c)
    if change is None or c.a.named != c.b.named or not (set(change.a) and set(change.b)):
        return False
    if c.a.is_chinese:
        return _is_other_holder_zh(c)
    if change.start or len(change.common) < 2 or {"and", "or"} & {*change.a, *change.b}:
        return False
    if not all(w[0].isupper() for w in (*c.a.raw[: len(change.a)], *c.b.raw[: len(change.b)])):
        return False
    role = stem(c.key.role)
    says_so = role[:4] in {w[:4] for w in change.common} if role else False
    takes_care = bool(c.key.role) and bool(set(change.common) & lexicon.RESPONSIBLE)
    return says_so or takes_care or _is_the_role(c, change)


def _is_the_role(c: Comparison, change: Change) -> bool:
    """ "Henrik is the manager of …": said of one person at a time, whatever the key."""
    match = re.fullmatch(r"(?i).+? is (?:the|our) (.+)", c.a.text)
    return bool(match) and not c.key.is_generic and bool({stem(w) for w in lexicon.ROLES} & set(change.common))


_HOLDER_ZH = re.compile(
    rf"(?P<v>[\u3400-\u9fff]{{2,4}}?)(?P<r>(?:主管|负责|管理|维护|主持|领导|掌管|担任|教|带|"
    rf"(?:现)?是.*?(?:{lexicon.ROLES_ZH}))(?P<rest>.*))"
)


def _is_other_holder_zh(c: Comparison) -> bool:
    m, n = _HOLDER_ZH.fullmatch(c.a.text), _HOLDER_ZH.fullmatch(c.b.text)
    return bool(c.key.role and m and n and m["r"] == n["r"] and m["v"] != n["v"])


def is_other_answer(c: Comparison) -> bool:
    """The key asks for one thing of a type, and one such thing is different."""
    if not c.key.asks or c.a.named != c.b.named:
        return False
    if _is_bare(c.a) and _is_bare(c.b) and not set(c.a.words) & set(c.b.words):
        t, u = type_of(c.a.text), type_of(c.b.text)
        x, y = level(c.a.text), level(c.b.text)
        several = re.search(r"\b(?:and|or)\b|[,，] ?(?!\d)|[、和或]", f"{c.a.text} {c.b.text}")
        return not (is_within(x, y) or is_within(y, x)) and (are_comparable(t, u) or t == u == "") and not several
    change = change_of(c)
    if change is None or not change.common or max(len(change.a), len(change.b)) > SLOT_WORDS:
        return False
    joint = "" if c.a.is_chinese else " "
    parts = [joint.join(r.raw[change.start : change.start + len(p)]) for r, p in ((c.a, change.a), (c.b, change.b))]
    t, u = map(type_of, parts)
    is_answer = are_comparable(t, u) and t.split(" ")[0] == c.key.asks
    is_one_of_several = c.key.asks in ("name", "color") and names_several(c, change)
    return is_answer and (change.start > 0 or c.key.asks == "time") and not is_one_of_several


def _is_bare(reading: Reading) -> bool:
    """Whether a statement is an answer without a sentence around it."""
    is_short = len(reading.words) <= BARE_WORDS and reading.frame is None
    return is_short and not re.search(r"(?i)\b(?:is|are|has|have|likes?|does|not|no)\b|[是有不没在了]", reading.text)


def is_said_to_change(c: Comparison) -> bool:
    """The newer says "now", and one part of the same sentence is different."""
    if not re.search(rf"(?i){lexicon.NOW}", c.texts[1]) or re.search(rf"(?i){lexicon.ADDITIVE}", c.texts[1]):
        return False
    change = change_of(c)
    if change is None or c.a.named != c.b.named or change.start < 2 or not change.a or not change.b:
        return False
    joined = {"and", "or", "和", "或"} & {*change.a, *change.b}
    return (
        len(change.common) >= 2
        and max(len(change.a), len(change.b)) <= SLOT_WORDS
        and not joined
        and not names_several(c, change)
    )
