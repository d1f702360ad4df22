"""Requests as calls: who changes whose memories, and what the request id stands for."""

import hashlib
import re
from dataclasses import replace
from datetime import datetime
from typing import Any

import asyncpg
from hindsight_runtime import checks
from hindsight_runtime.errors import PermissionDenied
from hindsight_runtime.identity import Principal, caller
from hindsight_store.reader import reading
from hindsight_store.records import Grant

from hindsight_ingest.guard import INSTRUCT
from hindsight_ingest.pipeline import Call


def to_call(request: Any) -> Call:
    """Who changes whose memories; the content hash covers everything but the request id."""
    principal = check_caller(request)
    return to_call_of(request, principal, principal.resolve_agent(request.agent_id))


async def to_opened_call(pool: asyncpg.Pool, request: Any, now: datetime) -> Call:
    """As to_call; of an agent that the key may not use, by what that one has opened for writing to the key's default agent.

    Another agent's key does not speak for this agent's user: what it says is an inference here, and it instructs nobody.

    Raises:
        PermissionDenied: the key may not use the agent, and nothing is opened.
    """
    principal = check_caller(request)
    try:
        agent_id = principal.resolve_agent(request.agent_id)
    except PermissionDenied:
        grants = await _find_grants(pool, principal, request.agent_id, now)
        if not grants:
            raise
        weaker = replace(principal, sources=frozenset({"inference"}), rights=principal.rights - {INSTRUCT})
        return replace(to_call_of(request, weaker, request.agent_id), grants=grants)
    return to_call_of(request, principal, agent_id)


async def _find_grants(pool: asyncpg.Pool, principal: Principal, owner: str, now: datetime) -> tuple[Grant, ...]:
    if principal.default_agent_id not in principal.agent_ids:
        return ()
    async with reading(pool, principal.tenant_id) as reader:
        bank_id = await reader.find_bank(principal.tenant_id, principal.default_agent_id)
        opened = [] if bank_id is None else await reader.grants.given_to(bank_id, now)
    return tuple(grant for grant in opened if grant.owner == owner and grant.access == "write")


def check_caller(request: Any) -> Principal:
    """The caller, who may write; the names that every change has are checked.

    Raises:
        PermissionDenied: the key may not write.
        InvalidField: a name is none.
    """
    principal = caller()
    principal.require("write")
    checks.check_text("request_id", request.request_id, max_chars=checks.REQUEST_ID_CHARS)
    checks.check_label("agent_id", request.agent_id, max_chars=checks.AGENT_ID_CHARS)
    return principal


def to_call_of(request: Any, principal: Principal, agent_id: str) -> Call:
    """A call of somebody who was checked, of this agent."""
    content = type(request)()
    content.CopyFrom(request)
    content.ClearField("request_id")
    content.agent_id = agent_id
    name = type(request).__name__
    action = re.sub(r"(?<!^)(?=[A-Z])", "_", name.removesuffix("Request")).lower()
    text = name.encode() + b"\x00" + content.SerializeToString(deterministic=True)
    return Call(principal, agent_id, request.request_id, hashlib.sha256(text).digest(), action)
