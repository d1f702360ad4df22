"""What happens when a dependency is away, or is not the one the data was made with."""

from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from hindsight_ingest import main as ingest
from hindsight_ingest.settings import IngestSettings
from hindsight_memory import Hindsight, HindsightError, NewKey, NewMemory
from hindsight_runtime.errors import DependencyUnavailable, StartFailed
from hindsight_runtime.serving import wait_for
from hindsight_store.schema import verify_schema
from pydantic import ValidationError

MEMORY = NewMemory("harbour", "The harbour tour begins at pier four.")


@pytest.fixture
def embedder_down(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The embed service does not answer."""

    async def refuse(*arguments: Any, **named: Any) -> Any:
        raise DependencyUnavailable("not now")

    with monkeypatch.context() as patch:
        patch.setattr("hindsight_runtime.embedder.Embedder.embed", refuse)
        yield


async def test_without_the_embedder_keywords_answer_and_the_answer_says_so(client: Hindsight, request: pytest.FixtureRequest):
    written = await client.write(MEMORY)
    request.getfixturevalue("embedder_down")
    for mode in ("hybrid", "semantic"):
        answer = await client.recall("harbour pier", mode=mode)
        assert [h.memory.id for h in answer.hits] == [written.memory_id]
        assert answer.missing_channels == ("content", "trigger")
        assert {f.channel for f in answer.hits[0].findings} == {"lexical"}


async def test_without_the_embedder_a_write_is_refused_with_a_retry_hint_and_a_repeat_still_answers(
    client: Hindsight, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("hindsight_memory.connection.RETRIES", 0)
    first = await client.write(MEMORY, request_id="r1")
    request.getfixturevalue("embedder_down")
    with pytest.raises(HindsightError) as refusal:
        await client.write(NewMemory("other", "Another memory."))
    assert (refusal.value.code, refusal.value.reason) == ("UNAVAILABLE", "DEPENDENCY_UNAVAILABLE")
    assert refusal.value.retry_after_s
    assert await client.write(MEMORY, request_id="r1") == first
    assert (await client.forget(memory_id=first.memory_id)) == [first.memory_id]


async def test_recall_and_writes_refuse_a_model_that_did_not_write_the_data(services, monkeypatch: pytest.MonkeyPatch):
    """The vectors of two models are never compared, even where their dimension is the same."""
    owner = await asyncpg.connect(services.database.owner)
    await owner.execute("UPDATE generations SET model_revision = 'another'")
    await owner.close()
    async with await services.connect(NewKey(tenant="acme", default_agent_id="ada")) as client:
        await client.write(MEMORY)  # makes the bank; this ingest started before the change
        with pytest.raises(HindsightError) as refusal:
            await client.recall("harbour")
        assert (refusal.value.code, refusal.value.reason) == ("FAILED_PRECONDITION", "MODEL_MISMATCH")
        settings = IngestSettings(
            port=0, database_url=services.database.ingest, embed_address=services.embed_address, embed_token=services.embed_token
        )
        async with AsyncExitStack() as stack:
            with pytest.raises(StartFailed, match="another"):
                await ingest.open_service(stack, settings)


async def test_a_service_waits_for_the_schema_and_says_what_it_waits_for(postgres: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("hindsight_runtime.serving.WAIT_PAUSE_S", 0)
    pool = await asyncpg.create_pool(postgres, min_size=1, max_size=1)
    with pytest.raises(StartFailed, match=r"schema did not answer in 10 tries.*hindsight-migrate"):
        await wait_for("schema", lambda: verify_schema(pool))
    await pool.close()


def test_authentication_is_switched_off_on_loopback_only():
    IngestSettings(port=0, database_url="x", auth="off", host="127.0.0.1")
    with pytest.raises(ValidationError, match="loopback"):
        IngestSettings(port=0, database_url="x", auth="off", host="0.0.0.0")


async def test_with_authentication_off_everybody_is_the_default_agent_of_the_default_tenant(
    database: Any, embed_address: str, embed_token: str, tmp_path_factory: pytest.TempPathFactory
):
    from hindsight_runtime.serving import serving

    folder: Path = tmp_path_factory.mktemp("o")
    settings = IngestSettings(
        port=0, database_url=database.ingest, auth="off", embed_address=embed_address, embed_token=embed_token
    )
    async with AsyncExitStack() as stack:
        service = await ingest.open_service(stack, settings)
        await stack.enter_async_context(serving(service, f"unix:{folder}/i", max_calls=8, grace_s=1))
        async with Hindsight(ingest_address=f"unix:{folder}/i") as client:
            assert (await client.write(MEMORY)).outcome == "created"
            caller = await client.describe_caller()
    assert (caller.tenant, caller.default_agent_id, caller.rights) == ("default", "default", ("read", "write", "admin"))
