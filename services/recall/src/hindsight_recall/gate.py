"""The gate: does answering a user's turn well need something from earlier sessions? A small linear model, no LLM."""

import unicodedata
from dataclasses import dataclass

import numpy as np
from hindsight_runtime.heads import CONSTANT, HAN, WORD, Head, Row, Stored, load_weights, read_head

from hindsight_recall.gate_rules import AGAINST, FOR, find_rules

HEAD_CHARS, TAIL_CHARS = 600, 200  # of a long turn: what is wanted stands at its beginning or its end
WEIGHTS = "gate.npz"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether to recall, how sure, and which rules point that way."""

    should_recall: bool
    score: float  # 0 to 1, the model's probability
    threshold: float
    reasons: tuple[str, ...]


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
        score = head.score(turn, signs(turn), embedding)
        is_open = score >= head.threshold
        fired = find_rules(turn)
        reasons = tuple(name for name in (FOR if is_open else AGAINST) if fired[name])
        return Verdict(is_open, score, head.threshold, reasons or ("model",))


def excerpt(text: str) -> str:
    """What of a turn is judged and embedded: all of it, or both its ends."""
    text = unicodedata.normalize("NFKC", text).strip()
    return text if len(text) <= HEAD_CHARS + TAIL_CHARS else f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"


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
    return read_gate(load_weights("hindsight_recall", WEIGHTS))


def read_gate(stored: Stored) -> Gate:
    """A gate of the arrays that training stores."""
    full, bare = read_head(stored, "full"), read_head(stored, "bare")
    return Gate(full, bare, str(stored["model_id"]), str(stored["training_sha256"]))
