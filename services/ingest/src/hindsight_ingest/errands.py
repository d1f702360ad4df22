"""What a change means for desks: done in order, behind the answer, and lost rather than waited for. None of it is the truth."""

import asyncio
import hashlib
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from functools import partial

import structlog
from hindsight_language.tokens import Count
from hindsight_runtime.identity import SESSION_PREFIX, Principal, session_desk
from hindsight_store.desks import Desk, Desks, DesksUnavailable, Entry, NoRoom
from hindsight_store.sessions import Session
from hindsight_store.turns import Turn

from hindsight_ingest.appraising import weigh_up
from hindsight_ingest.deriving import is_label
from hindsight_ingest.keeping import merge_same, to_candidate
from hindsight_ingest.listening import Finding

PENDING = 2_000  # what comes on top of that drops the oldest
LAST_S = 3.0  # at the end, for what is pending
SETTLE_S = 1.0
BRIEF_S = 0.05  # once nothing was done in that time: many ends at once do not wait one after the other
KEY_CHARS = 128

log = structlog.get_logger()
Errand = Callable[[], Awaitable[object]]


class Errands:
    """Brings desks up to date. Without Redis there are none, and nothing to do."""

    def __init__(self, desks: Desks | None, count: Count, *, clock: Callable[[], datetime]) -> None:
        self._desks = desks
        self._count = count
        self._clock = clock
        self._pending: deque[Errand] = deque(maxlen=PENDING)
        self._added = asyncio.Event()
        self._done = asyncio.Event()  # with all that was added
        self._done.set()
        self._dropped = 0
        self._is_away = False  # as far as the last errand or wait could tell
        self._is_over = False

    def warm(self, desk: Desk, memory_ids: Iterable[str]) -> None:
        """Memories were written or recalled under a scope."""
        ids = list(memory_ids)
        if self._desks and ids:
            self._add(partial(self._desks.warm, {desk: ids}, self._clock()))

    def lay_out(self, principal: Principal, agent_id: str, session_id: str, heard: Sequence[tuple[Turn, Finding]]) -> None:
        """Put what was found in turns on the session's desk, as the word of who said it; not what waits for a person's word."""
        desk = Desk(principal.tenant_id, agent_id, principal.desk_of(SESSION_PREFIX + session_id))
        for turn, one in merge_same(heard):
            if self._desks and not one.is_instruction:
                said = to_candidate(turn, one, principal, desk.scope)
                entry = Entry(
                    key=name_entry(one),
                    trigger=said.trigger,
                    value=said.value,
                    source=said.source,
                    confidence=said.confidence,
                    importance=said.importance,
                    tokens=0,
                    is_task_state=one.timing == "desk",
                    put_at=self._clock(),
                    session_id=session_id,
                    turn=one.turn,
                )
                self._add(partial(self._desks.put, desk, *weigh_up(entry, self._count)))

    def clear_all(self, tenant_id: int, agent_ids: Sequence[str]) -> None:
        """Something was withdrawn: no desk of these agents, or of the tenant's where none is named, tells who put what."""
        if self._desks:
            self._add(partial(self._desks.clear_all, tenant_id, agent_ids))

    def end_task(self, tenant_id: int, agent_id: str, session: Session, caller: Principal | None = None) -> None:
        """A task of a session is over: what mattered for it alone goes."""
        self._clear(tenant_id, agent_id, session, caller, only_task_state=True)

    def end_session(self, tenant_id: int, agent_id: str, session: Session, caller: Principal | None = None) -> None:
        """A session is over: its desk goes."""
        self._clear(tenant_id, agent_id, session, caller, only_task_state=False)

    def _clear(self, tenant_id: int, agent_id: str, session: Session, caller: Principal | None, *, only_task_state: bool) -> None:
        """Clear the session's desks: of keys without limits, of those of its scope, and of the caller's key."""
        name = SESSION_PREFIX + session.session_id
        for scope in {name, session_desk((session.scope,), name), *([caller.desk_of(name)] if caller else [])}:
            if self._desks:
                desk = Desk(tenant_id, agent_id, scope)
                self._add(partial(self._desks.clear, desk, only_task_state=only_task_state))

    def _add(self, errand: Errand) -> None:
        self._dropped += len(self._pending) == PENDING
        self._pending.append(errand)
        self._done.clear()
        self._added.set()

    async def settle(self) -> None:
        """Wait until all that was added is done, but not for a Redis that is away."""
        try:
            async with asyncio.timeout(BRIEF_S if self._is_away else SETTLE_S):
                await self._done.wait()
        except TimeoutError:
            self._is_away = True

    async def run(self) -> None:
        """Run what is pending, over and over, until it is to end."""
        while not self._is_over:
            await self._added.wait()
            self._added.clear()
            await self.flush()
        await self.flush()

    def end(self) -> None:
        """End with what is pending. Nothing is cancelled: a call of Redis may take a cancellation for its own end."""
        self._is_over = True
        self._added.set()

    async def flush(self) -> None:
        """Run all that is pending."""
        await self._run_pending()
        self._done.set()

    async def _run_pending(self) -> None:
        while self._pending:
            errand = self._pending.popleft()  # before it runs: what overflows meanwhile drops from the left
            try:
                with suppress(NoRoom):  # what is pinned goes first
                    await errand()
                self._is_away = False
            except DesksUnavailable as away:
                self._is_away = True
                self._dropped += 1 + len(self._pending)
                log.warning("desks not brought up to date", why=str(away), dropped=self._dropped)
                self._pending.clear()
                return


def name_entry(one: Finding) -> str:
    """The key of a finding on a desk, where one entry takes the place of another with its key.

    A newer state takes the place of the older state of its thing. Else the key tells too little, for all preferences share
    one: each statement stands beside the others, under its own words.
    """
    is_of_one_thing = one.kind == "state" and (one.timing == "desk" or not is_label(one.key))
    name = one.key if is_of_one_thing else " ".join(one.value.split())
    if len(name) <= KEY_CHARS:
        return name
    digest = hashlib.blake2b(name.encode(), digest_size=8).hexdigest()
    return f"{name[: KEY_CHARS - len(digest) - 1]}…{digest}"


@asynccontextmanager
async def open_errands(errands: Errands) -> AsyncIterator[Errands]:
    """Runs errands until the end of the block, and then what is still pending."""
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(errands.run())
        try:
            yield errands
        finally:
            errands.end()
            _, unfinished = await asyncio.wait([running], timeout=LAST_S)
            if unfinished:
                log.warning("desks not brought up to date", why="the process ends")
                running.cancel()
