"""hindsight behind the interface of a retrieval scorer: reset, ingest, search. An entry becomes one write, nothing else.

With a running hindsight: HINDSIGHT_API_KEY, HINDSIGHT_INGEST_ADDRESS and HINDSIGHT_RECALL_ADDRESS name it.
"""

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from hindsight_memory import DeskEntry, Hindsight, Memory, NewMemory, Source, Turn

BATCH = 64
SETTLED = 5  # of a bank's sessions, the last observed
SETTLE_S = 1800


def to_memory(entry: Mapping[str, Any]) -> NewMemory:
    """A benchmark's entry as a memory: the speaker is what it is about, the timestamp when it began to hold."""
    if "value" in entry:
        kind = entry.get("kind", "fact")
        return NewMemory(entry["key"], entry["value"], query=entry.get("query", ""), kind=kind, scope=entry.get("scope", ""))
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


def to_turn(entry: Mapping[str, Any]) -> Turn:
    """A benchmark's entry as a turn of its session; a named speaker stands before the text."""
    is_named = entry.get("speaker") not in (None, "user", "assistant", "doc")
    text = f"{entry['speaker']}: {entry['text']}" if is_named else entry["text"]
    role = "assistant" if entry.get("role") == "assistant" else "user"
    return Turn(role, text if text.strip() else "(nothing)", at=to_memory(entry).valid_from)


class Banks:
    """Writes entries and answers questions through the services; a bank is an agent."""

    def __init__(self, client: Hindsight, run: str = "", ids: Mapping[str, dict[str, list[str]]] | None = None) -> None:
        self._client = client
        self.run = run or uuid.uuid4().hex[:8]
        self.ids: dict[str, dict[str, list[str]]] = dict(ids or {})

    async def write(self, bank: str, entries: Sequence[Mapping[str, Any]]) -> None:
        """Write a bank's entries. Entries that say the same share a memory, and are found together."""
        ids = self.ids.setdefault(bank, {})
        results = await self._client.write_batch([to_memory(e) for e in entries], agent_id=self.agent(bank))
        for entry, result in zip(entries, results, strict=True):
            assert result.memory_id, result
            ids.setdefault(result.memory_id, []).append(entry["id"])

    async def observe(self, bank: str, entries: Sequence[Mapping[str, Any]]) -> None:
        """Keep a bank's entries as turns of their sessions."""
        ids = self.ids.setdefault(bank, {})
        sessions: dict[str, list[Mapping[str, Any]]] = {}
        for entry in entries:
            sessions.setdefault(str(entry["session"])[:128], []).append(entry)
        for session_id, turns in sessions.items():
            for start in range(0, len(turns), BATCH):
                part = turns[start : start + BATCH]
                observed = await self._client.observe(session_id, [to_turn(e) for e in part], agent_id=self.agent(bank))
                for number, entry in enumerate(part, start=observed.first_turn):
                    ids[f"{session_id}#{number}"] = [entry["id"]]

    async def settle(self, bank: str, entries: Sequence[Mapping[str, Any]]) -> None:
        """Wait until the last observed turns are found by meaning: the worker has embedded what came before them."""
        agent_id, last = self.agent(bank), {str(e["session"])[:128]: to_turn(e).content for e in entries}
        for session_id, text in list(last.items())[-SETTLED:]:
            found: set[str] = set()
            async with asyncio.timeout(SETTLE_S):
                while session_id not in found:
                    answer = await self._client.recall(
                        text[:2000], mode="semantic", include_turns=True, top_k=20, agent_id=agent_id
                    )
                    found = {hit.subject.session_id for hit in answer.hits if isinstance(hit.subject, Turn)}
                    await asyncio.sleep(0 if session_id in found else 0.5)

    async def ask(self, bank: str, text: str, *, top_k: int, mode: Any = "hybrid", include_turns: bool = False) -> list[str]:
        """The ids of entries that answer a question, best first."""
        agent_id = self.agent(bank)
        answer = await self._client.recall(text, top_k=top_k, mode=mode, include_turns=include_turns, agent_id=agent_id)
        assert not answer.missing_channels
        ids = self.ids.get(bank, {})
        places = [place_of(hit.subject) for hit in answer.hits]
        return [i for place in places for i in ids.get(place, ["?" + place])]

    def agent(self, bank: str) -> str:
        """The agent that stands for a bank."""
        return f"{self.run}-{bank}"[:64]

    def entries(self, bank: str, name: str, is_turn: bool) -> list[str]:
        """The entries that a memory, or a turn named session#number, stands for."""
        session_id, _, number = name.rpartition("#")
        place = f"{session_id}#{int(number)}" if is_turn else name
        return self.ids.get(bank, {}).get(place, ["?" + place])


def place_of(subject: Memory | Turn | DeskEntry) -> str:
    """What a subject is called where a bank's ids are kept."""
    return subject.id if isinstance(subject, Memory | DeskEntry) else f"{subject.session_id}#{subject.turn}"


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
