"""What a first run taught makes the second attempt right: three families of tasks in each language, through the edge."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from itertools import groupby

import pytest
from families import Family, load_families
from hindsight_memory import Hindsight, NewKey
from scripted_agent import plan
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


def test_every_family_is_answered_right_by_its_right_calls_and_by_no_other():
    families = load_families()
    assert {lang: len(list(group)) for lang, group in groupby(one.lang for one in families)} == {"en": 12, "zh": 12}
    for family in families:
        for attempt in (family.first, family.again):
            assert plays(family, attempt) == [one.result for one in attempt.right]
