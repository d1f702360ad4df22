"""Which memories stand: instructions to the agent and preferences that hold whatever is being asked. No LLM."""

import unicodedata
from dataclasses import dataclass
from functools import cache

import numpy as np
from hindsight_language.conflicts import ACCOUNTS
from hindsight_runtime.heads import CONSTANT, HAN, WORD, Head, Row, Stored, load_weights, read_head

from hindsight_ingest.constraints import find_constraint, is_of_kin
from hindsight_ingest.one_time import is_one_time
from hindsight_ingest.standing_rules import find_rules, is_sure

MAX_CHARS = 400  # longer texts tell of something; an instruction is short
MAX_LINES = 2  # more of them are a talk or a list, not one statement
WEIGHTS = "standing.npz"


@dataclass(frozen=True, slots=True)
class Heads:
    """What tells statements apart. The weights are made by training/train_standing.py."""

    stands: Head  # instruction or preference, among all statements
    instructs: Head  # instruction, among those that stand
    training_sha256: str


def mark(kind: str, value: str) -> str:
    """ "instruction", "preference" or "": what of a memory holds whatever is being asked."""
    text = plain(value)
    if not text or len(text) > MAX_CHARS or text.count("\n") >= MAX_LINES:
        return "preference" if kind == "preference" else ""
    binding = find_constraint(text)
    if kind != "preference" and (kind in ACCOUNTS or (not binding and (is_one_time(text) or is_of_kin(text)))):
        return ""
    if binding.startswith(("health", "diet")):
        return "preference"
    heads, found = load_heads(), signs(text)
    is_standing = kind == "preference" or binding or is_sure(text) or heads.stands.score(text, found) >= heads.stands.threshold
    if not is_standing:
        return ""
    return "instruction" if heads.instructs.score(text, found) >= heads.instructs.threshold else "preference"


def plain(value: str) -> str:
    """What of a value is judged: the beginning, enough to tell that it is too long; of its forms the plain ones."""
    return unicodedata.normalize("NFKC", value.strip()[: MAX_CHARS + 1])


def signs(text: str) -> Row:
    """A constant, the shape of a text, and which rules fire."""
    shape = (
        CONSTANT,
        float(HAN.search(text) is not None),
        float(np.log1p(len(WORD.findall(text.lower()))) / 4),
    )
    return np.array([*shape, *find_rules(text).values()], np.float32)


@cache
def load_heads() -> Heads:
    """The packaged weights, read once."""
    return read_heads(load_weights("hindsight_ingest", WEIGHTS))


def read_heads(stored: Stored) -> Heads:
    """The heads of the arrays that training stores."""
    return Heads(read_head(stored, "stands"), read_head(stored, "instructs"), str(stored["training_sha256"]))
