"""The packaged model's folder: built once, rebuilt when damaged or of another revision, or one clear line."""

import hashlib
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hindsight_embedding import build_model, packaged
from hindsight_embedding.pack import read_pack
from hindsight_runtime.errors import StartFailed


@pytest.fixture
def builds(monkeypatch):
    """Counts builds and writes small files instead of a model."""
    built = []

    def build(folder):
        built.append(threading.get_ident())
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.onnx").write_bytes(b"weights")
        digest = hashlib.sha256(b"weights").hexdigest()
        description = {"revision": packaged.revision(), "sha256": {"model.onnx": digest}}
        (folder / "model.json").write_text(json.dumps(description))

    monkeypatch.setattr(build_model, "build", build)
    return built


def test_missing_model_is_built_once(tmp_path, builds):
    first = packaged.provide_model(tmp_path / "new")
    assert packaged.provide_model(tmp_path / "new") == first
    assert len(builds) == 1


def test_two_starts_at_once_build_once(tmp_path, builds):
    with ThreadPoolExecutor(4) as threads:
        folders = set(threads.map(packaged.provide_model, [tmp_path] * 4))
    assert (len(folders), len(builds)) == (1, 1)


@pytest.mark.parametrize(
    ("name", "content"),
    [("model.onnx", "damaged"), ("model.json", "{"), ("model.json", "[]"), ("model.json", '{"sha256": {}}')],
)
def test_damaged_or_other_model_is_built_again(tmp_path, builds, name, content):
    folder = packaged.provide_model(tmp_path)
    (folder / name).write_text(content)
    packaged.provide_model(tmp_path)
    assert len(builds) == 2


def test_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StartFailed, match="HINDSIGHT_MODEL_DIR"):
        packaged.provide_model(tmp_path / "file" / "models")


def test_other_weights_are_refused(tmp_path):
    (tmp_path / "pack").write_bytes(b"other")
    with pytest.raises(ValueError, match="checksum"):
        read_pack(tmp_path / "pack")


def test_command_says_in_one_line_what_is_wrong(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["hindsight-build-model", str(tmp_path / "out"), "--pack", str(tmp_path / "none")])
    with pytest.raises(SystemExit) as stopped:
        build_model.main()
    assert stopped.value.code == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
