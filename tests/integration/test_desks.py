"""Desks in a real Redis: the budget, the order of leaving, and the lives of entries, against a simple model."""

import asyncio
import dataclasses
import math
import os
import random
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from hindsight_store.desks import ENTRIES, USES, Desk, Desks, DesksUnavailable, Entry, NoRoom, Stay
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

BUDGET = 100
HOUR = 3600.0
NOW = datetime(2026, 3, 1, tzinfo=UTC)
KEYS = ["a", "b", "c", "d", "订单", "e f", "{x}"]


def entry(key: str, tokens: int, **fields: object) -> Entry:
    kept = Entry(key, "", f"what {key} says", "user", 0.9, 0.5, tokens, put_at=NOW)
    return dataclasses.replace(kept, **fields)


@dataclass
class Slot:
    tokens: int
    is_pinned: bool
    worth: float
    uses: int
    priority: float = 0.0


@dataclass
class Model:
    """What a desk should do, in a page of Python: GreedyDual with pins; among equals the last used leaves last."""

    slots: dict[str, Slot] = field(default_factory=dict)
    clock: float = 0.0
    acts: int = 0

    def put(self, key: str, tokens: int, worth: float, *, is_pinned: bool) -> list[str] | None:
        old = self.slots.get(key)
        pins = sum(s.tokens for k, s in self.slots.items() if s.is_pinned and k != key)
        if pins + tokens > BUDGET:
            return None
        self.slots.pop(key, None)
        evicted = []
        while sum(s.tokens for s in self.slots.values()) + tokens > BUDGET:
            priority, last = min((s.priority, k) for k, s in self.slots.items() if not s.is_pinned)
            self.clock = max(self.clock, priority)
            del self.slots[last]
            evicted.append(last)
        is_pinned = is_pinned or bool(old and old.is_pinned)
        self.slots[key] = Slot(tokens, is_pinned, worth, (old.uses if old else 0) + 1)
        self._place(key)
        return evicted

    def get(self, key: str) -> bool:
        if key in self.slots:
            self.slots[key].uses += 1
            self._place(key)
        return key in self.slots

    def pin(self, key: str, *, is_pinned: bool) -> bool:
        if key in self.slots and self.slots[key].is_pinned != is_pinned:
            self.slots[key].is_pinned = is_pinned
            self._place(key)
        return key in self.slots

    def _place(self, key: str) -> None:
        slot = self.slots[key]
        self.acts += 1
        slot.priority = self.clock + (slot.worth * min(slot.uses, USES) + self.acts * 1e-9)


PUTS = st.tuples(
    *(st.just("put"), st.sampled_from(KEYS), st.integers(1, 60), st.sampled_from([0.1, 0.6, 1.1, 4.4]), st.booleans())
)
GETS = st.tuples(st.just("get"), st.sampled_from(KEYS))
PINS = st.tuples(st.just("pin"), st.sampled_from(KEYS), st.booleans())
CLEARS = st.tuples(st.just("clear"), st.sampled_from(KEYS))


async def step(desks: Desks, desk: Desk, model: Model, action: tuple) -> None:
    match action:
        case "put", key, tokens, worth, is_pinned:
            wanted = model.put(key, tokens, worth, is_pinned=is_pinned)
            try:
                put = await desks.put(desk, entry(key, tokens, is_pinned=is_pinned), Stay(worth, HOUR))
            except NoRoom:
                assert wanted is None
            else:
                assert list(put.evicted) == wanted
                assert put.used_tokens == sum(s.tokens for s in model.slots.values())
        case "get", key:
            assert (await desks.get(desk, key) is not None) == model.get(key)
        case "pin", key, is_pinned:
            found = await desks.pin(desk, key, is_pinned=is_pinned)
            assert (found is not None) == model.pin(key, is_pinned=is_pinned)
        case "clear", key:
            assert await desks.clear(desk, key) == (key in model.slots)
            model.slots.pop(key, None)
            if not model.slots:
                model.clock, model.acts = 0.0, 0  # a desk with nothing on it is gone


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=st.lists(st.one_of(PUTS, PUTS, GETS, PINS, CLEARS), max_size=40), number=st.integers(0, 2**60))
def test_a_desk_does_what_the_model_does(valkey: str, actions: list[tuple], number: int):
    async def run() -> None:
        async with Redis.from_url(valkey) as client:
            desks, desk, model = Desks(client, budget_tokens=BUDGET), Desk(1, "ada", f"session:{number}"), Model()
            await desks.clear(desk)
            for action in actions:
                await step(desks, desk, model, action)
                kept = {e.key: (e.tokens, e.is_pinned, e.uses) for e in await desks.entries(desk)}
                assert kept == {k: (s.tokens, s.is_pinned, s.uses) for k, s in model.slots.items()}
                assert sum(tokens for tokens, _, _ in kept.values()) <= BUDGET

    asyncio.run(run())


async def test_writers_side_by_side_never_exceed_the_budget_and_pins_never_leave(valkey: str):
    desk, pins = Desk(1, "ada", "session:crowd"), [f"pin {n}" for n in range(4)]
    done, until = asyncio.Event(), time.monotonic() + float(os.environ.get("DESK_S", "2"))

    async def write(number: int, desks: Desks) -> None:
        chance = random.Random(number)
        while time.monotonic() < until:
            key, tokens = f"{number}-{chance.randrange(12)}", chance.randint(1, 400)
            await desks.put(desk, entry(key, tokens), Stay(chance.choice([0.1, 0.6, 4.4]), HOUR))
            if chance.random() < 0.2:
                await desks.get(desk, f"{number}-{chance.randrange(12)}")

    async def watch(desks: Desks) -> int:
        seen = 0
        while not done.is_set():
            entries = await desks.entries(desk)
            assert sum(e.tokens for e in entries) <= 2000
            assert {e.key for e in entries if e.is_pinned} == set(pins)
            seen += 1
        return seen

    async with Redis.from_url(valkey, max_connections=64) as client:
        desks = Desks(client, budget_tokens=2000)
        for pin in pins:
            await desks.put(desk, entry(pin, 100, is_pinned=True), Stay(0.1, HOUR))
        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(watch(desks))
            async with asyncio.TaskGroup() as writers:
                for number in range(32):
                    writers.create_task(write(number, desks))
            done.set()
        assert watching.result() > 3


async def test_among_equals_the_first_put_leaves_first_whatever_its_key(valkey: str):
    async with Redis.from_url(valkey) as client:
        desks, desk = Desks(client, budget_tokens=BUDGET), Desk(1, "ada", "session:equals")
        for number in range(10):
            await desks.put(desk, entry(f"步骤 {9 - number}", 10), Stay(1, HOUR))
        assert (await desks.put(desk, entry("a", 30), Stay(1, HOUR))).evicted == ["步骤 9", "步骤 8", "步骤 7"]


async def test_the_keys_of_a_desk_end_with_it(valkey: str):
    async with Redis.from_url(valkey) as client:
        desks, desk = Desks(client, budget_tokens=BUDGET), Desk(1, "ada", "session:ends")
        await desks.put(desk, entry("a", 70, is_pinned=True), Stay(1, 60))
        await desks.put(desk, entry("b", 30), Stay(1, 60))
        await desks.put(desk, entry("c", 30), Stay(1, HOUR))
        await desks.clear(desk, "c")
        await desks.put(desk, entry("d", 30), Stay(1, 60))
        lives = [await client.pexpiretime(key) for key in desk.keys]
        assert len(set(lives)) == 1
        assert HOUR < lives[0] / 1000 - time.time() <= HOUR + 61


async def test_a_desk_that_is_cleared_with_all_others_while_it_is_used_stays_whole(valkey: str):
    desk, done, different = Desk(1, "ada", "session:race"), asyncio.Event(), set[int]()

    async def write(desks: Desks) -> None:
        while not done.is_set():
            await desks.put(desk, entry("a", 1), Stay(1, HOUR))

    async with Redis.from_url(valkey, max_connections=64) as client:
        desks = Desks(client, budget_tokens=BUDGET)
        async with asyncio.TaskGroup() as tasks:
            for _ in range(8):
                tasks.create_task(write(desks))
            for _ in range(100):
                await desks.clear_all(1, ["ada"])
                async with client.pipeline() as pipe:
                    for key in desk.keys:
                        pipe.pexpiretime(key)
                    different.add(len(set(await pipe.execute())))
            done.set()
        assert different == {1}


async def test_what_is_pinned_leaves_room_or_the_pin_is_refused(valkey: str):
    async with Redis.from_url(valkey) as client:
        desks, desk = Desks(client, budget_tokens=BUDGET), Desk(1, "ada", "session:pins")
        await desks.put(desk, entry("a", 70, is_pinned=True), Stay(1, HOUR))
        await desks.put(desk, entry("b", 30), Stay(1, HOUR))
        with pytest.raises(NoRoom):
            await desks.put(desk, entry("c", 31), Stay(1, HOUR))
        assert (await desks.pin(desk, "b", is_pinned=True)) is not None
        with pytest.raises(NoRoom):
            await desks.put(desk, entry("c", 1), Stay(1, HOUR))
        again = await desks.put(desk, entry("b", 20), Stay(1, HOUR))
        assert again.entry.is_pinned
        assert again.used_tokens == 90
        await desks.pin(desk, "a", is_pinned=False)
        assert (await desks.put(desk, entry("c", 80), Stay(1, HOUR))).evicted == ["a"]


async def test_a_desk_holds_so_many_entries_and_no_more(valkey: str):
    async with Redis.from_url(valkey) as client:
        desks, desk = Desks(client, budget_tokens=10**6), Desk(1, "ada", "session:many")
        for number in range(ENTRIES):
            await desks.put(desk, entry(f"k{number:04}", 1), Stay(1, HOUR))
        assert (await desks.put(desk, entry("one more", 1), Stay(1, HOUR))).evicted == ["k0000"]
        assert len(await desks.entries(desk)) == ENTRIES


async def test_an_entry_fades_unless_it_is_used_and_then_takes_nothing(valkey: str):
    async with Redis.from_url(valkey) as client:
        desks, desk = Desks(client, budget_tokens=BUDGET), Desk(1, "ada", "session:brief")
        await desks.put(desk, entry("stays", 40), Stay(1, HOUR))
        await desks.put(desk, entry("pinned", 10, is_pinned=True), Stay(1, 0.15))
        await desks.put(desk, entry("fades", 50), Stay(1, 0.15))
        before = time.monotonic()
        assert await desks.get(desk, "fades") is not None
        async with asyncio.timeout(10):
            while [e.key for e in await desks.entries(desk)] != ["pinned", "stays"]:  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0.02)
        assert time.monotonic() - before >= 0.14
        assert await desks.get(desk, "fades") is None
        assert await desks.pin(desk, "fades", is_pinned=True) is None
        put = await desks.put(desk, entry("new", 50), Stay(1, HOUR))
        assert (put.evicted, put.used_tokens) == ([], 100)
        assert all([await client.pttl(name) > 0 for name in desk.keys])


async def test_task_state_is_cleared_alone_and_a_desk_altogether(valkey: str):
    async with Redis.from_url(valkey) as client:
        desks, desk, other = Desks(client, budget_tokens=BUDGET), Desk(1, "ada", "session:task"), Desk(1, "bob", "session:task")
        for one in (desk, other):
            await desks.put(one, entry("step", 10, is_task_state=True, is_pinned=True), Stay(1, HOUR))
            await desks.put(one, entry("name", 10), Stay(1, HOUR))
        assert await desks.clear(desk, only_task_state=True) == 1
        assert [e.key for e in await desks.entries(desk)] == ["name"]
        assert await desks.clear(desk) == 1
        assert await client.exists(*desk.keys) == 0
        assert [e.key for e in await desks.entries(other)] == ["step", "name"]


async def test_an_entry_comes_back_as_it_was_put(valkey: str):
    async with Redis.from_url(valkey) as client:
        desks, desk = Desks(client, budget_tokens=BUDGET), Desk(1, "ada", "user:42")
        given = Entry("偏好 {a} 'b'", "怎么回答", '以后都用中文回答我 "x" \\ \n', "user", 0.9, 0.7, 12, put_at=NOW)
        put = await desks.put(desk, given, Stay(1.5, HOUR))
        assert dataclasses.replace(put.entry, expires_at=None, entry_id="") == given
        assert put.entry.expires_at is not None
        assert math.isclose((put.entry.expires_at - datetime.now(UTC)).total_seconds(), HOUR, abs_tol=60)
        assert dataclasses.replace((await desks.entries(desk))[0], expires_at=None, entry_id="") == given
        other = await desks.put(Desk(2, "ada", "user:42"), given, Stay(1.5, HOUR))
        again = await desks.put(desk, given, Stay(1.5, HOUR))
        assert again.entry.entry_id == put.entry.entry_id != other.entry.entry_id


async def test_hot_memories_are_known_by_id_for_half_an_hour_and_a_number(valkey: str):
    async with Redis.from_url(valkey) as client:
        desks, desk, other = Desks(client), Desk(1, "ada", "user:42"), Desk(1, "ada", "user:43")
        await desks.warm({desk: ["m1", "m2"], other: ["m3"]}, NOW)
        await desks.warm({desk: ["m4"]}, NOW.replace(minute=20))
        assert await desks.hot(desk, NOW.replace(minute=20)) == ["m4", "m2", "m1"]
        assert await desks.hot(desk, NOW.replace(minute=40)) == ["m4"]
        assert await desks.hot(other, NOW) == ["m3"]
        await desks.warm({desk: [f"n{n}" for n in range(300)]}, NOW.replace(minute=45))
        assert len(await desks.hot(desk, NOW.replace(minute=45))) == 256


async def test_redis_that_is_away_is_said_to_be():
    async with Redis.from_url("redis://127.0.0.1:1/0", socket_connect_timeout=1) as client:
        desks, desk = Desks(client, budget_tokens=BUDGET), Desk(1, "ada", "user:42")
        with pytest.raises(DesksUnavailable):
            await desks.put(desk, entry("a", 1), Stay(1, HOUR))
        with pytest.raises(DesksUnavailable):
            await desks.hot(desk, NOW)
