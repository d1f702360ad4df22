"""The one way in: validate → embed → guard → duplicates and conflicts → commit. Every path that writes goes through here."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

import asyncpg
from hindsight_runtime.embedder import Embedder, Model
from hindsight_runtime.errors import (
    BatchRejected,
    DependencyUnavailable,
    FieldViolation,
    InvalidField,
    NotFound,
    PermissionDenied,
    RequestIdReused,
)
from hindsight_runtime.identity import Principal
from hindsight_store.audit import Act, count_outcomes, join_subjects
from hindsight_store.banks import KnownBanks
from hindsight_store.jobs import Job
from hindsight_store.records import Embedded, Generation, Grant, Memory, Vector
from hindsight_store.writer import PastRequest, RequestName, Writer, writing

from hindsight_ingest.candidate import Adjustment, Candidate, content_text
from hindsight_ingest.guard import ADMITTED, Verdict
from hindsight_ingest.kin import find_kin
from hindsight_ingest.superseding import place_of
from hindsight_ingest.versions import NEIGHBOURS, Versions, find_rule, is_twin, is_waiting_twin

# Where on the model's scale from unrelated to near-duplicate statements of one key begin to be compared; decision 0010.
RELATED = 0.6
HIDDEN = ("deleted", "pending_review")


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one memory. Holds no text of it, so it may be kept with the request id."""

    outcome: str
    memory_id: UUID | None = None
    revision: int = 0
    reason: str = ""
    field: str = ""
    detail: str = ""
    adjustments: tuple[Adjustment, ...] = ()
    superseded: tuple[UUID, ...] = ()
    superseded_by: UUID | None = None

    def to_json(self) -> dict[str, Any]:
        """As kept with the request id."""
        return {
            "outcome": self.outcome,
            "memory_id": str(self.memory_id) if self.memory_id else None,
            "revision": self.revision,
            "reason": self.reason,
            "field": self.field,
            "detail": self.detail,
            "adjustments": [[a.field, a.asked, a.stored] for a in self.adjustments],
            "superseded": [str(i) for i in self.superseded],
            "superseded_by": str(self.superseded_by) if self.superseded_by else None,
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> "Result":
        """As kept with the request id."""
        return cls(
            kept["outcome"],
            UUID(kept["memory_id"]) if kept["memory_id"] else None,
            kept["revision"],
            kept["reason"],
            kept["field"],
            kept["detail"],
            tuple(Adjustment(*a) for a in kept["adjustments"]),
            tuple(UUID(i) for i in kept.get("superseded", ())),
            UUID(kept["superseded_by"]) if kept.get("superseded_by") else None,
        )


@dataclass(frozen=True, slots=True)
class Call:
    """Who does what to which agent's memories, under which request id; `content_hash` stands for what was asked."""

    principal: Principal
    agent_id: str
    request_id: str
    content_hash: bytes
    action: str
    job: Job | None = None  # of the worker, which writes only while it has it
    grants: tuple[Grant, ...] = ()  # by which the agent's memories are open to the caller, where it is another agent's

    @property
    def request(self) -> RequestName:
        """The request id as the store knows it."""
        return RequestName(self.principal.key_id, self.request_id, self.content_hash)

    def admits(self, scope: str, key: str) -> bool:
        """Whether memories of this scope and key are the caller's to write, as far as grants go."""
        return not self.grants or any(grant.admits(scope, key) for grant in self.grants)

    def sees(self, memory: Memory) -> bool:
        """Whether the memory exists for the caller."""
        is_open = not self.grants or (self.admits(memory.scope, memory.key) and memory.status not in HIDDEN)
        return is_open and self.principal.may_read(memory.scope)


Make = Callable[[Writer, int], Awaitable[list[Result]]]


class NotOpened(PermissionDenied):
    """What another agent has opened ends before this memory."""

    def __init__(self) -> None:
        super().__init__("the agent has opened memories of other scopes or keys only; list the grants")


class JobLost(LookupError):
    """What the job was to read has changed: it was erased, or the job begins anew."""


class Guard(Protocol):
    """Decides whether a candidate may become a memory."""

    def admit(self, candidate: Candidate | Memory, principal: Principal, embedding: Vector | None = None) -> Verdict:
        """Admit or quarantine; never raises. With the embedding of the content it sees more."""
        ...


def lock_key(*parts: object) -> int:
    """A 64-bit lock number for a thing; two things share one with negligible chance, and then only wait."""
    digest = hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def check_repeat(past: PastRequest) -> None:
    """Raise RequestIdReused where a call's request id stands for other content, or for what was erased."""
    if past.outcome.get("erased"):
        raise RequestIdReused("what this request_id did was erased; it is not done again")
    if not past.is_same:
        raise RequestIdReused("this request_id was used with other content; give every change an id of its own")


Entry = tuple[Candidate, Embedded] | InvalidField  # a candidate on its way, or why it is rejected


class Pipeline:
    """Writes candidates. One for the life of a process."""

    def __init__(  # noqa: PLR0913 - one for each stage
        self,
        pool: asyncpg.Pool,
        embedder: Embedder,
        model: Model,
        generation: Generation,
        *,
        guard: Guard,
        clock: Callable[[], datetime],
        kin: Collection[str] = (),
    ) -> None:
        self._kin = kin  # which relations follow from what memories say
        self._pool = pool
        self._embedder = embedder
        self._model = model
        self._least_cosine = model.cosine_floor + RELATED * (model.duplicate_cosine - model.cosine_floor)
        self.generation = generation.generation
        self.guard = guard
        self.clock = clock
        self._banks = KnownBanks()

    async def write(
        self,
        call: Call,
        checked: Sequence[Candidate | InvalidField],
        *,
        all_or_nothing: bool = False,
        approved: UUID | None = None,
    ) -> list[Result]:
        """Write candidates in one transaction; in order, what became of each. What failed its check is rejected.

        `approved` is the memory in quarantine that a person lets in as the only candidate: the guard has had its say.

        Raises:
            BatchRejected: all_or_nothing, and one of them failed its check.
            RequestIdReused: the request id stands for other content.
            DependencyUnavailable: the embed service does not answer; nothing was written.
        """
        if all_or_nothing:
            _require_all(checked)
        accepted = [c for c in checked if isinstance(c, Candidate)]
        try:
            embedded = await self.embed([(c.content, c.trigger) for c in accepted])
        except DependencyUnavailable:
            past = await self.recall_request(call)
            if past is None:
                raise
            return past
        vectors = iter(embedded)
        entries = [(c, next(vectors)) if isinstance(c, Candidate) else c for c in checked]
        verdicts = await asyncio.to_thread(lambda: [ADMITTED if approved else self._judge(call, e) for e in entries])

        async def make(writer: Writer, bank_id: int) -> list[Result]:
            near = [() if isinstance(e, InvalidField) else await self._look_around(writer, bank_id, *e) for e in entries]
            origins = {i for e in entries if not isinstance(e, InvalidField) for i in e[0].derived_from}
            wanted = list(origins.union(*near, [approved] if approved else []))
            await writer.lock([lock_key(bank_id, i) for i in wanted])
            current = await writer.current(bank_id, wanted)
            known = _check_derived(call, entries, current)
            if all_or_nothing:
                _require_all(known)
            if approved and (approved not in current or current[approved].status != "pending_review"):
                raise NotFound("no such memory waits for review")
            versions = Versions(current, call.principal.key_id, self.clock(), least_cosine=self._least_cosine)
            results: list[Result] = []
            for entry, ids, verdict in zip(known, near, verdicts, strict=True):
                results.append(_put(versions, entry, ids, verdict, approved))
                await asyncio.sleep(0)  # comparing takes milliseconds each; other calls go on in between
            await versions.write(writer, bank_id, self.generation)
            await writer.reviews.ask(bank_id, versions.reviews)
            if approved and results[0].outcome != "conflict":
                await writer.reviews.decide(bank_id, approved, "approved", call.principal.key_id, self.clock())
            if self._kin:
                related = await find_kin(writer, bank_id, versions.fresh, self._kin, self.clock())
                await writer.relate(bank_id, related, call.principal.key_id, self.clock())
            return results

        return await self.change(call, make, {(c.scope, c.key) for c in accepted})

    async def embed(self, texts: Sequence[tuple[str, str]]) -> list[Embedded]:
        """Embed (content, trigger) pairs, in order."""
        flat = [t for pair in texts for t in pair if t.strip()]
        vectors = iter(await self._embedder.embed(flat, "passage", model=self._model))
        return [Embedded(next(vectors), next(vectors) if trigger.strip() else None) for _, trigger in texts]

    async def embed_memory(self, memory: Memory) -> Embedded:
        """The embeddings of a memory's text."""
        return (await self.embed([(content_text(memory.key, memory.trigger, memory.value), memory.trigger)]))[0]

    async def recall_request(self, call: Call) -> list[Result] | None:
        """What the call's request id already answered, or None."""
        if not call.request_id:
            return None
        async with writing(self._pool, call.principal.tenant_id) as writer:
            bank_id = await writer.find_bank(call.principal.tenant_id, call.agent_id)
            return None if bank_id is None else await self._past(writer, bank_id, call)

    async def change(self, call: Call, make: Make, places: Iterable[tuple[str, str]] = ()) -> list[Result]:
        """Make a change once: in one transaction with the record of its request id, or the answer it had before.

        Meanwhile no other change touches the places, (scope, key) each.
        """
        async with writing(self._pool, call.principal.tenant_id) as writer:
            bank_id = await self._ensure_bank(writer, call)
            locks = [lock_key(bank_id, scope, key) for scope, key in places]
            if call.request_id:
                locks.append(lock_key(bank_id, "request", call.principal.key_id, call.request_id))
            await writer.enter(bank_id)
            await writer.lock(locks)
            if call.job and not await writer.holds(call.job):
                raise JobLost
            if call.grants and not await writer.grants.hold(bank_id, [g.grant_id for g in call.grants]):
                raise PermissionDenied("the agent has ended what it had opened")
            past = await self._past(writer, bank_id, call) if call.request_id else None
            if past is not None:
                return past
            results = await make(writer, bank_id)
            if call.request_id:
                await writer.record_request(bank_id, call.request, {"results": [r.to_json() for r in results]})
            writer.audit(_account(bank_id, call, results))
        self._banks.remember(call.principal.tenant_id, call.agent_id, bank_id)
        return results

    async def _ensure_bank(self, writer: Writer, call: Call) -> int:
        """The agent's bank, which never changes once it is committed."""
        known = self._banks.get(call.principal.tenant_id, call.agent_id)
        return known if known is not None else await writer.ensure_bank(call.agent_id)

    async def _past(self, writer: Writer, bank_id: int, call: Call) -> list[Result] | None:
        past = await writer.find_request(bank_id, call.request)
        if past is None:
            return None
        check_repeat(past)
        return [Result.from_json(kept) for kept in past.outcome["results"]]

    def _judge(self, call: Call, entry: Entry) -> Verdict:
        if isinstance(entry, InvalidField):
            return ADMITTED
        return self.guard.admit(entry[0], call.principal, entry[1].content)

    async def _look_around(self, writer: Writer, bank_id: int, candidate: Candidate, vectors: Embedded) -> list[UUID]:
        """Stored memories of the same scope and key that say the same or the contrary, nearest first."""
        near = await writer.neighbours(
            bank_id,
            place_of(candidate),
            (self.generation, vectors.content),
            min_cosine=self._least_cosine,
            at=candidate.valid_from,
            limit=NEIGHBOURS,
        )
        least = self._model.duplicate_cosine
        twin = next((m.memory_id for m, cosine in near if cosine >= least and is_twin(candidate, m)), None)
        waiting = [m.memory_id for m, cosine in near if cosine >= least and is_waiting_twin(candidate, m)]
        return [*([twin] if twin else [m.memory_id for m, _ in near if find_rule(candidate, m)]), *waiting[:1]]


def _account(bank_id: int, call: Call, results: Sequence[Result]) -> Act:
    """A call's line in the audit log."""
    subject = join_subjects(list(dict.fromkeys(r.memory_id for r in results if r.memory_id)))
    outcome = count_outcomes(Counter(r.outcome for r in results)) or "nothing"
    return Act(call.principal.key_id, call.action, outcome, subject, bank_id=bank_id)


def _put(versions: Versions, entry: Entry, near: Sequence[UUID], verdict: Verdict, approved: UUID | None) -> Result:
    if isinstance(entry, InvalidField):
        return _rejection(entry)
    candidate, vectors = entry
    written = versions.put(candidate, vectors, near, verdict=verdict, approved=approved)
    return Result(
        written.outcome,
        written.memory.memory_id,
        written.memory.revision,
        reason=verdict.reason.upper() if written.outcome == "quarantined" else "",
        detail=written.detail,
        adjustments=candidate.adjustments,
        superseded=written.superseded,
        superseded_by=written.superseded_by,
    )


def _check_derived(call: Call, entries: Sequence[Entry], found: Mapping[UUID, Memory]) -> list[Entry]:
    """The entries, those rejected that are derived from what the caller cannot see."""
    visible = {i for i, m in found.items() if call.sees(m) and m.status != "deleted"}
    return [e if isinstance(e, InvalidField) else _unknown_origin(e[0], visible) or e for e in entries]


def _unknown_origin(candidate: Candidate, visible: Set[UUID]) -> InvalidField | None:
    for number, origin in enumerate(candidate.derived_from):
        if origin not in visible:
            return InvalidField(f"{candidate.path}.derived_from[{number}]", "no such memory of this agent; leave it out")
    return None


def _require_all(entries: Sequence[object]) -> None:
    """Raise BatchRejected if one of a batch was rejected."""
    if failed := [e for e in entries if isinstance(e, InvalidField)]:
        violations = [FieldViolation(f.field, f.remedy) for f in failed]
        raise BatchRejected("nothing was written: correct the fields named, or drop all_or_nothing", violations=violations)


def _rejection(error: InvalidField) -> Result:
    # What stands inside metadata is named by the client; a result is kept and holds no text.
    field, inside, _ = error.field.partition(".metadata.")
    return Result("rejected", reason=error.reason, field=field + inside.rstrip("."), detail=error.remedy)
