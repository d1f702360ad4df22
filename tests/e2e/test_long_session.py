"""Two hundred turns over the official client, as an agent would: observe, desk, context, tasks, and what became of them."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from hindsight_language.tokens import token_counter
from hindsight_memory import NewKey
from mcp import Client

from tests.e2e.conftest import Connector

SESSION, BUDGET = "long-1", 1200
TASKS, ROUNDS = 10, 5  # of four turns each
WISH = "By the way, I prefer window seats on trains, please keep that in mind. 顺便说一下，我不喝咖啡。"
CITIES = ("Lisbon", "Bergen", "Turin", "Ghent", "Split", "上海", "成都", "青岛", "厦门", "昆明")
ASKS = (
    "Please look up how many orders of customer {c} went to {city} in week {n}.",
    "请查一下客户 {c} 第 {n} 周有多少订单寄往{city}。",
)
ANSWERS = ("Customer {c} had {n} orders to {city} in that week.", "客户 {c} 那一周有 {n} 个订单寄往{city}。")


def turns_of(task: int, number: int) -> list[dict[str, Any]]:
    """One round: a request, a call of a tool, its answer, and what the agent says."""
    words = {"c": 4000 + task, "city": CITIES[task], "n": number + 1}
    said = ASKS[task % 2].format(**words)
    arguments = {"customer": words["c"], "week": words["n"]}
    if task == 0 and number == 0:
        said = f"{WISH} {said}"
    return [
        {"role": "user", "content": said},
        {"role": "tool_call", "tool": "count_orders", "arguments": arguments},
        {"role": "tool_result", "tool": "count_orders", "result": json.dumps({"count": words["n"], "city": words["city"]})},
        {"role": "assistant", "content": ANSWERS[task % 2].format(**words)},
    ]


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content or {}


async def test_two_hundred_turns_with_desk_context_tasks_and_reports(edge: Connector, worker: Callable[[], Awaitable[None]]):
    count = token_counter("gpt")
    key = await edge.key(default_agent_id="ada")
    observed, contexts, step = 0, [], ""
    async with edge.replica(toolsets="memory,session,desk") as url:
        connector = Connector(edge.services, url)
        async with connector.connect("http", key) as client:
            start = await call(client, "recall_context", session_id=SESSION, query="")
            assert start["text"] == ""
            for task in range(TASKS):
                for number in range(ROUNDS):
                    turns = turns_of(task, number)
                    observed += (await call(client, "observe", session_id=SESSION, turns=turns))["added"]
                    step = f"Week {number + 1} of customer {4000 + task} is counted."
                    await call(client, "desk_put", session_id=SESSION, key="progress", value=step, importance=0.3)
                question = f"Which seat does the user like, and how many orders went to {CITIES[task]}?"
                context = await call(client, "recall_context", session_id=SESSION, query=question, budget_tokens=BUDGET)
                contexts.append(context)
                assert count(context["text"]) <= BUDGET
                assert step in context["text"]
                await call(client, "complete_task", session_id=SESSION, outcome="success")
                await call(client, "report_outcome", receipt_id=context["receipt_id"], outcome="success", note=f"task {task}")
            listed = await call(client, "desk_get", session_id=SESSION)
            assert "progress" in json.dumps(listed)
            last = contexts[-1]["text"]
            assert "window seats" in last
            assert "不喝咖啡" in last
            await call(client, "end_session", session_id=SESSION)
            await worker()
            emptied = await call(client, "desk_get", session_id=SESSION)
            assert "progress" not in json.dumps(emptied)
            after = await call(client, "recall_context", session_id=SESSION, query="Which seat does the user like?")
            assert "window seats" in after["text"]
    assert observed == 4 * TASKS * ROUNDS
    async with await edge.services.connect(NewKey(tenant="acme", name="reader", default_agent_id="ada")) as reader:
        session = await reader.get_session(SESSION)
        assert len(session.tasks) >= TASKS
        assert {task.state for task in session.tasks} <= {"remembered", "nothing"}
        assert any(task.state == "remembered" for task in session.tasks)
        receipt = await reader_of_own(edge, key, contexts[-1]["receipt_id"])
        assert receipt == ("success", f"task {TASKS - 1}")


async def reader_of_own(edge: Connector, key: str, receipt_id: str) -> tuple[str, str]:
    """What was reported of a receipt, read with the key that asked."""
    async with await edge.services.connect(NewKey(tenant="acme", name="x", default_agent_id="ada")) as client:
        async with asyncio.timeout(20):
            receipt = await client.with_key(key).receipt(receipt_id)
        return receipt.outcome, receipt.note
