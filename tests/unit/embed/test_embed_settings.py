"""The embedding service's settings and which loader a model's name asks for."""

import sys

import pytest
from hindsight_embedding.loading import load_model, load_rerank_model
from hindsight_embedding.model import Calibration
from hindsight_embedding.settings import EmbedSettings
from hindsight_runtime.errors import StartFailed
from hindsight_runtime.settings import load

from tests.cross_encoder import build_cross_encoder


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("HINDSIGHT_EMBED_TOKEN", "token")
    return monkeypatch


def test_defaults():
    settings = load(EmbedSettings)
    assert (settings.port, settings.host) == (50053, "127.0.0.1")
    assert settings.embedding_model == "intfloat/multilingual-e5-small"
    assert (settings.embed_threads, settings.embed_cache_entries) == (1, 20_000)
    assert settings.rerank_model == ""


@pytest.mark.parametrize("name", ["EMBEDDING_MODEL", "HINDSIGHT_EMBEDDING_MODEL"])
def test_model_is_read_under_either_name(environment, name):
    environment.setenv(name, "BAAI/bge-m3")
    assert load(EmbedSettings).embedding_model == "BAAI/bge-m3"


def test_port_is_read_from_its_own_name(environment):
    environment.setenv("HINDSIGHT_EMBED_PORT", "56010")
    assert load(EmbedSettings).port == 56010


def test_token_is_not_shown():
    assert "token" not in repr(load(EmbedSettings).embed_token)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HINDSIGHT_EMBED_TOKEN", ""),
        ("HINDSIGHT_EMBED_PORT", "70000"),
        ("HINDSIGHT_EMBED_THREADS", "0"),
        ("HINDSIGHT_EMBEDDING_CALIBRATION", ".2,.6"),
        ("HINDSIGHT_EMBEDDING_CALIBRATION", ".2,0,.9"),
        ("HINDSIGHT_EMBEDDING_CALIBRATION", "low,.6,.9"),
        ("HINDSIGHT_EMBEDDING_CALIBRATION", ".2,nan,.9"),
    ],
)
def test_wrong_setting_is_named(environment, name, value):
    environment.setenv(name, value)
    with pytest.raises(SystemExit, match=name):
        load(EmbedSettings)


def test_calibration_is_read(environment):
    environment.setenv("HINDSIGHT_EMBEDDING_CALIBRATION", ".3, .5, .93")
    assert load(EmbedSettings).calibration() == Calibration(0.3, 0.5, 0.93)


async def test_the_rerank_model_is_a_folder_or_refused_by_the_settings_name(environment, tmp_path):
    folder = build_cross_encoder(tmp_path / "overlap", ("tea",))
    environment.setenv("HOME", str(tmp_path))
    environment.setenv("HINDSIGHT_RERANK_MODEL", "~/overlap")
    assert (await load_rerank_model(load(EmbedSettings).rerank_model)).id == "overlap"
    with pytest.raises(StartFailed, match="HINDSIGHT_RERANK_MODEL"):
        await load_rerank_model(str(folder / "nothing"))


async def test_missing_sentence_transformers_names_the_extra(environment, tmp_path):
    environment.setitem(sys.modules, "sentence_transformers", None)
    environment.setenv("EMBEDDING_MODEL", str(tmp_path))
    with pytest.raises(StartFailed, match=r"\[sentence-transformers\]"):
        await load_model(load(EmbedSettings))


async def test_missing_openai_names_the_extra(environment):
    environment.setitem(sys.modules, "openai", None)
    environment.setenv("EMBEDDING_MODEL", "openai:text-embedding-3-small")
    with pytest.raises(StartFailed, match=r"\[openai\]"):
        await load_model(load(EmbedSettings))


async def test_endpoint_model_without_a_name_is_refused(environment):
    environment.setenv("EMBEDDING_MODEL", "openai:")
    with pytest.raises(StartFailed, match="EMBEDDING_MODEL"):
        await load_model(load(EmbedSettings))
