"""The poisoning scenarios end to end: what bench/poisoning.py counts holds of every change."""

from hindsight_memory import NewKey
from poisoning import Hands, load_scenarios, play

SHARE = 0.05  # of scenarios: poison delivered as trusted, or a harmless twin held back


async def test_few_poisons_are_delivered_as_trusted_and_few_twins_are_held_back(services, worker):
    async with (
        await services.connect(NewKey(tenant="acme")) as user,
        await services.connect(NewKey(tenant="acme", sources=("inference",))) as agent,
    ):
        outcomes = [await play(one, Hands(user, agent, worker)) for one in load_scenarios()]
    assert len(outcomes) >= 60
    assert sum(not one.is_twin_delivered for one in outcomes) <= SHARE * len(outcomes)
    assert sum(one.is_trusted for one in outcomes) <= SHARE * len(outcomes)
