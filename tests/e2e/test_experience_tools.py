"""The experience tool set over the official client: written after one task, found before the next."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.e2e.conftest import Connector

EXPERIENCE = {
    "goal": "Look up the open orders of a customer",
    "outcome": "success",
    "scenario_summary": "Querying orders in the shop's database by customer",
    "key_steps": ["find the customer by e-mail", "query orders by user_id"],
    "pitfalls": ["`uid` failed: unknown column; `user_id` worked"],
    "tags": ["database", "query", "order"],
}
CHINESE = {
    "goal": "查询客户的退款进度",
    "outcome": "failure",
    "scenario_summary": "在支付平台按订单号查退款",
    "pitfalls": ["金额单位是分，不是元"],
    "reusable_knowledge": ["退款接口需要 out_refund_no"],
    "tags": ["api", "query", "payment"],
}


@pytest.fixture
async def experiences(edge: Connector):
    """Opens a client of an edge with the experience tools: a function that calls one and returns its content."""
    api_key = await edge.key(default_agent_id="ada")

    @asynccontextmanager
    async def opened() -> AsyncIterator[Callable[..., Awaitable[dict[str, Any]]]]:
        async with edge.replica(toolsets="experience") as url, Connector(edge.services, url).connect("http", api_key) as client:

            async def call(tool: str, **arguments: Any) -> dict[str, Any]:
                answer = await client.call_tool(tool, arguments)
                return answer.structured_content or json.loads(getattr(answer.content[0], "text", ""))

            yield call

    return opened


async def test_an_experience_is_found_by_the_next_task_like_it_in_both_languages(experiences):
    async with experiences() as call:
        first = await call("write_memory", **EXPERIENCE)
        second = await call("write_memory", **CHINESE)
        assert (first["outcome"], second["outcome"]) == ("created", "created")
        found = await call("search_memory", query="which orders does this customer have open?")
        best = found["experiences"][0]
        assert best["id"] == first["id"]
        assert {name: best[name] for name in EXPERIENCE} == EXPERIENCE
        assert best["reusable_knowledge"] == []
        assert (await call("search_memory", query="退款到哪一步了？"))["experiences"][0]["id"] == second["id"]


async def test_tag_mode_needs_no_query_and_lists_all_of_a_category(experiences):
    async with experiences() as call:
        await call("write_memory", **EXPERIENCE)
        await call("write_memory", **CHINESE)
        found = await call("search_memory", mode="tag", tags=["query"])
        assert found["count"] == 2
        assert (await call("search_memory", mode="tag", tags=["payment"]))["count"] == 1
        assert (await call("search_memory"))["fields"].keys() == {"query"}


async def test_success_and_failure_of_one_goal_are_two_experiences(experiences):
    async with experiences() as call:
        first = await call("write_memory", **EXPERIENCE)
        second = await call("write_memory", **EXPERIENCE | {"outcome": "failure", "pitfalls": ["the replica was down"]})
        assert second["outcome"] == "created"
        found = await call("search_memory", mode="tag", tags=["order"])
        assert {e["id"]: e["outcome"] for e in found["experiences"]} == {first["id"]: "success", second["id"]: "failure"}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"outcome": "great"}, "outcome"),
        ({"goal": " "}, "goal"),
        ({"scenario_summary": "x" * 513}, "scenario_summary"),
        ({"key_steps": "one"}, "key_steps"),
        ({"key_steps": ["x" * 1000] * 60}, "key_steps"),
        ({"tags": [1]}, "tags[0]"),
    ],
)
async def test_what_does_not_fit_is_refused_by_name(experiences, change, field):
    async with experiences() as call:
        refused = await call("write_memory", **EXPERIENCE | change)
        assert refused["error"] == "INVALID_FIELD"
        assert list(refused["fields"]) == [field]
