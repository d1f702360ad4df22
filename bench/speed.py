"""How fast hindsight is. So far: observing 12,000 turns with everything that listens to them switched on.

Prints acknowledged turns a second, whether the last acknowledged turns are found by their words at once, and how long the
worker takes to embed them and to keep and look back on what they hold.
"""

import argparse
import asyncio
import platform
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import asyncpg
from hindsight_local.trial import Instance, running
from hindsight_memory import Hindsight, Turn

CALLERS = 8
RUNS = ((2_000, 4), (10_000, 20))  # turns, and turns of a call: what a client's hook hands over, and a whole session
A_SESSION, AN_EXCHANGE = 20, 4
SAMPLE = 100
PLACES = ("Lisbon", "Bergen", "Turin", "Kyoto", "Oaxaca", "Split", "Ghent", "Lima")
GOODS = ("kettle", "lamp", "desk", "coat", "bicycle", "camera", "guitar", "tent")
PLACES_ZH = ("上海", "成都", "青岛", "厦门", "西安", "昆明", "大连", "苏州")
GOODS_ZH = ("水壶", "台灯", "书桌", "大衣", "自行车", "相机", "吉他", "帐篷")


def talk(number: int) -> list[Turn]:
    """Four turns of a session of its own words: small talk, requests, calls, changes, wishes; half of them Chinese."""
    place, goods, order = PLACES[number % 8], GOODS[number // 8 % 8], f"R-{100_000 + number}"
    place_zh, goods_zh = PLACES_ZH[number % 8], GOODS_ZH[number // 8 % 8]
    call = Turn("tool_call", tool="get_order", arguments={"order_id": order, "warehouse": place})
    answer = Turn("tool_result", tool="get_order", result=f'{{"order_id": "{order}", "status": "packed", "goods": "{goods}"}}')
    exchanges = (
        [
            Turn("user", f"Where is my order {order}? It was one {goods}, to be sent to {place}."),
            call,
            answer,
            Turn("assistant", f"Order {order} is packed and leaves the warehouse in {place} tonight."),
        ],
        [
            Turn("user", f"帮我查一下订单{order}，一件{goods_zh}，寄到{place_zh}。"),
            call,
            answer,
            Turn("assistant", f"订单{order}已打包，今晚从{place_zh}发出。"),
        ],
        [
            Turn("user", f"From now on send parcels like {order} to my office in {place}, please."),
            Turn("assistant", "Noted, I will use the office address."),
            Turn("user", f"No, not the {goods}, I meant invoice {order}."),
            Turn("assistant", f"Sorry, invoice {order} then."),
        ],
        [
            Turn("user", f"今天{place_zh}天气真好，{goods_zh}都不用带了。"),
            Turn("assistant", "是啊，适合出门走走。"),
            Turn("user", f"对了，{order}已经签收了。"),
            Turn("assistant", "好的，收到就好。"),
        ],
    )
    return exchanges[number % 4]


def session_turns(number: int) -> list[Turn]:
    """All turns of a session."""
    exchanges = A_SESSION // AN_EXCHANGE
    return [turn for n in range(exchanges) for turn in talk(number * exchanges + n)]


async def observe_all(client: Hindsight, first: int, turns: int, at_once: int) -> tuple[float, list[float]]:
    """Observe turns of sessions from a number on; seconds, and the milliseconds of each call."""
    took_ms: list[float] = []
    sessions = iter(range(first, first + turns // A_SESSION))

    async def call_on(mine: Iterator[int]) -> None:
        for session in mine:
            told = session_turns(session)
            for place in range(0, A_SESSION, at_once):
                began = time.perf_counter()
                await client.observe(f"session {session}", told[place : place + at_once])
                took_ms.append(1000 * (time.perf_counter() - began))

    began = time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(CALLERS):
            tasks.create_task(call_on(sessions))
    return time.perf_counter() - began, sorted(took_ms)


async def count_found(client: Hindsight, end: int) -> int:
    """How many of the last sessions are found by an order number that only they mention."""
    found = 0
    for session in range(end - SAMPLE, end):
        order = f"R-{100_000 + session * (A_SESSION // AN_EXCHANGE)}"
        answer = await client.recall(order, include_turns=True, top_k=5)
        found += any(isinstance(h.subject, Turn) and h.subject.session_id == f"session {session}" for h in answer.hits)
    return found


async def drain(instance: Instance) -> list[str]:
    """Wait until no job is left; how long each kind took."""
    began = time.perf_counter()
    lines: list[str] = []
    left: dict[str, int] = {}
    async with asyncpg.create_pool(instance.maintenance_dsn, min_size=1, max_size=1) as pool:
        while True:
            rows = await pool.fetch("SELECT kind, count(*) AS jobs FROM jobs GROUP BY kind")
            now = {row["kind"]: row["jobs"] for row in rows}
            took_s = time.perf_counter() - began
            lines += [f"{kind}: {count} jobs waiting" for kind, count in now.items() if not left and count]
            lines += [f"{kind}: done after {took_s:.0f} s" for kind in left if kind not in now]
            left = now
            if not now:
                return lines
            await asyncio.sleep(0.5)


async def run() -> None:
    """Measure."""
    async with running() as instance, instance.client(timeout_s=120.0) as client:
        end = 0
        for turns, at_once in RUNS:
            took_s, took_ms = await observe_all(client, end, turns, at_once)
            end += turns // A_SESSION
            p50, p95 = took_ms[len(took_ms) // 2], took_ms[int(0.95 * len(took_ms))]
            print(
                f"observe: {turns} turns in calls of {at_once} by {CALLERS} callers: {turns / took_s:.0f} turns/s acknowledged; "
                f"a call p50 {p50:.1f} ms, p95 {p95:.1f} ms",
                flush=True,
            )
        print(f"found by their words at once: {await count_found(client, end)} of {SAMPLE}", flush=True)
        print("\n".join(await drain(instance)))


def main() -> None:
    """Command line."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    print(f"{datetime.now(UTC):%Y-%m-%d}, commit {commit or 'unknown'}, {platform.machine()}, Python {platform.python_version()}")
    asyncio.run(run())


if __name__ == "__main__":
    main()
