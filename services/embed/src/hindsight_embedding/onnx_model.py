"""The packaged default model, run by onnxruntime."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
from hindsight_runtime.errors import StartFailed
from tokenizers import Encoding, Tokenizer

from hindsight_embedding.model import Calibration, Embeddings, ModelIdentity, Prefixes
from hindsight_embedding.onnx_session import open_session
from hindsight_embedding.packaged import read_description

E5_CALIBRATION = Calibration(cosine_floor=0.74, cosine_span=0.18, duplicate_cosine=0.95)
PASS_TOKENS = 256  # 60 ms on one thread, which a query may have to wait; more saves nothing per token


class OnnxModel:
    """An encoder in the form that hindsight-build-model writes."""

    special_tokens = 2
    pass_tokens = PASS_TOKENS
    is_padded = True

    def __init__(self, folder: Path, calibration: Calibration = E5_CALIBRATION) -> None:
        description = read_description(folder)
        if description is None:
            raise StartFailed(f"{folder} holds no complete model; build it: hindsight-build-model {folder}")
        self.identity = ModelIdentity(
            description["model"], description["revision"], description["dimension"], description["window"]
        )
        self.calibration = calibration
        self.prefixes = Prefixes(**description["prefixes"])
        self._pad_id: int = description["pad_id"]
        self._tokenizer: Tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._session = open_session(folder / "model.onnx")

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """The tokens of a text as (start, end) in characters."""
        return self._encode(text, special_tokens=False).offsets

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has."""
        return len(self._encode(text, special_tokens=False).ids)

    def forward(self, windows: Sequence[str]) -> Embeddings:
        """Embed texts, prefix included, of which each fits the window."""
        rows = [self._encode(window, special_tokens=True).ids for window in windows]
        width = max(map(len, rows))
        if width > self.identity.window_tokens:
            raise ValueError(f"a window of {width} tokens is over the model's {self.identity.window_tokens}")
        token_ids = np.full((len(rows), width), self._pad_id, np.int64)
        mask = np.zeros((len(rows), width), np.int64)
        for number, row in enumerate(rows):
            token_ids[number, : len(row)] = row
            mask[number, : len(row)] = 1
        outputs = self._session.run(["embedding"], {"input_ids": token_ids, "attention_mask": mask})
        return cast(Embeddings, outputs[0])

    def _encode(self, text: str, *, special_tokens: bool) -> Encoding:
        # encode() keeps the interpreter to itself, 40 ms for 64 KiB of text; encode_batch() lets others run
        return self._tokenizer.encode_batch([text], add_special_tokens=special_tokens)[0]
