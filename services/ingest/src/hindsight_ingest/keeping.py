"""What listening found becomes memories: new entities only, nothing that was recalled into the conversation."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import asyncpg
from hindsight_language.conflicts import Statement, contradicts
from hindsight_runtime.identity import Principal
from hindsight_store.ids import first_at
from hindsight_store.jobs import Job
from hindsight_store.sessions import Session
from hindsight_store.turns import Turn
from hindsight_store.words import terms, to_tsquery
from hindsight_store.writer import writing

from hindsight_ingest.author import find_author
from hindsight_ingest.candidate import Candidate, lower_to_ceiling
from hindsight_ingest.judging import CONTEXT, LONG, RULE, is_ambiguous, judge
from hindsight_ingest.listener import Listener
from hindsight_ingest.listening import Finding, listen
from hindsight_ingest.llm import RULES, Llm, label_model
from hindsight_ingest.pipeline import Call, Pipeline, lock_key

RECALLED = 500  # memories recalled into a session that its turns are compared with
RECALLED_BEFORE = timedelta(minutes=10)  # a recall may come before the first turn is observed
MERGED = ("correction", "preference", "state", "entity", "judgement")  # of two findings in one statement the first stands
ECHO = 0.9  # of a statement's terms


class Keeper:
    """Does the jobs that keep what a round found. One for the life of a process."""

    def __init__(
        self,
        pool: asyncpg.Pool,
        pipeline: Pipeline,
        listener: Listener,
        *,
        clock: Callable[[], datetime],
        llm: Llm | None = None,
    ) -> None:
        self._pool = pool
        self._pipeline = pipeline
        self._listener = listener
        self._llm = llm
        self.clock = clock

    async def keep(self, job: Job) -> None:
        """Keep what the turns of a job hold: what may not wait, or the rest."""
        session_id, first, end = job.payload["session_id"], job.payload["first"], job.payload["end"]
        is_at_once = bool(job.payload.get("at_once"))
        async with writing(self._pool, job.tenant_id) as writer:
            agent_id = await writer.find_agent(job.bank_id)
            session = await writer.sessions.find(job.bank_id, session_id)
            turns = await writer.turns.between(job.bank_id, session_id, max(0, first - CONTEXT), end)
        heard = await self._listener.listen(turns, first)
        found = [(t, one) for t, one in heard if one.timing == "now" or (one.timing == "round" and not is_at_once)]
        if session and found:
            await self._write(job, session, agent_id, found)
        label = RULES
        if self._llm and session and not is_at_once and not heard and is_ambiguous(turns, first, end):
            label = await self._judge(self._llm, job, session, agent_id, turns)
        async with writing(self._pool, job.tenant_id) as writer:
            await writer.lock([lock_key(job.bank_id, "session", session_id)])
            now = await writer.sessions.find(job.bank_id, session_id)
            is_last = now is not None and now.kept_turn == end and not is_at_once
            if await writer.complete(job) and now and is_last:
                await writer.sessions.update(job.bank_id, replace(now, judged_by=label))

    async def _write(self, job: Job, session: Session, agent_id: str, found: Sequence[tuple[Turn, Finding]]) -> None:
        """Keep findings, each in a call of its own: one that was kept at once is not kept again with its round."""
        authors: dict[str, Principal] = {}
        for turn, one in await self._leave_out(job, session, found):
            if turn.principal not in authors:
                authors[turn.principal] = await find_author(self._pool, job.tenant_id, turn.principal)
            author = authors[turn.principal]
            call = call_of(author, agent_id, ("keep", job), (session.session_id, turn.turn, one.trigger, one.value, one.name))
            await self._pipeline.write(call, [to_candidate(turn, one, author, session.scope)])

    async def _judge(self, llm: Llm, job: Job, session: Session, agent_id: str, turns: Sequence[Turn]) -> str:
        """Keep what an LLM finds in a round; who decided of it. One call that names the round, not what was found: a job
        that is tried again may get another answer, and the first that was written stands."""
        first, end = job.payload["first"], job.payload["end"]
        author = await find_author(self._pool, job.tenant_id, turns[-1].principal)
        call = call_of(author, agent_id, ("judge", job), (session.session_id, first, end))
        if await self._pipeline.recall_request(call) is not None:
            return label_model(llm.endpoint.model)
        # While the session was short nobody was asked about its first turns.
        since = 0 if first <= LONG and not find_all(turns, 0) else first
        judgement = await judge(llm, job.tenant_id, turns, since)
        fresh = await self._leave_out(job, session, judgement.found) if judgement.found else []
        if fresh:
            await self._pipeline.write(call, [to_candidate(turn, one, author, session.scope) for turn, one in fresh])
        return judgement.label

    async def _leave_out(self, job: Job, session: Session, found: Sequence[tuple[Turn, Finding]]) -> list[tuple[Turn, Finding]]:
        """Without what was recalled into the session, and without entities that are known."""
        since = first_at(min(session.started_at, found[0][0].known_from), before=RECALLED_BEFORE)
        async with writing(self._pool, job.tenant_id) as writer:
            recalled = await writer.sessions.recalled_since(job.bank_id, session.scope, since, limit=RECALLED)
            known: set[tuple[int, str]] = set()
            for turn, one in found:
                if one.name and (query := to_tsquery(terms(one.name))):
                    place = (session.session_id, turn.turn, turn.known_from)
                    names = await writer.sessions.named_before(job.bank_id, session.scope, {one.name: query}, place)
                    known |= {(turn.turn, name) for name in names}
        seen: set[str] = set()
        kept = []
        for turn, one in found:
            is_known = one.name in seen or (turn.turn, one.name) in known
            seen |= {one.name} - {""}
            if not (one.trigger == "entity" and is_known) and not is_echo(one.value, recalled.values()):
                kept.append((turn, one))
        return merge_same(kept)


def find_all(turns: Sequence[Turn], first: int) -> list[tuple[Turn, Finding]]:
    """What of the turns from a number on is worth keeping."""
    before = {t.turn + 1: t for t in turns}
    return [(t, one) for t in turns if t.turn >= first for one in listen(t, before.get(t.turn))]


def merge_same(found: Sequence[tuple[Turn, Finding]]) -> list[tuple[Turn, Finding]]:
    """One finding for each statement: what names a thing and says how it stands is kept as the latter, with the tags of both."""
    merged: dict[tuple[int, str], tuple[Turn, Finding]] = {}
    for turn, one in found:
        place = (turn.turn, one.value)
        _, other = merged.get(place, (turn, one))
        first, second = sorted((other, one), key=lambda finding: MERGED.index(finding.trigger))
        merged[place] = turn, replace(first, tags=tuple(dict.fromkeys((*first.tags, *second.tags))))
    return list(merged.values())


def is_echo(value: str, recalled: Iterable[str]) -> bool:
    """Whether a statement only repeats something that was recalled: its words are there, and it contradicts nothing."""
    said = set(terms(value))
    if not said:
        return False
    for text in recalled:
        shared = len(said & set(terms(text))) / len(said)
        if shared >= ECHO and not contradicts(Statement("", value, "fact"), Statement("", text, "fact")):
            return True
    return False


def to_candidate(turn: Turn, one: Finding, author: Principal, scope: str) -> Candidate:
    """A finding on its way through the pipeline, no surer than its source may be."""
    wanted = "user" if turn.role == "user" else "tool"
    source = wanted if wanted in author.sources and one.rule != RULE else "inference"
    importance, confidence, lowered = lower_to_ceiling(source, one.importance, one.confidence)
    return Candidate(
        scope=scope,
        kind=one.kind,
        key=one.key,
        trigger=one.query,
        value=one.value,
        tags=one.tags,
        importance=importance,
        confidence=confidence,
        source=source,
        session_id=turn.session_id,
        turn=turn.turn,
        metadata={"rule": one.rule},
        is_core=False,
        valid_from=min(turn.at, turn.known_from),  # a clock that is ahead makes nothing hold in the future
        valid_to=None,
        expires_at=None,
        derived_from=(),
        adjustments=lowered,
        is_instruction=one.is_instruction,
    )


def call_of(author: Principal, agent_id: str, does: tuple[str, Job], name: Sequence[object]) -> Call:
    """A call whose request id follows from what it does, so that a repeat writes nothing twice. What it stands for is the
    act, not its content: the first that is written stands."""
    act, job = does
    digest = hashlib.sha256("\x1f".join(map(str, name)).encode()).digest()
    return Call(author, agent_id, f"{act}:{digest.hex()}", digest, act, job)
