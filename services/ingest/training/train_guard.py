"""Train the guard's heads, and say how they do by nested cross-validation.

.venv/bin/python services/ingest/training/train_guard.py            write src/hindsight_ingest/guard.npz
.venv/bin/python services/ingest/training/train_guard.py --errors   print what cross-validation gets wrong as well

guard_dev.jsonl gathers public attacks and ordinary lines (sources and licences in README.md beside it); the sets of bench were
written for this project without sight of the rules. Equal input gives equal weights. It takes a few minutes; the embeddings come
from the packaged model.
"""

import argparse
import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from hindsight_embedding.batching import Batcher
from hindsight_embedding.cache import EmbeddingCache
from hindsight_embedding.embedder import Embedder
from hindsight_embedding.model import Role
from hindsight_embedding.onnx_model import OnnxModel
from hindsight_embedding.packaged import provide_model
from hindsight_ingest.guard import WEIGHTS, find_signs, language_of, sign_row
from hindsight_ingest.guard_rules import is_sure
from hindsight_language.disguise import unmask
from hindsight_runtime.heads import Matrix, Row, count_grams, fit, kernel, pack, pair_signs
from numpy.typing import NDArray

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
MODELS = ROOT / ".cache" / "models"
DEV = HERE / "guard_dev.jsonl"
MORE = HERE / "guard_more.jsonl"  # written like the sets, by another hand
# Ordinary memories and turns, of which every so many are read.
OWN = {HERE / "standing.jsonl": 8, HERE / "experiences.jsonl": 2, HERE / "turns.jsonl": 5, HERE / "turns_more.jsonl": 4}
PLAIN = frozenset({"fact", "chat", "tool_output", "encoded", "state", "authority_fact", "money_fact", "memory_statement"})
SETS = [ROOT / "bench" / "sets" / f"guard_{lang}.jsonl" for lang in ("en", "zh")]
OUTPUT = HERE.parent / "src" / "hindsight_ingest" / WEIGHTS
OUTER, INNER = 5, 3
# Prior variance of each kind of weight, found by cross-validation on the first half of the lines.
GRAMS_VARIANCE, PAIRS_VARIANCE, EMBEDDING_VARIANCE = 20.0, 0.3, 60.0
MOST_FALSE = {"plain": 0.006, "imperative": 0.012}  # of benign lines inside training, a little below what is promised
Places = NDArray[np.int64]
Z = 1.96  # of a 95 % interval


@dataclass(frozen=True, slots=True)
class Line:
    """A line with what the heads read of it."""

    text: str
    plain: str
    signs: Row
    is_attack: bool
    lang: str  # whose threshold it is held to
    group: str  # under which it is reported
    is_sure: bool  # by rules alone

    @property
    def is_dev(self) -> bool:
        """Whether it is of the public half."""
        return self.group.startswith("dev")


def read_line(row: Mapping[str, Any], origin: str) -> Line:
    """A line of a file."""
    reading = unmask(row["text"])
    plain = " ".join((reading.plain, *reading.decoded))
    lang = language_of(plain)
    spoken = row.get("lang") or lang
    source = row.get("source", "")
    sort = "attack" if row["label"] == "attack" else "benign"
    if sort == "benign":
        is_chat = source in ("memorybank-cn", "cyberseceval-frr") or row["kind"] in PLAIN
        sort = "benign plain" if is_chat else "benign imperative"
    elif source.startswith("cyberseceval"):
        sort = "attack cyberseceval"
    signs = find_signs(reading)
    group = f"{origin} {sort} {spoken}"
    return Line(row["text"], plain, sign_row(signs), row["label"] == "attack", lang, group, is_sure(signs))


def read_lines() -> list[Line]:
    """Every line there is, each text once."""
    found: dict[str, Line] = {}
    for path, origin in ((DEV, "dev"), *((path, "sets") for path in SETS), (MORE, "more")):
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            found.setdefault(row["text"], read_line({**row, "lang": None} if origin == "more" else row, origin))
    for path, step in OWN.items():
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()[::step]):
            kind = "chat" if row.get("label", "none") == "none" else row["label"]
            found.setdefault(row["text"], read_line({"text": row["text"], "label": "benign", "kind": kind}, "own"))
    return list(found.values())


def embed(lines: Sequence[Line]) -> Matrix:
    """The packaged model's embeddings of the texts as they are written."""

    async def ask() -> Matrix:
        async with Batcher(OnnxModel(provide_model(MODELS)), threads=2, queue_tokens=10**7) as batcher:
            return await Embedder(batcher, EmbeddingCache(1)).embed([one.text for one in lines], Role.PASSAGE)

    return asyncio.run(ask()).astype(np.float64)


def choose_thresholds(lines: Sequence[Line], scores: Matrix) -> dict[str, float]:
    """For each language the lowest line that few benign texts of either sort are over."""
    chosen = {}
    for lang in ("en", "zh"):
        lowest = [0.05]
        for sort, most in MOST_FALSE.items():
            mine = [s for one, s in zip(lines, scores, strict=True) if one.lang == lang and f"benign {sort}" in one.group]
            lowest.append(float(sorted(mine, reverse=True)[int(most * len(mine))]) + 1e-6)
        chosen[lang] = max(lowest)
    return chosen


def predict(covariance: Matrix, wanted: Matrix, seen: Places, held: Places) -> Matrix:
    """The scores of held-out lines by a head fitted to the others."""
    dual = fit(covariance[np.ix_(seen, seen)], wanted[seen])
    return 1 / (1 + np.exp(-covariance[np.ix_(held, seen)] @ dual))


def cross_validate(covariance: Matrix, wanted: Matrix, folds: Sequence[int], within: Places) -> Matrix:
    """The score of each line of `within`, by a head that has not seen it."""
    scores = np.zeros(len(wanted))
    fold = np.asarray(folds)
    for number in set(fold[within].tolist()):
        held, seen = within[fold[within] == number], within[fold[within] != number]
        scores[held] = predict(covariance, wanted, seen, held)
    return scores


def deal(lines: Sequence[Line], salt: str, count: int) -> list[int]:
    """A fold for each line, by its text, so that it never changes."""
    return [int(hashlib.sha256((salt + one.text).encode()).hexdigest(), 16) % count for one in lines]


def nested(lines: Sequence[Line], covariance: Matrix, wanted: Matrix) -> Matrix:
    """For each line whether it is held back, by a head and a threshold that have not seen it."""
    outer, inner = deal(lines, "outer", OUTER), deal(lines, "inner", INNER)
    over = np.zeros(len(lines))
    for number in range(OUTER):
        seen = np.flatnonzero(np.asarray(outer) != number)
        held = np.flatnonzero(np.asarray(outer) == number)
        within = cross_validate(covariance, wanted, inner, seen)
        thresholds = choose_thresholds([lines[i] for i in seen.tolist()], within[seen])
        scores = predict(covariance, wanted, seen, held)
        over[held] = [
            lines[i].is_sure or score >= thresholds[lines[i].lang] for i, score in zip(held.tolist(), scores, strict=True)
        ]
    return over


def interval(hits: int, of: int) -> str:
    """A share with its 95 % interval (Wilson 1927), in per cent."""
    p, n = hits / of, of
    middle, half = (p + Z * Z / (2 * n)) / (1 + Z * Z / n), Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
    return f"{100 * p:5.1f} % [{100 * max(0, middle - half):.1f}, {100 * min(1, middle + half):.1f}]  {hits}/{of}"


def report(title: str, lines: Sequence[Line], over: Matrix) -> None:
    """Print which share of each group is held back."""
    print(f"\n{title}")
    for group in sorted({one.group for one in lines}):
        found = [bool(o) for one, o in zip(lines, over, strict=True) if one.group == group]
        print(f"  {group:32} {interval(sum(found), len(found))}")


def hash_training() -> str:
    """SHA-256 of everything that is trained on."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in (DEV, *SETS, MORE, *OWN))).hexdigest()


def main() -> None:
    """Command line: see the module."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--dry", action="store_true", help="write nothing")
    chosen = parser.parse_args()
    lines = read_lines()
    wanted = np.array([one.is_attack for one in lines], np.float64)
    grams, pairs = count_grams([one.plain for one in lines]), pair_signs([one.signs for one in lines])
    bare = [(grams, GRAMS_VARIANCE), (pairs, PAIRS_VARIANCE)]
    sorts = {"bare": bare, "full": [*bare, (embed(lines), EMBEDDING_VARIANCE)]}
    model_id = OnnxModel(provide_model(MODELS)).identity.id
    stored: dict[str, Any] = {"training_sha256": np.array(hash_training()), "model_id": np.array(model_id)}
    dev = np.flatnonzero([one.is_dev for one in lines])
    for sort, blocks in sorts.items():
        covariance = kernel(blocks)
        of_dev = [lines[i] for i in dev]
        report(f"{sort}, trained on guard_dev alone", of_dev, nested(of_dev, covariance[np.ix_(dev, dev)], wanted[dev]))
        over = nested(lines, covariance, wanted)
        report(f"{sort}, trained on all lines", lines, over)
        if chosen.errors:
            for one, o in zip(lines, over, strict=True):
                if bool(o) != one.is_attack:
                    print(f"    {one.group}: {one.text[:160]!r}")
        everything = np.arange(len(lines))
        thresholds = choose_thresholds(lines, cross_validate(covariance, wanted, deal(lines, "inner", INNER), everything))
        stored |= pack(sort, blocks, fit(covariance, wanted), min(thresholds.values()))
        stored |= {f"{sort}_{lang}": np.array(value) for lang, value in thresholds.items()}
        print(f"  thresholds {thresholds}")
    if not chosen.dry:
        np.savez_compressed(OUTPUT, **stored)


if __name__ == "__main__":
    main()
