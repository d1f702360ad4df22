"""The second attempt: whether an agent that reads what its first run taught gets the same kind of task right at once.

First round: each family's request is worked on without experience; the naive call fails, the right one follows; the turns go
to `observe` one by one, and the task ends by `complete_task`, by thanks, or by what the user asks next. Second round: the
other request of each family, in three arms: without memory, with memory, and with the experience of another family.
The agent is a script (scripted_agent.py) that reads the texts `search_memory` gives it.
"""

import asyncio
import math
import random
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from families import Answered, Attempt, Family, World, load_families
from hindsight_local.trial import Instance
from hindsight_memory import Hindsight, NewKey, Task
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from scripted_agent import READ, plan

NAME = "second-attempt"
TOOLSETS = "memory,experience,session"
SETTLE_S = 180
SEED = 20261130
ARMS = ("without", "with", "shuffled")
Z = 1.96  # 95 %
THANKS = {"en": "Thanks!", "zh": "谢谢！"}
NEXT = {"en": "Which of our offices is open on Saturdays?", "zh": "周六咱们哪个办公室开门？"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the second request of a family went in each arm; whether its first run was remembered, and found again."""

    family: Family
    is_right: Mapping[str, bool]
    is_remembered: bool
    is_found: bool


class Edge:
    """The MCP tools as the agent of a key calls them."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A tool's structured content."""
        answer = await self._client.call_tool(tool, arguments)
        assert not answer.is_error, answer.content
        return answer.structured_content or {}

    async def search(self, query: str) -> list[str]:
        """The texts of the best experiences: all the agent sees."""
        found = await self.call("search_memory", query=query, limit=READ)
        return [one["text"] for one in found["experiences"]]


@asynccontextmanager
async def connect(url: str, api_key: str) -> AsyncIterator[Edge]:
    """The edge at a URL by the official client."""
    async with AsyncExitStack() as stack:
        headers = {"Authorization": f"Bearer {api_key}"}
        http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=60))
        server = streamable_http_client(f"{url}/mcp", http_client=http)
        yield Edge(await stack.enter_async_context(Client(server)))


def first_run(family: Family) -> Iterator[dict[str, Any]]:
    """The turns of the first round, as `observe` takes them."""
    yield {"role": "user", "content": family.first.request}
    for one in family.earlier:
        yield from _to_turns(one)
    yield from _to_turns(Answered(family.first.naive, family.error), is_error=not family.seems_fine)
    if family.correction:
        yield {"role": "user", "content": family.correction}
    for one in family.first.right:
        yield from _to_turns(one)
    if family.reply:
        yield {"role": "assistant", "content": family.reply}


def _to_turns(one: Answered, *, is_error: bool = False) -> list[dict[str, Any]]:
    asked = {"role": "tool_call", "tool": one.call.tool, "arguments": dict(one.call.arguments)}
    return [asked, {"role": "tool_result", "tool": one.call.tool, "result": one.result, "is_error": is_error}]


async def work_first(edge: Edge, family: Family, number: int) -> None:
    """Work on a family's first request; half of the tasks end by the client's word, the others by what the user says."""
    for turn in first_run(family):
        await edge.call("observe", session_id=family.name, turns=[turn])
    if number % 2 == 0:
        await edge.call("complete_task", session_id=family.name)
        return
    said = NEXT if number % 4 == 3 and family.reply else THANKS
    await edge.call("observe", session_id=family.name, turns=[{"role": "user", "content": said[family.lang]}])


def is_first_try_right(family: Family, attempt: Attempt, texts: Sequence[str]) -> bool:
    """Whether one who has read the texts makes the right call without any that is refused before it."""
    world, planned = World(family, attempt), plan(attempt.naive, texts)
    answers: dict[str, str] = {}
    for call in planned.before:
        answer = world.call(call)
        if answer is None:
            return False
        answers[call.tool] = answer
    return world.call(planned.fill(answers)) is not None


async def read_told(client: Hindsight, agent_id: str, families: Sequence[Family]) -> dict[str, str]:
    """What was remembered of each family's first run, once all have been looked back on; "" where nothing was."""
    told = dict.fromkeys((one.name for one in families), "")
    for family in families:
        tasks: Sequence[Task] = ()
        while not tasks or any(task.state == "waiting" for task in tasks):
            await asyncio.sleep(0.2)  # jobs have no event
            tasks = (await client.get_session(family.name, agent_id=agent_id)).tasks
        made = [task.experience_id for task in tasks if task.experience_id]
        if made:
            told[family.name] = (await client.get(made[0], agent_id=agent_id)).value
    return told


def derange(names: Sequence[str], seed: int = SEED) -> dict[str, str]:
    """Another name for each name, at random: a cycle through all of them."""
    order = list(names)
    random.Random(seed).shuffle(order)
    return dict(zip(order, order[1:] + order[:1], strict=True))


async def try_again(edge: Edge, empty: Edge, families: Sequence[Family], told: Mapping[str, str]) -> list[Outcome]:
    """The second round."""
    outcomes, other = [], derange([one.name for one in families])
    for family in families:
        attempt = family.again
        texts = {
            "without": await empty.search(attempt.request),
            "with": await edge.search(attempt.request),
            "shuffled": [told[other[family.name]]],
        }
        right = {arm: is_first_try_right(family, attempt, texts[arm]) for arm in ARMS}
        own = told[family.name]
        outcomes.append(Outcome(family, right, bool(own), own in texts["with"]))
    return outcomes


async def measure_second_attempts(instance: Instance, client: Hindsight) -> list[str]:
    """Lines of figures: how often the first try at the second request is right, by arm, trap and language."""
    families, run = load_families(), uuid.uuid4().hex[:8]
    agents = {name: f"second-{name}-{run}" for name in ("with", "without")}
    url = f"http://127.0.0.1:{instance.ports['edge']}"
    async with AsyncExitStack() as stack:
        operator = await stack.enter_async_context(
            Hindsight(api_key=instance.operator_key, ingest_address=f"127.0.0.1:{instance.ports['ingest']}")
        )
        edges = {}
        for name, agent_id in agents.items():
            _, secret = await operator.create_key(NewKey(tenant="default", default_agent_id=agent_id))
            edges[name] = await stack.enter_async_context(connect(url, secret))
        for number, family in enumerate(families):
            await work_first(edges["with"], family, number)
        async with asyncio.timeout(SETTLE_S):
            told = await read_told(client, agents["with"], families)
        return tabulate(await try_again(edges["with"], edges["without"], families, told))


def tabulate(outcomes: Sequence[Outcome]) -> list[str]:
    """The table: by trap, by language, all with 95 % Wilson intervals; and which families went wrong with memory, and where."""
    groups: dict[str, list[Outcome]] = {}
    for one in outcomes:
        groups.setdefault(one.family.trap, []).append(one)
    for lang in ("en", "zh"):
        groups[lang] = [one for one in outcomes if one.family.lang == lang]
    groups["all"] = list(outcomes)
    lines = [f"{'':14}{'tasks':>6}" + "".join(f"{arm:>10}" for arm in ARMS)]
    for name, members in groups.items():
        right = Counter(arm for one in members for arm in ARMS if one.is_right[arm])
        lines.append(f"{name:14}{len(members):6}" + "".join(f"{right[arm]:10}" for arm in ARMS))
    for arm in ARMS:
        right = sum(one.is_right[arm] for one in outcomes)
        low, high = wilson(right, len(outcomes))
        lines.append(f"first try right, {arm} memory: {100 * right / len(outcomes):.1f} %, 95 % Wilson [{low:.1f}, {high:.1f}]")
    lines += [f"wrong with memory: {one.family.name} ({_tell_why(one)})" for one in outcomes if not one.is_right["with"]]
    return lines


def _tell_why(one: Outcome) -> str:
    return "not understood" if one.is_found else "not found" if one.is_remembered else "not remembered"


def wilson(right: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share, in per cent."""
    share, spread = right / of, Z**2 / of
    middle = share + spread / 2
    half = Z * math.sqrt(share * (1 - share) / of + spread / (4 * of))
    return 100 * (middle - half) / (1 + spread), 100 * (middle + half) / (1 + spread)
