"""In what the arguments of two calls of one tool differ: names, values, words inside a text."""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from typing import Any, Literal

MAX_LEAVES, MAX_DEPTH, MAX_ROWS = 200, 6, 8  # of arguments that are looked at
MAX_TEXT = 8192  # characters of one value
MAX_WORDS = 80  # of the parts of two texts that differ; comparing takes up to their cube
MAX_MARKED = 12  # words told whole where only their marks differ
MAX_CHANGES = 3  # in one text; one that differs in more is another text
ALIKE = 0.6  # share of words two texts have in common for one to be a corrected form of the other; set on the golden traces
ALIKE_BRIEF, ALIKE_VALUE = 0.8, 0.5  # likewise the share of letters of two commands of few words, and of two values
SHORT_CHARS = 60
DATE_NUMBERS, DATE_CHARS = 3, 12  # of a date, as 2026年12月31日
Kind = Literal["renamed", "changed", "secret", "added", "removed", "replaced", "inserted", "deleted"]
Leaves = Mapping[str, Any]

_PRIMARY = re.compile(r"(?:command|cmd|query|sql|script|code|statement|expression|q|语句|命令|查询)", re.IGNORECASE)
_PLACE = re.compile(r".*(?:path|file|filename|dir|folder|url|uri|endpoint|文件|路径|目录|网址)$", re.IGNORECASE)
_ROOTED = re.compile(r"(?:[\w.+-]+://|[A-Za-z]:[\\/]|(?:~|\.{1,2})?[\\/])\S")
_IDENTITY = re.compile(
    r"(?:.*[_.-])?(?:id|ids|uid|uuid|no|number|num|page|offset|cursor|index|row|skip|sku)|.*[a-z](?:Id|No|Index|Page|Number)|.*(?:号|编号|页|页码)"
)
_TOKEN = re.compile(r"[A-Za-z0-9_]+|\s+|.", re.DOTALL)
_NOT_FOUND = re.compile(
    r"not found|no such|does(?: not|n't) exist|unknown|\b404\b|不存在|未找到|找不到|没有找到|查无", re.IGNORECASE
)
_OF_FIELDS = re.compile(  # what does not exist is the argument, not what it names
    r"\b(?:fields?|arguments?|parameters?|params?|propert(?:y|ies)|keywords?|options?|attributes?|columns?)\b|字段|参数|属性|列",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"[$€£¥￥]?\s?(\d{1,12}(?:\.\d{1,6})?)\s?[%元]?")
_LOCATOR = re.compile(r".*(?:selector|locator|xpath|css|element|ref|target|选择器|元素)", re.IGNORECASE)
_MASKED = "[masked"
_FACTORS = (60, 100, 1000, 1024, 3600, 10_000)


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between a call that failed and one that worked."""

    kind: Kind
    name: str  # of the argument, a path of names: body.user.id
    before: str = ""
    after: str = ""
    factor: str = ""  # "×100" where a number grew by what turns one unit into another
    origin: str = ""  # the tool whose answer had the value that worked


def flatten(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as path -> value: str, int, float, bool, None or a tuple of texts. JSON inside a text is taken apart too."""
    leaves: dict[str, Any] = {}
    _collect(arguments, "", leaves, 0)
    return leaves


def _collect(value: Any, path: str, leaves: dict[str, Any], depth: int) -> None:
    if len(leaves) >= MAX_LEAVES:
        return
    value = _parse(value)
    if isinstance(value, Mapping) and value and depth < MAX_DEPTH:
        for name, one in islice(value.items(), MAX_LEAVES):
            _collect(one, f"{path}.{name}" if path else str(name), leaves, depth + 1)
    elif _holds_fields(value) and depth < MAX_DEPTH:
        for n, one in enumerate(value[:MAX_ROWS]):
            _collect(one, f"{path}[{n}]", leaves, depth + 1)
    elif path:
        leaves[path] = _simplify(value)


def _holds_fields(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(one, Mapping | list | tuple) for one in value[:MAX_ROWS])


def _parse(value: Any) -> Any:
    if not isinstance(value, str) or len(value) > MAX_TEXT or value.lstrip()[:1] not in {"{", "["}:
        return value
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return parsed if isinstance(parsed, dict | list) else value


def _simplify(value: Any) -> Any:
    if isinstance(value, str):
        return value[:MAX_TEXT]
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value.is_integer() else value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, list | tuple):
        return tuple(show(_simplify(one)) for one in value[:50])
    return "…" if value else "{}"


def are_alike(one: Leaves, other: Leaves) -> bool:
    """Whether two calls' arguments do the same to different things: what they run, as a command or a query, is the same."""
    told = [{name: show(_simplify(call[name])) for name in islice(call, 50) if is_primary(name)} for call in (one, other)]
    return told[0] == told[1]


def is_primary(name: str) -> bool:
    """Whether an argument of this name is what is run: a command, a query."""
    return bool(_PRIMARY.fullmatch(leaf_name(name)))


def show(value: Any) -> str:
    """A value as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ", ".join(value)
    if isinstance(value, int) and abs(value) >= 10**30:
        return "…"  # python refuses to print the longest
    return "null" if value is None else str(value)


def are_same(a: Any, b: Any) -> bool:
    """Whether two values are the same; true is not 1."""
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def is_convention(one: Difference) -> bool:
    """Whether a difference says how the tool is called, and not that something else was asked of it."""
    return is_same_renamed(one) or bool(one.factor) or (one.kind == "changed" and is_respelled(one.before, one.after))


def is_same_renamed(one: Difference) -> bool:
    """Whether a value goes unchanged under another name."""
    return one.kind == "renamed" and "=" not in one.before


def is_respelled(before: str, after: str) -> bool:
    """Whether two texts have the same letters and digits and differ in their case and marks, or are one date in two forms."""
    one, other = (re.sub(r"[\W_]", "", text).casefold() for text in (before, after))
    if one == other:
        return bool(one)
    one, other = (sorted(map(int, re.findall(r"[0-9]{1,18}", text))) for text in (before, after))
    return one == other and len(one) == DATE_NUMBERS and max(len(before), len(after)) <= DATE_CHARS


def find_differences(failed: Leaves, worked: Leaves, error: str = "", *, is_next: bool = True) -> list[Difference]:
    """What was changed between a call and its corrected form; nothing where the second is a call for something else.

    `is_next` says that no call of the tool worked in between: then a value may be replaced by one unlike it. Another
    number, page or id is a call for something else, unless the error finds fault with that argument; and so is a value
    unlike one that was not found.
    """
    removed = [name for name in failed if name not in worked]
    added = [name for name in worked if name not in failed]
    pairs = _pair_names(removed, added, failed, worked)
    differences = _tell_renamed(pairs, failed, worked)
    is_kept = any(are_same(failed[name], worked[name]) for name in failed if name in worked)
    for name in failed:
        if name in worked and not are_same(failed[name], worked[name]):
            is_of_fields = bool(_OF_FIELDS.search(error[:2000])) and not _OF_FIELDS.fullmatch(leaf_name(name))
            is_missing = bool(_NOT_FOUND.search(error[:2000])) and not is_of_fields
            is_blamed = has_word(error, leaf_name(name)) and not is_missing
            is_near = not is_next or (is_missing and not _LOCATOR.fullmatch(leaf_name(name)))
            changes = _compare(name, failed[name], worked[name], is_near=is_near, is_blamed=is_blamed)
            if changes is None:
                return []
            differences += changes
            is_kept = is_kept or bool(changes)
    renamed = {name for pair in pairs for name in pair}
    left = [Difference("removed", name, show(failed[name])) for name in removed if name not in renamed]
    left += [Difference("added", name, "", show(worked[name])) for name in added if name not in renamed]
    if len(left) > 1 and not (pairs or is_kept):
        return []
    return differences + left[:4]


def _pair_names(removed: Sequence[str], added: Sequence[str], failed: Leaves, worked: Leaves) -> list[tuple[str, str]]:
    pairs, free = [], list(added[:40])
    for old in removed[:40]:
        marks = {new: _match_names(old, new, failed[old], worked[new]) for new in free}
        best = max(marks, key=lambda new: marks[new], default=None)
        if best is not None and marks[best] >= 1:
            pairs.append((old, best))
            free.remove(best)
    return pairs


def _match_names(old: str, new: str, before: Any, after: Any) -> float:
    """1 or more where one argument is another under a new name; the more the surer."""
    a, b = (re.sub(r"[\W_]", "", leaf_name(name)).lower() for name in (old, new))
    ratio = 1.0 if a == b else SequenceMatcher(None, a, b, autojunk=False).ratio() if len(a) + len(b) < 120 else 0.0
    holds = min(len(a), len(b)) >= 2 and (a in b or b in a)
    if are_same(before, after):
        return 1 + ratio if holds or not _is_trivial(before) else ratio / 0.6
    return 1 + ratio / 2 if (holds or ratio >= 0.75) and type(before) is type(after) else 0.0


def _is_trivial(value: Any) -> bool:
    """Whether two arguments may well have this value by chance."""
    return value is None or isinstance(value, bool) or value in ("", "{}", ()) or (isinstance(value, int) and abs(value) < 3)


def _tell_renamed(pairs: Sequence[tuple[str, str]], failed: Leaves, worked: Leaves) -> list[Difference]:
    moves = Counter((_parent(a), _parent(b)) for a, b in pairs if leaf_name(a) == leaf_name(b))
    told: dict[tuple[str, str], Difference] = {}
    for old, new in pairs:
        before, after = failed[old], worked[new]
        move = (_parent(old), _parent(new))
        if moves[move] > 1 and leaf_name(old) == leaf_name(new) and all(move) and are_same(before, after):
            told[move] = Difference("renamed", *_named(*move))
        elif are_same(before, after) or any(_MASKED in show(one) for one in (before, after)):
            told[old, new] = Difference("renamed", *_named(old, new))
        else:
            texts = (f"{old}={show(before)}", f"{new}={show(after)}")
            told[old, new] = Difference("renamed", new, *texts, factor=_find_factor(before, after))
    return list(told.values())


def _named(old: str, new: str) -> tuple[str, str, str]:
    return new, old, new


def leaf_name(path: str) -> str:
    """The last name of a path of names."""
    return path.rpartition(".")[2]


def has_word(text: str, word: str) -> bool:
    """Whether a text has something with a letter in it as a whole word."""
    if len(word) < 2 or not re.search(r"[^\W\d]", word):
        return False
    return bool(re.search(rf"(?<![A-Za-z0-9_]){re.escape(word[:200])}(?![A-Za-z0-9_])", text[:2000], re.IGNORECASE))


def _parent(path: str) -> str:
    return path.rpartition(".")[0]


def _compare(name: str, before: Any, after: Any, *, is_near: bool, is_blamed: bool) -> list[Difference] | None:
    """How one argument was corrected; None where it was not corrected but stands for something else."""
    a, b, leaf = show(before), show(after), leaf_name(name)
    if _MASKED in a or _MASKED in b:
        return [Difference("secret", name)]
    is_other_spelling = is_respelled(a, b)
    is_identity = bool(_IDENTITY.fullmatch(leaf)) and not is_blamed and not is_other_spelling
    if isinstance(before, str) and isinstance(after, str):
        if _is_place(leaf, before) and _is_place(leaf, after):
            if not _is_same_place(a, b):
                return None
            is_short = max(len(a), len(b)) <= SHORT_CHARS
            return [Difference("changed", name, a, b)] if is_short else _tell_text(name, a, b)
        if is_identity and _shape(a) == _shape(b):
            return None
        if _is_text(a) or _is_text(b) or is_primary(leaf):
            if _is_corrected(a, b, is_brief=is_primary(leaf)):
                return _tell_text(name, a, b)
            return None if is_primary(leaf) else []
        if (
            is_near
            and not (a in b or b in a or is_other_spelling)
            and SequenceMatcher(None, a, b, autojunk=False).ratio() < ALIKE_VALUE
        ):
            return None
    elif type(before) is type(after) and is_identity:
        return None
    elif show(before) == show(after):
        a, b = _show_typed(before), _show_typed(after)
    return [Difference("changed", name, a, b, _find_factor(before, after))]


def _show_typed(value: Any) -> str:
    """A value as text that tells a text from a number, and a list from its only element."""
    return f'"{value}"' if isinstance(value, str) else f"[{show(value)}]" if isinstance(value, tuple) else show(value)


def _find_factor(before: Any, after: Any) -> str:
    before, after = (_read_amount(one) for one in (before, after))
    if not all(isinstance(one, int | float) and not isinstance(one, bool) and 0 < abs(one) < 1e15 for one in (before, after)):
        return ""
    for factor in _FACTORS:
        if math.isclose(after, before * factor, rel_tol=1e-9):
            return f"×{factor}"
        if math.isclose(before, after * factor, rel_tol=1e-9):
            return f"÷{factor}"
    return ""


def _read_amount(value: Any) -> Any:
    """The number in a text that is an amount: 88.00, 15%."""
    amount = _AMOUNT.fullmatch(value) if isinstance(value, str) else None
    return float(amount[1]) if amount else value


def _is_place(leaf: str, text: str) -> bool:
    return "\n" not in text and bool(_ROOTED.match(text) or _PLACE.fullmatch(leaf))


def _is_same_place(a: str, b: str) -> bool:
    """Whether two paths or addresses are a wrong and a right form of one: the same last name, or much the same text."""
    (folder_a, last_a), (folder_b, last_b) = (_split_place(text) for text in (a, b))
    if last_a == last_b:
        return True
    if any(c.isdigit() for c in last_a) and _shape(last_a) == _shape(last_b):
        return False
    alike = SequenceMatcher(None, last_a[:200], last_b[:200], autojunk=False).ratio()
    return alike >= (0.6 if folder_a == folder_b else 0.8)


def _split_place(text: str) -> tuple[str, str]:
    parts = re.split(r"[\\/]+", text.rstrip("/\\"))
    return "/".join(parts[:-1]), parts[-1]


def _shape(text: str) -> str:
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", text[:200]))


def _is_text(value: str) -> bool:
    return len(value) > SHORT_CHARS or sum(any(c.isalpha() for c in word) for word in value.split()) > 2


def _is_corrected(a: str, b: str, *, is_brief: bool) -> bool:
    """Whether one text is a corrected form of the other: extended, cut, or of mostly the same words; a command, letters."""
    words_a, words_b = Counter(a.split()), Counter(b.split())
    shorter = min(words_a.total(), words_b.total())
    if shorter > 1 and (words_a & words_b).total() == shorter:
        return True
    if is_brief and max(len(a), len(b)) <= SHORT_CHARS and max(words_a.total(), words_b.total()) <= 4:
        return SequenceMatcher(None, a, b, autojunk=False).ratio() >= ALIKE_BRIEF
    return _share_words(a, b) >= ALIKE


def _share_words(a: str, b: str) -> float:
    """Which share of the words of the longer text both have."""
    counts_a, counts_b = (Counter(t for t in _TOKEN.findall(text[:4096]) if not t.isspace()) for text in (a, b))
    return (counts_a & counts_b).total() / max(counts_a.total(), counts_b.total(), 1)


def _tell_text(name: str, a: str, b: str) -> list[Difference]:
    """The words by which two texts differ; nothing where they differ in too much."""
    words_a, words_b = _strip_ends(a.split(), b.split())
    if max(len(words_a), len(words_b)) > MAX_WORDS:
        return []
    before, after = " ".join(words_a), " ".join(words_b)
    if max(len(words_a), len(words_b)) <= MAX_MARKED and re.findall(r"\w+", before) == re.findall(r"\w+", after):
        return [Difference("replaced", name, before, after)] if before and after else []  # quotes, brackets, commas
    found: dict[tuple[str, str], Difference] = {}
    matcher = SequenceMatcher(None, words_a, words_b, autojunk=False)
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        if tag == "equal":
            continue
        before, after = _narrow(" ".join(words_a[a1:a2]), " ".join(words_b[b1:b2]))
        kind: Kind = "replaced" if before and after else "inserted" if after else "deleted"
        found[before, after] = Difference(kind, name, before, after)
    return list(found.values()) if len(found) <= MAX_CHANGES else []


def _strip_ends(a: list[str], b: list[str]) -> tuple[list[str], list[str]]:
    """Two lists without what they begin and end with alike."""
    shortest, start, end = min(len(a), len(b)), 0, 0
    while start < shortest and a[start] == b[start]:
        start += 1
    while end < shortest - start and a[-1 - end] == b[-1 - end]:
        end += 1
    return a[start : len(a) - end], b[start : len(b) - end]


def _narrow(before: str, after: str) -> tuple[str, str]:
    """The part of two words that differs; whole words where that part would be a mere mark, as a missing quote."""
    if before.startswith(("/", "http")) or not before or not after:
        return before, after
    parts = _strip_ends(_TOKEN.findall(before), _TOKEN.findall(after))
    a, b = ("".join(part).strip() for part in parts)
    if re.search(r"\w", a) and re.search(r"\w", b) and min(len(a), len(b)) > 1:
        return a, b
    return before, after
