"""What one tenant may have of a process."""

import asyncio

import pytest
from hindsight.v1 import ingest_pb2, memory_pb2, recall_pb2
from hindsight_runtime import limits
from hindsight_runtime.errors import Overloaded
from hindsight_runtime.limits import Limits, Shares, weigh

BUSY, QUIET = 1, 2


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def refused_s(shares: Shares, tenant_id: int, work: int = 1) -> float | None:
    """When to try again; None where the work is let through."""
    try:
        shares.spend(tenant_id, work)
    except Overloaded as error:
        return error.retry_after_s
    return None


def test_a_tenant_over_its_rate_is_told_when_to_come_back_and_others_are_not():
    clock = Clock()
    shares = Shares(Limits(calls_per_s=10), clock=clock)
    assert [refused_s(shares, BUSY) for _ in range(11)] == [None] * 10 + [pytest.approx(0.1)]
    assert refused_s(shares, QUIET) is None
    clock.now_s += 0.1
    assert [refused_s(shares, BUSY) for _ in range(2)] == [None, pytest.approx(0.1)]
    clock.now_s += 100
    assert [refused_s(shares, BUSY) for _ in range(11)] == [None] * 10 + [pytest.approx(0.1)]


def test_a_batch_larger_than_the_balance_is_let_through_and_repaid():
    clock = Clock()
    shares = Shares(Limits(calls_per_s=10), clock=clock)
    assert refused_s(shares, BUSY, 256) is None
    assert refused_s(shares, BUSY) == pytest.approx(24.7)
    clock.now_s += 24.7
    assert refused_s(shares, BUSY) is None


def test_no_limit_lets_everything_through():
    shares = Shares(Limits(calls_per_s=0, concurrent=0))
    assert {refused_s(shares, BUSY, 256) for _ in range(1000)} == {None}


def test_balances_stay_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "TENANTS", 10)
    shares = Shares(Limits())
    for tenant_id in range(1, 100):
        shares.spend(tenant_id, 1)
    assert len(shares._balances) == 10


async def test_calls_above_the_number_wait_in_order_and_another_tenant_s_do_not():
    shares, order = Shares(Limits(concurrent=2)), []
    may_end, is_quiet_in = asyncio.Event(), asyncio.Event()

    async def call(tenant_id: int, name: str) -> None:
        async with shares.turn(tenant_id):
            order.append(name)
            if name == "quiet":
                is_quiet_in.set()
            await may_end.wait()

    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        for number in range(5):
            tasks.create_task(call(BUSY, f"busy {number}"))
        tasks.create_task(call(QUIET, "quiet"))
        await is_quiet_in.wait()
        assert order == ["busy 0", "busy 1", "quiet"]
        may_end.set()
    assert order[3:] == ["busy 2", "busy 3", "busy 4"]
    assert shares._queues == {}


async def test_the_calls_of_a_tenant_over_its_rate_run_one_at_a_time_until_it_keeps_to_it():
    clock, running = Clock(), []
    shares, may_end = Shares(Limits(calls_per_s=1, concurrent=3), clock=clock), asyncio.Semaphore(0)

    async def call(number: int) -> None:
        async with shares.turn(BUSY):
            running.append(number)
            await may_end.acquire()

    assert [refused_s(shares, BUSY) for _ in range(2)] == [None, pytest.approx(1)]
    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        for number in range(5):
            tasks.create_task(call(number))
        await asyncio.sleep(0)
        assert running == [0]
        clock.now_s += limits.REPENT_S
        may_end.release()
        while len(running) < 4:  # noqa: ASYNC110 - no event tells of it
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert running == [0, 1, 2, 3]
        for _ in range(4):
            may_end.release()
    assert shares._queues == {}


async def test_a_call_that_is_withdrawn_while_it_waits_leaves_no_trace():
    shares = Shares(Limits(concurrent=1))

    async def call() -> None:
        async with shares.turn(BUSY):
            pass

    async with shares.turn(BUSY):
        waiting = [asyncio.ensure_future(call()) for _ in range(4)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting[0]
        waiting[1].cancel()  # and then its turn comes, before it knows
    waiting[2].cancel()  # its turn has come
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(result) for result in results] == [asyncio.CancelledError] * 3 + [type(None)]
    async with asyncio.timeout(5), shares.turn(BUSY):
        pass
    assert shares._queues == {}


def test_a_request_weighs_as_much_as_it_has_entries():
    memory = memory_pb2.NewMemory(key="k", value="v", tags=["a", "b", "c"])
    assert weigh(ingest_pb2.WriteBatchRequest(memories=[memory] * 7)) == 7
    assert weigh(ingest_pb2.ObserveRequest(turns=[memory_pb2.Turn(content="hi")] * 20)) == 20
    assert weigh(ingest_pb2.WriteRequest(memory=memory)) == 1
    assert weigh(recall_pb2.RecallRequest(query="which row?")) == 1


async def test_who_asks_for_too_much_runs_only_beside_nobody_else_or_after_a_while():
    clock, order = Clock(), []
    shares = Shares(Limits(calls_per_s=1), clock=clock)
    may_end = {name: asyncio.Event() for name in ("quiet", "next", "busy 0", "busy 1")}

    async def call(tenant_id: int, name: str) -> None:
        async with shares.turn(tenant_id):
            order.append(name)
            await may_end[name].wait()

    assert [refused_s(shares, BUSY) for _ in range(2)] == [None, pytest.approx(1)]
    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        quiet = tasks.create_task(call(QUIET, "quiet"))
        await asyncio.sleep(0)
        busy = [tasks.create_task(call(BUSY, f"busy {number}")) for number in range(2)]
        await asyncio.sleep(0)
        assert order == ["quiet"]
        may_end["quiet"].set()
        await quiet
        await asyncio.sleep(0)
        assert order == ["quiet", "busy 0"]
        tasks.create_task(call(QUIET, "next"))
        may_end["busy 0"].set()
        await busy[0]
        await asyncio.sleep(0)
        assert order == ["quiet", "busy 0", "next"]
        clock.now_s += limits.YIELD_S  # it has waited for long enough; its timer says so
        while len(order) < 4:  # noqa: ASYNC110 - no event tells of it
            await asyncio.sleep(0.01)
        assert order == ["quiet", "busy 0", "next", "busy 1"]
        for event in may_end.values():
            event.set()
    assert shares._queues == {}
