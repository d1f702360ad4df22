"""Writes and searches over MCP until its standard input ends, then prints what happened; runs in a container of the edge's image.

There a refused connection is a refused connection: in front of a published port Docker accepts for a container that is gone.
"""

import asyncio
import json
import sys
from collections import Counter

import httpx2

URL, KEY, AGENT = sys.argv[1:4]
WRITERS, SEARCHERS = 6, 3
PATIENCE_S = 60
HEADERS = {"Authorization": f"Bearer {KEY}", "Accept": "application/json, text/event-stream", "Connection": "close"}
RETRYABLE = {"UNAVAILABLE", "DEPENDENCY_UNAVAILABLE", "SHUTTING_DOWN"}

happened: Counter[str] = Counter()
acknowledged: dict[str, str] = {}
failures: list[str] = []


async def call(http: httpx2.AsyncClient, tool: str, arguments: dict) -> dict:
    """The answer to a call, repeated as its errors say; every try on a connection of its own."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    end = asyncio.get_running_loop().time() + PATIENCE_S
    while asyncio.get_running_loop().time() < end:
        try:
            answer = await http.post(URL, json=body, headers=HEADERS)
        except httpx2.ConnectError:
            happened["refused connection"] += 1
        except httpx2.TransportError as error:
            happened[f"no answer: {type(error).__name__}"] += 1
        else:
            if answer.status_code == 503:
                happened["503"] += 1
            elif answer.status_code != 200:
                failures.append(f"{tool}: {answer.status_code} {answer.text[:300]}")
                return {}
            else:
                result = answer.json()["result"]
                content = result.get("structuredContent") or json.loads(result["content"][0]["text"])
                happened[f"answered {tool}"] += 1
                if not result.get("isError"):
                    return content
                if content["error"] not in RETRYABLE:
                    failures.append(f"{tool}: {content}")
                    return {}
                happened[content["error"]] += 1
        await asyncio.sleep(0.1)
    failures.append(f"{tool}: not answered in {PATIENCE_S} s")
    return {}


async def write(http: httpx2.AsyncClient, number: int, stop: asyncio.Event) -> None:
    """One writer: statements that differ, each acknowledged before the next."""
    while not stop.is_set():
        name = f"{number}-{happened['writes']}"
        happened["writes"] += 1
        text = f"Parcel {name} left warehouse {number}."
        arguments = {"agent_id": AGENT, "memory_key": f"parcel {name}", "memory_value": text, "request_id": f"{AGENT} {name}"}
        if written := await call(http, "memory_write", arguments):
            acknowledged[written["id"]] = text


async def search(http: httpx2.AsyncClient, stop: asyncio.Event) -> None:
    """One reader."""
    while not stop.is_set():
        await call(http, "memory_search", {"agent_id": AGENT, "query": "Which parcels left the warehouse?"})


async def main() -> None:
    """Load until standard input ends."""
    stop = asyncio.Event()
    async with httpx2.AsyncClient(timeout=60, trust_env=False) as http, asyncio.TaskGroup() as tasks:
        for number in range(WRITERS):
            tasks.create_task(write(http, number, stop))
        for _ in range(SEARCHERS):
            tasks.create_task(search(http, stop))
        print("loading", flush=True)
        await asyncio.to_thread(sys.stdin.read)
        stop.set()
    print(json.dumps({"happened": happened, "acknowledged": acknowledged, "failures": failures}))


asyncio.run(main())
