"""Small linear heads over a text's n-grams, named signs and embedding: their features, how they score and are fitted."""

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

BUCKETS = 2**14
GRAMS = (2, 3, 4)
WORD = re.compile(r"[a-z0-9']+|[\u3400-\u9fff]")
HAN = re.compile(r"[\u3400-\u9fff]")
CONSTANT = 2**0.5  # beside the signs, so that their pairs hold each sign alone and the bias as well
FOLDS = 10
STEPS = 30
MOST_GRADIENTS, TOLERANCE = 300, 1e-9
CONVERGED = 1e-4  # of the logits
Row = NDArray[np.float32]
Matrix = NDArray[np.floating[Any]]
Stored = Mapping[str, NDArray[np.generic]]
Grams = tuple[NDArray[np.int64], float]


@dataclass(frozen=True, slots=True)
class Head:
    """Weights of one linear model."""

    grams: Row  # float32[BUCKETS]
    pairs: Row  # float32[signs, signs]: what two signs together count for
    embedding: Row  # float32[dimension]; empty: the head that reads none
    threshold: float

    def score(self, text: str, signs: Row, embedding: Row | None = None) -> float:
        """The probability that a text is what the head was fitted to find."""
        return self.weigh(grams(text), signs, embedding)

    def weigh(self, found: Grams, signs: Row, embedding: Row | None = None) -> float:
        """The probability by a text's grams, for where several heads judge one text."""
        places, value = found
        logit = float(value * self.grams[places].sum() + signs @ self.pairs @ signs)
        if embedding is not None and self.embedding.size:
            logit += float(embedding @ self.embedding)
        return float(1 / (1 + np.exp(-logit)))


def grams(text: str) -> Grams:
    """The buckets of a text's character n-grams, words and pairs of words, and the value each has: their norm is 1."""
    plain = " ".join(text.lower().split())
    padded = f"^{plain}$"
    found = {padded[i : i + n] for n in GRAMS for i in range(len(padded) - n + 1)}
    words = ["^", *WORD.findall(plain), "$"]
    found |= {f"w:{word}" for word in words} | {f"p:{left} {right}" for left, right in pairwise(words)}
    places = np.array(sorted({zlib.crc32(gram.encode()) % BUCKETS for gram in found}), np.int64)
    return places, 1 / float(np.sqrt(len(places)))


def load_weights(package: str, name: str) -> Stored:
    """The arrays that training stored in a package."""
    with (files(package) / name).open("rb") as file, np.load(file, allow_pickle=False) as stored:
        return dict(stored)


def read_head(stored: Stored, name: str) -> Head:
    """One head of the arrays that training stored."""
    return Head(
        grams=stored[f"{name}_grams"].astype(np.float32),
        pairs=stored[f"{name}_pairs"].astype(np.float32),
        embedding=stored[f"{name}_embedding"].astype(np.float32),
        threshold=float(stored[f"{name}_threshold"]),
    )


def count_grams(texts: Sequence[str]) -> Matrix:
    """float64[texts, BUCKETS]: the grams of each text."""
    counted = np.zeros((len(texts), BUCKETS))
    for row, text in zip(counted, texts, strict=True):
        places, value = grams(text)
        row[places] = value
    return counted


def pair_signs(signs: Sequence[Row]) -> Matrix:
    """float64[texts, signs²]: the outer product of each text's signs with themselves."""
    return np.stack([np.outer(found, found).ravel() for found in signs]).astype(np.float64)


def kernel(blocks: Sequence[tuple[Matrix, float]]) -> Matrix:
    """The prior covariance of the logits, from blocks of features with the prior variances of their weights."""
    first, *others = (variance * rows @ rows.T for rows, variance in blocks)
    return sum(others, first)


def fit(covariance: Matrix, wanted: Matrix) -> Matrix:
    """Logistic regression with a Gaussian prior, by Newton's method in the dual: the weights are Σ variance × dual × row."""
    logits = np.zeros_like(wanted)
    dual = np.zeros_like(wanted)
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-logits))
        curvature = np.maximum(p * (1 - p), 1e-6)
        dual = solve(covariance, 1 / curvature, logits + (wanted - p) / curvature, dual)
        before, logits = logits, covariance @ dual
        if np.abs(logits - before).max() < CONVERGED:
            break
    return dual


def solve(covariance: Matrix, diagonal: Matrix, right: Matrix, start: Matrix) -> Matrix:
    """The x with (covariance + diag(diagonal)) x = right, by conjugate gradients with Jacobi's preconditioner."""
    x, weights = start.copy(), 1 / (np.diag(covariance) + diagonal)
    rest = right - (covariance @ x + diagonal * x)
    scaled = weights * rest
    direction, energy = scaled.copy(), float(rest @ scaled)
    for _ in range(MOST_GRADIENTS):
        if energy <= TOLERANCE * float(right @ (weights * right)):
            break
        image = covariance @ direction + diagonal * direction
        step = energy / float(direction @ image)
        x, rest = x + step * direction, rest - step * image
        scaled = weights * rest
        energy, before = float(rest @ scaled), energy
        direction = scaled + (energy / before) * direction
    return x


def cross_validate(covariance: Matrix, wanted: Matrix) -> Matrix:
    """Every text's score from a model that has not seen it."""
    scores = np.zeros(len(wanted))
    fold = np.random.default_rng(0).permutation(len(wanted)) % FOLDS
    for number in range(FOLDS):
        seen, held = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        dual = fit(covariance[np.ix_(seen, seen)], wanted[seen])
        scores[held] = 1 / (1 + np.exp(-covariance[np.ix_(held, seen)] @ dual))
    return scores


def pack(name: str, blocks: Sequence[tuple[Matrix, float]], dual: Matrix, threshold: float) -> Stored:
    """The arrays of a fitted head, as read_head reads them; its blocks are grams, pairs and at will the embedding."""
    weights = [(variance * rows.T @ dual).astype(np.float16) for rows, variance in blocks]
    signs = round(weights[1].size ** 0.5)
    weights[1] = weights[1].reshape(signs, signs)
    weights += [np.zeros(0, np.float16)] * (3 - len(weights))
    arrays = {f"{name}_{part}": rows for part, rows in zip(("grams", "pairs", "embedding"), weights, strict=True)}
    return arrays | {f"{name}_threshold": np.array(threshold)}
