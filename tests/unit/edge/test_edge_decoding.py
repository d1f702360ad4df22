"""Messages that parsers refuse, mended so that the field can be named."""

import json

import pydantic_core
import pytest
from hindsight_mcp_edge.decoding import DEEPEST, mend
from hypothesis import given
from hypothesis import strategies as st

FAST_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=40,
)


@given(FAST_JSON, st.booleans())
def test_a_valid_message_stays_as_it_is(value: object, ascii_only: bool):
    body = json.dumps(value, ensure_ascii=ascii_only).encode()
    assert mend(body) == body


@given(st.lists(st.sampled_from([r"\ud83d\ude00", r"\ud800", r"\udc00", r"\\ud800", "a", r"\"", "[", "{", "文"]), max_size=12))
def test_lone_surrogates_become_nul_and_pairs_stay(parts: list[str]):
    body = f'{{"a": "{"".join(parts)}"}}'.encode()
    mended = pydantic_core.from_json(mend(body))["a"]
    expected = "".join("\0" if "\ud800" <= c <= "\udfff" else c for c in json.loads(body)["a"])
    assert mended == expected


@pytest.mark.parametrize("depth", [DEEPEST, 500, 100_000])
@pytest.mark.parametrize("inside", ["", '"]}"', '"\\""'])
def test_what_is_nested_too_deep_becomes_null(depth: int, inside: str):
    opened, closed = '[{"x":' * (depth // 2), "}]" * (depth // 2)
    body = f'{{"id": 7, "deep": {opened}{inside or 1}{closed}, "after": [1]}}'.encode()
    mended = pydantic_core.from_json(mend(body))
    assert (mended["id"], mended["after"]) == (7, [1])


@pytest.mark.parametrize("body", [b"", b"\xff", b"{", b"[" * 200, b'"\\ud800', b"]" * 200])
def test_what_is_no_json_stays_as_it_is(body: bytes):
    assert mend(body) == body
