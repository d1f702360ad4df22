"""Contradictions of value: the same subject has another value of a relation that has one at a time. English and Chinese."""

import re

from hindsight_language import lexicon
from hindsight_language.comparing import Comparison, Key, is_within
from hindsight_language.statements import Frame, are_comparable, level, split_words, stem, times_of, type_of

# What a move or a change to a value replaces, by the type of the value.
_REPLACED = {
    "move": {"live": ("name", ""), "in": ("name", "time", ""), "be": ("time",), "does": ("time",), "change": ("time",)},
    "change": {
        "work": ("name", ""), "in": ("time", ""), "be": ("number", "time", "name", "color"),
        "set": ("number", "time", "name", "color", ""),
        "does": ("number", "time"), "name": ("name", ""), "by": ("name", ""), "move": ("time",),
    },
}  # fmt: skip


def _replaces(one: str, other: str, kind: str) -> bool:
    return kind in _REPLACED.get(one, {}).get(other.split(" ")[0], ())


def has_other_value(c: Comparison) -> bool:
    """The same subject has another value of a relation that has one at a time."""
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
    if (has_detail or not t.startswith(("number", "time"))) and (is_within(x, y) or is_within(y, x)):
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
        is_thing = not c.a.raw[0][0].isupper() or _begins_with_article(c)
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
    return not c.a.is_chinese and _begins_with_article(c)


def _begins_with_article(c: Comparison) -> bool:
    return c.a.text.lower().startswith(("the ", "a ", "our ", "my ", "his ", "her ", "their "))


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
