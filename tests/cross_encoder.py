"""A tiny cross-encoder for tests: a text answers a query as far as it holds words of it that the model knows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
BIAS, GAIN = -3.0, 2.0  # no word in common: relevance .05; one: .27; two: .73; three: .95


def build_cross_encoder(folder: Path, known: Sequence[str], *, window: int = 64, flat: bool = False) -> Path:
    """A folder as operators name it; `flat` logits have the shape [n] instead of [n, 1]."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {word: number for number, word in enumerate((*SPECIAL, *known))}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_truncation(window)
    tokenizer.save(str(folder / "tokenizer.json"))
    worth = np.array([0.0] * len(SPECIAL) + [1.0] * len(known), np.float32)
    onnx.save(_graph(worth, flat=flat), folder / "model.onnx")
    return folder


def _graph(worth: Any, *, flat: bool) -> onnx.ModelProto:
    """logit = BIAS + GAIN × pairs of equal known words, one of the query, one of the text."""
    constants = {
        "worth": worth,
        "one": np.float32(1),
        "axis1": np.array([1], np.int64),
        "axis2": np.array([2], np.int64),
        "both": np.array([1, 2], np.int64),
        "bias": np.float32(BIAS),
        "gain": np.float32(GAIN),
    }
    steps: list[tuple[str, list[str], str, dict[str, Any]]] = [
        ("Unsqueeze", ["input_ids", "axis2"], "rows", {}),
        ("Unsqueeze", ["input_ids", "axis1"], "columns", {}),
        ("Equal", ["rows", "columns"], "same", {}),
        ("Cast", ["same"], "equal", {"to": TensorProto.FLOAT}),
        ("Cast", ["attention_mask"], "mask", {"to": TensorProto.FLOAT}),
        ("Cast", ["token_type_ids"], "type", {"to": TensorProto.FLOAT}),
        ("Sub", ["one", "type"], "asked", {}),
        ("Gather", ["worth", "input_ids"], "worths", {}),
        ("Mul", ["asked", "mask"], "asked_there", {}),
        ("Mul", ["asked_there", "worths"], "asked_worth", {}),
        ("Mul", ["type", "mask"], "told", {}),
        ("Unsqueeze", ["asked_worth", "axis2"], "asked_rows", {}),
        ("Unsqueeze", ["told", "axis1"], "told_columns", {}),
        ("Mul", ["equal", "asked_rows"], "equal_asked", {}),
        ("Mul", ["equal_asked", "told_columns"], "shared", {}),
        ("ReduceSum", ["shared", "both"], "count", {"keepdims": 0}),
        ("Mul", ["count", "gain"], "gained", {}),
        ("Add", ["gained", "bias"], "logit" if flat else "logit_flat", {}),
    ]
    if not flat:
        steps.append(("Unsqueeze", ["logit_flat", "axis1"], "logit", {}))
    nodes = [helper.make_node(kind, inputs, [output], **attributes) for kind, inputs, output, attributes in steps]
    names = ("input_ids", "attention_mask", "token_type_ids")
    graph = helper.make_graph(
        nodes,
        "overlap",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["pairs", "tokens"]) for name in names],
        [helper.make_tensor_value_info("logit", TensorProto.FLOAT, ["pairs"] if flat else ["pairs", 1])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    return model
