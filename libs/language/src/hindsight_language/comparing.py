"""Two statements of the same key side by side, and the one part in which they differ."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from hindsight_language import lexicon
from hindsight_language.statements import HAN, Reading, split_words, tidy

BARE_WORDS = 4  # of an answer without a sentence around it
SLOT_WORDS = 6  # of a changed part


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


def names_several(c: Comparison, change: Change) -> bool:
    """Whether the changed part is one of what a subject may have several of."""
    if c.a.is_chinese:
        return bool(re.search(lexicon.SEVERAL_ZH, "".join(change.common)))
    return bool(set(change.common) & lexicon.SEVERAL)


def is_within(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    """Whether some words stand in others, together and in order: Turin in the old town of Turin is no other place."""
    return any(whole[i : i + len(part)] == part for i in range(len(whole) - len(part) + 1))


def change_of(c: Comparison) -> Change | None:
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
