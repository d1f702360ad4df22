"""Answers in HTTP that are no protocol messages."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response


def answer(status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer that nobody stores on the way."""
    text = json.dumps(body, ensure_ascii=False)
    return Response(text, status, {"Cache-Control": "no-store", **(headers or {})}, "application/json")
