"""Desks in Redis: what a session, or a user, has at hand, within a budget of tokens; and which memories are hot.

A desk evicts by GreedyDual (Young 1994; with frequency: Cherkasova 1998): an entry's priority is the desk's clock at its last
use plus its worth times its uses, the lowest leaves first, and the clock moves to the priority of what left. With equal worths
that is LRU; what is worth n times as much outlives n turnovers of the desk. Putting, evicting and counting are one script.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import redis.asyncio as redis
from redis.commands.core import AsyncScript

from hindsight_store import desk_scripts

USES = 4  # that count; more make nothing worth more
ENTRIES = 1000  # of a desk
ENTRY_PREFIX = "desk:"  # of an entry's id, which is no memory's
PARTS = ("entries", "ranks", "ends")  # of a desk, the keys that the scripts take
HOT_S = 1800.0  # that a memory stays hot after it was written or recalled
HOT = 256  # memories of a scope
TIMEOUT_S = 2.0


class NoRoom(Exception):
    """What is pinned leaves too little of the budget."""

    def __init__(self, tokens: int, left: int) -> None:
        super().__init__(f"it takes {tokens} tokens, and what is pinned leaves {left}")
        self.tokens = tokens


class DesksUnavailable(ConnectionError):
    """Redis does not answer; what was asked may or may not have happened."""


@dataclass(frozen=True, slots=True)
class Desk:
    """Which desk: an agent's, of a scope."""

    tenant_id: int
    agent_id: str
    scope: str  # as a Principal names its desks

    @property
    def keys(self) -> list[str]:
        """Its keys in Redis, as the scripts take them."""
        return [f"{self.prefix}{part}" for part in PARTS]

    @property
    def prefix(self) -> str:
        """How its keys begin; they share a hash tag."""
        return f"{key_prefix(self.tenant_id, self.agent_id)}{{{quote(self.scope, safe='')}}}:"


@dataclass(frozen=True, slots=True)
class Entry:
    """Something on a desk."""

    key: str
    trigger: str
    value: str
    source: str
    confidence: float
    importance: float
    tokens: int
    is_pinned: bool = False
    is_task_state: bool = False
    uses: int = 1
    put_at: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    expires_at: datetime | None = None  # None: lives as long as the desk is used
    entry_id: str = ""  # what citations and receipts call it
    scope: str = ""  # of its desk, as a caller named it
    session_id: str = ""  # of the turn that it was heard in
    turn: int | None = None  # None: it was put


@dataclass(frozen=True, slots=True)
class Stay:
    """On what terms an entry stays: what it is worth, above 0, and how long it lives unless it is used."""

    worth: float
    ttl_s: float


@dataclass(frozen=True, slots=True)
class Put:
    """An entry that was put, the keys of what left for it, in order, and what the desk's entries take together."""

    entry: Entry
    evicted: Sequence[str]
    used_tokens: int


def key_prefix(tenant_id: int, agent_id: str) -> str:
    """How everything of an agent in Redis begins; nothing in it means something to a pattern."""
    return f"hs:{tenant_id}:{quote(agent_id, safe='')}:"


async def unlink_all(client: redis.Redis, tenant_id: int, agent_id: str = "") -> None:
    """Remove everything of an agent, or of a whole tenant; each desk at once, so that nobody puts on half of one."""
    prefix = key_prefix(tenant_id, agent_id) if agent_id else f"hs:{tenant_id}:"
    async for key in client.scan_iter(match=f"{prefix}*", count=1000):
        name, _, part = key.decode().rpartition(":")
        await client.unlink(*(f"{name}:{one}" for one in (PARTS if part in PARTS else (part,))))


def _entry_id(desk: Desk, key: str) -> str:
    """What citations and receipts call an entry: the same for the same desk and key, neither of which can be read from it."""
    text = "\0".join((str(desk.tenant_id), desk.agent_id, desk.scope, key))
    return ENTRY_PREFIX + hashlib.blake2b(text.encode(), digest_size=10).hexdigest()


class away:  # noqa: N801 - reads as a phrase
    """Turns whatever Redis' being away raises into DesksUnavailable."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, redis.RedisError | OSError | TimeoutError):
            raise DesksUnavailable(f"Redis does not answer: {type(error).__name__}") from None


class Desks:
    """Reads and changes desks. One for the life of a process.

    Every method raises DesksUnavailable where Redis does not answer.
    """

    def __init__(self, client: redis.Redis, *, budget_tokens: int = 0) -> None:
        self._redis = client
        self.budget_tokens = budget_tokens
        scripts = {"put": desk_scripts.PUT, "get": desk_scripts.GET, "pin": desk_scripts.PIN}
        scripts |= {"clear": desk_scripts.CLEAR, "list": desk_scripts.LIST}
        self._scripts: Mapping[str, AsyncScript] = {name: client.register_script(text) for name, text in scripts.items()}

    async def put(self, desk: Desk, entry: Entry, stay: Stay) -> Put:
        """Put an entry, in place of one with the same key; what is pinned stays pinned.

        Raises:
            NoRoom: it does not fit beside what is pinned.
        """
        terms = (entry.tokens, int(entry.is_pinned), repr(stay.worth), int(1000 * stay.ttl_s), int(entry.is_task_state))
        head, taken, *evicted = await self._run("put", desk, entry.key, _to_text(entry), *terms, self.budget_tokens, ENTRIES)
        if head == b"full":
            raise NoRoom(entry.tokens, max(0, self.budget_tokens - taken))
        return Put(replace(entry, **_read_head(desk, entry.key, head)), [key.decode() for key in evicted[0]], taken)

    async def get(self, desk: Desk, key: str) -> Entry | None:
        """An entry, which counts as a use; None: there is none."""
        answer = await self._run("get", desk, key)
        return _entry(desk, key, *answer) if answer else None

    async def pin(self, desk: Desk, key: str, *, is_pinned: bool) -> Entry | None:
        """Pin or unpin an entry; None: there is none."""
        answer = await self._run("pin", desk, key, int(is_pinned))
        return _entry(desk, key, *answer) if answer else None

    async def clear(self, desk: Desk, key: str = "", *, only_task_state: bool = False) -> int:
        """Remove an entry, or all, or all task state; how many went."""
        return int(await self._run("clear", desk, key, int(only_task_state)))

    async def entries(self, desk: Desk) -> list[Entry]:
        """All entries: pinned ones by key, then the others, the newest first. Counts as no use."""
        found = [_entry(desk, key.decode(), *answer) for key, *answer in await self._run("list", desk, "")]
        found.sort(key=lambda e: e.key)
        return sorted(found, key=lambda e: (not e.is_pinned, 0 if e.is_pinned else -e.put_at.timestamp()))

    async def warm(self, scopes: Mapping[Desk, Iterable[str]], now: datetime) -> None:
        """Note memories as hot, by id: under each scope those that were written or recalled there."""
        at = now.timestamp()
        with away():
            async with asyncio.timeout(TIMEOUT_S), self._redis.pipeline(transaction=False) as pipe:
                for desk, memory_ids in scopes.items():
                    name = _hot(desk)
                    if named := dict.fromkeys(memory_ids, at):
                        pipe.zadd(name, named)
                        pipe.zremrangebyrank(name, 0, -HOT - 1)
                        pipe.expire(name, int(HOT_S))
                await pipe.execute()

    async def hot(self, desk: Desk, now: datetime) -> list[str]:
        """The ids of the memories that were written or recalled under a scope in the last half hour, the latest first."""
        with away():
            async with asyncio.timeout(TIMEOUT_S):
                found: list[Any] = await self._redis.zrevrangebyscore(_hot(desk), "+inf", now.timestamp() - HOT_S)  # pyright: ignore
        return [memory_id.decode() for memory_id in found]

    async def clear_all(self, tenant_id: int, agent_ids: Sequence[str]) -> None:
        """Remove every desk of some agents, or of a whole tenant where none is named, and what is hot."""
        with away():
            for agent_id in agent_ids or [""]:
                await unlink_all(self._redis, tenant_id, agent_id)

    async def ping(self) -> None:
        """Return if Redis answers.

        Raises:
            DesksUnavailable: it does not.
        """
        with away():
            async with asyncio.timeout(TIMEOUT_S):
                await self._redis.ping()  # pyright: ignore[reportGeneralTypeIssues]

    async def _run(self, name: str, desk: Desk, *given: Any) -> Any:
        with away():
            async with asyncio.timeout(TIMEOUT_S):
                return await self._scripts[name](keys=desk.keys, args=(USES, *given))


def _hot(desk: Desk) -> str:
    return f"{desk.prefix}hot"


def _to_text(entry: Entry) -> str:
    """What of an entry the scripts keep and do not read."""
    kept = (entry.trigger, entry.value, entry.source, entry.confidence, entry.importance, entry.put_at.timestamp())
    return json.dumps((*kept, entry.session_id, entry.turn), ensure_ascii=False)


def _read_head(desk: Desk, key: str, head: bytes) -> Mapping[str, Any]:
    """What of an entry the scripts keep and read, by field."""
    tokens, is_pinned, _, uses, _, is_task_state, ends_at_ms = map(float, head.split())
    return {
        "tokens": int(tokens),
        "is_pinned": is_pinned == 1,
        "uses": int(uses),
        "is_task_state": is_task_state == 1,
        "expires_at": datetime.fromtimestamp(ends_at_ms / 1000, UTC) if ends_at_ms else None,
        "entry_id": _entry_id(desk, key),
    }


def _entry(desk: Desk, key: str, head: bytes, text: bytes) -> Entry:
    trigger, value, source, confidence, importance, put_at, session_id, turn = json.loads(text)
    return Entry(
        key=key,
        trigger=trigger,
        value=value,
        source=source,
        confidence=confidence,
        importance=importance,
        put_at=datetime.fromtimestamp(put_at, UTC),
        session_id=session_id,
        turn=turn,
        **_read_head(desk, key, head),
    )


@asynccontextmanager
async def open_desks(url: str, *, budget_tokens: int = 0) -> AsyncIterator[Desks]:
    """The desks in the Redis at a URL, inside the block; it need not be there yet."""
    # What is asked has a time limit of its own; the client's would start a task at every send.
    client = redis.from_url(url, socket_timeout=None, socket_connect_timeout=TIMEOUT_S)
    try:
        yield Desks(client, budget_tokens=budget_tokens)
    finally:
        await client.aclose()
