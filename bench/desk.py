"""What a put on a desk costs, beside what it cannot cost less than: a trivial gRPC call to the same server and a bare script call.

Rounds alternate, so that what else the machine does falls on all three; the ratio is of the medians.
"""

import argparse
import asyncio
import json
import platform
import statistics
import subprocess
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from hindsight.v1 import desk_pb2, desk_pb2_grpc
from hindsight_local.trial import Instance, running
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


async def measure(instance: Instance, *, budget: str) -> None:
    """Print the medians and their ratio."""
    secrets = json.loads((instance.home / "secrets.json").read_text())
    ports = json.loads((instance.home / "ports.json").read_text())
    address = f"127.0.0.1:{instance.ports['ingest']}"
    metadata = (("authorization", f"Bearer {instance.api_key}"),)
    url = f"redis://:{secrets['valkey_password']}@127.0.0.1:{ports['valkey']}/0"
    async with grpc.aio.insecure_channel(address) as channel, Redis.from_url(url) as redis:
        desk = desk_pb2_grpc.DeskServiceStub(channel)
        health = health_pb2_grpc.HealthStub(channel)
        script = redis.register_script("return redis.call('TIME')")

        def put(number: int) -> Awaitable[object]:
            value = VALUES[number % 2].format(number)
            entry = desk_pb2.PutEntryRequest(scope=SCOPE, key=f"step {number % 400}", value=value)
            return desk.PutEntry(entry, metadata=metadata, timeout=10)

        acts: dict[str, Callable[[int], Awaitable[object]]] = {
            "trivial gRPC call": lambda _: health.Check(health_pb2.HealthCheckRequest(), timeout=10),
            "bare script call": lambda _: script(),
            "desk put": put,
        }
        took: dict[str, list[float]] = {name: [] for name in acts}
        for number in range(ROUNDS + 1):
            for name, act in acts.items():
                each = await time_calls(act, number * CALLS)
                took[name] += each if number else []  # the first warms up
        p50 = {name: statistics.median(each) for name, each in took.items()}
        print(f"{budget}: " + ", ".join(f"{name} p50 {value:.2f} ms" for name, value in p50.items()))
        print(f"{budget}: ratio {p50['desk put'] / (p50['trivial gRPC call'] + p50['bare script call']):.2f}")


async def main() -> None:
    """Measure with a desk that has room, and with one that evicts at every put."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    print(f"{datetime.now(UTC):%Y-%m-%d}, commit {commit or 'unknown'}, {platform.machine()}, Python {platform.python_version()}")
    for budget, window in (("with room", "128000"), ("evicting", "10000")):
        async with running({"HINDSIGHT_CONTEXT_WINDOW": window}) as instance:
            await measure(instance, budget=budget)


if __name__ == "__main__":
    asyncio.run(main())
