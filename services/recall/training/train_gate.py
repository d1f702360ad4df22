"""Train the gate's weights on gate.jsonl, and say how they do in cross-validation.

.venv/bin/python services/recall/training/train_gate.py           write src/hindsight_recall/gate.npz
.venv/bin/python services/recall/training/train_gate.py --errors  print the turns that cross-validation gets wrong instead

Equal input gives equal weights. It takes a minute; the embeddings come from the packaged model.
"""

import argparse
import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hindsight_embedding.batching import Batcher
from hindsight_embedding.cache import EmbeddingCache
from hindsight_embedding.embedder import Embedder
from hindsight_embedding.model import Role
from hindsight_embedding.onnx_model import OnnxModel
from hindsight_embedding.packaged import provide_model
from hindsight_recall.gate import WEIGHTS, excerpt, signs
from hindsight_runtime.heads import Matrix, count_grams, cross_validate, fit, kernel, pack, pair_signs
from numpy.typing import NDArray

HERE = Path(__file__).parent
TURNS = HERE / "gate.jsonl"
OUTPUT = HERE.parent / "src" / "hindsight_recall" / WEIGHTS
MODELS = HERE.parents[2] / ".cache" / "models"
WANTED_RECALL = 0.965
# Prior variance of each kind of weight, found by cross-validation on gate.jsonl.
GRAMS_VARIANCE, PAIRS_VARIANCE, EMBEDDING_VARIANCE = 5.0, 0.1, 30.0


@dataclass(frozen=True, slots=True)
class Features:
    """What the model sees of every turn, and what is to be learned."""

    grams: Matrix
    pairs: Matrix  # a row is the outer product of the signs with themselves
    embeddings: Matrix
    wanted: Matrix  # 1: recall, 0: none
    langs: Sequence[str]


async def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """The packaged model's query embeddings."""
    async with Batcher(OnnxModel(provide_model(MODELS)), threads=1, queue_tokens=10**7) as batcher:
        return await Embedder(batcher, EmbeddingCache(1)).embed(texts, Role.QUERY)


def read_features(turns: Sequence[dict[str, object]]) -> Features:
    """The features of labelled turns."""
    texts = [excerpt(str(turn["text"])) for turn in turns]
    return Features(
        grams=count_grams(texts),
        pairs=pair_signs([signs(text) for text in texts]),
        embeddings=asyncio.run(embed(texts)).astype(np.float64),
        wanted=np.array([float(bool(turn["label"])) for turn in turns]),
        langs=[str(turn["lang"]) for turn in turns],
    )


def choose_threshold(scores: Matrix, features: Features) -> float:
    """The highest threshold, in hundredths, that keeps the wanted recall in each language."""
    kept = []
    for lang in sorted(set(features.langs)):
        chosen = np.array([lang == of for of in features.langs])
        kept.append(np.quantile(scores[chosen & (features.wanted > 0)], 1 - WANTED_RECALL))
    return float(np.floor(100 * min(kept)) / 100)


def describe(name: str, scores: Matrix, features: Features, threshold: float) -> None:
    """Print precision and recall by language."""
    is_open, wanted = scores >= threshold, features.wanted > 0
    for lang in ("en", "zh", "all"):
        chosen = np.array([lang in ("all", of) for of in features.langs])
        hits = int((is_open & wanted & chosen).sum())
        precision, recall = hits / max(1, (is_open & chosen).sum()), hits / (wanted & chosen).sum()
        print(f"{name:5} {lang:4} n={chosen.sum():5}  threshold {threshold:.2f}  precision {precision:.3f}  recall {recall:.3f}")


def blocks_of(features: Features) -> dict[str, list[tuple[Matrix, float]]]:
    """What each head reads, with the prior variances."""
    bare = [(features.grams, GRAMS_VARIANCE), (features.pairs, PAIRS_VARIANCE)]
    return {"full": [*bare, (features.embeddings, EMBEDDING_VARIANCE)], "bare": bare}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--errors", action="store_true")
    arguments = parser.parse_args()
    raw = TURNS.read_bytes()
    turns = [json.loads(line) for line in raw.decode().splitlines()]
    features = read_features(turns)
    stored: dict[str, NDArray[np.generic]] = {}
    for name, blocks in blocks_of(features).items():
        covariance = kernel(blocks)
        scores = cross_validate(covariance, features.wanted)
        threshold = choose_threshold(scores, features)
        describe(name, scores, features, threshold)
        if arguments.errors:
            print_errors(turns, scores, threshold)
        stored |= pack(name, blocks, fit(covariance, features.wanted), threshold)
    if not arguments.errors:
        model_id = np.array(OnnxModel(provide_model(MODELS)).identity.id)
        stored |= {"model_id": model_id, "training_sha256": np.array(hashlib.sha256(raw).hexdigest())}
        np.savez_compressed(OUTPUT, allow_pickle=False, **stored)
        print(f"{OUTPUT.name}: {OUTPUT.stat().st_size / 1024:.0f} KiB")


def print_errors(turns: Sequence[dict[str, object]], scores: Matrix, threshold: float) -> None:
    """Print the turns judged wrongly, worst first."""
    wrong = [(s, t) for s, t in zip(scores, turns, strict=True) if (s >= threshold) != t["label"]]
    for score, turn in sorted(wrong, key=lambda pair: -abs(pair[0] - float(bool(pair[1]["label"])))):
        print(f"  {score:.2f} {'recall' if turn['label'] else 'none':6} {turn['text']}")


if __name__ == "__main__":
    main()
