"""JSON that the protocol library would drop unnamed, mended so that the validation of a tool's arguments can name the field."""

import json
import re
from typing import Any

import pydantic_core

DEEPEST = 64  # far above what any argument may have, below where parsers give up
_SUSPICIOUS = re.compile(rb"\\u[dD][89a-fA-F]")
MAX_BYTES = 2**20  # no larger message is mended, since that takes a second for every few megabytes
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)  # in one pass, also where a text never ends
_SURROGATE = re.compile("[\ud800-\udfff]")


def mend(body: bytes) -> bytes:
    """The message, decodable: a lone surrogate becomes NUL and what is nested too deep null, both refused later by field.

    What is valid, and what is no JSON at all, stays as it is.
    """
    is_plain = not _SUSPICIOUS.search(body) and body.count(b"[") + body.count(b"{") <= DEEPEST
    if is_plain or len(body) > MAX_BYTES:
        return body
    try:
        pydantic_core.from_json(body)
    except ValueError:
        pass
    else:
        return body
    try:
        return json.dumps(_without_surrogates(json.loads(_flatten(body)))).encode()
    except (ValueError, RecursionError):
        return body


def _flatten(body: bytes) -> bytes:
    parts, depth, kept = [], 0, 0
    for token in _TOKEN.finditer(body):
        mark = token[0]
        if mark in (b"[", b"{"):
            depth += 1
            if depth == DEEPEST:
                parts.append(body[kept : token.start()] + b"null")
        elif mark in (b"]", b"}"):
            if depth == DEEPEST:
                kept = token.end()
            depth -= 1
    return b"".join(parts) + body[kept:]


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\x00", value)
    if isinstance(value, list):
        return [_without_surrogates(v) for v in value]
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
    return value
