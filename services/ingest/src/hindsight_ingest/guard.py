"""The guard on writing: which texts give orders instead of telling something, and wait for a person. No LLM."""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from hindsight_language.disguise import Reading, unmask
from hindsight_runtime.heads import CONSTANT, HAN, Head, Row, Stored, load_weights, read_head
from hindsight_runtime.identity import Principal
from hindsight_store.records import Memory

from hindsight_ingest import guard_rules
from hindsight_ingest.candidate import Candidate
from hindsight_ingest.speech import split_sentences

WEIGHTS = "guard.npz"
PASSAGE_CHARS = 600  # a longer text is judged in parts, so that an order cannot hide among ordinary talk
SIGNS = (*guard_rules.SIGNS, *sorted(guard_rules.DISGUISES))
Language = Literal["en", "zh"]
INSTRUCTION, DISGUISED = "instruction_not_allowed", "disguised_text"
INSTRUCT = "instruct"  # the right to let an instruction of the user's in


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the guard decided of a candidate, and why: a reason, and the signs that spoke for it. Holds no text."""

    status: str = "active"  # or pending_review
    reason: str = ""
    signs: tuple[str, ...] = ()
    score: float = 0.0


ADMITTED = Verdict()


@dataclass(frozen=True, slots=True)
class Heads:
    """One head that reads a text's embedding too and one that does without, each with a threshold for a language. The weights
    are made by training/train_guard.py."""

    full: Head
    bare: Head
    thresholds: Mapping[tuple[str, str], float]  # (sort, language)
    model_id: str  # whose embeddings the full head reads
    training_sha256: str


@dataclass(frozen=True, slots=True)
class Judged:
    """How much one passage looks like an order to the agent, from 0 to 1, against the line that is drawn."""

    score: float
    threshold: float
    signs: tuple[str, ...]
    is_disguised: bool


@cache
def load_heads() -> Heads:
    """The packaged weights, read once."""
    return read_heads(load_weights("hindsight_ingest", WEIGHTS))


def read_heads(stored: Stored) -> Heads:
    """The heads of the arrays that training stores."""
    thresholds = {(s, lang): float(stored[f"{s}_{lang}"]) for s in ("full", "bare") for lang in ("en", "zh")}
    return Heads(
        read_head(stored, "full"), read_head(stored, "bare"), thresholds, str(stored["model_id"]), str(stored["training_sha256"])
    )


class TextGuard:
    """Judges by what a text says, whoever it says it is from. Embeddings of another model than it was trained with tell it
    nothing."""

    def __init__(self, model_id: str = "") -> None:
        self._heads = load_heads()
        self._reads_embeddings = model_id == self._heads.model_id

    def admit(self, candidate: Candidate | Memory, principal: Principal, embedding: Row | None = None) -> Verdict:
        """Admit or quarantine; never raises. An instruction of the user's comes in by a key with the right to instruct."""
        if isinstance(candidate, Candidate) and candidate.is_instruction:
            return Verdict("pending_review", INSTRUCTION, ("instruction",), 1.0)
        texts = (candidate.value, candidate.trigger, candidate.key)
        # Tags and fields are words rather than sentences, of which the heads know nothing.
        worst = self.judge(texts, embedding) or self.judge_by_rules((*candidate.tags, *_strings(candidate.metadata)))
        if worst is None:
            return Verdict()
        may_instruct = INSTRUCT in principal.rights and candidate.source == "user"
        if may_instruct and not worst.is_disguised:
            return Verdict(signs=worst.signs, score=worst.score)
        reason = DISGUISED if worst.is_disguised else INSTRUCTION
        return Verdict("pending_review", reason, worst.signs, round(worst.score, 3))

    def judge(self, texts: Iterable[str], embedding: Row | None = None) -> Judged | None:
        """The passage of some texts that looks most like an order, if one is over the line. The embedding is of the first."""
        found: dict[str, Judged] = {}
        for number, text in enumerate(texts):
            passages = dict.fromkeys(split_passages(text))
            own = embedding if number == 0 and len(passages) == 1 else None
            found |= {passage: self._judge(passage, own, len(passages)) for passage in passages if passage not in found}
        over = [one for one in found.values() if one.score >= one.threshold]
        return max(over, key=lambda one: one.score - one.threshold, default=None)

    def judge_by_rules(self, texts: Iterable[str]) -> Judged | None:
        """The first passage of some texts that is an order beyond doubt, if there is one."""
        for passage in dict.fromkeys(passage for text in texts for passage in split_passages(text)):
            reading = unmask(passage)
            if not reading.disguises and not guard_rules.may_be_sure(reading.plain):
                continue
            if guard_rules.is_sure(signs := find_signs(reading)):
                return Judged(1.0, 1.0, tuple(sorted(signs)), bool(reading.disguises))
        return None

    def _judge(self, passage: str, embedding: Row | None, among: int = 1) -> Judged:
        """One of so many passages of a text; of many, each must be the surer, or long texts would be held back by chance."""
        reading = unmask(passage)
        embedding = embedding if self._reads_embeddings else None
        sort, head = ("bare", self._heads.bare) if embedding is None else ("full", self._heads.full)
        spoken = " ".join((reading.plain, *reading.decoded))
        threshold = 1 - (1 - self._heads.thresholds[sort, language_of(spoken)]) / among
        signs = find_signs(reading)
        score = 1.0 if guard_rules.is_sure(signs) else head.score(spoken, sign_row(signs), embedding)
        return Judged(score, threshold, tuple(sorted(signs)), bool(reading.disguises))


def split_passages(text: str) -> Iterator[str]:
    """The parts of a text that are judged each by itself, at most 600 characters, in order."""
    if len(text) <= PASSAGE_CHARS:
        if text.strip():
            yield text
        return
    part = ""
    for sentence in split_sentences(text):
        for start in range(0, len(sentence), PASSAGE_CHARS):
            piece = sentence[start : start + PASSAGE_CHARS]
            if part and len(part) + len(piece) >= PASSAGE_CHARS:
                yield part
                part = ""
            part = f"{part} {piece}".strip()
    if part:
        yield part


def find_signs(reading: Reading) -> Set[str]:
    """The names of the signs that a text shows, its disguises among them."""
    found = guard_rules.find_signs(" ".join((reading.plain, *reading.decoded)))
    return {name for name, is_there in found.items() if is_there} | reading.disguises


def sign_row(signs: Set[str]) -> Row:
    """float32[signs]: signs as the heads read them."""
    return np.array([CONSTANT, *(float(name in signs) for name in SIGNS)], np.float32)


def language_of(text: str) -> Language:
    """Whose threshold a text is held to."""
    return "zh" if HAN.search(text) else "en"


def _strings(value: Any) -> Iterator[str]:
    """Every text inside a JSON value, names of fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name)
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)
