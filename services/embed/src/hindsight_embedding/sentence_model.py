"""Any model that sentence-transformers can load; needs the extra of that name."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hindsight_runtime.errors import StartFailed

from hindsight_embedding.model import UNMEASURED, Calibration, Embeddings, ModelIdentity, Prefixes

PASS_TOKENS = 2048
WEIGHTS = ("*.safetensors", "pytorch_model*.bin", "*.json", "*.model", "*.txt")
PASSAGE_PROMPTS = ("passage", "document", "corpus")  # the names models give it


class SentenceModel:
    """A model in a folder, or by its name in the local Hugging Face cache."""

    pass_tokens = PASS_TOKENS
    is_padded = True

    def __init__(self, name: str, calibration: Calibration | None = None) -> None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")  # no download at run time unless the operator sets it to 0
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        folder = _locate(name)
        self._model = _load(folder)
        window = self._model.max_seq_length or 512
        dimension = self._model.get_embedding_dimension()
        title = name if folder != Path(name).expanduser() else folder.resolve().name  # a path means nothing elsewhere
        self.identity = ModelIdentity(title, _revision(folder), dimension, window)
        self.calibration = calibration or UNMEASURED
        self.prefixes = _prefixes(self._model, name)
        tokens = self._model.tokenizer
        self.special_tokens = tokens.num_special_tokens_to_add(pair=False)

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """The tokens of a text as (start, end) in characters."""
        options = {"add_special_tokens": False, "return_offsets_mapping": True, "truncation": False, "verbose": False}
        return self._model.tokenizer(text, **options)["offset_mapping"]

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has."""
        return len(self.spans(text))

    def forward(self, windows: Sequence[str]) -> Embeddings:
        """Embed texts, prefix included, of which each fits the window."""
        options = {"batch_size": len(windows), "normalize_embeddings": True, "show_progress_bar": False, "prompt": ""}
        embeddings = self._model.encode(list(windows), convert_to_numpy=True, **options)
        return np.asarray(embeddings, np.float32)


def _locate(name: str) -> Path:
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name))
    except (HFValidationError, LocalEntryNotFoundError, OSError):
        raise StartFailed(
            f"EMBEDDING_MODEL '{name}' is neither a folder nor in the local Hugging Face cache; give a folder, or "
            "allow one download with HF_HUB_OFFLINE=0"
        ) from None


def _load(folder: Path) -> Any:
    try:
        import torch  # pyright: ignore[reportMissingImports]
        from sentence_transformers import SentenceTransformer  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise StartFailed(
            "a model other than the packaged one needs sentence-transformers: "
            "pip install 'hindsight-embed-service[sentence-transformers]'"
        ) from None
    torch.set_num_threads(1)  # a pass runs on its caller's thread
    try:
        return SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise StartFailed(f"{folder} holds no sentence-transformers model: {error}") from None


def _revision(folder: Path) -> str:
    """Twelve hex digits of the SHA-256 over the names and contents of a model's files."""
    total = hashlib.sha256()
    for path in sorted({path for pattern in WEIGHTS for path in folder.rglob(pattern)}):
        with path.open("rb") as content:
            total.update(f"{path.relative_to(folder)}\0{hashlib.file_digest(content, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()[:12]


def _prefixes(model: Any, name: str) -> Prefixes:
    """What the model's own configuration puts before texts; E5 models need theirs even where it is not written down."""
    prompts: dict[str, str] = model.prompts or {}
    passage = next((prompts[key] for key in PASSAGE_PROMPTS if prompts.get(key)), "")
    if prompts.get("query") or passage:
        return Prefixes(prompts.get("query") or "", passage)
    if "e5-" in name.lower() and "instruct" not in name.lower():
        return Prefixes("query: ", "passage: ")
    return Prefixes()
