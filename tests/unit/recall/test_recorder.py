"""Receipts on their way to ingest."""

import asyncio
from typing import Any

import pytest
from hindsight.v1 import record_pb2
from hindsight_recall import recorder
from hindsight_recall.recorder import Recorder


class StalledOnce:
    """Stands for ingest: its first answer never comes."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.recorded: list[str] = []

    async def Record(self, request: record_pb2.RecordRequest, **_: Any) -> record_pb2.RecordResponse:  # noqa: N802 - gRPC
        if not self.asked.is_set():
            self.asked.set()
            await asyncio.Event().wait()
        self.recorded += [r.receipt_id for r in request.recalls]
        return record_pb2.RecordResponse()


async def test_what_is_on_its_way_when_sending_ends_is_sent_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recorder, "_to_message", lambda name, _: record_pb2.RecordedRecall(receipt_id=name))
    ingest: Any = StalledOnce()
    sender = Recorder(ingest, "")
    for name in ("a", "b", "c"):
        sender.record(name, "ada")  # pyright: ignore[reportArgumentType]
    sending = asyncio.create_task(sender.flush())
    await ingest.asked.wait()
    sending.cancel()
    await asyncio.wait([sending])
    assert await sender.flush()
    assert ingest.recorded == ["a", "b", "c"]
