"""hindsight behind the interface of a retrieval scorer: reset, ingest, search. An entry becomes one write, nothing else.

With a running hindsight: HINDSIGHT_API_KEY, HINDSIGHT_INGEST_ADDRESS and HINDSIGHT_RECALL_ADDRESS name it.
"""

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from hindsight_memory import Hindsight, NewMemory, Source

BATCH = 64
CONCURRENT = 2
VALUE_BYTES = 32 * 1024


def to_memory(entry: Mapping[str, Any]) -> NewMemory:
    """A benchmark's entry as a memory: the speaker is what it is about, the timestamp when it began to hold."""
    moment = None
    if entry.get("timestamp"):
        try:
            moment = datetime.fromisoformat(entry["timestamp"])
        except ValueError:
            moment = None  # MADial's are not dates
    return NewMemory(
        key=entry.get("speaker") or "note",
        value=entry["text"] if entry["text"].strip() else "(nothing)",
        source=Source(session_id=str(entry.get("session") or "")[:128]),
        valid_from=moment.replace(tzinfo=UTC) if moment else None,
    )


class Banks:
    """Writes entries and answers questions through the services; a bank is an agent."""

    def __init__(self, client: Hindsight) -> None:
        self._client = client
        self._run = uuid.uuid4().hex[:8]
        self._ids: dict[str, dict[str, list[str]]] = {}

    async def write(self, bank: str, entries: Sequence[Mapping[str, Any]]) -> None:
        """Write a bank's entries. Entries that say the same share a memory, and are found together."""
        ids = self._ids.setdefault(bank, {})
        results = await self._client.write_batch([to_memory(e) for e in entries], agent_id=self._agent(bank))
        for entry, result in zip(entries, results, strict=True):
            assert result.memory_id, result
            ids.setdefault(result.memory_id, []).append(entry["id"])

    async def ask(self, bank: str, text: str, *, top_k: int, mode: Any = "hybrid") -> list[str]:
        """The ids of entries that answer a question, best first."""
        answer = await self._client.recall(text, top_k=top_k, mode=mode, agent_id=self._agent(bank))
        assert not answer.missing_channels
        return [i for hit in answer.hits for i in self._ids.get(bank, {}).get(hit.memory.id, ["?" + hit.memory.id])]

    def _agent(self, bank: str) -> str:
        return f"{self._run}-{bank}"[:64]


class System:
    """The scorer's system: `--system bench.adapter:System`."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._client = self._loop.run_until_complete(self._connect())
        self._banks = Banks(self._client)
        self._bank = ""

    async def _connect(self) -> Hindsight:
        return Hindsight.from_environment()

    def reset(self, bank: str) -> None:
        """Turn to another bank; the others stay, so that a leak would show."""
        self._bank = bank

    def ingest(self, items: list[dict[str, Any]]) -> None:
        """Write entries."""
        for start in range(0, len(items), BATCH):
            self._loop.run_until_complete(self._banks.write(self._bank, items[start : start + BATCH]))

    def search(self, query: str, k: int, now: str | None = None) -> list[str]:
        """The ids that answer a question."""
        return self._loop.run_until_complete(self._banks.ask(self._bank, query, top_k=k))

    def close(self) -> None:
        """Close the connection."""
        self._loop.run_until_complete(self._client.close())
        self._loop.close()
