"""What a put on a desk costs, beside what it cannot cost less than: a gRPC call that does nothing, and a bare script call.

The call that does nothing has the same request, answer and boundary, in a process of its own, and no key to look up.

Rounds alternate, so that what else the machine does falls on all three; the ratio is of the medians.
"""

import argparse
import asyncio
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
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

ROUNDS, CALLS = 20, 50
VALUES = (
    "The form is at step {0}; the customer's number is C-{0} and the order goes to Lisbon.",
    "表单已填到第{0}步，客户编号 C-{0}，订单寄往上海，收件人要求周五前送达。",
)
SCOPE = "session:bench"


async def time_calls(act: Callable[[int], Awaitable[object]], first: int) -> list[float]:
    """Milliseconds of each of a round's calls."""
    took = []
    for number in range(first, first + CALLS):
        began = time.perf_counter()
        await act(number)
        took.append(1000 * (time.perf_counter() - began))
    return took


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
    """Print the medians and their ratio."""
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

        acts: dict[str, Callable[[int], Awaitable[object]]] = {
            "trivial gRPC call": lambda n: idle.PutEntry(entry(n), metadata=metadata, timeout=10),
            "bare script call": lambda _: script(),
            "desk put": lambda n: desk.PutEntry(entry(n), metadata=metadata, timeout=10),
        }
        took: dict[str, list[float]] = {name: [] for name in acts}
        for number in range(ROUNDS + 1):
            for name, act in acts.items():
                each = await time_calls(act, number * CALLS)
                took[name] += each if number else []  # the first warms up
        p50 = {name: statistics.median(each) for name, each in took.items()}
        print(f"{budget}: " + ", ".join(f"{name} p50 {value:.2f} ms" for name, value in p50.items()))
        print(f"{budget}: ratio {p50['desk put'] / (p50['trivial gRPC call'] + p50['bare script call']):.2f}")


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
