"""Tool-using runs as sessions: each is observed and completed, and what looking back made of it is asked for.

A question is how the customer opens the next run of a task; right are the experiences of that task's earlier runs.
"""

import asyncio
import json
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hindsight_memory import Filter, Hindsight, Memory, Turn

RUNS = Path("data/experience/tau_gpt4o_airline.json")  # below the folder of shared data; see SOURCE.md there
EARLIER = 3  # of a task's four runs
STOP = "###STOP###"  # by which the simulated customer hangs up; nobody says it
BATCH = 128
CALLS = 4
SETTLE_S = 1800
TOP_K = 10


def to_turns(messages: Sequence[Mapping[str, Any]]) -> list[Turn]:
    """A run's messages as turns, without the policy that opens it."""
    turns = []
    for message in messages:
        role, content = message["role"], (message.get("content") or "").replace(STOP, "")
        if role == "tool":
            turns.append(Turn("tool_result", tool=message["name"], result=content[:30_000]))
        elif role in ("user", "assistant") and content.strip():
            turns.append(Turn(role, content))
        for call in message.get("tool_calls") or ():
            function = call["function"]
            turns.append(Turn("tool_call", tool=function["name"], arguments=json.loads(function["arguments"])))
    return turns


async def observe_run(client: Hindsight, agent_id: str, run: Mapping[str, Any]) -> None:
    """Observe a run in its session and say that its task is over."""
    session_id, turns = name_of(run), to_turns(run["traj"])
    for start in range(0, len(turns), BATCH):
        await client.observe(session_id, turns[start : start + BATCH], agent_id=agent_id)
    await client.complete_task(session_id, outcome="success" if run["reward"] else "failure", agent_id=agent_id)


def name_of(run: Mapping[str, Any]) -> str:
    """The session of a run."""
    return f"{run['task_id']}.{run['trial']}"


async def settle(client: Hindsight, agent_id: str, sessions: Sequence[str]) -> None:
    """Wait until every task has been looked back on."""
    async with asyncio.timeout(SETTLE_S):
        for session_id in sessions:
            while await _waits(client, agent_id, session_id):  # noqa: ASYNC110 - jobs have no event
                await asyncio.sleep(0.5)


async def _waits(client: Hindsight, agent_id: str, session_id: str) -> bool:
    return any(task.state == "waiting" for task in (await client.get_session(session_id, agent_id=agent_id)).tasks)


async def measure_runs(client: Hindsight, shared: Path) -> list[str]:
    """Lines of figures: experiences per run, and how often all earlier runs of the task are among the first ten."""
    runs = json.loads((shared / RUNS).read_text())
    agent_id = f"runs-{uuid.uuid4().hex[:8]}"
    earlier = [run for run in runs if run["trial"] < EARLIER]
    limit = asyncio.Semaphore(CALLS)

    async def observe(run: Mapping[str, Any]) -> None:
        async with limit:
            await observe_run(client, agent_id, run)

    async with asyncio.TaskGroup() as tasks:
        for run in earlier:
            tasks.create_task(observe(run))
    await settle(client, agent_id, [name_of(run) for run in earlier])
    only = Filter(kinds=("experience",))
    made: defaultdict[str, int] = defaultdict(int)
    async for memory in client.list(only, agent_id=agent_id):
        made[memory.source.session_id] += 1
    lines = [
        f"{len(earlier)} runs observed: {sum(made.values())} experiences, of {len(made)} runs; "
        f"most of one run {max(made.values(), default=0)}"
    ]
    found_all, found_any, first = 0, 0, 0
    asked = [run for run in runs if run["trial"] == EARLIER]
    for run in asked:
        opening = next(m["content"] for m in run["traj"] if m["role"] == "user")
        answer = await client.recall(opening, where=only, top_k=TOP_K, agent_id=agent_id)
        found = [h.subject.source.session_id for h in answer.hits if isinstance(h.subject, Memory)]
        gold = {name_of(r) for r in earlier if r["task_id"] == run["task_id"]}
        found_all += gold <= set(found)
        found_any += bool(gold & set(found))
        first += bool(found) and found[0] in gold
    share = 100 / len(asked)
    lines.append(
        f"by the next run's first message ({len(asked)}): all@{TOP_K} {found_all * share:.1f}, "
        f"any@{TOP_K} {found_any * share:.1f}, hit@1 {first * share:.1f}"
    )
    return lines
