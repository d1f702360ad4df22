"""The jobs of a session's silence and of its end: what silence means, and the summary."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import asyncpg
from hindsight_runtime.errors import NotFound
from hindsight_store.jobs import Job
from hindsight_store.writer import writing

from hindsight_ingest.author import find_author
from hindsight_ingest.changes import Changes
from hindsight_ingest.deriving import KEYS
from hindsight_ingest.errands import Errands
from hindsight_ingest.keeping import call_of
from hindsight_ingest.looking_back import KEY_CHARS, blank, read_ends
from hindsight_ingest.own_tools import leave_out_own
from hindsight_ingest.pipeline import Pipeline, lock_key
from hindsight_ingest.rounds import Rounds
from hindsight_ingest.summing_up import sum_up

SUMMARY_IMPORTANCE = 0.5


class Closer:
    """Does what silence and the end of a session ask for. One for the life of a process."""

    def __init__(
        self,
        pool: asyncpg.Pool,
        pipeline: Pipeline,
        changes: Changes,
        rounds: Rounds,
        errands: Errands,
        *,
        clock: Callable[[], datetime],
    ) -> None:
        self._pool = pool
        self._errands = errands
        self._pipeline = pipeline
        self._changes = changes
        self._rounds = rounds
        self.clock = clock

    async def settle(self, job: Job) -> None:
        """Draw from a session's silence what follows."""
        session_id = job.payload["session_id"]
        settled = None
        async with writing(self._pool, job.tenant_id) as writer:
            agent_id = await writer.find_agent(job.bank_id)
            await writer.lock([lock_key(job.bank_id, "session", session_id)])
            session = await writer.sessions.find(job.bank_id, session_id)
            if await writer.complete(job) and session and session.ended_at is None:
                settled = await self._rounds.settle(writer, job.bank_id, session)
                await writer.sessions.update(job.bank_id, settled)
        if session and settled and settled.ended_at:
            self._errands.end_session(job.tenant_id, agent_id, settled)
        elif session and settled and settled.task_turn != session.task_turn:
            self._errands.end_task(job.tenant_id, agent_id, settled)

    async def sum_up(self, job: Job) -> None:
        """Sum up a session; one that went on is summed up at its next end, in the same memory."""
        session_id, end = job.payload["session_id"], job.payload["end"]
        async with writing(self._pool, job.tenant_id) as writer:
            agent_id = await writer.find_agent(job.bank_id)
            session = await writer.sessions.find(job.bank_id, session_id)
            turns = await read_ends(writer, job.bank_id, session_id, 0, end)
            if session is None or session.next_turn != end:
                await writer.complete(job)
                return
        summary = await asyncio.to_thread(sum_up, leave_out_own(turns)) if turns else None
        summary_id = session.summary_id
        if summary:
            author = await find_author(self._pool, job.tenant_id, turns[0].principal)
            label = KEYS[summary.language]["summary"]
            candidate = replace(
                blank(session, None),
                kind="summary",
                key=f"{label}: {summary.topic}"[:KEY_CHARS].strip(),
                trigger=summary.topic,
                value=summary.text,
                importance=SUMMARY_IMPORTANCE,
                metadata={"turns": end},
            )
            first = call_of(author, agent_id, ("summary", job), (session_id,))
            summary_id = (await self._pipeline.write(first, [candidate]))[0].memory_id
            assert summary_id is not None
            try:  # what stands there may be from an earlier end
                await self._changes.revise(call_of(author, agent_id, ("summary", job), (session_id, end)), summary_id, candidate)
            except NotFound:
                summary_id = None  # somebody has deleted it and wants it no more
        async with writing(self._pool, job.tenant_id) as writer:
            await writer.lock([lock_key(job.bank_id, "session", session_id)])
            now = await writer.sessions.find(job.bank_id, session_id)
            if await writer.complete(job) and now and summary_id:
                await writer.sessions.update(job.bank_id, replace(now, summary_id=summary_id))
