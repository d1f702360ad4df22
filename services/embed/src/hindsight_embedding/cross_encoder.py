"""A cross-encoder from a folder: an ONNX graph that reads a query and a text together, and the tokenizer it was trained with."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hindsight_runtime.errors import StartFailed
from numpy.typing import NDArray
from tokenizers import Tokenizer

from hindsight_embedding.model import Pair
from hindsight_embedding.onnx_session import BROKEN, open_session

MAX_WINDOW = 512  # tokens of a pair: models that could read more cost more than a recall can wait for
CHARS_PER_TOKEN = 16  # more of a text is not even tokenised: no tokenizer needs so many for a window
PASS_TOKENS = 2048
FEEDS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
PADDINGS = ("[PAD]", "<pad>")
LARGEST_LOGIT = 60.0  # beyond it the sigmoid is 0 or 1, and exp() overflows


class CrossEncoder:
    """A loaded reranking model. Its methods block."""

    pass_tokens = PASS_TOKENS
    is_padded = True

    def __init__(self, folder: Path) -> None:
        weights, words = folder / "model.onnx", folder / "tokenizer.json"
        if not (weights.is_file() and words.is_file()):
            raise StartFailed(f"HINDSIGHT_RERANK_MODEL: {folder} needs the files model.onnx and tokenizer.json")
        self.id = folder.resolve().name  # a path means nothing elsewhere
        self.revision = _revision(weights)
        self._tokenizer: Tokenizer = Tokenizer.from_file(str(words))
        self.window_tokens = _window(folder, self._tokenizer)
        self._pad_id = _pad_id(self._tokenizer)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self.window_tokens, strategy="longest_first")
        try:
            self._session = open_session(weights)
            self._feeds = _feeds([node.name for node in self._session.get_inputs()])
            self.relevances(self.read("a question", ["a text"]))
        except (*BROKEN, ValueError) as error:
            raise StartFailed(f"HINDSIGHT_RERANK_MODEL: {weights} is no cross-encoder that can be run: {error}") from None

    def read(self, query: str, texts: Sequence[str]) -> list[Pair]:
        """The query with each of the texts as tokens, cut to the window: the longer of the two first."""
        most = self.window_tokens * CHARS_PER_TOKEN
        read = self._tokenizer.encode_batch([(query[:most], text[:most]) for text in texts])
        return [Pair(encoding.ids, encoding.type_ids) for encoding in read]

    def relevances(self, pairs: Sequence[Pair]) -> NDArray[np.float64]:
        """One forward pass: for each pair, in order, the sigmoid of its logit."""
        shape = (len(pairs), max(len(pair.token_ids) for pair in pairs))
        feed = {"input_ids": np.full(shape, self._pad_id, np.int64)}
        feed |= {name: np.zeros(shape, np.int64) for name in ("attention_mask", "token_type_ids")}
        for number, pair in enumerate(pairs):
            length = len(pair.token_ids)
            feed["input_ids"][number, :length] = pair.token_ids
            feed["attention_mask"][number, :length] = 1
            feed["token_type_ids"][number, :length] = pair.type_ids
        outputs = self._session.run(None, {name: feed[name] for name in self._feeds})
        logits = np.asarray(outputs[0], np.float64)
        if logits.shape not in ((len(pairs),), (len(pairs), 1)) or not np.isfinite(logits).all():
            raise ValueError(f"expected one finite logit a pair, got an output of shape {logits.shape} for {len(pairs)}")
        return 1 / (1 + np.exp(-np.clip(logits.reshape(-1), -LARGEST_LOGIT, LARGEST_LOGIT)))


def _revision(weights: Path) -> str:
    with weights.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()[:12]


def _window(folder: Path, tokenizer: Tokenizer) -> int:
    """The tokens of a pair that the model reads, as its tokenizer's files say, at most MAX_WINDOW."""
    stated: Any = (tokenizer.truncation or {}).get("max_length")
    try:
        stated = stated or json.loads((folder / "tokenizer_config.json").read_bytes())["model_max_length"]
    except (OSError, ValueError, KeyError, TypeError):
        stated = stated or MAX_WINDOW
    return int(min(stated, MAX_WINDOW))


def _pad_id(tokenizer: Tokenizer) -> int:
    if tokenizer.padding:
        return tokenizer.padding["pad_id"]
    return next((number for name in PADDINGS if (number := tokenizer.token_to_id(name)) is not None), 0)


def _feeds(names: Sequence[str]) -> Sequence[str]:
    if "input_ids" not in names or set(names) - FEEDS:
        raise ValueError(f"it takes {', '.join(names)}; expected input_ids, attention_mask and perhaps token_type_ids")
    return names
