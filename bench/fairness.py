"""What one tenant's flood costs another: the quiet tenant's recalls and writes, alone and beside a tenant at ten times its limit.

Windows alternate, so that what else the machine does falls on both kinds; the ratio is of the medians of the windows' p99.
"""

import argparse
import asyncio
import platform
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from hindsight_local.trial import Instance, running
from hindsight_memory import Hindsight, HindsightError, NewKey, NewMemory
from hindsight_runtime.limits import Limits

WINDOWS = 5  # of each kind
PLACES = ("Lisbon", "Bergen", "Turin", "Kyoto", "Oaxaca", "Split", "Ghent", "Lima")
PLACES_ZH = ("上海", "成都", "青岛", "厦门", "西安", "昆明", "大连", "苏州")
MEMORIES = 200  # of each tenant at the start
RECALLS_PER_S, WRITES_PER_S = 8, 4  # of the quiet tenant
TIMES = 10  # the busy tenant's calls, of its limit
OUTSTANDING = 256  # calls of the flood
ADDRESSES = ("ingest", "recall")

Percentiles = dict[str, tuple[float, float]]  # what was called -> p50 and p99 in milliseconds


@dataclass(frozen=True, slots=True)
class Load:
    """How long a window is, and the limits of a tenant."""

    window_s: float
    calls_per_s: float
    concurrent: int


def memory(number: int) -> NewMemory:
    """A memory of its own words; every other one is Chinese."""
    place, place_zh, order = PLACES[number % 8], PLACES_ZH[number // 8 % 8], f"R-{100_000 + number}"
    if number % 2:
        return NewMemory(f"订单{order}", f"订单{order}寄往{place_zh}，由第{number % 97}号仓库发出。")
    return NewMemory(f"order {order}", f"Order {order} goes to {place} from warehouse {number % 97}.")


async def call_on(act: Callable[[int], Awaitable[object]], per_s: float, first: int, took_ms: list[float]) -> None:
    """Call at a steady pace, each call on time whatever the one before does, for as long as this is awaited."""
    async with asyncio.TaskGroup() as tasks:
        for number in range(first, sys.maxsize):
            tasks.create_task(time_call(act, number, took_ms))
            await asyncio.sleep(1 / per_s)


async def time_call(act: Callable[[int], Awaitable[object]], number: int, took_ms: list[float]) -> None:
    """Note how long a call took."""
    began = time.perf_counter()
    await act(number)
    took_ms.append(1000 * (time.perf_counter() - began))


async def measure(quiet: Hindsight, window_s: float, first: int) -> Percentiles:
    """One window of the quiet tenant."""
    took: dict[str, list[float]] = {"recall": [], "write": []}
    with suppress(TimeoutError):
        async with asyncio.timeout(window_s), asyncio.TaskGroup() as tasks:
            tasks.create_task(
                call_on(
                    lambda n: quiet.recall(f"Where does order R-{100_000 + n % MEMORIES} go?"),
                    RECALLS_PER_S,
                    first,
                    took["recall"],
                )
            )
            tasks.create_task(call_on(lambda n: quiet.write(memory(n)), WRITES_PER_S, first, took["write"]))
    return {name: percentiles(each) for name, each in took.items()}


def percentiles(took_ms: list[float]) -> tuple[float, float]:
    """The median, and the 99th percentile by nearest rank."""
    ordered = sorted(took_ms)
    return ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]


async def flood(client: Hindsight, per_s: float, first: int) -> Counter[str]:
    """Send recalls and writes, each at this rate, until standard input ends; what became of them."""
    outcomes: Counter[str] = Counter()
    stopped = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    pending: set[asyncio.Task[None]] = set()

    async def attempt(act: Callable[[], Awaitable[object]]) -> None:
        try:
            await act()
            outcomes["answered"] += 1
        except HindsightError as error:
            outcomes[error.reason] += 1

    began, sent = time.perf_counter(), 0
    while not stopped.done():
        due = int((time.perf_counter() - began) * per_s) - sent
        for _ in range(due):
            sent += 1
            if len(pending) >= OUTSTANDING:
                outcomes["not sent"] += 2
                continue
            new = memory(first + sent)
            for act in (
                lambda: client.recall("Which orders go to Lisbon? 哪些订单寄往上海？"),
                lambda new=new: client.write(new),
            ):
                task = asyncio.create_task(attempt(act))
                pending.add(task)
                task.add_done_callback(pending.discard)
        await asyncio.sleep(0.005)
    await asyncio.gather(*pending)
    return outcomes


@asynccontextmanager
async def flooding(instance: Instance, key: str, per_s: float, first: int) -> AsyncIterator[None]:
    """A flood from a process of its own inside the block."""
    addresses = [f"127.0.0.1:{instance.ports[name]}" for name in ADDRESSES]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, __file__, "--flood", key, *addresses, str(per_s), str(first), stdin=pipe, stdout=pipe
    )
    assert process.stdout is not None
    await process.stdout.readline()  # it has begun
    yield
    assert process.stdin is not None
    process.stdin.close()
    output = await process.stdout.read()
    await process.wait()
    print(f"  the busy tenant's calls: {output.decode().strip()}", flush=True)


async def run_flood(key: str, ingest: str, recall: str, per_s: str, first: str) -> None:
    """The process that floods."""
    async with Hindsight(api_key=key, ingest_address=ingest, recall_address=recall) as client:
        print("begun", flush=True)
        outcomes = await flood(client, float(per_s), int(first))
    print(", ".join(f"{count} {name}" for name, count in outcomes.most_common()))


async def run(load: Load) -> None:
    """Measure."""
    environment = {
        "HINDSIGHT_TENANT_CALLS_PER_S": str(load.calls_per_s),
        "HINDSIGHT_TENANT_CONCURRENT": str(load.concurrent),
    }
    async with running(environment) as instance, instance.client() as client:
        quiet_key, busy_key = [
            (await client.with_key(instance.operator_key).create_key(NewKey(tenant=name, default_agent_id="ada")))[1]
            for name in ("quiet", "busy")
        ]
        quiet = client.with_key(quiet_key)
        await asyncio.gather(fill(quiet), fill(client.with_key(busy_key)))
        await asyncio.sleep(2 + 10 / load.calls_per_s)  # until both have their balance back
        await measure(quiet, load.window_s / 2, MEMORIES)  # warms up
        windows: dict[str, list[Percentiles]] = {"alone": [], "beside": []}
        for number in range(1, WINDOWS + 1):
            first = MEMORIES + number * 100_000
            windows["alone"].append(show("alone", await measure(quiet, load.window_s, first)))
            async with flooding(instance, busy_key, TIMES * load.calls_per_s, first):
                windows["beside"].append(show("beside the flood", await measure(quiet, load.window_s, first + 50_000)))
    for name in ("recall", "write"):
        alone, beside = (statistics.median(window[name][1] for window in windows[kind]) for kind in ("alone", "beside"))
        print(f"{name}: median p99 {alone:.1f} ms alone, {beside:.1f} ms beside the flood: ratio {beside / alone:.2f}")


async def fill(tenant: Hindsight) -> None:
    """Write what a tenant has at the start, within its limit."""
    left = [[memory(number) for number in range(start, start + 10)] for start in range(0, MEMORIES, 10)]
    while left:
        try:
            await tenant.write_batch(left[-1])
            left.pop()
        except HindsightError as error:
            if error.retry_after_s is None:
                raise
            await asyncio.sleep(error.retry_after_s)


def show(kind: str, window: Percentiles) -> Percentiles:
    """Print a window and hand it on."""
    print(
        f"{kind}: " + "; ".join(f"{name} p50 {p50:.1f} ms, p99 {p99:.1f} ms" for name, (p50, p99) in window.items()), flush=True
    )
    return window


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--window-s", type=float, default=10.0, help="length of a window")
    parser.add_argument("--calls-per-s", type=float, default=10.0, help="a tenant's limit for each service")
    parser.add_argument("--concurrent", type=int, default=Limits().concurrent, help="a tenant's calls that run at once")
    parser.add_argument("--flood", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.flood:
        asyncio.run(run_flood(*given.flood))
        return
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    print(f"{datetime.now(UTC):%Y-%m-%d}, commit {commit or 'unknown'}, {platform.machine()}, Python {platform.python_version()}")
    asyncio.run(run(Load(given.window_s, given.calls_per_s, given.concurrent)))


if __name__ == "__main__":
    main()
