"""Every MCP tool and resource by every credential that may not: refused, or answered as if the thing did not exist."""

import json
import uuid
from typing import Any

import httpx2
import pytest
from hindsight_mcp_edge.settings import TOOLSETS
from hindsight_memory import NewEntry, NewGrant, NewKey, NewMemory, Turn
from hindsight_store.ids import uuid7
from mcp.shared.exceptions import MCPError

from tests.e2e.conftest import Connector
from tests.integration.test_matrix import until_there

RIGHTS = ("read", "write", "admin")
TOOLS = {tool.name for tools in TOOLSETS.values() for tool in tools}
TURN = {"role": "user", "content": "Hello there."}
# What is asked of each tool; "$" stands for what exists, or for what does not. After a slash, another
# way to ask.
ROWS: dict[str, dict[str, Any]] = {
    "memory_update": {"agent_id": "$agent", "memory_id": "$memory", "memory_value": "Stolen."},
    "memory_forget": {"agent_id": "$agent", "memory_id": "$memory"},
    "memory_search": {"agent_id": "$agent", "query": "vault code", "key_filter": "$key"},
    "search_memory": {"query": "vault code"},
    "complete_task": {"session_id": "$session"},
    "end_session": {"session_id": "$session"},
    "report_outcome": {"receipt_id": "$receipt", "outcome": "failure", "note": "Stolen."},
    "recall": {"query": "vault code", "scope": "user:1"},
    "remember": {"content": "The vault code has changed.", "scope": "user:1", "key": "k"},
    "forget": {"mem_key": "$key", "scope": "user:1"},
    "recall_context": {"session_id": "$session", "query": "vault code", "agent_id": "$agent"},
    "desk_get": {"session_id": "$session"},
    "desk_get/key": {"session_id": "$session", "key": "$key"},
    "desk_get/query": {"session_id": "$session", "query": "vault code"},
    "desk_pin": {"session_id": "$session", "key": "$key"},
    "desk_put": {"session_id": "$session", "key": "k", "value": "v"},
    "observe": {"session_id": "$session", "turns": [TURN], "agent_id": "$agent", "scope": "user:1"},
    "memory_write": {"agent_id": "$agent", "memory_key": "k", "memory_value": "v", "scope": "user:1"},
    "write_memory": {"goal": "g", "outcome": "success", "scenario_summary": "s"},
}
OF_THE_CALL = ("receipt_id", "id", "outcome", "revision", "put_at", "expires_at")
READING = ("memory_search", "search_memory", "recall", "recall_context", "desk_get")
TOLD = {("report_outcome", "a key of another scope")}  # as in the matrix of RPCs
LIMITS: dict[str, dict[str, Any]] = {
    "another tenant's key": {"tenant": "thief", "default_agent_id": "ada"},
    "another agent's key": {"default_agent_id": "bob", "agent_ids": ["bob"]},
    "another agent's key naming the agent": {"default_agent_id": "bob", "agent_ids": ["bob"]},
    "a key of another scope": {"default_agent_id": "ada", "scopes": ["user:2"]},
    "a key that only reads": {"default_agent_id": "ada", "rights": ["read"]},
}


@pytest.fixture
async def things(services) -> dict[str, str]:
    async with await services.connect(NewKey(tenant="acme", default_agent_id="ada", rights=RIGHTS)) as ada:
        memory = await ada.write(NewMemory("vault", "The vault code is 4471.", scope="user:1", kind="experience"))
        await ada.write(NewMemory("own", "Bob has a cat."), agent_id="bob")
        await ada.observe("s-4471", [Turn("user", "The vault code is 4471.")], scope="user:1")
        await ada.put_entry("session:s-4471", NewEntry("vault", "The vault code is 4471."))
        await ada.put_entry("user:1", NewEntry("vault", "The vault code is 4471."))
        ended = await ada.share(NewGrant("bob", "*", access="write"))
        await ada.unshare(ended.id)
        receipt_id = (await ada.recall("vault code")).receipt_id
        await until_there(ada, receipt_id)
    return {"memory": memory.memory_id, "session": "s-4471", "key": "vault", "receipt": receipt_id}


def test_every_tool_has_a_row():
    assert {row.partition("/")[0] for row in ROWS} == TOOLS


@pytest.mark.parametrize("name", LIMITS)
async def test_who_may_not_is_told_by_tools_what_is_told_of_nothing(edge: Connector, things: dict[str, str], name: str):
    secret = await edge.key(**LIMITS[name])
    agents = {"another agent's key": ("bob", "bob"), "another agent's key naming the agent": ("ada", "nobody")}
    absent = {"memory": str(uuid.uuid4()), "session": "s-none", "key": "none", "receipt": str(uuid7())}
    sides = [side | {"agent": agents.get(name, ("ada", "ada"))[n]} for n, side in enumerate((things, absent))]
    wrong = []
    async with edge.replica(toolsets=",".join(TOOLSETS)) as url, Connector(edge.services, url).connect("http", secret) as client:
        for row, template in ROWS.items():
            tool = row.partition("/")[0]
            if name == "a key that only reads" and tool in READING:
                continue
            answers = []
            for side in sides:
                given = {field: side[part[1:]] if str(part).startswith("$") else part for field, part in template.items()}
                result = await client.call_tool(tool, given)
                content = json.loads(getattr(result.content[0], "text", ""))
                answers.append((result.is_error, _without(content)))
            differs = answers[0] != answers[1] and (tool, name) not in TOLD
            if differs or "4471" in str(answers[0]) or things["memory"] in str(answers[0]):
                wrong.append((row, *answers))
            if name == "a key that only reads" and answers[0][1].get("error") != "PERMISSION_DENIED":
                wrong.append((row, "admitted", answers[0]))
        if name != "a key that only reads":
            refusals = [await _read(client, f"memory://{side['agent']}/{side['memory']}") for side in sides]
            assert refusals[0] == refusals[1]
    assert not wrong, "\n".join(map(str, wrong))


def _without(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {name: _without(part) for name, part in answer.items() if name not in OF_THE_CALL}
    return [_without(part) for part in answer] if isinstance(answer, list) else answer


async def _read(client: Any, uri: str) -> tuple[str, Any]:
    with pytest.raises(MCPError) as refused:
        await client.read_resource(uri)
    return str(refused.value), refused.value.error.data


async def test_a_revoked_and_an_expired_key_reach_no_tool(edge: Connector, things: dict[str, str]):
    key, secret = await edge.services.operator.create_key(edge.new_key(default_agent_id="ada"))
    await edge.services.operator.revoke_key(key.id, tenant="acme")
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "memory_search", "arguments": {}}}
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {secret}"}) as http:
        answer = await http.post(f"{edge.url}/mcp", json=body, headers={"Accept": "application/json, text/event-stream"})
    assert answer.status_code == 401


async def test_a_shared_memory_says_whose_it_is_and_an_own_one_does_not(edge: Connector, things: dict[str, str]):
    async with await edge.services.connect(NewKey(tenant="acme", default_agent_id="ada", rights=RIGHTS)) as ada:  # pyright: ignore[reportAttributeAccessIssue]
        await ada.share(NewGrant("bob", "user:1"))
    secret = await edge.key(default_agent_id="bob", agent_ids=["bob"])
    async with edge.replica(toolsets="memory,experience") as url, Connector(edge.services, url).connect("http", secret) as client:
        found = await client.call_tool("memory_search", {"agent_id": "bob", "query": "vault code"})
        owners = {hit["value"]: hit.get("agent_id") for hit in (found.structured_content or {})["memories"]}
        assert owners == {"The vault code is 4471.": "ada", "Bob has a cat.": None}
        found = await client.call_tool("search_memory", {"query": "vault code"})
        assert [one["agent_id"] for one in (found.structured_content or {})["experiences"]] == ["ada"]
