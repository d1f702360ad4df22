"""Wrong keys, many of them, at a service that is reached by an address."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from hindsight_ingest import main as ingest
from hindsight_ingest.settings import IngestSettings
from hindsight_memory import Hindsight, HindsightError, NewKey
from hindsight_runtime import boundary
from hindsight_runtime.identity import Principal, sign_assertion
from hindsight_runtime.serving import serving


@pytest.fixture
async def address(services, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """Another ingest service over the same database, on a port of its own."""
    monkeypatch.setattr(boundary, "WRONG_KEYS", 5)
    public: Any = {"assertion_public_key": services.assertion_public_key}
    embed: Any = {"embed_address": services.embed_address, "embed_token": services.embed_token}
    async with AsyncExitStack() as stack:
        settings = IngestSettings(port=0, database_url=services.database.ingest, **public, **embed)
        opened = await ingest.open_service(stack, settings)
        port = await stack.enter_async_context(serving(opened, "127.0.0.1:0", max_calls=64, grace_s=1))
        yield f"127.0.0.1:{port}"


async def test_too_many_wrong_keys_bar_unknown_ones_and_leave_the_rest_alone(services, address: str):
    known, fresh = [(await services.operator.create_key(NewKey(tenant="acme")))[1] for _ in range(2)]
    asserted = Principal(0, "acme", "oauth:1", rights=frozenset({"read"}))

    async def ask(client: Hindsight, key: str) -> tuple[str, bool]:
        """The code, and whether there is a hint when to try again."""
        try:
            await client.with_key(key).describe_caller()
        except HindsightError as error:
            return error.code, error.retry_after_s is not None and 0 < error.retry_after_s <= 60
        return "OK", False

    async with Hindsight(ingest_address=address) as client:
        assert await ask(client, known) == ("OK", False)
        wrong = [await ask(client, f"hs_wrong{number}") for number in range(5)]
        assert wrong == [("UNAUTHENTICATED", False)] * 5
        assert await ask(client, fresh) == ("RESOURCE_EXHAUSTED", True)
        assert await ask(client, "a.b.c") == ("RESOURCE_EXHAUSTED", True)
        assert await ask(client, "") == ("UNAUTHENTICATED", False)
        assert await ask(client, known) == ("OK", False)
        assert await ask(client, sign_assertion(asserted, services.assertion_private_key)) == ("OK", False)
    assert await ask(services.operator, fresh) == ("OK", False)
