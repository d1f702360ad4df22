"""What a put on a desk costs, beside what it cannot cost less than: a gRPC call that does nothing, and a bare script call.

The call that does nothing has the same request, answer and boundary, in a process of its own, and no key to look up.

The three take turns call by call, so that what else the machine does falls on all of them, and none is measured while its process
does nothing else; the ratio is of the medians. In rounds of fifty equal calls Redis is warmer for the bare script than any put
finds it: that ratio is printed too.
"""

import argparse
import asyncio
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import grpc
import uvloop
from hindsight.v1 import desk_pb2, desk_pb2_grpc, memory_pb2
from hindsight_local.trial import Instance, free_ports, running
from hindsight_memory import NewKey
from hindsight_runtime.identity import NoAuthentication, Principal
from hindsight_runtime.logs import configure_logs
from hindsight_runtime.serving import Service, serving
from redis.asyncio import Redis

WAYS = {"in turns": (1000, 1), "in rounds of fifty": (20, 50)}  # rounds, and calls of each sort in a round
VALUES = (
    "The form is at step {0}; the customer's number is C-{0} and the order goes to Lisbon.",
    "表单已填到第{0}步，客户编号 C-{0}，订单寄往上海，收件人要求周五前送达。",
)
SCOPE = "session:bench"


Act = Callable[[int], Awaitable[object]]


async def time_acts(acts: Mapping[str, Act], rounds: int, calls: int) -> dict[str, float]:
    """The median of what each act takes, in ms; the first round warms up."""
    took: dict[str, list[float]] = {name: [] for name in acts}
    for first in range(0, (rounds + 1) * calls, calls):
        for name, act in acts.items():
            for number in range(first, first + calls):
                began = time.perf_counter()
                await act(number)
                took[name].append(1000 * (time.perf_counter() - began))
    return {name: statistics.median(each[calls:]) for name, each in took.items()}


class Idle(desk_pb2_grpc.DeskServiceServicer):
    """Answers every put, and puts nothing."""

    async def PutEntry(self, request: desk_pb2.PutEntryRequest, context: Any) -> desk_pb2.PutEntryResponse:  # noqa: N802 - gRPC
        """The entry as it was given."""
        entry = memory_pb2.DeskEntry(scope=request.scope, key=request.key, value=request.value, tokens=25, uses=1)
        return desk_pb2.PutEntryResponse(entry=entry, used_tokens=25, budget_tokens=38_400)


async def serve_idle(port: int) -> None:
    """Serve until the process is stopped."""
    configure_logs("idle", "INFO")
    service = Service(
        NoAuthentication(Principal.of_anyone(1, "default")),
        lambda server: desk_pb2_grpc.add_DeskServiceServicer_to_server(Idle(), server),
        ("hindsight.v1.DeskService",),
    )
    async with serving(service, f"127.0.0.1:{port}", max_calls=64, grace_s=1):
        await asyncio.Event().wait()


@asynccontextmanager
async def idling() -> AsyncIterator[desk_pb2_grpc.DeskServiceStub]:
    """A stub of a service that does nothing, in a process of its own."""
    (port,) = free_ports(1)
    process = await asyncio.create_subprocess_exec(sys.executable, __file__, "--idle", str(port))
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            async with asyncio.timeout(30):
                await channel.channel_ready()
            yield desk_pb2_grpc.DeskServiceStub(channel)
    finally:
        process.terminate()
        await process.wait()


async def measure(instance: Instance, *, budget: str) -> None:
    """Print the medians and their ratios."""
    secrets = json.loads((instance.home / "secrets.json").read_text())
    ports = json.loads((instance.home / "ports.json").read_text())
    address = f"127.0.0.1:{instance.ports['ingest']}"
    async with instance.client() as client:
        _, key = await client.with_key(instance.operator_key).create_key(NewKey(tenant="bench", default_agent_id="ada"))
    metadata = (("authorization", f"Bearer {key}"),)
    url = f"redis://:{secrets['redis_password']}@127.0.0.1:{ports['redis']}/0"
    async with grpc.aio.insecure_channel(address) as channel, Redis.from_url(url) as redis, idling() as idle:
        desk = desk_pb2_grpc.DeskServiceStub(channel)
        script = redis.register_script("return redis.call('TIME')")

        def entry(number: int) -> desk_pb2.PutEntryRequest:
            return desk_pb2.PutEntryRequest(scope=SCOPE, key=f"step {number % 400}", value=VALUES[number % 2].format(number))

        acts: dict[str, Act] = {
            "trivial gRPC call": lambda n: idle.PutEntry(entry(n), metadata=metadata, timeout=10),
            "bare script call": lambda _: script(),
            "desk put": lambda n: desk.PutEntry(entry(n), metadata=metadata, timeout=10),
        }
        for way, (rounds, calls) in WAYS.items():
            p50 = await time_acts(acts, rounds, calls)
            ratio = p50["desk put"] / (p50["trivial gRPC call"] + p50["bare script call"])
            told = ", ".join(f"{name} p50 {value:.2f} ms" for name, value in p50.items())
            print(f"{budget}, {way}: {told}; ratio {ratio:.2f}")


async def run() -> None:
    """Measure with a desk that has room, and with one that evicts at every put."""
    for budget, window in (("with room", "128000"), ("evicting", "10000")):
        async with running({"HINDSIGHT_CONTEXT_WINDOW": window}) as instance:
            await measure(instance, budget=budget)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--idle", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.idle:
        uvloop.run(serve_idle(given.idle))
        return
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    print(f"{datetime.now(UTC):%Y-%m-%d}, commit {commit or 'unknown'}, {platform.machine()}, Python {platform.python_version()}")
    asyncio.run(run())


if __name__ == "__main__":
    main()
