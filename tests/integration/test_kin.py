"""Relations that follow from what memories say, where the operator has switched them on."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from hindsight_ingest import main as ingest
from hindsight_ingest.settings import IngestSettings
from hindsight_memory import Hindsight, NewKey, NewMemory
from hindsight_runtime.serving import serving

from tests.conftest import Services, socket_folder

MEMORIES = [
    NewMemory("the piano", "The grand piano travels on the Halcyon Drift."),
    NewMemory("Halcyon Drift", "The Halcyon Drift is held at Antwerp by a strike."),
    NewMemory("钢琴", "三角钢琴装在翠屿号上。"),
    NewMemory("翠屿号", "翠屿号因罢工停在釜山。"),
    NewMemory("screen", "Ada likes dark mode.", kind="preference"),
    NewMemory("display", "Ada dislikes bright mode.", kind="preference"),
    NewMemory("elsewhere", "The Halcyon Drift was painted.", scope="user:1"),
    *(NewMemory(f"shelf {n}", f"Shelf {n} in the cellar holds jam of year {1990 + n}.") for n in range(12)),
]


@pytest.fixture
async def relating(services: Services, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Hindsight]:
    """A client of an ingest that relates what it is given."""
    address = f"unix:{socket_folder(tmp_path_factory)}/ingest"
    settings = IngestSettings(
        port=0,
        database_url=services.database.ingest,
        embed_address=services.embed_address,
        embed_token=services.embed_token,
        relate="entities,preferences",
    )
    async with AsyncExitStack() as stack:
        service = await ingest.open_service(stack, settings)
        await stack.enter_async_context(serving(service, address, max_calls=8, grace_s=1))
        _, secret = await services.operator.create_key(NewKey(tenant="acme", default_agent_id="ada"))
        async with Hindsight(api_key=secret, ingest_address=address, recall_address=services.recall_address) as client:
            yield client


async def related(client: Hindsight, memory_id: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    async for relation in client.list_relations(memory_id):
        other = relation.to_id if relation.from_id == memory_id else relation.from_id
        found.setdefault(relation.type, set()).add(other)
    return found


async def test_shared_names_and_paired_preferences_relate_and_nothing_else_does(relating: Hindsight):
    ids = [(await relating.write(memory)).memory_id for memory in MEMORIES]
    assert await related(relating, ids[0]) == {"same_entity": {ids[1]}}
    assert await related(relating, ids[2]) == {"same_entity": {ids[3]}}
    assert (await related(relating, ids[4]))["supports"] == {ids[5]}
    assert await related(relating, ids[6]) == {}


async def test_a_batch_is_related_as_single_writes_are(relating: Hindsight):
    ids = [r.memory_id for r in await relating.write_batch(MEMORIES)]
    assert await related(relating, ids[0]) == {"same_entity": {ids[1]}}
    assert (await related(relating, ids[4]))["supports"] == {ids[5]}


async def test_nothing_is_related_unless_it_is_switched_on(client: Hindsight):
    ids = [(await client.write(memory)).memory_id for memory in MEMORIES]
    assert [await related(client, i) for i in ids] == [{}] * len(ids)
