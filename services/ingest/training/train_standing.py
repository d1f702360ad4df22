"""Train the heads that mark standing memories on standing.jsonl, and say how they do in cross-validation.

.venv/bin/python services/ingest/training/train_standing.py           write src/hindsight_ingest/standing.npz
.venv/bin/python services/ingest/training/train_standing.py --errors  print what cross-validation gets wrong instead

Equal input gives equal weights. It takes half a minute and needs numpy only.
"""

import argparse
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from hindsight_ingest.standing import WEIGHTS, plain, signs
from hindsight_runtime.heads import Matrix, count_grams, cross_validate, fit, kernel, pack, pair_signs

HERE = Path(__file__).parent
STATEMENTS = HERE / "standing.jsonl"
OUTPUT = HERE.parent / "src" / "hindsight_ingest" / WEIGHTS
WANTED_PRECISION = 0.95
# Prior variance of each kind of weight, found by cross-validation on standing.jsonl.
GRAMS_VARIANCE, PAIRS_VARIANCE = 15.0, 0.1
Blocks = Sequence[tuple[Matrix, float]]


def read_blocks(texts: Sequence[str]) -> Blocks:
    """What the heads read of statements, with the prior variances."""
    judged = [plain(text) for text in texts]
    return (count_grams(judged), GRAMS_VARIANCE), (pair_signs([signs(text) for text in judged]), PAIRS_VARIANCE)


def choose_threshold(scores: Matrix, wanted: Matrix) -> float:
    """The lowest threshold, in hundredths, from which on the wanted precision is kept."""
    missed = [h for h in range(50, 100) if precision(scores, wanted, h / 100) < WANTED_PRECISION]
    return (max(missed, default=49) + 1) / 100


def precision(scores: Matrix, wanted: Matrix, threshold: float) -> float:
    """Which part of what is marked is wanted."""
    marked = scores >= threshold
    return float((marked * wanted).sum() / max(1, marked.sum()))


def describe(name: str, scores: Matrix, wanted: Matrix, langs: Sequence[str], threshold: float) -> None:
    """Print precision and recall by language."""
    for lang in ("en", "zh", "all"):
        chosen = np.array([lang in ("all", of) for of in langs])
        marked = chosen & (scores >= threshold)
        exact = precision(scores[chosen], wanted[chosen], threshold)
        recall = (marked * wanted).sum() / (chosen * wanted).sum()
        print(f"{name:9} {lang:4} n={chosen.sum():5}  threshold {threshold:.2f}  precision {exact:.3f}  recall {recall:.3f}")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--errors", action="store_true")
    arguments = parser.parse_args()
    raw = STATEMENTS.read_bytes()
    rows = [json.loads(line) for line in raw.decode().splitlines()]
    standing = [row for row in rows if row["label"] != "none"]
    stored = {"training_sha256": np.array(hashlib.sha256(raw).hexdigest())}
    for name, chosen, labels in (("stands", rows, ("instruction", "preference")), ("instructs", standing, ("instruction",))):
        wanted = np.array([float(row["label"] in labels) for row in chosen])
        blocks = read_blocks([row["text"] for row in chosen])
        covariance = kernel(blocks)
        scores = cross_validate(covariance, wanted)
        threshold = choose_threshold(scores, wanted) if name == "stands" else 0.5
        describe(name, scores, wanted, [row["lang"] for row in chosen], threshold)
        if arguments.errors:
            print_errors(chosen, scores, wanted, threshold)
        stored |= pack(name, blocks, fit(covariance, wanted), threshold)
    if not arguments.errors:
        np.savez_compressed(OUTPUT, allow_pickle=False, **stored)
        print(f"{OUTPUT.name}: {OUTPUT.stat().st_size / 1024:.0f} KiB")


def print_errors(rows: Sequence[dict[str, str]], scores: Matrix, wanted: Matrix, threshold: float) -> None:
    """Print the statements judged wrongly, worst first."""
    wrong = [(s, w, r) for s, w, r in zip(scores, wanted, rows, strict=True) if (s >= threshold) != bool(w)]
    for score, _, row in sorted(wrong, key=lambda found: -abs(found[0] - found[1])):
        print(f"  {score:.2f} {row['label']:11} {row['text']}")


if __name__ == "__main__":
    main()
