"""The official MCP client over every transport, against real services."""

import json
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

TRANSPORTS = ("stdio", "stdio-older", "http", "http-older", "sse")
TOOLS = [
    "memory_write",
    "memory_search",
    "memory_update",
    "memory_forget",
    "observe",
    "complete_task",
    "report_outcome",
    "recall_context",
]
ENGLISH = {
    "key": "seat preference",
    "value": "Ada prefers a window seat on long flights.",
    "question": "Which seat should I book for Ada?",
    "correction": "Ada prefers an aisle seat on long flights now.",
}
CHINESE = {
    "key": "饮食偏好",
    "value": "小林不吃辣，喜欢清淡的菜。",
    "question": "给小林点菜要注意什么？",
    "correction": "小林现在喜欢吃微辣的菜。",
}


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured content of a call that must succeed; its text says the same, without escapes."""
    result = await client.call_tool(tool, {"agent_id": "ada"} | arguments)
    text = result.content[0].text  # pyright: ignore[reportAttributeAccessIssue]
    assert not result.is_error, text
    assert json.loads(text) == result.structured_content
    assert "\\u" not in text
    return result.structured_content


async def refuse(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The error of a call that must be refused."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return json.loads(result.content[0].text)  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_memory_outlives_its_session_and_is_corrected_and_forgotten(edge, transport: str):
    api_key = await edge.key()
    for words in (ENGLISH, CHINESE):
        async with edge.connect(transport, api_key) as client:
            written = await call(client, "memory_write", memory_key=words["key"], memory_value=words["value"])
        assert (written["outcome"], written["revision"], written["adjustments"]) == ("created", 1, [])
        async with edge.connect(transport, api_key) as client:
            found = await call(client, "memory_search", query=words["question"])
            first = found["memories"][0]
            assert (first["id"], first["value"], first["source"]) == (written["id"], words["value"], "user")
            assert "content rank 1" in first["why"]
            change = {"memory_value": words["correction"], "revision": first["revision"]}
            updated = await call(client, "memory_update", memory_id=written["id"], **change)
            assert (updated["id"], updated["revision"]) == (written["id"], 2)
            found = await call(client, "memory_search", query=words["question"])
            assert found["memories"][0]["value"] == words["correction"]
            forgotten = await call(client, "memory_forget", memory_key=words["key"])
            assert forgotten == {"outcome": "forgotten", "mode": "delete", "count": 1, "memory_ids": [written["id"]]}
            found = await call(client, "memory_search", query=words["question"])
            assert found["memories"] == []
            assert found["hint"]


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_every_transport_tells_the_same_about_the_server(edge, transport: str):
    async with edge.connect(transport, await edge.key()) as client:
        assert client.server_info is not None
        assert client.server_info.name == "hindsight"
        assert "memory_search" in (client.instructions or "")
        assert client.protocol_version == ("2025-11-25" if transport in ("stdio-older", "http-older", "sse") else "2026-07-28")
        assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
        assert (await client.list_resources()).resources == []
        templates = (await client.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == ["memory://{agent_id}/{memory_id}"]
        prompt = await client.get_prompt("recall_first", {"agent_id": "ada", "question": "座位？"})
        assert "座位？" in prompt.messages[0].content.text  # pyright: ignore[reportAttributeAccessIssue]


REFUSED = {
    "text for a number": ({"query": "x", "top_k": "5"}, "top_k"),
    "text for an array": ({"query": "x", "tags": "a"}, "tags"),
    "number in an array": ({"query": "x", "tags": ["a", 1]}, "tags[1]"),
    "number for a text": ({"query": 7}, "query"),
    "fraction for a whole number": ({"query": "x", "top_k": 2.5}, "top_k"),
    "number for a flag": ({"query": "x", "include_archived": 1}, "include_archived"),
    "flag for a number": ({"query": "x", "top_k": True}, "top_k"),
    "null": ({"query": "x", "scope": None}, "scope"),
    "too many": ({"query": "x", "top_k": 201}, "top_k"),
    "unknown choice": ({"query": "x", "mode": "fuzzy"}, "mode"),
    "unknown name": ({"query": "x", "topk": 5}, "topk"),
    "missing": ({}, "query"),
    "blank": ({"query": " "}, "query"),
    "no time": ({"query": "x", "since": "yesterday"}, "since"),
    "time without offset": ({"query": "x", "until": "2026-01-01T00:00:00"}, "until"),
    "no such day": ({"query": "x", "until": "2026-02-30"}, "until"),
    "span that ends before it begins": ({"query": "x", "since": "2026-02-01", "until": "2026-01-01"}, "until"),
    "NUL": ({"query": "a\0b"}, "query"),
    "long text": ({"query": "长" * 1_000_000}, "query"),
    "scope": ({"query": "x", "scope": "User 42"}, "scope"),
    "key": ({"query": "x", "key_filter": "k" * 130}, "key_filter"),
}


async def test_what_is_wrong_with_arguments_is_told_by_field(edge):
    async with edge.connect("http", await edge.key()) as client:
        for case, (arguments, field) in REFUSED.items():
            error = await refuse(client, "memory_search", {"agent_id": "ada"} | arguments)
            assert (error["error"], list(error["fields"])) == ("INVALID_FIELD", [field]), case
            assert error["fields"][field], case
            assert error["next"], case


async def test_what_a_service_refuses_is_told_by_argument(edge):
    key = {"memory_key": "k", "memory_value": "v"}
    cases = [
        ("memory_write", {**key, "memory_value": "长" * 20_000}, "INVALID_FIELD", ["memory_value"]),
        ("memory_write", {**key, "metadata": {"a": "x" * 20_000}}, "INVALID_FIELD", ["metadata"]),
        ("memory_update", {"memory_id": "no-uuid", "importance": 1}, "INVALID_FIELD", ["memory_id"]),
        ("memory_update", {"memory_id": "01890a5d-ac96-774b-bcce-b302099a8057", "importance": 1}, "NOT_FOUND", []),
        ("memory_forget", {}, "INVALID_FIELD", ["memory_id"]),
    ]
    async with edge.connect("http", await edge.key()) as client:
        for tool, arguments, reason, fields in cases:
            error = await refuse(client, tool, {"agent_id": "ada"} | arguments)
            assert (error["error"], list(error.get("fields", {}))) == (reason, fields), (tool, error)


RAW = {  # what only a hand-written client sends -> the field named in the answer
    r'"memory_value": "half \ud83d an emoji"': "memory_value",
    r'"memory_value": "v", "tags": ["\udc00"]': "tags[0]",
    r'"memory_value": "v", "\ud800": 1': "\\",
    '"memory_value": "v", "importance": NaN': "importance",
    '"memory_value": "v", "importance": -Infinity': "importance",
    '"memory_value": "v", "importance": 1e999': "importance",
    '"memory_value": "v", "metadata": {"a": NaN}': "metadata.a",
    f'"memory_value": "v", "metadata": {{"a": {"[" * 5_000}{"]" * 5_000}}}': "metadata.a",
    f'"memory_value": "v", "metadata": {"[" * 20}{"]" * 20}': "metadata",
    '"memory_value": "v", "metadata": {"a": 12345678901234567890}': "metadata.a",
    f'"memory_value": "v", "memory_query": {"[" * 500}{"]" * 500}': "memory_query",
}


META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
}


def write_request(number: int, raw: str, *, is_newest: bool) -> str:
    meta = f'"_meta":{json.dumps(META)},' if is_newest else ""
    params = f'{meta}"name":"memory_write","arguments":{{"agent_id":"ada","memory_key":"k",{raw}}}'
    return f'{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{{params}}}}}'


def names_field(answer: dict[str, Any], field: str) -> bool:
    error = json.loads(answer["result"]["content"][0]["text"])
    return error["error"] == "INVALID_FIELD" and any(name.startswith(field) for name in error["fields"])


async def test_hostile_json_is_answered_by_field_in_both_eras(edge):
    headers = {"Authorization": f"Bearer {await edge.key()}", "Content-Type": "application/json"}
    headers |= {"Accept": "application/json, text/event-stream"}
    newest = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "memory_write"}
    async with httpx2.AsyncClient(headers=headers) as http:
        for number, (raw, field) in enumerate(RAW.items()):
            for is_newest in (False, True):
                body = write_request(number, raw, is_newest=is_newest)
                response = await http.post(f"{edge.url}/mcp", content=body, headers=newest if is_newest else {})
                answer = response.json()
                assert answer["id"] == number, answer
                assert names_field(answer, field), answer


@pytest.mark.parametrize("is_newest", [False, True])
async def test_hostile_json_is_answered_by_field_over_pipes(edge, is_newest: bool):
    opening = [] if is_newest else [json.dumps({**INITIALIZE, "id": -1})]
    lines = [write_request(number, raw, is_newest=is_newest) for number, raw in enumerate(RAW)]
    answers, _, _ = await edge.run_stdio(await edge.key(), *opening, *lines)
    by_id = {answer["id"]: answer for answer in answers}
    for number, field in enumerate(RAW.values()):
        assert names_field(by_id[number], field), by_id[number]


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


async def test_standard_output_carries_protocol_only_and_its_end_exits_with_0(edge):
    search = {"name": "memory_search", "arguments": {"agent_id": "ada", "query": "座位"}}
    lines = [
        json.dumps(INITIALIZE),
        '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        "this is no JSON",
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        json.dumps({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": search}),
    ]
    api_key = await edge.key()
    answers, err, code = await edge.run_stdio(api_key, *lines)
    assert code == 0
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert {answer["id"] for answer in answers} == {1, 2, 3, None}
    assert next(a for a in answers if a["id"] == 3)["result"]["structuredContent"]["memories"] == []
    assert api_key not in err
    assert "座位" not in err


async def test_stdio_without_input_exits_with_0_and_one_line(edge):
    answers, err, code = await edge.run_stdio(await edge.key())
    assert (answers, code, len(err.splitlines())) == ([], 0, 1)


async def test_stdio_starts_without_services_and_its_tools_say_what_to_do(edge, tmp_path: Path):
    nowhere = {f"HINDSIGHT_{name}_ADDRESS": f"unix:{tmp_path}/none" for name in ("INGEST", "RECALL")}
    parameters = StdioServerParameters(command=edge.command, args=["--stdio"], env=edge.environment("hs_any") | nowhere)
    async with Client(stdio_client(parameters)) as client:
        error = await refuse(client, "memory_search", {"agent_id": "ada", "query": "seat"})
    assert error["error"] == "UNAVAILABLE"
    assert "HINDSIGHT_RECALL_ADDRESS" in error["next"]


async def test_another_tenants_key_sees_nothing_through_any_tool_or_resource(edge):
    async with edge.connect("http", await edge.key()) as owner:
        written = await call(owner, "memory_write", memory_key=CHINESE["key"], memory_value=CHINESE["value"])
        uri = f"memory://ada/{written['id']}"
        assert json.loads((await owner.read_resource(uri)).contents[0].text)["value"] == CHINESE["value"]  # pyright: ignore
    async with edge.connect("http", await edge.key(tenant="thief")) as thief:
        for mode in ("hybrid", "semantic", "tag"):
            found = await call(thief, "memory_search", query=CHINESE["question"], mode=mode)
            assert found["memories"] == []
        change = {"agent_id": "ada", "memory_id": written["id"]}
        assert (await refuse(thief, "memory_update", change | {"importance": 0}))["error"] == "NOT_FOUND"
        assert (await refuse(thief, "memory_forget", change))["error"] == "NOT_FOUND"
        assert (await call(thief, "memory_forget", memory_key=CHINESE["key"]))["count"] == 0
        with pytest.raises(MCPError) as refusal:
            await thief.read_resource(uri)
        assert refusal.value.error.data == {"reason": "NOT_FOUND"}
    async with edge.connect("http", await edge.key()) as owner:
        assert (await call(owner, "memory_search", query=CHINESE["question"]))["count"] == 1


async def test_a_key_limited_to_a_user_sees_no_other_user(edge):
    for user in ("42", "43"):
        async with edge.connect("http", await edge.key(scopes=[f"user:{user}"])) as client:
            await call(client, "memory_write", memory_key="seat", memory_value=f"User {user} prefers row {user}.")
    async with edge.connect("http", await edge.key(scopes=["user:42"])) as client:
        found = await call(client, "memory_search", query="Which row?", top_k=50)
        assert {m["scope"] for m in found["memories"]} == {"user:42"}
        refused = await refuse(client, "memory_search", {"agent_id": "ada", "query": "Which row?", "scope": "user:43"})
        assert refused["error"] == "PERMISSION_DENIED"
    async with edge.connect("http", await edge.key(scopes=["user:*"])) as client:
        error = await refuse(client, "memory_search", {"agent_id": "ada", "query": "Which row?"})
        assert list(error["fields"]) == ["scope"]


async def test_filters_narrow_and_the_source_is_kept(edge):
    async with edge.connect("http", await edge.key()) as client:
        given = {"source": "tool session:s1 turn:7", "tags": ["travel"], "metadata": {"n": 1}, "is_core": True, "importance": 1}
        written = await call(client, "memory_write", memory_key="order status", memory_value="Order A17 has shipped.", **given)
        assert written["adjustments"] == [{"field": "importance", "asked": 1.0, "stored": 0.95}]
        matching = {"key_filter": "order*", "tags": ["travel", "x"], "min_importance": 0.9, "since": "2020-01-01", "kind": "fact"}
        found = await call(client, "memory_search", query="Where is order A17?", until="2100-01-01T00:00:00+08:00", **matching)
        assert [m["source"] for m in found["memories"]] == ["tool session:s1 turn:7"]
        others = {"key_filter": "seat*", "tags": ["y"], "min_importance": 0.99, "since": "2100-01-01", "kind": "entity"}
        for name, value in (others | {"until": "2020-01-01", "scope": "user:1"}).items():
            found = await call(client, "memory_search", query="Where is order A17?", **{name: value})
            assert found["count"] == (1 if name == "scope" else 0), name
        assert (await call(client, "memory_search", query="", mode="tag", tags=["travel"]))["count"] == 1


@pytest.mark.parametrize("transport", ["stdio", "stdio-older", "http", "sse"])
async def test_deleting_by_key_asks_and_does_nothing_when_declined(edge, transport: str):
    questions: list[str] = []
    answers: list[types.ElicitResult] = [types.ElicitResult(action="decline"), types.ElicitResult(action="accept", content={})]

    async def answer(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        questions.append(params.message)
        return answers.pop(0)

    async with edge.connect(transport, await edge.key(), elicitation_callback=answer) as client:
        await call(client, "memory_write", memory_key="口味", memory_value=CHINESE["value"])
        declined = await call(client, "memory_forget", memory_key="口味")
        assert (declined["outcome"], declined["count"]) == ("declined", 0)
        assert (await call(client, "memory_forget", memory_key="口味", mode="fade"))["count"] == 1
        assert (await call(client, "memory_forget", memory_key="口味"))["count"] == 1
    assert len(questions) == 2
    assert all("口味" in question for question in questions)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_two_replicas_answer_one_client_in_turn(edge, mode: str):
    async with edge.replica() as second:
        headers = {"Authorization": f"Bearer {await edge.key()}"}
        alternating = Alternating([edge.url, second])
        async with httpx2.AsyncClient(headers=headers, transport=alternating, timeout=30) as http:
            options: dict[str, Any] = {"elicitation_callback": accept}
            transport = streamable_http_client("http://127.0.0.1/mcp", http_client=http)
            async with Client(transport, mode=mode, **options) as client:
                for number in range(4):
                    await call(client, "memory_write", memory_key=f"seat {number}", memory_value=f"Row {number} is free.")
                    assert (await call(client, "memory_search", query=f"Is row {number} free?"))["count"] == number + 1
                assert (await call(client, "memory_forget", memory_key="seat 0"))["count"] == 1
        assert min(alternating.sent) >= 4


async def accept(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={})


class Alternating(httpx2.AsyncBaseTransport):
    """Sends each request to the next of several servers."""

    def __init__(self, urls: list[str]) -> None:
        self._urls = [httpx2.URL(url) for url in urls]
        self._inner = httpx2.AsyncHTTPTransport()
        self.sent = [0] * len(urls)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        turn = sum(self.sent) % len(self._urls)
        self.sent[turn] += 1
        request.url = request.url.copy_with(host=self._urls[turn].host, port=self._urls[turn].port)
        request.headers["Host"] = self._urls[turn].netloc.decode()
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self._inner.aclose()
