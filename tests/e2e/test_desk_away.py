"""What the tools answer while Redis is away: a clear error, or what is known without it."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from tests.e2e.conftest import Connector


@pytest.fixture
async def valkey() -> str:
    """The URL of a Valkey that does not answer."""
    return "redis://127.0.0.1:1/0"


@pytest.fixture
async def open_tools(edge: Connector) -> Callable[..., Any]:
    from contextlib import asynccontextmanager

    secret = await edge.key(default_agent_id="ada")

    @asynccontextmanager
    async def opened() -> AsyncIterator[Callable[..., Awaitable[dict[str, Any]]]]:
        async with (
            edge.replica(toolsets="remember,session,desk") as url,
            Connector(edge.services, url).connect("http", secret) as client,
        ):

            async def call(tool: str, **arguments: Any) -> dict[str, Any]:
                answer = await client.call_tool(tool, arguments)
                return answer.structured_content or json.loads(getattr(answer.content[0], "text", ""))

            yield call

    return opened


async def test_a_desk_that_is_away_is_an_error_that_says_what_to_do(open_tools):
    desk = {"session_id": "s-1"}
    async with open_tools() as call:
        for tool, given in (("desk_put", {"key": "k", "value": "v"}), ("desk_get", {}), ("desk_pin", {"key": "k"})):
            refused = await call(tool, **desk, **given)
            assert (refused["error"], bool(refused["next"])) == ("DEPENDENCY_UNAVAILABLE", True), tool
        refused = await call("desk_get", **desk, query="Where were we?")
        assert (refused["error"], bool(refused["next"])) == ("DESK_UNAVAILABLE", True)


async def test_memory_goes_on_without_the_desk_and_says_so(open_tools):
    async with open_tools() as call:
        written = await call("remember", content="Ada prefers a window seat.", scope="user:42", key="seat")
        assert written["outcome"] == "created"
        found = await call("recall", query="Which seat does Ada prefer?", scope="user:42")
        assert ([m["id"] for m in found["memories"]], found["degraded"], found["from_desk"]) == ([written["id"]], True, False)
        made = await call("recall_context", session_id="s-1", query="Which seat does Ada prefer?", scope="user:42")
        assert ([item["id"] for item in made["items"]], made["degraded"], made["missing_channels"]) == (
            [written["id"]],
            True,
            ["working"],
        )
        forgotten = await call("forget", mem_key="seat", scope="user:42")
        assert {name: forgotten[name] for name in ("outcome", "count", "memory_ids", "degraded")} == {
            "outcome": "forgotten",
            "count": 1,
            "memory_ids": [written["id"]],
            "degraded": True,
        }
