"""Which failures the client repeats."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from hindsight.v1 import recall_pb2, recall_pb2_grpc
from hindsight_memory import Hindsight, HindsightError, connection


class Stopping(recall_pb2_grpc.RecallServiceServicer):
    """Fails with the codes given, then answers."""

    def __init__(self, codes: list[grpc.StatusCode]) -> None:
        self.codes = codes
        self.calls = 0

    async def Recall(self, request, context):  # pyright: ignore[reportIncompatibleMethodOverride]  # noqa: N802
        self.calls += 1
        if self.calls <= len(self.codes):
            await context.abort(self.codes[self.calls - 1], "stopping")
        return recall_pb2.RecallResponse()


@asynccontextmanager
async def connected(servicer: Stopping, folder: Path) -> AsyncIterator[Hindsight]:
    server = grpc.aio.server()
    recall_pb2_grpc.add_RecallServiceServicer_to_server(servicer, server)
    server.add_insecure_port(f"unix:{folder}/s")
    await server.start()
    async with Hindsight(recall_address=f"unix:{folder}/s") as hindsight:
        yield hindsight
    await server.stop(0)


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "RETRY_PAUSE_S", 0.001)


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED])
async def test_what_a_stopping_server_answers_is_repeated(tmp_path: Path, code: grpc.StatusCode):
    servicer = Stopping([code] * 2)
    async with connected(servicer, tmp_path) as hindsight:
        assert (await hindsight.recall("x")).hits == ()
    assert servicer.calls == 3


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED])
async def test_in_the_end_it_is_unavailable(tmp_path: Path, code: grpc.StatusCode):
    async with connected(Stopping([code] * 99), tmp_path) as hindsight:
        with pytest.raises(HindsightError) as failure:
            await hindsight.recall("x")
    assert failure.value.code == "UNAVAILABLE"


async def test_a_refusal_is_not_repeated(tmp_path: Path):
    servicer = Stopping([grpc.StatusCode.PERMISSION_DENIED])
    async with connected(servicer, tmp_path) as hindsight:
        with pytest.raises(HindsightError) as failure:
            await hindsight.recall("x")
    assert (failure.value.code, servicer.calls) == ("PERMISSION_DENIED", 1)
