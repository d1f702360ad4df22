"""How the services behind the edge are, and what they depend on, by their gRPC health checks."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Self

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from hindsight_runtime.channels import open_channel

CHECK_TIMEOUT_S = 2.0
FRESH_S = 1.0  # anyone may ask, so the services are asked at most this often
NEEDED = ("ingest", "recall")  # without these the edge is not ready
DEPENDENCIES = ("postgresql", "redis", "embed")  # names under which services publish what they depend on
SERVICE_DEPENDENCIES = {"ingest": DEPENDENCIES, "recall": DEPENDENCIES, "embed": ()}


class Health:
    """Asks the services, by name, how they are."""

    def __init__(self, channels: Mapping[str, grpc.aio.Channel]) -> None:
        self._stubs: dict[str, Any] = {name: health_pb2_grpc.HealthStub(channel) for name, channel in channels.items()}
        self._lock = asyncio.Lock()
        self._checked_at = -FRESH_S
        self._report: dict[str, Any] = {}

    @classmethod
    @asynccontextmanager
    async def open(cls, addresses: Mapping[str, str]) -> AsyncIterator[Self]:
        """Asks the services at these addresses, inside the block."""
        async with AsyncExitStack() as stack:
            yield cls({name: await stack.enter_async_context(open_channel(address)) for name, address in addresses.items()})

    async def report(self) -> dict[str, Any]:
        """The state of every service and dependency; `status` is ok, degraded or unavailable."""
        async with self._lock:
            if time.monotonic() - self._checked_at >= FRESH_S:
                self._report = await self._check_all()
                self._checked_at = time.monotonic()
        return self._report

    async def _check_all(self) -> dict[str, Any]:
        wanted = [(name, part) for name in self._stubs for part in ("", *SERVICE_DEPENDENCIES[name])]
        states = dict(zip(wanted, await asyncio.gather(*(self._check(*pair) for pair in wanted)), strict=True))
        services = {}
        for name in self._stubs:
            parts = {part: states[name, part] for part in SERVICE_DEPENDENCIES[name] if states[name, part] != "absent"}
            reached = states[name, ""] != "unreachable"
            services[name] = {"state": states[name, ""], "dependencies": parts if reached else {}}
        return {"status": _sum_up(services), "services": services}

    async def _check(self, service: str, part: str) -> str:
        request = health_pb2.HealthCheckRequest(service=f"dependency.{part}" if part else "")
        try:
            answer = await self._stubs[service].Check(request, timeout=CHECK_TIMEOUT_S)
        except grpc.aio.AioRpcError as error:
            return "absent" if error.code() == grpc.StatusCode.NOT_FOUND else "unreachable"
        return "serving" if answer.status == health_pb2.HealthCheckResponse.SERVING else "not_serving"


def _sum_up(services: Mapping[str, Any]) -> str:
    """Unavailable where nothing can be read or written, degraded where a part is missing."""
    for name in NEEDED:
        if services[name]["state"] != "serving" or services[name]["dependencies"].get("postgresql") == "not_serving":
            return "unavailable"
    states = [s["state"] for s in services.values()] + [d for s in services.values() for d in s["dependencies"].values()]
    return "ok" if all(state == "serving" for state in states) else "degraded"
