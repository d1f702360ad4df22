"""The batcher: what shares a pass, who waits, who is told, what is dropped."""

import asyncio
import threading

import numpy as np
import pytest
from hindsight_embedding.batching import Batcher, compose
from hindsight_embedding.cache import content_key
from hindsight_embedding.fake_model import FakeModel
from hindsight_embedding.model import Role
from hindsight_runtime.errors import DependencyUnavailable, InvalidField, Overloaded

TIMEOUT_S = 10


class GatedModel(FakeModel):
    """Says when a pass has begun and finishes it when told to; fails on a text that says so."""

    def __init__(self, **sizes):
        super().__init__(**sizes)
        self.loop = asyncio.get_running_loop()
        self.passes = []
        self.begun = asyncio.Semaphore(0)
        self.gate = threading.Semaphore(0)

    def forward(self, windows):
        self.passes.append(sorted(w.split(" ", 1)[1] for w in windows))
        self.loop.call_soon_threadsafe(self.begun.release)
        assert self.gate.acquire(timeout=TIMEOUT_S)
        if any("poison" in w for w in windows):
            raise ZeroDivisionError
        return super().forward(windows)


class WrongModel(FakeModel):
    def forward(self, windows):
        return super().forward(windows)[:, :3]


async def embed(batcher, *texts, role=Role.PASSAGE):
    async with asyncio.timeout(TIMEOUT_S):
        found = await batcher.embed({content_key(t, role): t for t in texts}, role)
    return np.stack([found[content_key(t, role)] for t in texts])


@pytest.fixture
async def model():
    return GatedModel()


@pytest.fixture
async def batcher(model):
    async with Batcher(model, threads=1, queue_tokens=100) as batcher:
        yield batcher
        model.gate.release(1000)


async def begin(tasks, batcher, model, text):
    """Occupy the only thread."""
    task = tasks.create_task(embed(batcher, text))
    async with asyncio.timeout(TIMEOUT_S):
        await model.begun.acquire()
    return task


async def queued(batcher, count, role=Role.PASSAGE):
    """Wait until that many windows are ready for a pass."""
    async with asyncio.timeout(TIMEOUT_S):
        while len(batcher._lanes[role].pieces) != count:
            await asyncio.sleep(0)


async def test_texts_of_concurrent_callers_share_a_pass(batcher, model):
    async with asyncio.TaskGroup() as tasks:
        await begin(tasks, batcher, model, "first")
        calls = [tasks.create_task(embed(batcher, text)) for text in ("b", "c", "d")]
        await queued(batcher, 3)
        model.gate.release(2)
    assert model.passes == [["first"], ["b", "c", "d"]]
    assert [call.result().shape for call in calls] == [(1, 64)] * 3


async def test_embeddings_come_back_in_the_order_of_the_texts(batcher, model):
    model.gate.release(100)
    texts = ["one two three four five", "six", "seven eight"]
    together = await embed(batcher, *texts)
    assert together == pytest.approx(FakeModel().forward([f"say: {t}" for t in texts]))


async def test_same_text_in_flight_is_computed_once(batcher, model):
    async with asyncio.TaskGroup() as tasks:
        await begin(tasks, batcher, model, "tea")
        tasks.create_task(embed(batcher, "tea"))
        tasks.create_task(embed(batcher, "tea", "milk"))
        await queued(batcher, 1)
        model.gate.release(2)
    assert model.passes == [["tea"], ["milk"]]


async def test_failed_pass_reaches_only_its_callers(batcher, model):
    async with asyncio.TaskGroup() as tasks:
        await begin(tasks, batcher, model, "first")
        poisoned = asyncio.gather(embed(batcher, "poison"), embed(batcher, "beside"), return_exceptions=True)
        await queued(batcher, 2)
        model.gate.release(2)
        assert [type(error) for error in await poisoned] == [ZeroDivisionError] * 2
        model.gate.release(1)
        after = await embed(batcher, "beside")
    assert after.shape == (1, 64)


async def test_withdrawn_call_is_dropped_from_the_queue(batcher, model):
    async with asyncio.TaskGroup() as tasks:
        await begin(tasks, batcher, model, "first")
        gone = tasks.create_task(embed(batcher, "gone"))
        tasks.create_task(embed(batcher, "stays"))
        await queued(batcher, 2)
        gone.cancel()
        await queued(batcher, 1)
        model.gate.release(2)
    assert model.passes == [["first"], ["stays"]]


async def test_withdrawn_call_does_not_take_a_shared_text_with_it(batcher, model):
    async with asyncio.TaskGroup() as tasks:
        await begin(tasks, batcher, model, "first")
        gone = tasks.create_task(embed(batcher, "shared"))
        await queued(batcher, 1)
        stays = tasks.create_task(embed(batcher, "shared"))
        await asyncio.sleep(0)
        gone.cancel()
        model.gate.release(2)
    assert gone.cancelled()
    assert stays.result().shape == (1, 64)
    assert model.passes == [["first"], ["shared"]]


async def test_budget_is_whole_again_after_answers_failures_and_withdrawals(batcher, model):
    model.gate.release(100)
    await embed(batcher, "a b c")
    with pytest.raises(ZeroDivisionError):
        await embed(batcher, "poison")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await embed(batcher, "late")
    assert [lane.tokens for lane in batcher._lanes.values()] == [0, 0]
    assert batcher._works == {}


async def test_full_queue_refuses_with_a_hint(batcher, model):
    async with asyncio.TaskGroup() as tasks:
        await begin(tasks, batcher, model, "w " * 80)
        with pytest.raises(Overloaded) as refused:
            await embed(batcher, "y" * 60)
        model.gate.release(100)
    assert refused.value.retry_after_s == pytest.approx(0.1)


async def test_full_passage_queue_does_not_refuse_a_query(batcher, model):
    async with asyncio.TaskGroup() as tasks:
        await begin(tasks, batcher, model, "first")
        tasks.create_task(embed(batcher, *(f"stored text {n} " + "long " * 20 for n in range(3))))
        await queued(batcher, 3)
        query = tasks.create_task(embed(batcher, "asked", role=Role.QUERY))
        await queued(batcher, 1, Role.QUERY)
        model.gate.release(3)
        await query
        assert ["asked"] in model.passes[:3]
        model.gate.release(100)


async def test_request_larger_than_the_queue_names_the_field(batcher):
    with pytest.raises(InvalidField) as refused:
        await embed(batcher, "z" * 500)
    assert refused.value.field == "texts"


async def test_long_text_goes_through_several_passes_and_is_pooled(batcher, model):
    model.gate.release(100)
    text = " ".join(f"w{n}" for n in range(90))
    (row,) = await embed(batcher, text)
    assert len(model.passes) > 1
    assert np.linalg.norm(row) == pytest.approx(1, abs=1e-6)


async def test_model_that_gives_too_few_numbers_fails_its_callers():
    async with Batcher(WrongModel(), threads=1, queue_tokens=100) as batcher:
        with pytest.raises(ValueError, match="shape"):
            await embed(batcher, "a")
        await batcher.check()


async def test_several_threads_run_passes_at_once():
    model = GatedModel()
    async with Batcher(model, threads=2, queue_tokens=100) as batcher, asyncio.TaskGroup() as tasks:
        await begin(tasks, batcher, model, "first")
        await begin(tasks, batcher, model, "second")
        model.gate.release(2)
    assert sorted(model.passes) == [["first"], ["second"]]


async def test_closing_answers_those_who_wait(model):
    async with Batcher(model, threads=1, queue_tokens=100) as batcher:
        calls = asyncio.gather(embed(batcher, "first"), embed(batcher, "second"), return_exceptions=True)
        async with asyncio.timeout(TIMEOUT_S):
            await model.begun.acquire()
        model.loop.call_soon(model.gate.release)  # when closing has begun
    assert [type(answer) for answer in await calls] == [DependencyUnavailable] * 2
    with pytest.raises(DependencyUnavailable):
        await embed(batcher, "third")


def test_pass_takes_the_oldest_and_the_lengths_like_it():
    assert compose([10, 30, 9, 11, 12], FakeModel(pass_tokens=48)) == [0, 2, 3, 4]


def test_pass_stays_within_its_budget_of_padded_tokens():
    assert compose([10, 16, 10, 10], FakeModel(pass_tokens=32)) == [0, 2, 3]


def test_oldest_window_goes_even_over_the_budget():
    assert compose([100, 1], FakeModel(pass_tokens=64)) == [0]


def test_no_row_is_padded_to_more_than_twice_its_length():
    assert compose([20, 9, 10], FakeModel(pass_tokens=1000)) == [0, 2]


def test_unpadded_pass_counts_tokens_only():
    model = FakeModel(pass_tokens=40)
    model.is_padded = False
    assert compose([30, 1, 1], model) == [0, 1, 2]
