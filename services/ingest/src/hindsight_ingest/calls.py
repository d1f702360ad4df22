"""Requests as calls: who changes whose memories, and what the request id stands for."""

import hashlib
import re
from typing import Any

from hindsight_runtime import checks
from hindsight_runtime.identity import caller

from hindsight_ingest.pipeline import Call


def to_call(request: Any) -> Call:
    """Who changes whose memories; the content hash covers everything but the request id."""
    principal = caller()
    principal.require("write")
    checks.check_text("request_id", request.request_id, max_chars=checks.REQUEST_ID_CHARS)
    checks.check_label("agent_id", request.agent_id, max_chars=checks.AGENT_ID_CHARS)
    agent_id = principal.resolve_agent(request.agent_id)
    content = type(request)()
    content.CopyFrom(request)
    content.ClearField("request_id")
    content.agent_id = agent_id
    name = type(request).__name__
    action = re.sub(r"(?<!^)(?=[A-Z])", "_", name.removesuffix("Request")).lower()
    text = name.encode() + b"\x00" + content.SerializeToString(deterministic=True)
    return Call(principal, agent_id, request.request_id, hashlib.sha256(text).digest(), action)
