"""The remember tool set over the official client: a text and a scope are enough."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client

from tests.e2e.conftest import Connector


@pytest.fixture
async def opened(edge: Connector):
    """Opens a client of an edge with the remember tools."""
    api_key = await edge.key(default_agent_id="ada")

    @asynccontextmanager
    async def connected() -> AsyncIterator[Client]:
        async with edge.replica(toolsets="remember") as url, Connector(edge.services, url).connect("http", api_key) as client:
            yield client

    return connected


@pytest.fixture
async def tools(opened):
    @asynccontextmanager
    async def calling() -> AsyncIterator[Callable[..., Awaitable[dict[str, Any]]]]:
        async with opened() as client:

            async def call(tool: str, **arguments: Any) -> dict[str, Any]:
                answer = await client.call_tool(tool, {"scope": "user:42"} | arguments)
                return answer.structured_content or json.loads(getattr(answer.content[0], "text", ""))

            yield call

    return calling


async def test_the_instructions_name_the_tools_that_are_there(opened):
    async with opened() as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["remember", "recall", "forget"]
        assert "call recall" in client.instructions
        assert "memory_search" not in client.instructions


@pytest.mark.parametrize(
    ("content", "question", "key"),
    [
        (
            "Remember that Ada prefers a window seat on long flights.",
            "Which seat should I book for Ada?",
            "Ada prefers a window seat on long flights",
        ),
        ("请记住：小林不吃辣，喜欢清淡的菜。", "给小林点菜要注意什么？", "小林不吃辣"),
    ],
)
async def test_what_is_remembered_is_recalled_and_forgotten_by_its_key(tools, content, question, key):
    async with tools() as call:
        written = await call("remember", content=content)
        assert (written["outcome"], written["key"]) == ("created", key)
        assert key in written["query"]
        found = await call("recall", query=question)
        assert [(m["id"], m["value"], m["confidence"], m["scope"]) for m in found["memories"]] == [
            (written["id"], content, 0.8, "user:42")
        ]
        assert (found["degraded"], bool(found["receipt_id"])) == (False, True)
        assert await call("forget", mem_key=key) == {"outcome": "forgotten", "count": 1, "memory_ids": [written["id"]]}
        assert (await call("recall", query=question))["memories"] == []


async def test_what_is_unsure_is_recalled_from_the_desk_and_forgotten_there(tools):
    async with tools() as call:
        unsure = await call("remember", content="Ada may be allergic to peanuts.", confidence=0.3, key="allergy")
        assert (unsure["outcome"], unsure["id"]) == ("working", "")
        found = await call("recall", query="Is Ada allergic to peanuts?", top_k=1)
        first = found["memories"][0]
        assert (first["kind"], first["key"], first["confidence"], first["scope"]) == ("desk", "allergy", 0.3, "user:42")
        assert found["from_desk"]
        assert await call("forget", mem_key="allergy") == {"outcome": "forgotten", "count": 1, "memory_ids": []}
        assert (await call("recall", query="Is Ada allergic to peanuts?"))["memories"] == []


async def test_nothing_relevant_is_an_answer_and_says_what_to_do(tools):
    async with tools() as call:
        await call("remember", content="Ada's cat is called Pepper.")
        found = await call("recall", query="How do I renew a passport in Japan?")
        assert (found["memories"], found["count"], bool(found["hint"])) == ([], 0, True)


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("remember", {"content": " "}, "content"),
        ("remember", {"content": "x", "confidence": 1.1}, "confidence"),
        ("remember", {"content": "中" * 20_000}, "content"),
        ("remember", {"content": "x", "scope": "User 42"}, "scope"),
        ("recall", {"query": ""}, "query"),
        ("recall", {"query": "x", "top_k": "5"}, "top_k"),
        ("forget", {"mem_key": ""}, "mem_key"),
        ("forget", {"mem_key": "k", "scope": "User 42"}, "scope"),
        ("forget", {"key": "k"}, "key"),
    ],
)
async def test_what_is_wrong_is_told_by_the_arguments_name(tools, tool, arguments, field):
    async with tools() as call:
        refused = await call(tool, **arguments)
        assert (refused["error"], next(iter(refused["fields"])), bool(refused["next"])) == ("INVALID_FIELD", field, True)
