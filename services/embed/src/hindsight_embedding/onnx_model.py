"""The packaged default model, run by onnxruntime."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

# Spinning threads made one text take 7.8 s on a busy machine; both libraries read this when they are loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import numpy as np
import onnxruntime
from hindsight_runtime.errors import StartFailed
from tokenizers import Encoding, Tokenizer

from hindsight_embedding.model import Calibration, Embeddings, ModelIdentity, Prefixes
from hindsight_embedding.packaged import read_description

E5_CALIBRATION = Calibration(cosine_floor=0.74, cosine_span=0.18, duplicate_cosine=0.95)
PASS_TOKENS = 512  # 0.1 s on one thread; a batch saves nothing more per token above 32


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
        self._session = onnxruntime.InferenceSession(
            folder / "model.onnx", _session_options(), providers=["CPUExecutionProvider"]
        )

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


def _session_options() -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # a pass runs on its caller's thread
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    options.log_severity_level = 3
    return options
