"""The job that looks back on a task: reads its turns, and writes down what it taught, once."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

import asyncpg
from hindsight_runtime.errors import NotFound
from hindsight_runtime.identity import Principal
from hindsight_store.jobs import Job
from hindsight_store.sessions import Session, Task
from hindsight_store.turns import Turn
from hindsight_store.writer import Writer, writing

from hindsight_ingest.author import find_author
from hindsight_ingest.candidate import CEILINGS, Candidate
from hindsight_ingest.changes import Changes
from hindsight_ingest.deriving import derive_key, derive_query
from hindsight_ingest.keeping import call_of, find_all
from hindsight_ingest.listening import PASSAGE_CHARS, own_words
from hindsight_ingest.listening_rules import find_rules
from hindsight_ingest.llm import RULES, Llm
from hindsight_ingest.own_tools import leave_out_own
from hindsight_ingest.pipeline import Pipeline
from hindsight_ingest.retelling import Retelling, retell
from hindsight_ingest.retrospecting import LISTS, Experience, retrospect, to_candidate_text

FIRST_TURNS, LAST_TURNS = 200, 1800  # of a task that are read; of a longer one the middle is left out
KEY_CHARS = 128
IMPORTANCE = 0.6  # the same however a task ended: which experience helps is a matter of the situation
ASIDE_IMPORTANCE, ASIDE_CONFIDENCE = 0.5, 0.6  # of what was found on the way


class LookBack:
    """Does the jobs that look back on tasks. One for the life of a process."""

    def __init__(
        self, pool: asyncpg.Pool, pipeline: Pipeline, changes: Changes, *, clock: Callable[[], datetime], llm: Llm | None = None
    ) -> None:
        self._pool = pool
        self._pipeline = pipeline
        self._changes = changes
        self._llm = llm
        self.clock = clock

    async def look_back(self, job: Job) -> None:
        """Look back on the task of a job, unless a later job does so."""
        async with writing(self._pool, job.tenant_id) as writer:
            task = await writer.sessions.get_task(job.bank_id, UUID(job.payload["task_id"]))
            if task is None or task.looks != job.payload["look"]:
                await writer.complete(job)
                return
            agent_id = await writer.find_agent(job.bank_id)
            session = await writer.sessions.find(job.bank_id, task.session_id)
            turns = await read_ends(writer, job.bank_id, task.session_id, task.first_turn, task.end_turn)
        assert session is not None
        finished = await self._tell(job, session, task, turns, agent_id)
        async with writing(self._pool, job.tenant_id) as writer:
            if await writer.complete(job):
                await writer.sessions.finish_task(job.bank_id, finished)

    async def _tell(self, job: Job, session: Session, task: Task, turns: Sequence[Turn], agent_id: str) -> Task:
        """The task with what became of it."""
        task = replace(task, looked_at=self.clock(), judged_by=RULES)
        read = leave_out_own(turns)
        is_over = task.boundary == "client"
        experience = await asyncio.to_thread(retrospect, read, task.outcome, task.note, is_over=is_over)
        if experience is None:
            return replace(task, state="nothing", reason="the trace shows nothing worth keeping")
        retold = Retelling(RULES, experience)
        if self._llm:
            retold = await retell(self._llm, job.tenant_id, read, experience, (task.outcome, task.note))
        task, experience = replace(task, judged_by=retold.label), retold.experience
        if experience is None:
            return replace(task, state="nothing", reason="the model found nothing worth keeping")
        author = await find_author(self._pool, job.tenant_id, turns[0].principal)
        candidate = to_experience(experience, session, task)
        first = call_of(author, agent_id, ("experience", job), (task.task_id,))
        experience_id = (await self._pipeline.write(first, [candidate]))[0].memory_id
        assert experience_id is not None
        if task.looks > 1:
            again = call_of(author, agent_id, ("experience", job), (task.task_id, task.looks))
            try:
                await self._changes.revise(again, experience_id, candidate)
            except NotFound:
                return replace(task, state="nothing", reason="the experience was forgotten", experience_id=None)
        asides = await asyncio.to_thread(to_asides, experience, turns, author, blank(session, turns[0].turn, (experience_id,)))
        written = []
        if asides:
            call = call_of(author, agent_id, ("aside", job), (task.task_id, *(one.value for one in asides)))
            written = [r.memory_id for r in await self._pipeline.write(call, asides) if r.memory_id]
        ids = tuple(dict.fromkeys((*task.memory_ids, *written)))
        return replace(task, state="remembered", reason="", experience_id=experience_id, memory_ids=ids)


async def read_ends(writer: Writer, bank_id: int, session_id: str, first: int, end: int) -> list[Turn]:
    """The first and the last turns of a span; of a long one the middle is left out. Without what was forgotten since."""
    behind = first + FIRST_TURNS
    turns = await writer.turns.between(bank_id, session_id, first, min(end, behind))
    turns += await writer.turns.between(bank_id, session_id, max(behind, end - LAST_TURNS), end)
    return without_forgotten(turns, await writer.find_forgotten(bank_id, session_id))


def without_forgotten(turns: Sequence[Turn], forgotten: Sequence[tuple[int, str]]) -> list[Turn]:
    """Turns without the statements that were forgotten, wherever they stand word for word; what a person said of one in
    other words is left out with all of its turn. Turns that then say nothing are gone."""
    kept = []
    for turn in turns:
        content, result = turn.content, turn.result
        for number, value in forgotten:
            if number == turn.turn and turn.role == "user" and value not in content:
                content = ""
            content, result = content.replace(value, ""), result.replace(value, "")
        if content.strip() or result.strip() or turn.tool:
            kept.append(replace(turn, content=content, result=result))
    return kept


def to_experience(experience: Experience, session: Session, task: Task) -> Candidate:
    """An experience on its way through the pipeline."""
    parts = {name: list(getattr(experience, name)) for name in LISTS}
    parts |= {"decided_by": experience.decided_by}
    told = {"goal": experience.goal, "outcome": experience.outcome, **{name: part for name, part in parts.items() if part}}
    return replace(
        blank(session, task.first_turn),
        kind="experience",
        key=experience.goal[:KEY_CHARS].strip(),
        trigger=experience.scenario_summary,
        value=to_candidate_text(experience),
        tags=experience.tags,
        importance=IMPORTANCE,
        confidence=min(experience.confidence, CEILINGS["retrospective"]),
        metadata={**told, "task_id": str(task.task_id), "boundary": task.boundary, "told_by": task.judged_by},
    )


def to_asides(experience: Experience, turns: Sequence[Turn], author: Principal, aside: Candidate) -> list[Candidate]:
    """Facts and preferences found on the way that listening did not find, each made of an aside that says what it is derived
    from. What stands in the author's own words is told by the user."""
    heard = [one.value for _, one in find_all(turns, turns[0].turn)]
    told = [("preference", text) for text in experience.preferences] + [("fact", text) for text in experience.facts]
    return [
        replace(
            aside,
            kind=kind,
            key=derive_key(kind, text),
            trigger=derive_query(kind, text),
            value=text,
            source=aside.source if turn is None else "user",
            turn=aside.turn if turn is None else turn.turn,
            importance=ASIDE_IMPORTANCE,
            confidence=ASIDE_CONFIDENCE,
            metadata={"rule": "retrospective"},
        )
        for kind, text in told
        if not any(text in value or value in text for value in heard)
        for turn in [_find_told(text, turns, author)]
    ]


def _find_told(text: str, turns: Sequence[Turn], author: Principal) -> Turn | None:
    """The turn in which the user says a text in his own words, where its author may speak for him."""
    if "user" not in author.sources:
        return None
    own = (t for t in turns if t.role == "user" and t.principal == turns[0].principal and not t.is_withheld)
    told = (t for t in own if text in " ".join(own_words(t).split()))
    return next((t for t in told if not find_rules(t.content[:PASSAGE_CHARS])["material"]), None)


def blank(session: Session, turn: int | None, derived_from: tuple[UUID, ...] = ()) -> Candidate:
    """A candidate that a retrospective fills in. It holds since the session's last turn."""
    return Candidate(
        scope=session.scope,
        kind="",
        key="",
        trigger="",
        value="",
        tags=(),
        importance=0.5,
        confidence=0.6,
        source="retrospective",
        session_id=session.session_id,
        turn=turn,
        metadata={},
        is_core=False,
        valid_from=min(session.last_turn_at, session.heard_at),  # as in `to_candidate` of keeping
        valid_to=None,
        expires_at=None,
        derived_from=derived_from,
    )
