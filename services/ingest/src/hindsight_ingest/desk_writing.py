"""What is put on a desk by a call: guarded, weighed, and kept before the answer; also what is too unsure for a memory."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from hindsight_language.tokens import Count
from hindsight_runtime.errors import DeskFull, DisguisedText, FieldViolation, InstructionNotAllowed, NotConfigured
from hindsight_runtime.identity import Principal
from hindsight_store.desks import Desk, Desks, Entry, NoRoom, Put

from hindsight_ingest.appraising import weigh_up
from hindsight_ingest.candidate import Candidate
from hindsight_ingest.guard import INSTRUCT, TextGuard
from hindsight_ingest.pipeline import Call, Result

ON_DESK = "too unsure for a memory: it is on the desk of its scope for half an hour; write it again when it is surer"


@dataclass(frozen=True, slots=True)
class DeskWriter:
    """Puts entries on desks."""

    desks: Desks | None  # None: there is no Redis
    guard: TextGuard
    count: Count
    clock: Callable[[], datetime]

    async def put(self, principal: Principal, desk: Desk, entry: Entry, ttl_s: int = 0) -> Put:
        """Put an entry; it lives for so many seconds unless it is used, or as long as is usual.

        Raises:
            InstructionNotAllowed, DisguisedText: it reads like an order beyond doubt, and the key may not instruct.
            DeskFull: it does not fit beside what is pinned.
            NotConfigured: there is no Redis.
        """
        if self.desks is None:
            raise NotConfigured("desks live in Redis, which is not set up; the operator names it with HINDSIGHT_REDIS_URL")
        judged = self.guard.judge_by_rules(("\n".join((entry.value, entry.trigger, entry.key)),))
        if judged and (judged.is_disguised or not (INSTRUCT in principal.rights and entry.source == "user")):
            refusal = DisguisedText if judged.is_disguised else InstructionNotAllowed
            remedy = "it gives the agent an order; put what is the case, or write it as a memory to be reviewed"
            raise refusal(f"value: {remedy}", violations=[FieldViolation("value", remedy)])
        try:
            return await self.desks.put(desk, *weigh_up(entry, self.count, ttl_s))
        except NoRoom as full:
            most = self.desks.budget_tokens
            if full.tokens > most:
                raise DeskFull(f"it takes {full.tokens} tokens, and a desk has {most}; shorten it, or put it in parts") from None
            raise DeskFull(f"{full} of {most}; unpin something, or shorten it") from None

    async def put_unsure(self, call: Call, candidate: Candidate, confidence: float) -> Result:
        """Put a statement that is too unsure for a memory on the desk of its scope."""
        principal = call.principal
        desk = Desk(principal.tenant_id, call.agent_id, principal.desk_of(candidate.scope))
        entry = Entry(
            key=candidate.key,
            trigger=candidate.trigger,
            value=candidate.value,
            source=candidate.source,
            confidence=confidence,
            importance=candidate.importance,
            tokens=0,
            put_at=self.clock(),
        )
        await self.put(principal, desk, entry)
        return Result("working", detail=ON_DESK, adjustments=candidate.adjustments)
