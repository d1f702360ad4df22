"""Where the packaged default model lives and how it gets there at the first start."""

import hashlib
import json
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from hindsight_runtime.errors import StartFailed

MODEL_ID = "intfloat/multilingual-e5-small"
PACK_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
RECIPE = "1"  # raise whenever the builder changes the vectors: it is part of the stored revision
FOLDER = "multilingual-e5-small"
BUILD_TIMEOUT_S = 120  # a build takes 3 s; another process may be at it


def revision(*, exact: bool = False) -> str:
    """Which weights and which arithmetic this version of the builder makes."""
    return f"{PACK_SHA256[:12]}-{'exact' if exact else 'int8'}-{RECIPE}"


def read_description(folder: Path) -> dict[str, Any] | None:
    """The content of model.json if the folder holds a complete, undamaged model; else None."""
    try:
        description = json.loads((folder / "model.json").read_bytes())
        for name, expected in description["sha256"].items():
            if hashlib.sha256((folder / name).read_bytes()).hexdigest() != expected:
                return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return description


def _is_current(folder: Path) -> bool:
    description = read_description(folder)
    return description is not None and description.get("revision") == revision()


def provide_model(model_dir: Path) -> Path:
    """The folder of the packaged model, built now if it is missing, damaged or of another revision.

    Raises:
        StartFailed: it has to be built and cannot be.
    """
    folder = model_dir / FOLDER
    if _is_current(folder):
        return folder
    try:
        model_dir.mkdir(parents=True, exist_ok=True)
        with FileLock(model_dir / f"{FOLDER}.lock", timeout=BUILD_TIMEOUT_S):
            if not _is_current(folder):
                from hindsight_embedding.build_model import build  # onnx is needed for building only

                build(folder)
    except Timeout:
        raise StartFailed(f"another process has been building {folder} for {BUILD_TIMEOUT_S} s; stop it") from None
    except (ImportError, OSError, ValueError) as error:
        raise StartFailed(
            f"cannot build {MODEL_ID} into {folder}: {error}; set HINDSIGHT_MODEL_DIR to a writable folder, or fill it "
            f"beforehand: hindsight-build-model {folder}"
        ) from None
    return folder
