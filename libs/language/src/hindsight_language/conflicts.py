"""Whether one statement contradicts another of the same key, by rules in English and Chinese. In doubt, both stand."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from hindsight_language import lexicon
from hindsight_language.duplicates import sense
from hindsight_language.statements import (
    HAN,
    MAX_CHARS,
    Frame,
    Reading,
    are_comparable,
    level,
    read,
    split_words,
    stem,
    tidy,
    times_of,
    type_of,
)

BARE_WORDS = 4  # an answer without a sentence around it
SLOT_WORDS = 6  # of a changed part
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
    if a.is_chinese != b.is_chinese or not (a.words and b.words) or _is_unreal(pair[0]) != _is_unreal(pair[1]):
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


@dataclass(frozen=True, slots=True)
class Key:
    """A key taken apart. `asks` is the type of the one answer it asks for, "" where it asks for none or for several."""

    text: str
    words: frozenset[str]
    is_generic: bool
    asks: str
    role: str
    names_state: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two statements side by side, the older first."""

    a: Reading
    b: Reading
    key: Key
    are_states: bool
    texts: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """The one part in which two statements differ: word positions, equal before and after."""

    start: int
    a: tuple[str, ...]
    b: tuple[str, ...]
    common: tuple[str, ...]


@lru_cache(maxsize=1024)
def read_key(key: str) -> Key:
    """A key taken apart."""
    text = tidy(key).lower()
    words = [w.lower() for _, w in split_words(text)]
    is_generic = text in lexicon.GENERIC_KEYS or not words
    asks = role = ""
    if not is_generic and HAN.search(text):
        asks = next((t for t, nouns in lexicon.ASKED_ZH.items() if re.search(f"(?:{nouns})$", text)), "")
        role = match[0] if (match := re.search(f"(?:{lexicon.ROLES_ZH})$", text)) else ""
    elif not is_generic:
        head = words[-1]
        asks = next((t for t, nouns in lexicon.ASKED.items() if head in nouns), "")
        role = head if head in lexicon.ROLES else ""
    stems = frozenset(w for w, _ in split_words(text))
    return Key(text, stems, is_generic, asks, role, bool(re.search(lexicon.STATE_KEYS, text)))


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
def _is_unreal(text: str) -> tuple[str, ...]:
    """The words that make a statement a wish, a plan or a memory; two statements are compared where they are the same.

    The month May and a may are told apart by their first letter, so case counts."""
    return tuple(sorted(re.findall(lexicon.UNREAL, " ".join(text.split()))))


def _share_characters(a: Reading, b: Reading) -> bool:
    return a.is_chinese and len(set(a.text) & set(b.text)) >= 2


def _are_alike(a: Reading, b: Reading) -> bool:
    """Whether two statements share most of their words, as those under a generic key must."""
    return 2 * len(set(a.words) & set(b.words)) >= LEAST_IN_COMMON * (len(set(a.words)) + len(set(b.words)))


# Negation: one denies what the other says, and nothing else is different.

_NOT = r"\b(?:no longer|never|not|nor|no(?! \d)|(?:stopped|stops|has stopped|quit|gave up|ceased)(?= \w+ing\b))\b"
_PADDING = r"\b(?:do|does|did|has|have|had|been|always|usually|any|ever|even|at all)\b"
_NOT_ZH = re.compile(r"不再|再也不|再不|从来不|从不|从没|并不|并没有|不要|不用|不必|没有|未曾|没|不|别|勿|未|无|停止")
_NOT_CHARS_ZH = re.compile(r"[不没别勿未无]")
_PADDING_ZH = re.compile(r"总是|一直|经常|仍然|还是|始终|再|都|已|[的了呢啊吧呀着很，, ]")
_WITHOUT = re.compile(r"(?i)\bnot only\b|不仅|不但|不只|不得不|无论|不管")
_NARROWING = lexicon.NARROWING


def _is_negation(c: Comparison) -> bool:
    if _WITHOUT.search(c.a.text) or _WITHOUT.search(c.b.text):
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


# Antonym: one word is the other's opposite, and nothing else is different.


def _is_antonym(c: Comparison) -> bool:
    if c.a.is_chinese:
        x, y = (_PADDING_ZH.sub("", r.text) for r in (c.a, c.b))
        return any(
            (m in x and n in y and x.replace(m, n, 1) == y) or (n in x and m in y and x.replace(n, m, 1) == y)
            for m, n in lexicon.ANTONYMS_ZH
        )
    change = _change(c)
    return change is not None and (
        len(change.a) == len(change.b) == 1
        and change.start > 0
        and ((change.a[0], change.b[0]) in lexicon.ANTONYMS or (change.b[0], change.a[0]) in lexicon.ANTONYMS)
    )


# Order: prefers A over B, and now B over A.

_OVER = re.compile(
    r"(?i)(?P<s>.+?) (?:prefers?|likes?|favou?rs?) (?P<a>.+?) (?:over|to|more than|better than|rather than) (?P<b>.+)"
)
_OVER_ZH = re.compile(r"(?P<s>.+?)(?:更喜欢|喜欢|偏爱)(?P<a>.+?)(?:胜过|多过|超过|而不是|而非|不喜欢)(?P<b>.+)")


def _is_order_turned(c: Comparison) -> bool:
    pattern = _OVER_ZH if c.a.is_chinese else _OVER
    m, n = pattern.fullmatch(c.a.text), pattern.fullmatch(c.b.text)
    if not (m and n) or level(m["s"]) != level(n["s"]):
        return False
    return (level(m["a"]), level(m["b"])) == (level(n["b"]), level(n["a"]))


# State: one thing has gone on to its next step.

_STEP = r"(?:is|are|has|have|was|were|got|gets?|went|goes)"
_SUBJECT_ZH = re.compile(rf"(?P<s>.*?)(?:正在|正|已|刚|还|仍|被|处于|进入|在等|等待|待|未|没|开始|(?:{lexicon.PROGRESS_ZH}))")


def _is_next_step(c: Comparison) -> bool:
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


# Value: the same subject has another value of a relation that has one at a time.

# What a move or a change to a value replaces, by the type of the value.
_REPLACED = {
    "move": {"live": ("name", ""), "in": ("name", "time", ""), "be": ("time",), "does": ("time",), "change": ("time",)},
    "change": {
        "work": ("name", ""), "in": ("time", ""), "be": ("number", "time", "name", "color"),
        "set": ("number", "time", "name", "color", ""),
        "does": ("number", "time"), "name": ("name", ""), "by": ("name", ""), "move": ("time",),
    },
}  # fmt: skip


def _is_within(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    """Whether some words stand in others, together and in order: Turin in the old town of Turin is no other place."""
    return any(whole[i : i + len(part)] == part for i in range(len(whole) - len(part) + 1))


def _replaces(one: str, other: str, kind: str) -> bool:
    return kind in _REPLACED.get(one, {}).get(other.split(" ")[0], ())


def _has_other_value(c: Comparison) -> bool:
    f, g = c.a.frame, c.b.frame
    if f is None or g is None or not f.subject or not _are_one_subject(f.subject, g.subject, c.key):
        return False
    x, y = level(f.value), level(g.value)
    if not x or not y or x == y:
        return False
    if g.origin and set(level(g.origin)) <= set(x):
        return True
    if re.search(r"\b(?:and|or)\b|、|和|或", f.value + " " + g.value):
        return False
    t, u = _types(f, g)
    has_detail = (t, u) != (type_of(f.value), type_of(g.value))
    if (has_detail or not t.startswith(("number", "time"))) and (_is_within(x, y) or _is_within(y, x)):
        return False
    if f.relation != g.relation:
        kind = t.split(" ")[0]
        # Who moved to Lisbon may be in Porto for a day; who now lives there has moved again.
        is_visit = f.relation == "move" and g.relation == "in" and kind != "time" and not _is_thing(c)
        fits = (are_comparable(t, u) or t == u == "") and not is_visit
        return fits and (_replaces(g.relation, f.relation, kind) or _replaces(f.relation, g.relation, kind))
    return _is_exclusive(f.relation, (t, u), c)


# What comes on top of a value; and also when, how often, or for what it holds.
_BESIDE = r"[,，(](?!\d)|\b(?:as|with|near|including|excluding)\b"
_DETAIL = rf"{_BESIDE}|\b(?:in|at|on|from|for|per|an? (?:month|year|week|day))\b|每[年月周天]"
# A house number: its place may lie in a city, and is not another one.
_ADDRESS = re.compile(
    r"(?<![\W\d月第周])[\d一二三四五六七八九十百]+(?:号|弄|幢|栋|室)(?!线)|\b\d+[a-z]? [A-Z]\w+|\b[A-Z]\w+ \d+[a-z]?\b"
)


def _types(older: Frame, newer: Frame) -> tuple[str, str]:
    """The types of two values. One that says more than its type has none as a whole; then that of its part counts, where
    the newer says that something has changed."""
    t, u = type_of(older.value), type_of(newer.value)
    if are_comparable(t, u):
        return t, u
    if older.relation == newer.relation:
        if older.relation in ("live", "in") and _is_address(older.value) != _is_address(newer.value):
            return "address", "place"
        heads = _head(older, _BESIDE), _head(newer, _BESIDE)
        return heads if older.relation in ("live", "work") and heads == ("name", "name") else (t, u)
    if newer.relation not in _REPLACED:
        return t, u
    if u.startswith("time") and u in times_of(older.value):
        return u, u
    if _is_address(newer.value):
        return ("name", "name") if _is_address(older.value) else (t, "address")
    if u == "name" and (_is_address(older.value) or re.search(r"\b[A-Z]", older.value)):
        return u, u
    head = _head(older, _DETAIL)
    return (head, u) if are_comparable(head, u) else (t, u)


def _head(frame: Frame, detail: str) -> str:
    return type_of(re.split(f"(?i){detail}", frame.value)[0])


def _is_address(value: str) -> bool:
    return not type_of(value).startswith("time") and _ADDRESS.search(value) is not None


def _are_one_subject(older: tuple[str, ...], newer: tuple[str, ...], key: Key) -> bool:
    """Equal, or equal but for words that the key says anyway."""
    if older == newer:
        return True
    missing = set(older) ^ set(newer)
    is_part = set(older) <= set(newer) or set(newer) <= set(older)
    return is_part and not key.is_generic and missing <= key.words


def _is_exclusive(relation: str, types: tuple[str, str], c: Comparison) -> bool:
    """Whether a subject has one value of a relation at a time."""
    t, u = types
    assert c.a.frame is not None
    kind = relation.split(" ")[0]
    if kind in ("live", "work", "report", "belong", "by", "marry", "name", "set", "move", "change"):
        return are_comparable(t, u) or t == u
    if kind == "in":
        is_thing = not c.a.raw[0][0].isupper() or c.a.text.lower().startswith(
            ("the ", "a ", "our ", "my ", "his ", "her ", "their ")
        )
        return are_comparable(t, u) or (t == u == "" and (c.key.asks == "name" or (is_thing and not c.a.is_chinese)))
    if kind == "does":
        return are_comparable(t, u) and t.startswith(("number", "time"))
    subject = c.texts[0].lower()
    if _is_plural(c):
        return False
    if _names_single(subject, c):
        return are_comparable(t, u) or t == u
    if _mentions_role(c):
        return are_comparable(t, u) or t == u == ""
    if c.key.asks == t.split(" ")[0]:
        return are_comparable(t, u)
    return t == u not in ("", "name")


def _is_thing(c: Comparison) -> bool:
    """Whether the subject is surely no person, who can be in a choir and in a club. Chinese does not say."""
    begins = ("the ", "a ", "our ", "my ", "his ", "her ", "their ")
    return not c.a.is_chinese and c.a.text.lower().startswith(begins)


def _names_single(text: str, c: Comparison) -> bool:
    """Whether what stands before the "is" is something of which there is one at a time."""
    assert c.a.frame is not None
    if c.a.is_chinese:
        return bool(re.search(lexicon.SINGLE_ZH, "".join(c.a.frame.subject) + text.split("是")[0]))
    before = re.split(r"\b(?:is|are)\b", text)[0]
    words = [w.lower() for _, w in split_words(before)]
    return bool(set(words) & lexicon.SINGLE)


def _is_plural(c: Comparison) -> bool:
    assert c.a.frame is not None
    if c.a.is_chinese:
        return bool(re.search(lexicon.PLURAL_NOUNS_ZH, "".join(c.a.frame.subject)))
    return bool({stem(w) for w in lexicon.PLURAL_NOUNS} & set(c.a.frame.subject)) or bool(re.match(r"(?i)an? ", c.a.frame.value))


def _mentions_role(c: Comparison) -> bool:
    assert c.a.frame is not None
    if c.a.is_chinese:
        return bool(re.search(f"(?:{lexicon.ROLES_ZH})$", "".join(c.a.frame.subject)))
    return bool({stem(w) for w in lexicon.ROLES} & set(c.a.frame.subject))


# Holder: the key asks for one person, and the same is said of another.


def _is_other_holder(c: Comparison) -> bool:
    change = _change(c)
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


# Answer: the key asks for one thing of a type, and one such thing is different.


def _is_other_answer(c: Comparison) -> bool:
    if not c.key.asks or c.a.named != c.b.named:
        return False
    if _is_bare(c.a) and _is_bare(c.b) and not set(c.a.words) & set(c.b.words):
        t, u = type_of(c.a.text), type_of(c.b.text)
        x, y = level(c.a.text), level(c.b.text)
        several = re.search(r"\b(?:and|or)\b|[,，] ?(?!\d)|[、和或]", f"{c.a.text} {c.b.text}")
        return not (_is_within(x, y) or _is_within(y, x)) and (are_comparable(t, u) or t == u == "") and not several
    change = _change(c)
    if change is None or not change.common or max(len(change.a), len(change.b)) > SLOT_WORDS:
        return False
    joint = "" if c.a.is_chinese else " "
    parts = [joint.join(r.raw[change.start : change.start + len(p)]) for r, p in ((c.a, change.a), (c.b, change.b))]
    t, u = map(type_of, parts)
    is_answer = are_comparable(t, u) and t.split(" ")[0] == c.key.asks
    is_one_of_several = c.key.asks in ("name", "color") and _names_several(c, change)
    return is_answer and (change.start > 0 or c.key.asks == "time") and not is_one_of_several


def _is_bare(reading: Reading) -> bool:
    """Whether a statement is an answer without a sentence around it."""
    is_short = len(reading.words) <= BARE_WORDS and reading.frame is None
    return is_short and not re.search(r"(?i)\b(?:is|are|has|have|likes?|does|not|no)\b|[是有不没在了]", reading.text)


# Change: the newer says "now", and one part of the same sentence is different.


def _is_said_to_change(c: Comparison) -> bool:
    if not re.search(rf"(?i){lexicon.NOW}", c.texts[1]) or re.search(rf"(?i){lexicon.ADDITIVE}", c.texts[1]):
        return False
    change = _change(c)
    if change is None or c.a.named != c.b.named or change.start < 2 or not change.a or not change.b:
        return False
    joined = {"and", "or", "和", "或"} & {*change.a, *change.b}
    return (
        len(change.common) >= 2
        and max(len(change.a), len(change.b)) <= SLOT_WORDS
        and not joined
        and not _names_several(c, change)
    )


def _names_several(c: Comparison, change: Change) -> bool:
    """Whether the changed part is one of what a subject may have several of."""
    if c.a.is_chinese:
        return bool(re.search(lexicon.SEVERAL_ZH, "".join(change.common)))
    return bool(set(change.common) & lexicon.SEVERAL)


def _change(c: Comparison) -> Change | None:
    """The one part that differs, or None where the statements differ in more than one. 了 tells an event (bought three, bought
    five), and events add up."""
    return None if "了" in c.a.words or "了" in c.b.words else _one_change(c.a.words, c.b.words)


@lru_cache(maxsize=8192)
def _one_change(a: tuple[str, ...], b: tuple[str, ...]) -> Change | None:
    edits = [op for op in SequenceMatcher(None, a, b, autojunk=False).get_opcodes() if op[0] != "equal"]
    if len(edits) != 1 or edits[0][0] != "replace":
        return None
    _, i, j, k, m = edits[0]
    return Change(i, a[i:j], b[k:m], a[:i] + a[j:])


def _unless_added(rule: Callable[[Comparison], bool]) -> Callable[[Comparison], bool]:
    """The rule, but not where the newer says that it comes on top."""
    return lambda c: not re.search(rf"(?i){lexicon.ADDITIVE}", c.texts[1]) and rule(c)


RULES: dict[str, Callable[[Comparison], bool]] = {
    "negation": _is_negation,
    "antonym": _is_antonym,
    "order": _is_order_turned,
    "state": _is_next_step,
    "value": _unless_added(_has_other_value),
    "holder": _unless_added(_is_other_holder),
    "answer": _unless_added(_is_other_answer),
    "change": _is_said_to_change,
}
