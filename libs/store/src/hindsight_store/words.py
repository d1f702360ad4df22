"""Text as search terms, Chinese and English alike: what the lexical channel stores and asks for."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

import rjieba
import Stemmer

MAX_TERM_CHARS = 64
MAX_COUNT = 63  # occurrences kept per term; BM25 is flat long before
HALF = 0.5  # words and bigrams say the same thing twice, so each counts half

_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = _HAN + r"\u3040-\u30ff\uac00-\ud7af\u0e00-\u0e7f"  # scripts written without spaces (and Hangul)
_RUN = re.compile(rf"[{_UNSPACED}]+|(?:(?![{_UNSPACED}])\w)+(?:[-_./@:#'’](?:(?![{_UNSPACED}])\w)+)*")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_HAN_ONLY = re.compile(rf"[{_HAN}]+")
_JOINT = re.compile(r"[-_./@:#'’]+")
_PIECE = re.compile(r"[^\W\d_]+|\d+")
_stemmer = Stemmer.Stemmer("english")

STOP_WORDS = frozenset(
    [
        "a",
        "about",
        "after",
        "all",
        "also",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "being",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "doing",
        "don",
        "down",
        "each",
        "else",
        "every",
        "few",
        "for",
        "from",
        "further",
        "get",
        "got",
        "had",
        "has",
        "have",
        "having",
        "he",
        "her",
        "here",
        "hers",
        "him",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "itself",
        "just",
        "ll",
        "me",
        "more",
        "most",
        "my",
        "no",
        "nor",
        "not",
        "now",
        "of",
        "off",
        "on",
        "once",
        "only",
        "or",
        "other",
        "our",
        "out",
        "over",
        "own",
        "re",
        "s",
        "same",
        "she",
        "should",
        "so",
        "some",
        "such",
        "t",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "to",
        "too",
        "under",
        "until",
        "up",
        "us",
        "ve",
        "very",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
        "yours",
    ]
)
STOP_CHARS = frozenset("的了是在我你他她它们吗呢啊吧呀嘛也就都和与及或而着过把被让给对从到这那有个很不没会能要去说上下里")


def terms(text: str) -> Counter[str]:
    """How often each term occurs in a text.

    English: stems without stop words. Identifiers such as E4471 or new_ranking: whole, and their parts. Chinese (and
    other scripts without spaces): jieba's words of two characters and more, and character bigrams. Lower case, NFKC.
    """
    counts: Counter[str] = Counter()
    for run in _RUN.findall(unicodedata.normalize("NFKC", text).lower()):
        if _IS_UNSPACED.match(run):
            counts.update(_unspaced(run))
        else:
            counts.update(_spaced(run))
    return counts


def _spaced(run: str) -> list[str]:
    parts = [p for p in _JOINT.split(run) if p]
    found = []
    for part in parts:
        if part in STOP_WORDS:
            continue
        pieces = _PIECE.findall(part)
        if len(pieces) > 1:
            found += [p for p in pieces if len(p) > 1 and p not in STOP_WORDS]
            found.append(part)
        elif len(part) > 1 or part.isdigit():
            found.append(_stemmer.stemWord(part) if part.isascii() and part.isalpha() else part)
    if len(parts) > 1 and len(found) > 1:
        found.append(run)
    return [f[:MAX_TERM_CHARS] for f in found]


def _unspaced(run: str) -> list[str]:
    if len(run) == 1:
        return [] if run in STOP_CHARS else [run]
    bigrams = [run[i : i + 2] for i in range(len(run) - 1)]
    bigrams = [b for b in bigrams if not (b[0] in STOP_CHARS and b[1] in STOP_CHARS)]
    words = [w for part in _HAN_ONLY.findall(run) for w in rjieba.cut_for_search(part) if len(w) > 1]
    return bigrams + words


def names(text: str) -> dict[str, float]:
    """The terms of a text that may name something, with how much each says: longer ones more, a character as two letters."""
    counts: dict[str, float] = {}
    for run in _RUN.findall(unicodedata.normalize("NFKC", text).lower()):
        if _IS_UNSPACED.match(run):
            found = [w for part in _HAN_ONLY.findall(run) for w in _han_names(rjieba.cut(part, False))]
            counts |= {word: 2.0 * len(word) for word in found if not STOP_CHARS.issuperset(word)}
        else:
            counts |= {term: float(len(term)) for term in _spaced(run) if len(term) > 2}
    return counts


def _han_names(cut: Sequence[str]) -> list[str]:
    """The words of two characters and more; what the dictionary does not know comes as single characters, two by two."""
    words = [w for w in cut if len(w) > 1]
    pairs = [a + b for a, b in pairwise(cut) if len(a) == len(b) == 1 and a not in STOP_CHARS and b not in STOP_CHARS]
    return words + pairs


def weight(term: str) -> float:
    """What one occurrence of a term counts for."""
    return HALF if _IS_UNSPACED.match(term) and len(term) > 1 else 1.0


def length(counts: Mapping[str, int]) -> float:
    """The length of a text in terms, as BM25 wants it."""
    return sum(weight(term) * count for term, count in counts.items())


def to_tsvector(counts: Mapping[str, int]) -> str:
    """Terms as the text form of a tsvector; a term's number of positions is its count."""
    return " ".join(f"{_quote(term)}:{','.join(map(str, range(1, min(count, MAX_COUNT) + 1)))}" for term, count in counts.items())


def to_tsquery(wanted: Mapping[str, float]) -> str:
    """Terms as the text form of a tsquery that matches any of them."""
    return " | ".join(_quote(term) for term in wanted)


def _quote(term: str) -> str:
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"
