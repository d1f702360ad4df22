"""Every MCP tool under hostile arguments and every endpoint under random bytes: an answer in the protocol, no traceback."""

import asyncio
import json
import os
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from hindsight_memory import NewKey

from tests.e2e.conftest import serving_edge
from tests.fuzz.hostile import json_value, text

CASES = int(os.environ.get("FUZZ_CASES", "10000"))
CALLERS = 8
SEED = os.environ.get("FUZZ_SEED", "hindsight")
SHOWN = 8
MAX_ANSWER_S = 15
CODE = re.compile(
    r'Traceback|File "|\b(Key|Type|Value|Attribute|Unicode\w+|Recursion|Runtime|Index)Error\b|site-packages|pydantic'
)
TRACEBACK = re.compile(r'Traceback|File "|site-packages')  # what is no JSON-RPC at all, the SDK answers in its own words
RAW = (
    '"\\ud800"',
    '"\\udfff\\ud800"',
    "NaN",
    "Infinity",
    "-Infinity",
    "1e400",
    "9" * 400,
    "[" * 5000,
    '{"a":' * 3000,
    '"\\u0000"',
    "'",
    "",
)
PLAUSIBLE: dict[str, Any] = {
    "agent_id": "ada",
    "memory_key": "drink",
    "memory_value": "Ada likes tea.",
    "query": "tea",
    "scope": "agent",
}
MARK = "\x01raw\x01"  # replaced by JSON that no encoder writes
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@asynccontextmanager
async def connected(services) -> AsyncIterator[httpx2.AsyncClient]:
    """An HTTP client of an edge over the services."""
    _, key = await services.operator.create_key(NewKey(tenant="acme", default_agent_id="ada"))
    headers = HEADERS | {"Authorization": f"Bearer {key}"}
    async with serving_edge(services) as url, httpx2.AsyncClient(base_url=url, headers=headers, timeout=MAX_ANSWER_S) as client:
        yield client


def body(method: str, params: Any, raw: str = "") -> bytes:
    """A JSON-RPC request; MARK in it stands for raw JSON."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    written = json.dumps(message, ensure_ascii=True).replace(json.dumps(MARK), raw or "null")
    return written.encode()


async def list_tools(client) -> list[dict[str, Any]]:
    answer = await client.post("/mcp", content=body("tools/list", {}))
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]["tools"]


def arguments(rng: random.Random, tool: dict[str, Any]) -> tuple[dict[str, Any], str, str]:
    """Mostly plausible arguments with a hostile one; its name and the raw JSON in it."""
    schema = tool["inputSchema"]
    given = {name: PLAUSIBLE.get(name, "x") for name in schema.get("required", ())}
    spoiled = rng.choice([*schema["properties"], "no_such_argument", text(rng)[:40]])
    raw = ""
    if rng.random() < 0.3:
        given[spoiled], raw = MARK, rng.choice(RAW)
        if rng.random() < 0.3:
            given[spoiled] = {"a": [MARK]}
    elif rng.random() < 0.1 and spoiled in given:
        del given[spoiled]
    else:
        given[spoiled] = json_value(rng)
    return given, spoiled, raw


def find_wrong(answer: httpx2.Response, names: set[str], spoiled: str) -> Iterator[str]:
    """What is wrong with the answer to a tool call."""
    if CODE.search(answer.text):
        yield "tells of the code"
    if answer.status_code >= 500:
        yield f"HTTP {answer.status_code}"
    try:
        reply = answer.json()
    except ValueError:
        yield "no JSON"
        return
    if "error" in reply and isinstance(reply["error"], dict) and reply["error"].get("code") == -32603:
        yield "internal error"
    result = reply.get("result")
    if result is None:
        return
    if result.get("isError"):
        told = result["content"][0]["text"]
        kind = json.loads(told).get("error", "") if told.startswith("{") else ""
        if kind in ("INTERNAL", "UNKNOWN", ""):
            yield f"error {kind}"
        if (
            kind == "INVALID_FIELD"
            and not any(name in told for name in names)
            and spoiled not in names
            and spoiled[:8] not in told
        ):
            yield "names no argument"


async def test_no_arguments_break_a_tool(services, capsys):
    async with connected(services) as edge:
        await attack_tools(edge, capsys)


async def attack_tools(edge, capsys) -> None:
    tools = await list_tools(edge)
    assert tools
    failures: list[str] = []
    for tool in tools:
        outcomes: Counter[str] = Counter()
        names = set(tool["inputSchema"]["properties"])
        numbers = iter(range(CASES))

        async def attack(tool=tool, names=names, outcomes=outcomes, numbers=numbers) -> None:
            for number in numbers:
                rng = random.Random(f"{SEED}/{tool['name']}/{number}")
                given, spoiled, raw = arguments(rng, tool)
                answer = await edge.post("/mcp", content=body("tools/call", {"name": tool["name"], "arguments": given}, raw))
                outcomes[outcome(answer)] += 1
                if wrong := list(find_wrong(answer, names, spoiled)):
                    shown = f"{tool['name']} case {number}, {spoiled[:40]!r} raw {raw[:20]!r}: {wrong}: {answer.text[:300]}"
                    failures.append(shown)

        async with asyncio.TaskGroup() as tasks:
            for _ in range(CALLERS):
                tasks.create_task(attack())
        with capsys.disabled():
            print(f"\n{tool['name']:<24}{CASES:>7}  {dict(outcomes)}", end="")
    assert not failures, "\n".join(failures[:SHOWN])
    assert await list_tools(edge) == tools


def outcome(answer: httpx2.Response) -> str:
    """What became of a call, in a word."""
    if answer.status_code != 200:
        return f"HTTP {answer.status_code}"
    reply = answer.json()
    if "error" in reply:
        return f"error {reply['error'].get('code')}"
    return "refused" if reply["result"].get("isError") else "ok"


async def test_no_bytes_break_an_endpoint(services):
    async with connected(services) as edge:
        await attack_endpoints(edge)


async def attack_endpoints(edge) -> None:
    good = body("tools/call", {"name": "memory_search", "arguments": PLAUSIBLE})
    failures = []
    for number in range(CASES):
        rng = random.Random(f"{SEED}/bytes/{number}")
        sent = bytearray(good if rng.random() < 0.7 else rng.randbytes(rng.randrange(400)))
        for _ in range(rng.randrange(4)):
            place = rng.randrange(len(sent) + 1)
            sent[place : place + rng.randrange(3)] = rng.choice(
                (rng.randbytes(2), b"\xed\xa0\x80", b"\\ud800", b"[" * 2000, b"null", b"")
            )
        path = rng.choice(("/mcp", "/mcp", "/mcp", "/mcp/messages", "/mcp/", "/"))
        answer = await edge.post(path, content=bytes(sent))
        if answer.status_code >= 500 or TRACEBACK.search(answer.text):
            failures.append(f"case {number} {path}: {answer.status_code} {answer.text[:200]}: {bytes(sent)[:100]!r}")
    assert not failures, "\n".join(failures[:SHOWN])
    assert await list_tools(edge)
