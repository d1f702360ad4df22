"""Admission, draining, waiting for dependencies, health."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from hindsight.v1 import embedding_pb2, embedding_pb2_grpc
from hindsight_memory.errors import to_error
from hindsight_runtime import serving as serving_module
from hindsight_runtime.errors import DependencyUnavailable, StartFailed
from hindsight_runtime.identity import Principal
from hindsight_runtime.serving import Service, serving, wait_for

NAME = "hindsight.v1.EmbeddingService"
TIMEOUT_S = 5


@dataclass
class Servicer(embedding_pb2_grpc.EmbeddingServiceServicer):
    """Answers when it is told to."""

    started: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def Embed(self, request, context):  # noqa: N802 - the RPC's name
        self.started.release()
        await self.go_on.wait()
        return embedding_pb2.EmbedResponse(embeddings=b"ok")

    def register(self, server) -> None:
        embedding_pb2_grpc.add_EmbeddingServiceServicer_to_server(self, server)


class TenantFromMetadata:
    """The tenant is what the caller says; slow where it is asked to be."""

    def __init__(self) -> None:
        self.checking = asyncio.Event()

    async def authenticate(self, metadata) -> Principal:
        if metadata["tenant"] == "slow":
            await self.checking.wait()
        return Principal(int(metadata["tenant"].replace("slow", "9")), "t", "k")


def call(channel, tenant="1"):
    stub = embedding_pb2_grpc.EmbeddingServiceStub(channel)
    return stub.Embed(embedding_pb2.EmbedRequest(), metadata=(("tenant", tenant),), timeout=TIMEOUT_S)


async def refused(waiting):
    with pytest.raises(grpc.aio.AioRpcError) as refusal:
        await waiting
    return to_error(refusal.value)


async def test_stopping_finishes_the_calls_in_flight(tmp_path):
    servicer, address = Servicer(), f"unix:{tmp_path}/s"
    service = Service(TenantFromMetadata(), servicer.register, [NAME])
    async with grpc.aio.insecure_channel(address) as channel, AsyncExitStack() as stack:
        await stack.enter_async_context(serving(service, address, max_calls=8, grace_s=TIMEOUT_S))
        calls = [asyncio.ensure_future(call(channel)) for _ in range(3)]
        for _ in calls:
            await servicer.started.acquire()
        asyncio.get_running_loop().call_later(0.1, servicer.go_on.set)
        await stack.aclose()
        answers = await asyncio.gather(*calls)
        assert [a.embeddings for a in answers] == [b"ok"] * 3
        assert (await refused(call(channel))).code == "UNAVAILABLE"


async def test_a_tenant_gets_its_share_and_no_more(tmp_path):
    servicer, address = Servicer(), f"unix:{tmp_path}/s"
    service = Service(TenantFromMetadata(), servicer.register, [NAME])
    async with serving(service, address, max_calls=4, grace_s=1), grpc.aio.insecure_channel(address) as channel:
        running = [asyncio.ensure_future(call(channel, "1")) for _ in range(2)]
        for _ in running:
            await servicer.started.acquire()
        error = await refused(call(channel, "1"))
        assert (error.code, error.reason, error.retry_after_s) == ("RESOURCE_EXHAUSTED", "OVERLOADED", 0.5)
        running.append(asyncio.ensure_future(call(channel, "2")))
        await servicer.started.acquire()
        servicer.go_on.set()
        await asyncio.gather(*running)
        assert (await call(channel, "1")).embeddings == b"ok"


async def test_callers_without_a_known_credential_leave_room_for_the_others(tmp_path):
    servicer, address, authenticator = Servicer(), f"unix:{tmp_path}/s", TenantFromMetadata()
    servicer.go_on.set()
    service = Service(authenticator, servicer.register, [NAME])
    async with serving(service, address, max_calls=4, grace_s=1), grpc.aio.insecure_channel(address) as channel:
        unknown = [asyncio.ensure_future(call(channel, "slow")) for _ in range(6)]
        done, waiting = await asyncio.wait(unknown, timeout=TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED)
        while len(done) < 4:
            more, waiting = await asyncio.wait(waiting, timeout=TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED)
            done |= more
        assert {(await refused(c)).reason for c in done} == {"OVERLOADED"}
        authenticator.checking.set()
        await asyncio.gather(*waiting)


async def test_waiting_for_a_dependency_ends_with_a_clear_error(monkeypatch):
    tries = []

    async def probe():
        tries.append(1)
        raise DependencyUnavailable("not there")

    monkeypatch.setattr(serving_module, "WAIT_PAUSE_S", 0)
    with pytest.raises(StartFailed, match=f"postgresql did not answer in {serving_module.WAIT_TRIES} tries; last: not there"):
        await wait_for("postgresql", probe)
    assert len(tries) == serving_module.WAIT_TRIES


async def test_waiting_ends_with_what_the_dependency_gives(monkeypatch):
    answers = iter((OSError("no"), TimeoutError(), "pool"))

    async def probe():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(serving_module, "WAIT_PAUSE_S", 0)
    assert await wait_for("postgresql", probe) == "pool"


async def test_health_tells_of_a_dependency_that_fails_and_of_its_return(tmp_path, monkeypatch):
    failing = [True]

    async def probe() -> None:
        if failing:
            raise ConnectionError("gone")

    async def fine() -> None:
        return None

    monkeypatch.setattr(serving_module, "PROBE_PAUSE_S", 0.01)
    address = f"unix:{tmp_path}/s"
    service = Service(TenantFromMetadata(), Servicer().register, [NAME], {"redis": probe, "postgresql": fine})
    async with serving(service, address, max_calls=4, grace_s=1), grpc.aio.insecure_channel(address) as channel:
        health: Any = health_pb2_grpc.HealthStub(channel)

        async def state(name: str, wanted: int) -> None:
            watch = health.Watch(health_pb2.HealthCheckRequest(service=name), timeout=TIMEOUT_S)
            async for answer in watch:
                if answer.status == wanted:
                    watch.cancel()
                    return

        up, down = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING
        await state("dependency.redis", down)
        await state("dependency.postgresql", up)
        await state(NAME, up)
        failing.clear()
        await state("dependency.redis", up)
