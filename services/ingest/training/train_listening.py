"""Train the heads that listen, on the sentences beside this file and the labelled sets of bench, and say how they do.

.venv/bin/python services/ingest/training/train_listening.py           write src/hindsight_ingest/listening.npz
.venv/bin/python services/ingest/training/train_listening.py --errors  print what cross-validation gets wrong as well

Equal input gives equal weights. It takes ten minutes; the embeddings come from the packaged model.
"""

import argparse
import asyncio
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import rjieba
from hindsight_embedding.batching import Batcher
from hindsight_embedding.cache import EmbeddingCache
from hindsight_embedding.embedder import Embedder
from hindsight_embedding.model import Role
from hindsight_embedding.onnx_model import OnnxModel
from hindsight_embedding.packaged import provide_model
from hindsight_ingest.listening import PASSAGE_CHARS, TRIGGERS, WEIGHTS, read_passage
from hindsight_ingest.listening_rules import find_sure, is_ruled_out
from hindsight_runtime.heads import HAN, Matrix, Row, Stored, count_grams, fit, kernel, pack, pair_signs
from hindsight_store.turns import Turn

HERE = Path(__file__).parent
MODELS = HERE.parents[2] / ".cache" / "models"
SENTENCES = [HERE / "listening.jsonl", HERE / "turns.jsonl", HERE / "turns_more.jsonl"]
SETS = [HERE.parents[2] / "bench" / "sets" / f"triggers_{lang}.jsonl" for lang in ("en", "zh")]
OUTPUT = HERE.parent / "src" / "hindsight_ingest" / WEIGHTS
FOLDS = 3
SORTS = ("full", "bare")
COMMON_LINES = 2  # a word of so many texts is no name
# Prior variance of each kind of weight, and the precision the threshold aims at, found by cross-validation.
GRAMS_VARIANCE, PAIRS_VARIANCE, EMBEDDING_VARIANCE = 10.0, 0.3, 60.0
WANTED_PRECISION = 0.93
# The labelled sets hold few conversations that go on, in which much that answers the agent looks like a correction.
LEAST_THRESHOLD = {"correction": 0.9}
EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
Blocks = Sequence[tuple[Matrix, float]]


@dataclass(frozen=True, slots=True)
class Heard:
    """A user's turn as the heads read it, with what it holds."""

    case: str  # turns of one case stand on the same side of a fold
    lang: str
    plain: str
    signs: Row
    kinds: frozenset[str]
    ruled_out: frozenset[str]  # triggers that rules forbid, or an entity without a name
    is_ruled: bool  # whether a rule forbids an entity
    sure: frozenset[str]  # triggers for which a rule is enough
    is_measured: bool  # of a labelled set


def say(number: int, role: str, text: str, result: str = "") -> Turn:
    """A turn of no session."""
    return Turn("", number, "", role, text, "", {}, result, False, (), "", EPOCH, EPOCH)


def to_turns(case: Any) -> list[Turn]:
    """The turns of a case of a labelled set."""
    return [say(n, t["role"], t.get("content", ""), str(t.get("result", ""))) for n, t in enumerate(case["turns"])]


def hear(case: str, lang: str, turn: Turn, before: Turn | None, kinds: Iterable[str], is_measured: bool) -> Heard:
    """A turn as the heads read it."""
    passage = read_passage(turn.content[:PASSAGE_CHARS], before)
    is_ruled = is_ruled_out("entity", passage.plain, passage.rules)
    out = {
        name for name in TRIGGERS if is_ruled_out(name, passage.plain, passage.rules) or (name == "entity" and not passage.names)
    }
    sure = {name for name in TRIGGERS if name not in out and find_sure(name, passage.plain)}
    return Heard(
        case, lang, passage.plain, passage.signs, frozenset(kinds), frozenset(out), is_ruled, frozenset(sure), is_measured
    )


def read_sentences() -> list[Heard]:
    """The sentences written for training."""
    rows = [json.loads(line) for path in SENTENCES for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        hear(
            "",
            row["lang"],
            say(1, "user", row["text"]),
            say(0, "assistant", row["before"]) if row.get("before") else None,
            row["kinds"],
            False,
        )
        for row in rows
        if row.get("role", "user") == "user"
    ]


def read_cases(cases: Iterable[Any]) -> list[Heard]:
    """The user's turns of cases of the labelled sets."""
    heard = []
    for case in cases:
        turns = to_turns(case)
        for turn in (t for t in turns if t.role == "user"):
            kinds = [label["kind"] for label in case["labels"] if label["turn"] == turn.turn]
            before = turns[turn.turn - 1] if turn.turn else None
            heard.append(hear(case["id"], case["lang"], turn, before, kinds, True))
    return heard


def load_cases() -> list[Any]:
    """The cases of the labelled sets."""
    return [json.loads(line) for path in SETS for line in path.read_text(encoding="utf-8").splitlines()]


def find_fold(case: str) -> int:
    """The fold in which a case is held out; -1: none."""
    return int(hashlib.sha256(case.encode()).hexdigest(), 16) % FOLDS if case else -1


def embed(heard: Sequence[Heard]) -> Matrix:
    """The packaged model's embeddings of the turns."""

    async def ask() -> Matrix:
        async with Batcher(OnnxModel(provide_model(MODELS)), threads=2, queue_tokens=10**7) as batcher:
            return await Embedder(batcher, EmbeddingCache(1)).embed([one.plain for one in heard], Role.QUERY)

    return asyncio.run(ask()).astype(np.float64)


def read_blocks(heard: Sequence[Heard], embeddings: Matrix) -> Mapping[str, Blocks]:
    """What each sort of head reads, with the prior variances."""
    grams = count_grams([one.plain for one in heard]).astype(np.float32)
    pairs = pair_signs([one.signs for one in heard]).astype(np.float32)
    bare = [(grams, GRAMS_VARIANCE), (pairs, PAIRS_VARIANCE)]
    return {"full": [*bare, (embeddings.astype(np.float32), EMBEDDING_VARIANCE)], "bare": bare}


def find_common(heard: Sequence[Heard]) -> list[str]:
    """Words of several texts."""
    lines: Counter[str] = Counter()
    for one in heard:
        words = rjieba.cut(one.plain) if HAN.search(one.plain) else re.findall(r"[^\W\d_][\w'’-]+", one.plain)
        lines.update({word.lower() for word in words})
    return sorted(word for word, count in lines.items() if count >= COMMON_LINES)


def mark(heard: Sequence[Heard], trigger: str) -> Matrix:
    """1 for each turn that holds what a head is to find."""
    return np.array([trigger in one.kinds for one in heard], np.float32)


def cross_validate(heard: Sequence[Heard], covariance: Matrix, trigger: str, sort: str) -> Matrix:
    """The score of each turn of a labelled set, by a head that has not seen its case; of the others 0."""
    wanted, folds = mark(heard, trigger), np.array([find_fold(one.case) for one in heard])
    scores = np.zeros(len(heard))
    for fold in range(FOLDS):
        seen, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        dual = fit(covariance[np.ix_(seen, seen)], wanted[seen])
        scores[held] = 1 / (1 + np.exp(-covariance[np.ix_(held, seen)] @ dual))
    scores = np.where([trigger in one.sure for one in heard], 1.0, scores)
    return scores * np.array([trigger not in forbidden(one, sort) for one in heard])


def forbidden(one: Heard, sort: str) -> frozenset[str]:
    """The triggers a head may not find; with an embedding, entities may be without a name that rules find."""
    return one.ruled_out - ({"entity"} if sort == "full" and not one.is_ruled else set())


def choose_threshold(scores: Matrix, wanted: Matrix) -> float:
    """The lowest threshold, in hundredths, from which on the wanted precision is kept."""
    missed = [h for h in range(30, 95) if precision(scores, wanted, h / 100) < WANTED_PRECISION]
    return (max(missed, default=29) + 1) / 100


def precision(scores: Matrix, wanted: Matrix, threshold: float) -> float:
    """Which part of what is found is wanted."""
    found = scores >= threshold
    return float((found * wanted).sum() / max(1, found.sum()))


def train(heard: Sequence[Heard], embeddings: Matrix, *, prints_errors: bool) -> Stored:
    """The arrays of the heads, as listening.read_heads reads them; prints how they do."""
    stored: dict[str, Any] = {
        "training_sha256": np.array(hash_training()),
        "model_id": np.array(OnnxModel(provide_model(MODELS)).identity.id),
        "common": np.array(find_common(heard)),
    }
    measured = np.array([one.is_measured for one in heard])
    for sort, blocks in read_blocks(heard, embeddings).items():
        covariance = kernel(blocks)
        for trigger in TRIGGERS:
            wanted, scores = mark(heard, trigger), cross_validate(heard, covariance, trigger, sort)
            threshold = max(choose_threshold(scores[measured], wanted[measured]), LEAST_THRESHOLD.get(trigger, 0.0))
            describe(f"{trigger} {sort}", heard, scores, threshold)
            if prints_errors:
                print_errors(heard, scores, trigger, threshold)
            stored |= pack(f"{trigger}_{sort}", blocks, fit(covariance, wanted), threshold)
    return stored


def hash_training() -> str:
    """The SHA-256 of all that the heads are trained on."""
    digest = hashlib.sha256()
    for path in (*SENTENCES, *SETS):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--errors", action="store_true")
    arguments = parser.parse_args()
    heard = read_sentences() + read_cases(load_cases())
    stored = train(heard, embed(heard), prints_errors=arguments.errors)
    np.savez_compressed(OUTPUT, allow_pickle=False, **stored)
    print(f"{OUTPUT.name}: {OUTPUT.stat().st_size / 1024:.0f} KiB")


def describe(trigger: str, heard: Sequence[Heard], scores: Matrix, threshold: float) -> None:
    """Print precision and recall by language, on the labelled sets."""
    for lang in ("en", "zh"):
        chosen = np.array([one.is_measured and one.lang == lang for one in heard])
        wanted = mark(heard, trigger.split()[0])[chosen]
        found = scores[chosen] >= threshold
        exact, recall = precision(scores[chosen], wanted, threshold), (found * wanted).sum() / wanted.sum()
        print(f"{trigger:16} {lang}  threshold {threshold:.2f}  precision {exact:.3f}  recall {recall:.3f}")


def print_errors(heard: Sequence[Heard], scores: Matrix, trigger: str, threshold: float) -> None:
    """Print the turns judged wrongly, worst first."""
    wrong = [
        (score, wanted, one)
        for score, wanted, one in zip(scores, mark(heard, trigger), heard, strict=True)
        if one.is_measured and (score >= threshold) != bool(wanted)
    ]
    for score, wanted, one in sorted(wrong, key=lambda found: -abs(found[0] - found[1])):
        print(f"  {score:.2f} {'missed' if wanted else 'wrong '} {one.case} {one.plain[:100]}")


if __name__ == "__main__":
    main()
