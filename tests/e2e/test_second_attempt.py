"""What a first run taught makes the second attempt right: three families of tasks in each language, through the edge."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import pytest
from families import Call, World, load_families
from scripted_agent import Plan, plan
from second_attempt import connect, is_first_try_right, work_first

from tests.e2e.conftest import Connector

CHOSEN = {"en": ("en-refund", "en-absence", "en-sheet"), "zh": ("zh-transfer", "zh-room", "zh-invoice")}


@pytest.mark.parametrize("lang", CHOSEN)
async def test_the_second_attempt_is_right_with_memory_and_wrong_without(
    edge: Connector, worker: Callable[[], Awaitable[None]], lang: str
):
    families = [one for one in load_families() if one.name in CHOSEN[lang]]
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(edge.replica(toolsets="experience,session"))
        ada = await stack.enter_async_context(connect(url, await edge.key(default_agent_id="ada")))
        ben = await stack.enter_async_context(connect(url, await edge.key(default_agent_id="ben")))
        for number, family in enumerate(families):
            await work_first(ada, family, number)
        await worker()
        for family in families:
            request = family.again.request
            assert is_first_try_right(family, family.again, await ada.search(request))
            assert not is_first_try_right(family, family.again, await ben.search(request))


def test_the_tools_accept_the_right_calls_in_order_and_refuse_the_naive_one():
    for family in load_families():
        for attempt in (family.first, family.again):
            world = World(family, attempt)
            assert world.call(attempt.naive) is None
            assert [world.call(one.call) for one in attempt.right] == [one.result for one in attempt.right]


def test_an_experience_with_another_tool_changes_no_call():
    naive = Call("refund", {"amount": 5})
    assert plan(naive, ["Knowledge:\n- `repay`: `amount` works as `700` (×100), not as `7`"]) == Plan((), naive, {})
