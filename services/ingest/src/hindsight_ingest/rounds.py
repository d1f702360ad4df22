"""Where rounds, tasks and sessions end, and the jobs that follow: kept with the session, in the transaction of its turns."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from hindsight_store.ids import uuid7
from hindsight_store.sessions import Session, Task
from hindsight_store.turns import Turn
from hindsight_store.writer import Writer

from hindsight_ingest.pulse import Pulse, Rules, has_substance, hear, quiet_boundary

KEEP, LOOK_BACK, SUM_UP, SETTLE = "keep", "look_back", "sum_up", "settle"  # kinds of jobs
KEPT_AT_ONCE = 32  # turns of one job, so that even the fullest is done within its lease
MAX_TASKS = 1000  # of a session that are looked at
FINAL = frozenset({"client", "end"})  # boundaries that nothing the user says takes back


@dataclass(frozen=True, slots=True)
class Silence:
    """How long silence lasts until it means something."""

    round_s: float = 30.0
    task_s: float = 300.0
    session_s: float = 1800.0


class Rounds:
    """Tells where rounds, tasks and sessions end. Callers hold the session's lock."""

    def __init__(self, rules: Rules, silence: Silence, *, clock: Callable[[], datetime]) -> None:
        self._rules = rules
        self._silence = silence
        self.clock = clock

    async def hear(self, writer: Writer, bank_id: int, session: Session, turns: Sequence[Turn]) -> Session:
        """Take in turns that are new; the session as it stands then. A session that was over goes on."""
        pulse = Pulse.of(session.pulse)
        for turn in turns:
            await asyncio.sleep(0)  # as in listening
            beat = hear(pulse, turn, self._rules)
            pulse = beat.pulse
            if beat.ended_before:
                session = await self.end_task(writer, bank_id, session, turn.turn, beat.ended_before)
            elif beat.reopens and (task := await self._find_reopened(writer, bank_id, session)):
                session = replace(session, task_turn=task.first_turn, is_reopened=True)
                pulse = replace(pulse, has_request=True)
            if beat.ended_after:
                session = await self.end_task(writer, bank_id, session, turn.turn + 1, beat.ended_after)
                pulse = Pulse()
            elif beat.is_settled:
                session = self.close_round(writer, bank_id, session, turn.turn + 1)
        now = self.clock()
        last = max(session.last_turn_at, *(t.at for t in turns))
        return replace(
            session,
            pulse=pulse.to_json(),
            last_turn_at=last,
            heard_at=now,
            ended_at=None,
            due_at=now + timedelta(seconds=self._silence.round_s),
        )

    async def settle(self, writer: Writer, bank_id: int, session: Session) -> Session:
        """Draw from a session's silence what follows."""
        end = session.next_turn
        quiet_s = (self.clock() - session.heard_at).total_seconds()
        pulse = Pulse.of(session.pulse)
        if quiet_s >= self._silence.round_s:
            if boundary := quiet_boundary(pulse, self._rules):
                session = await self.end_task(writer, bank_id, session, end, boundary)
            session = self.close_round(writer, bank_id, session, end)
        is_open = session.task_turn < end and has_substance(Pulse.of(session.pulse))
        if quiet_s >= self._silence.task_s and is_open and "idle" in self._rules.boundaries:
            session = await self.end_task(writer, bank_id, session, end, "idle")
        if quiet_s >= self._silence.session_s:
            return await self.end_session(writer, bank_id, session)
        steps = [self._silence.round_s, self._silence.task_s, self._silence.session_s]
        left_s = min(step for step in steps if step > quiet_s) - quiet_s
        return replace(session, due_at=self.clock() + timedelta(seconds=left_s))

    def close_round(self, writer: Writer, bank_id: int, session: Session, end: int) -> Session:
        """Let it be decided what of the turns before `end` is kept."""
        for first in range(session.kept_turn, end, KEPT_AT_ONCE):
            part = {"first": first, "end": min(end, first + KEPT_AT_ONCE)}
            writer.enqueue(bank_id, KEEP, {"session_id": session.session_id, **part})
        return replace(session, kept_turn=max(session.kept_turn, end))

    async def end_task(
        self, writer: Writer, bank_id: int, session: Session, end: int, boundary: str, told: tuple[str, str] = ("", "")
    ) -> Session:
        """End the open task before a turn and let it be looked back on. `told` is the client's word: outcome and note."""
        if session.is_reopened and session.task_id:
            task_id = session.task_id
            look = await writer.sessions.extend_task(bank_id, task_id, end, boundary, told)
        else:
            task_id, look = uuid7(), 1
            await writer.sessions.insert_task(bank_id, self._begin(task_id, session, end, boundary, told))
        writer.enqueue(bank_id, LOOK_BACK, {"task_id": str(task_id), "look": look})
        session = self.close_round(writer, bank_id, session, end)
        return replace(session, task_turn=end, task_id=task_id, is_reopened=False, pulse={})

    async def complete_task(self, writer: Writer, bank_id: int, session: Session, told: tuple[str, str]) -> tuple[Session, bool]:
        """End a task because the client says so: the open one, or, where nothing came after it, the last one, of which more
        is known now. Whether there was one."""
        end = session.next_turn
        is_open = session.task_turn < end and (session.is_reopened or has_substance(Pulse.of(session.pulse)) or bool(told[1]))
        if not is_open:
            if session.task_id is None:
                return session, False
            session = replace(session, is_reopened=True)
        return await self.end_task(writer, bank_id, session, end, "client", told), True

    async def end_session(self, writer: Writer, bank_id: int, session: Session) -> Session:
        """End a session: its open task is over, and it is summed up."""
        end = session.next_turn
        if session.task_turn < end and has_substance(Pulse.of(session.pulse)):
            session = await self.end_task(writer, bank_id, session, end, "end")
        session = self.close_round(writer, bank_id, session, end)
        writer.enqueue(bank_id, SUM_UP, {"session_id": session.session_id, "end": end})
        return replace(session, ended_at=self.clock(), due_at=None)

    async def look_again(self, writer: Writer, bank_id: int, session: Session) -> int:
        """Let the tasks of a session that have ended be looked back on again; how many they are."""
        tasks = await writer.sessions.list_tasks(bank_id, session.session_id, limit=MAX_TASKS)
        for task in tasks:
            look = await writer.sessions.extend_task(bank_id, task.task_id, task.end_turn, task.boundary, ("", ""))
            writer.enqueue(bank_id, LOOK_BACK, {"task_id": str(task.task_id), "look": look})
        return len(tasks)

    async def _find_reopened(self, writer: Writer, bank_id: int, session: Session) -> Task | None:
        """The last task, where what the user says may go on with it."""
        task = await writer.sessions.get_task(bank_id, session.task_id) if session.task_id else None
        return task if task and task.boundary not in FINAL and not session.is_reopened else None

    def _begin(self, task_id: UUID, session: Session, end: int, boundary: str, told: tuple[str, str]) -> Task:
        outcome, note = told
        return Task(
            task_id=task_id,
            session_id=session.session_id,
            first_turn=session.task_turn,
            end_turn=end,
            boundary=boundary,
            outcome=outcome,
            note=note,
            state="waiting",
            reason="",
            judged_by="",
            experience_id=None,
            memory_ids=(),
            looks=1,
            created_at=self.clock(),
            looked_at=None,
        )
