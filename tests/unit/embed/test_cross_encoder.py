"""The cross-encoder: which folders it is read from, what it reads of long texts, what a relevance is."""

import json
import math
from pathlib import Path

import pytest
from hindsight_embedding.cross_encoder import CrossEncoder
from hindsight_embedding.reranking import passes
from hindsight_runtime.errors import StartFailed
from onnx import TensorProto, helper

from tests.cross_encoder import BIAS, GAIN, build_cross_encoder

WORDS = ("tea", "green", "cup", "tram")


def sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return build_cross_encoder(tmp_path / "overlap", WORDS)


def judge(model: CrossEncoder, query: str, *texts: str) -> list[float]:
    return model.relevances(model.read(query, texts)).tolist()


@pytest.mark.parametrize("flat", [False, True])
def test_a_relevance_is_the_sigmoid_of_the_logit_in_the_order_of_the_texts(tmp_path, flat):
    model = CrossEncoder(build_cross_encoder(tmp_path / "overlap", WORDS, flat=flat))
    found = judge(model, "a cup of Green tea", "the tram", "green tea", "tea", "a cup of green tea, " * 5)
    assert found == pytest.approx([sigmoid(BIAS + GAIN * shared) for shared in (0, 2, 1, 15)], abs=1e-6)


def test_a_text_alone_is_judged_as_in_a_batch(folder):
    model = CrossEncoder(folder)
    texts = ["tea", "green tea " * 9, "nothing of it"]
    assert judge(model, "green tea", *texts) == [judge(model, "green tea", text)[0] for text in texts]


def test_it_is_known_by_its_folders_name_and_its_files_content(folder, tmp_path):
    model, same = CrossEncoder(folder), CrossEncoder(folder.rename(tmp_path / "elsewhere"))
    other = CrossEncoder(build_cross_encoder(tmp_path / "overlap", (*WORDS, "more")))
    assert (model.id, same.id, other.id) == ("overlap", "elsewhere", "overlap")
    assert model.revision == same.revision != other.revision
    assert len(model.revision) == 12


def test_what_is_beyond_the_window_is_not_read_and_the_longer_of_the_two_is_cut(tmp_path):
    model = CrossEncoder(build_cross_encoder(tmp_path / "short", WORDS, window=16))
    assert model.window_tokens == 16
    near, far = judge(model, "tea", "x " * 5 + "tea", "x " * 50 + "tea")
    assert (near, far) == pytest.approx((sigmoid(BIAS + GAIN), sigmoid(BIAS)))
    assert judge(model, "tea " + "x " * 50, "tea") == pytest.approx([sigmoid(BIAS + GAIN)])
    pairs = model.read("x " * 100_000, ["y " * 100_000, "y"])
    assert [len(pair.token_ids) for pair in pairs] == [16, 16]


def test_the_window_is_what_the_tokenizers_files_say_up_to_512(folder):
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text())
    tokenizer["truncation"] = None
    path.write_text(json.dumps(tokenizer))
    windows = []
    for stated in ({}, {"model_max_length": 100}, {"model_max_length": 10**30}, {"model_max_length": 8192}):
        (folder / "tokenizer_config.json").write_text(json.dumps(stated))
        windows.append(CrossEncoder(folder).window_tokens)
    assert windows == [512, 100, 512, 512]


def test_passes_hold_every_pair_once_within_the_token_budget(folder):
    model = CrossEncoder(folder)
    pairs = model.read("tea", ["word " * (n % 60 + 1) for n in range(100)])
    batches = list(passes(pairs, model))
    assert sorted(number for batch in batches for number in batch) == list(range(100))
    assert len(batches) > 1
    for batch in batches:
        assert len(batch) * max(len(pairs[n].token_ids) for n in batch) <= model.pass_tokens


@pytest.mark.parametrize("gone", ["model.onnx", "tokenizer.json"])
def test_a_folder_without_its_files_is_refused_by_name(folder, gone):
    (folder / gone).unlink()
    with pytest.raises(StartFailed, match="HINDSIGHT_RERANK_MODEL"):
        CrossEncoder(folder)


def other_graph(inputs: list[str], width: int) -> bytes:
    """A model that takes what it should not take, or answers with too many numbers a pair."""
    cast = helper.make_node("Cast", [inputs[0]], ["numbers"], to=TensorProto.FLOAT)
    mean = helper.make_node("ReduceMean", ["numbers"], ["mean"], axes=[1], keepdims=1)
    widen = helper.make_node("Concat", ["mean"] * width, ["logits"], axis=1)
    ins = [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"]) for name in inputs]
    outs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", width])]
    graph = helper.make_graph([cast, mean, widen], "other", ins, outs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=9).SerializeToString()


@pytest.mark.parametrize(
    "content",
    [b"no graph", b"", other_graph(["pixels"], 1), other_graph(["input_ids", "position_ids"], 1), other_graph(["input_ids"], 2)],
    ids=["noise", "empty", "pixels", "positions", "two classes"],
)
def test_a_graph_that_is_no_cross_encoder_is_refused(folder, content):
    (folder / "model.onnx").write_bytes(content)
    with pytest.raises(StartFailed, match="HINDSIGHT_RERANK_MODEL"):
        CrossEncoder(folder)


def test_a_model_may_take_token_ids_alone(folder):
    (folder / "model.onnx").write_bytes(other_graph(["input_ids"], 1))
    assert len(judge(CrossEncoder(folder), "tea", "tea", "tram")) == 2
