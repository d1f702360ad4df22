"""The connection: channels, credentials, repeats."""

import asyncio
import copy
import json
import os
import uuid
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any, Self

import grpc
from hindsight.v1 import (
    admin_pb2_grpc,
    desk_pb2_grpc,
    erasure_pb2_grpc,
    ingest_pb2_grpc,
    recall_pb2_grpc,
    receipt_pb2_grpc,
    review_pb2_grpc,
    session_pb2_grpc,
    sharing_pb2_grpc,
)

from hindsight_memory.errors import to_error
from hindsight_memory.wire.fields import invalid

INGEST_ADDRESS = "127.0.0.1:50051"
RECALL_ADDRESS = "127.0.0.1:50052"
TIMEOUT_S = 30.0
RETRIES = 4  # of UNAVAILABLE; every change carries a request id, so a repeat is safe
RETRY_PAUSE_S = 0.2
# gRPC answers CANCELLED to a call that reaches a server in the moment it stops; what the caller cancels raises no status here.
PASSING = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
CHANNEL_OPTIONS = (
    ("grpc.service_config", json.dumps({"loadBalancingConfig": [{"round_robin": {}}]})),
    ("grpc.max_receive_message_length", 64 * 2**20),
    ("grpc.max_send_message_length", 16 * 2**20),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.enable_http_proxy", 0),  # a proxy for the web is not on the way to a service
    ("grpc.dns_min_time_between_resolutions_ms", 2_000),  # a replica that came back may have another address
    ("grpc.max_reconnect_backoff_ms", 1_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
)


class Connection:
    """The channels to both services, and how a call is made on them."""

    def __init__(
        self,
        *,
        api_key: str = "",
        agent_id: str = "",
        ingest_address: str = INGEST_ADDRESS,
        recall_address: str = RECALL_ADDRESS,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._metadata = _metadata(api_key)
        self._agent_id = agent_id
        self._timeout_s = timeout_s
        self._channels = [
            grpc.aio.insecure_channel(a if a.startswith("unix:") else f"dns:///{a}", options=CHANNEL_OPTIONS)
            for a in (ingest_address, recall_address)
        ]
        self._ingest = ingest_pb2_grpc.IngestServiceStub(self._channels[0])
        self._sessions = session_pb2_grpc.SessionServiceStub(self._channels[0])
        self._desks = desk_pb2_grpc.DeskServiceStub(self._channels[0])
        self._reviews = review_pb2_grpc.ReviewServiceStub(self._channels[0])
        self._sharing = sharing_pb2_grpc.SharingServiceStub(self._channels[0])
        self._admin = admin_pb2_grpc.AdminServiceStub(self._channels[0])
        self._erasures = erasure_pb2_grpc.ErasureServiceStub(self._channels[0])
        self._recall = recall_pb2_grpc.RecallServiceStub(self._channels[1])
        self._receipts = receipt_pb2_grpc.ReceiptServiceStub(self._channels[1])

    @classmethod
    def from_environment(cls) -> Self:
        """A client for HINDSIGHT_API_KEY, at HINDSIGHT_INGEST_ADDRESS and HINDSIGHT_RECALL_ADDRESS where they are set."""
        return cls(
            api_key=os.environ.get("HINDSIGHT_API_KEY", ""),
            ingest_address=os.environ.get("HINDSIGHT_INGEST_ADDRESS", INGEST_ADDRESS),
            recall_address=os.environ.get("HINDSIGHT_RECALL_ADDRESS", RECALL_ADDRESS),
        )

    def with_key(self, api_key: str, *, timeout_s: float | None = None) -> Self:
        """The same connection under another key, and another timeout where one is given; closing it closes nothing."""
        other = copy.copy(self)
        other._metadata = _metadata(api_key)
        other._timeout_s = timeout_s or self._timeout_s
        other._channels = []
        return other

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        for channel in self._channels:
            await channel.close()

    def _identity(self, agent_id: str, request_id: str) -> dict[str, Any]:
        return {"agent_id": agent_id or self._agent_id, "request_id": request_id or str(uuid.uuid4())}

    async def _pages(self, method: Callable[..., Any], request: Any) -> AsyncIterator[Any]:
        while True:
            page = await self._call(method, request)
            yield page
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def _call(self, method: Callable[..., Any], request: Any, *, repeatable: bool = True) -> Any:
        for attempt in range(RETRIES + 1):
            try:
                return await method(request, timeout=self._timeout_s, metadata=self._metadata)
            except grpc.aio.AioRpcError as error:
                if error.code() not in PASSING or attempt == RETRIES or not repeatable:
                    raise to_error(error) from None
                await asyncio.sleep((to_error(error).retry_after_s or RETRY_PAUSE_S) * 2**attempt / 2)
        raise AssertionError


def _metadata(api_key: str) -> tuple[tuple[str, str], ...]:
    """What names the caller in every call; gRPC would fail on a key with other characters without saying which field."""
    key = api_key.strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise invalid("api_key", "not a key: it has characters that no key has; give it whole, as it was shown")
    return (("authorization", f"Bearer {key}"),) if key else ()
