"""The gate: does answering a user's turn well need something from earlier sessions? A small linear model, no LLM."""

import re
import unicodedata
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hindsight_recall.gate_rules import AGAINST, FOR, find_rules

BUCKETS = 2**14
GRAMS = (2, 3, 4)
HEAD_CHARS, TAIL_CHARS = 600, 200  # of a long turn: what is wanted stands at its beginning or its end
WEIGHTS = "gate.npz"
WORD = re.compile(r"[a-z0-9']+|[\u3400-\u9fff]")
HAN = re.compile(r"[\u3400-\u9fff]")
CONSTANT = 2**0.5  # beside the signs, so that their pairs hold each sign alone and the bias as well
Row = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether to recall, how sure, and which rules point that way."""

    should_recall: bool
    score: float  # 0 to 1, the model's probability
    threshold: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """Weights of one linear model."""

    grams: Row  # float32[BUCKETS]
    pairs: Row  # float32[signs, signs]: what two signs together count for
    embedding: Row  # float32[dimension]; empty: the head that works without the embedder
    threshold: float

    def score(self, text: str, embedding: Row | None) -> float:
        """The probability that a turn needs recall."""
        places, value = grams(text)
        found = signs(text)
        logit = float(value * self.grams[places].sum() + found @ self.pairs @ found)
        if embedding is not None and self.embedding.size:
            logit += float(embedding @ self.embedding)
        return float(1 / (1 + np.exp(-logit)))


@dataclass(frozen=True, slots=True)
class Gate:
    """Judges turns. Its weights are made by training/train_gate.py."""

    full: Head
    bare: Head
    model_id: str  # whose embeddings the full head reads
    training_sha256: str

    def judge(self, text: str, embedding: Row | None) -> Verdict:
        """The verdict on a turn; without an embedding the bare head gives it."""
        head = self.bare if embedding is None else self.full
        turn = excerpt(text)
        score = head.score(turn, embedding)
        is_open = score >= head.threshold
        fired = find_rules(turn)
        reasons = tuple(name for name in (FOR if is_open else AGAINST) if fired[name])
        return Verdict(is_open, score, head.threshold, reasons or ("model",))


def excerpt(text: str) -> str:
    """What of a turn is judged and embedded: all of it, or both its ends."""
    text = unicodedata.normalize("NFKC", text).strip()
    return text if len(text) <= HEAD_CHARS + TAIL_CHARS else f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"


def grams(text: str) -> tuple[NDArray[np.int64], float]:
    """The buckets of a text's character n-grams, words and pairs of words, and the value each has: their norm is 1."""
    plain = " ".join(text.lower().split())
    padded = f"^{plain}$"
    found = {padded[i : i + n] for n in GRAMS for i in range(len(padded) - n + 1)}
    words = ["^", *WORD.findall(plain), "$"]
    found |= {f"w:{word}" for word in words} | {f"p:{left} {right}" for left, right in pairwise(words)}
    places = np.array(sorted({zlib.crc32(gram.encode()) % BUCKETS for gram in found}), np.int64)
    return places, 1 / float(np.sqrt(len(places)))


def signs(text: str) -> Row:
    """A constant, the shape of a text, and which rules fire."""
    words = WORD.findall(text.lower())
    shape = (
        CONSTANT,
        float("?" in text or text.endswith(("吗", "呢", "没", "么", "来着"))),
        float(HAN.search(text) is not None),
        float(np.log1p(len(words)) / 4),
        float(len(words) < 2),
        float(min(text.count("\n"), 5) / 5),
        float(any(c.isdigit() for c in text)),
    )
    return np.array([*shape, *find_rules(text).values()], np.float32)


def load_gate() -> Gate:
    """The gate with the packaged weights."""
    with (files("hindsight_recall") / WEIGHTS).open("rb") as file, np.load(file, allow_pickle=False) as stored:
        return read_gate(dict(stored))


def read_gate(stored: Mapping[str, NDArray[np.generic]]) -> Gate:
    """A gate of the arrays that training stores."""
    full, bare = (
        Head(
            grams=stored[f"{name}_grams"].astype(np.float32),
            pairs=stored[f"{name}_pairs"].astype(np.float32),
            embedding=stored[f"{name}_embedding"].astype(np.float32),
            threshold=float(stored[f"{name}_threshold"]),
        )
        for name in ("full", "bare")
    )
    return Gate(full, bare, str(stored["model_id"]), str(stored["training_sha256"]))
