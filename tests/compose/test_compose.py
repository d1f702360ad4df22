"""The Compose deployment as its users meet it. The tests follow one another: each finds what the one before left running."""

import asyncio
import json
import random
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from deployment import DOCKER, PROJECT, Deployment, until
from hindsight_memory import Hindsight, NewMemory
from mcp import Client

LOAD = Path(__file__).with_name("load.py")
BASE = "python:3.11-slim-bookworm"
LIMITS_MB = {"ingest": 250, "recall": 250, "mcp-edge": 250, "embed": 500}
MOST_HITS = 200  # of a memory_search
LASTING = ("postgres", "redis", "embed", "ingest", "worker", "recall", "mcp-edge")
RUNS_AS = {"postgres": "999", "redis": "999"} | dict.fromkeys(("embed", "ingest", "worker", "recall", "mcp-edge"), "10001")
MEMORIES = {
    "Which seat should I book for Ada?": ("seat preference", "Ada prefers a window seat on long flights."),
    "给小林点菜要注意什么？": ("饮食偏好", "小林不吃辣，喜欢清淡的菜。"),
}


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content or {}


async def write_and_search(deployment: Deployment, transport: str, agent_id: str) -> None:
    """Both languages, each written and found by sessions of their own."""
    for question, (key, value) in MEMORIES.items():
        async with deployment.connect(transport) as client:
            written = await call(client, "memory_write", agent_id=agent_id, memory_key=key, memory_value=value)
        async with deployment.connect(transport) as client:
            found = await call(client, "memory_search", agent_id=agent_id, query=question)
        assert (found["memories"][0]["id"], found["memories"][0]["value"]) == (written["id"], value)


async def search_all(deployment: Deployment, agent_id: str) -> list[str]:
    async with deployment.connect("http") as client:
        return [(await call(client, "memory_search", agent_id=agent_id, query=q))["memories"][0]["value"] for q in MEMORIES]


def values() -> list[str]:
    return [value for _, value in MEMORIES.values()]


def test_images_are_small(deployment: Deployment, capsys: pytest.CaptureFixture[str]):
    def size_mb(image: str) -> float:
        return json.loads(deployment.docker("image", "inspect", image))[0]["Size"] / 1e6

    base = size_mb(BASE)
    above = {name: size_mb(f"hindsight-{name}:{deployment.environment['HINDSIGHT_TAG']}") - base for name in LIMITS_MB}
    with capsys.disabled():
        print(f"\nbase {base:.0f} MB; above it: " + ", ".join(f"{name} {size:.0f} MB" for name, size in above.items()))
    assert {name: size < LIMITS_MB[name] for name, size in above.items()} == dict.fromkeys(LIMITS_MB, True)


async def test_up_starts_everything_and_may_be_repeated(deployment: Deployment, capsys: pytest.CaptureFixture[str]):
    first_s = deployment.up()
    before = {c["Id"] for c in deployment.containers()}
    key, again_s = deployment.key, deployment.up()
    assert ({c["Id"] for c in deployment.containers()}, deployment.key) == (before, key)
    assert await deployment.health() == "ok"
    with capsys.disabled():
        print(f"\nup from nothing {first_s:.0f} s, once more {again_s:.0f} s")


def test_every_container_is_confined(deployment: Deployment):
    for container in deployment.containers(*LASTING):
        host, name = container["HostConfig"], container["Config"]["Labels"]["com.docker.compose.service"]
        assert (name, host["ReadonlyRootfs"], host["Init"], host["CapDrop"]) == (name, True, True, ["ALL"])
        assert (host["SecurityOpt"], host["Privileged"]) == (["no-new-privileges:true"], False)
        assert host["Memory"] > 0
        assert host["PidsLimit"] > 0
        status = deployment.docker("exec", container["Id"], "cat", "/proc/self/status")
        lines = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        assert (name, lines["Uid"].split()[0], int(lines["CapEff"], 16), lines["NoNewPrivs"]) == (name, RUNS_AS[name], 0, "1")
        touched = deployment.docker(
            "exec", container["Id"], "sh", "-c", "touch /hindsight 2>&1; touch /tmp/x && rm /tmp/x", check=False
        )
        assert "Read-only file system" in touched, (name, touched)
        published = {b["HostIp"] for bindings in (host["PortBindings"] or {}).values() for b in bindings}
        assert (name, published) == (name, {"127.0.0.1"} if name == "mcp-edge" else set())


def test_the_lists_of_the_readme_verify(deployment: Deployment):
    tables = deployment.compose("exec", "-T", "postgres", "psql", "-U", "postgres", "-d", "hindsight", "-Atc", r"\dt")
    assert {"memories", "memory_relations", "memory_hits"} <= {line.split("|")[1] for line in tables.splitlines()}
    assert deployment.compose("exec", "-T", "redis", "redis-cli", "ping").strip() == "PONG"
    assert "yes" in deployment.compose("exec", "-T", "redis", "redis-cli", "config", "get", "appendonly").split()
    keys = json.loads(deployment.compose("run", "--rm", "-T", "ctl", "key", "list", "--json"))
    assert {key["name"] for key in keys} == {"operator", "default"}
    for service, folder in (("postgres", "/var/lib/postgresql/data"), ("redis", "/data")):
        deployment.compose("exec", "-T", service, "sh", "-c", f"touch {folder}/written && rm {folder}/written")


def test_each_container_knows_its_own_secrets_only(deployment: Deployment):
    secrets = dict(line.split("=", 1) for line in (deployment.secrets / "drawn.env").read_text().split())
    known = {
        "postgres": {"OWNER_PASSWORD"},
        "redis": {"REDIS_PASSWORD"},
        "embed": {"EMBED_TOKEN"},
        "ingest": {"INGEST_PASSWORD", "REDIS_PASSWORD", "EMBED_TOKEN", "RECORD_TOKEN"},
        "worker": {"INGEST_PASSWORD", "MAINTENANCE_PASSWORD", "REDIS_PASSWORD", "EMBED_TOKEN"},
        "recall": {"RECALL_PASSWORD", "REDIS_PASSWORD", "EMBED_TOKEN", "RECORD_TOKEN"},
        "mcp-edge": set(),
    }
    for service, expected in known.items():
        environment = "\n".join(deployment.containers(service)[0]["Config"]["Env"])
        assert (service, {name for name, value in secrets.items() if value in environment}) == (service, expected)
    assert {oct(f.stat().st_mode & 0o777) for f in deployment.secrets.iterdir()} == {"0o600"}
    assert oct(deployment.secrets.stat().st_mode & 0o777) == "0o700"


@pytest.mark.parametrize("transport", ["http", "sse", "stdio"])
async def test_a_memory_is_written_and_found_over(deployment: Deployment, transport: str):
    await write_and_search(deployment, transport, f"over-{transport}")


async def test_three_recalls_share_the_load(deployment: Deployment, capsys: pytest.CaptureFixture[str]):
    deployment.up("--scale", "recall=3")
    replicas = deployment.containers("recall")
    assert len(replicas) == 3

    def counts() -> list[int]:
        return [deployment.count_in_log(r, "answered call", "RecallService/Recall") for r in replicas]

    async with deployment.connect("http") as client:

        async def search_and_count() -> list[int]:
            for _ in range(6):
                await call(client, "memory_search", agent_id="over-http", query="seat")
            return counts()

        learnt_s = await until(search_and_count, lambda each: min(each) >= 2)
        before, calls = counts(), 300
        for _ in range(calls):
            await call(client, "memory_search", agent_id="over-http", query="seat")
    shares = [(after - was) / calls for after, was in zip(counts(), before, strict=True)]
    with capsys.disabled():
        print(f"\nnew replicas had calls after {learnt_s:.1f} s; shares {[round(s, 3) for s in shares]}")
    assert sum(shares) == 1
    assert all(0.25 <= share <= 0.42 for share in shares), shares
    deployment.up("--scale", "recall=1")


@pytest.mark.parametrize("service", LASTING)
async def test_a_killed_container_comes_back(deployment: Deployment, service: str, capsys: pytest.CaptureFixture[str]):
    container = deployment.containers(service)[0]
    began = time.monotonic()
    # From inside, since Docker takes `docker kill` for a wish that it stay down: SIGKILL to the process under init.
    kill = "read -r children < /proc/1/task/1/children; kill -9 ${children%% *}"
    deployment.docker("exec", container["Id"], "sh", "-c", kill, check=False)

    async def restarts() -> int:
        return json.loads(deployment.docker("inspect", container["Id"]))[0]["RestartCount"]

    await until(restarts, lambda count: count > container["RestartCount"])
    await deployment.becomes_ok()

    async def serves() -> Any:
        """Both kinds of work: while either's service comes back, a client is told to try again."""
        try:
            await write_and_search(deployment, "http", f"after-{service}")
            return await search_all(deployment, "over-http")
        except Exception as error:  # noqa: BLE001 - told in the failure, if it stays
            return error

    await until(serves, lambda answer: answer == values(), deployment.logs)
    took_s = time.monotonic() - began
    with capsys.disabled():
        print(f"\n{service} killed: well again after {took_s:.1f} s")


async def test_containers_may_start_in_any_order(deployment: Deployment, capsys: pytest.CaptureFixture[str]):
    random_order = random.Random(7).sample(LASTING, len(LASTING))
    for order in (tuple(reversed(LASTING)), tuple(random_order)):
        containers = {service: deployment.containers(service)[0]["Id"] for service in LASTING}
        deployment.compose("stop")
        for service in order:
            deployment.docker("start", containers[service])
            await asyncio.sleep(2)
        took_s = await deployment.becomes_ok()
        assert await search_all(deployment, "over-http") == values()
        with capsys.disabled():
            print(f"\nstarted as {', '.join(order)}: well {took_s:.1f} s after the last")


async def test_without_the_database_services_say_what_they_wait_for(deployment: Deployment):
    recall = deployment.containers("recall")[0]
    marks = ("waiting for dependency", "postgresql")
    before = deployment.count_in_log(recall, *marks)
    deployment.compose("stop", "postgres")
    try:
        deployment.docker("restart", recall["Id"])

        async def waiting() -> int:
            return deployment.count_in_log(recall, *marks) - before

        await until(waiting, lambda count: count > 0)
        await until(deployment.health, lambda status: status == "unavailable")
    finally:
        deployment.compose("start", "postgres")
    await deployment.becomes_ok()


async def find_all(client: Any, agent_id: str, prefix: str) -> dict[str, str]:
    """Every memory whose key begins with the prefix. A search shows at most 200, so a larger answer is taken apart by the next
    character of the key."""
    arguments = {"agent_id": agent_id, "query": "parcel warehouse", "top_k": MOST_HITS}
    found = (await call(client, "memory_search", **arguments, key_filter=f"{prefix}*"))["memories"]
    if len(found) == MOST_HITS:
        found = (await call(client, "memory_search", **arguments, key_filter=prefix))["memories"]
        parts = [await find_all(client, agent_id, prefix + character) for character in "0123456789-"]
        return {m["id"]: m["value"] for m in found} | {id_: value for part in parts for id_, value in part.items()}
    return {m["id"]: m["value"] for m in found}


@pytest.mark.parametrize("service", ["recall", "ingest", "mcp-edge"])
@pytest.mark.parametrize("action", ["restart", "stop"])
async def test_a_stop_under_load_drops_nothing(
    deployment: Deployment, service: str, action: str, capsys: pytest.CaptureFixture[str]
):
    agent_id = f"load-{action}-{service}"
    edge = deployment.containers("mcp-edge")[0]
    answered_before = {mark: deployment.count_in_log(edge, mark) for mark in ("calling tool", "answered tool", "refused tool")}
    load = [DOCKER, "run", "--rm", "-i", "--init", "--network", f"{PROJECT}_services", edge["Config"]["Image"], "python", "-c"]
    load += [LOAD.read_text(), "http://mcp-edge:8080/mcp", deployment.key, agent_id]
    process = subprocess.Popen(  # noqa: ASYNC220 - read in a thread
        load, env=deployment.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert await asyncio.to_thread(process.stdout.readline) == "loading\n"
        await asyncio.sleep(3)
        began = time.monotonic()
        deployment.compose(action, service)
        took_s = time.monotonic() - began
        if action == "stop":
            await asyncio.sleep(2)
            deployment.compose("start", service)
        await deployment.becomes_ok()
        await asyncio.sleep(3)
        process.stdin.close()
        report = json.loads(await asyncio.to_thread(process.stdout.read))
    finally:
        process.stdin.close()  # by which the load ends
        await asyncio.to_thread(process.stdout.read)
        process.wait()
        process.stdout.close()
    with capsys.disabled():
        print(f"\n{action} of {service} took {took_s:.1f} s under load: {report['happened']}")
    happened = Counter(report["happened"])
    assert report["failures"] == []
    assert [what for what in happened if what.startswith("no answer")] == []  # refused, or connected and answered
    # Every call that reached a tool was answered, and its answer reached the client.
    answered_after = {mark: deployment.count_in_log(edge, mark) for mark in answered_before}
    calls, answers, refusals = (answered_after[m] - answered_before[m] for m in answered_before)
    assert calls == answers + refusals == happened["answered memory_write"] + happened["answered memory_search"]
    assert len(report["acknowledged"]) > 20
    async with deployment.connect("http") as client:
        stored = await find_all(client, agent_id, "parcel ")
    assert {id_: stored.get(id_) for id_ in report["acknowledged"]} == report["acknowledged"]
    assert len(set(stored.values())) == len(stored)  # nothing twice


async def test_down_is_quick_and_the_data_stay(deployment: Deployment, capsys: pytest.CaptureFixture[str]):
    down_s = deployment.make("down")
    again_s = deployment.make("down")
    key = deployment.key
    up_s = deployment.up()
    with capsys.disabled():
        print(f"\ndown {down_s:.1f} s, once more {again_s:.1f} s; up again {up_s:.1f} s")
    assert down_s < 10
    assert deployment.key == key
    assert await search_all(deployment, "over-http") == values()


async def test_the_grpc_overlay_publishes_ingest_and_recall(deployment: Deployment):
    deployment.up(overlays="grpc")
    ingest, recall = (f"127.0.0.1:{deployment.environment[f'HINDSIGHT_{name}_PORT']}" for name in ("INGEST", "RECALL"))
    async with Hindsight(api_key=deployment.key, ingest_address=ingest, recall_address=recall) as memory:
        written = await memory.write(NewMemory("城市", "小林住在成都。"), agent_id="over-grpc")
        hits = (await memory.recall("小林住在哪里？", agent_id="over-grpc")).hits
    assert hits[0].memory.id == written.memory_id
    hosts = {
        b["HostIp"] for c in deployment.containers() for some in (c["HostConfig"]["PortBindings"] or {}).values() for b in some
    }
    assert hosts == {"127.0.0.1"}


async def test_the_scale_overlay_spreads_edges_and_keeps_sessions(deployment: Deployment, capsys: pytest.CaptureFixture[str]):
    deployment.up(overlays="scale")
    edges = deployment.containers("mcp-edge")
    assert (len(edges), len(deployment.containers("recall"))) == (2, 3)
    await deployment.becomes_ok()

    async def both_up() -> list[int]:
        await write_and_search(deployment, "http", "over-proxy")
        return [deployment.count_in_log(edge, "answered tool") for edge in edges]

    await until(both_up, lambda each: min(each) > 0)
    before = [deployment.count_in_log(edge, "answered tool") for edge in edges]
    async with deployment.connect("http") as client:
        for _ in range(60):
            await call(client, "memory_search", agent_id="over-proxy", query="seat")
    shares = [(deployment.count_in_log(edge, "answered tool") - was) / 60 for edge, was in zip(edges, before, strict=True)]
    with capsys.disabled():
        print(f"\nshares of the edges {[round(s, 2) for s in shares]}")
    assert all(0.4 <= share <= 0.6 for share in shares), shares
    for _ in range(4):  # each message of a session must reach the edge that holds it
        await write_and_search(deployment, "sse", "over-proxy-sse")
    deployment.make("down", overlays="scale")
