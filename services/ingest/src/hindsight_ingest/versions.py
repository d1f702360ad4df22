"""The revisions that one call adds and ends."""

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from hindsight_language.conflicts import Statement, contradicts
from hindsight_language.duplicates import sense
from hindsight_store.ids import uuid7
from hindsight_store.records import Conflict, Embedded, Memory, Relation
from hindsight_store.reviews import Review
from hindsight_store.writer import Writer

from hindsight_ingest.candidate import Candidate
from hindsight_ingest.guard import Verdict
from hindsight_ingest.standing import mark
from hindsight_ingest.superseding import Settlement, end, holds_at, place_of, settle

T = TypeVar("T", bound=Hashable)
NEIGHBOURS = 20  # memories of its scope and key, the nearest, that a candidate is compared with


def new_memory(candidate: Candidate, *, principal: str, status: str, now: datetime) -> Memory:
    """The first revision of a candidate."""
    return Memory(
        memory_id=uuid7(),
        revision=1,
        scope=candidate.scope,
        kind=candidate.kind,
        key=candidate.key,
        trigger=candidate.trigger,
        value=candidate.value,
        tags=candidate.tags,
        importance=candidate.importance,
        confidence=candidate.confidence,
        source=candidate.source,
        session_id=candidate.session_id,
        turn=candidate.turn,
        principal=principal,
        trust=candidate.trust,
        metadata=candidate.metadata,
        is_core=candidate.is_core,
        status=status,
        derived_from=candidate.derived_from,
        valid_from=candidate.valid_from,
        valid_to=candidate.valid_to,
        known_from=now,
        known_to=None,
        created_at=now,
        expires_at=candidate.expires_at,
        standing=mark(candidate.kind, candidate.value),
    )


MAX_TAGS = 64
MAX_DERIVED_FROM = 64
MAX_METADATA_BYTES = 16 * 1024


def _joined(newer: Sequence[T], older: Sequence[T], most: int) -> tuple[T, ...]:
    """Both without repeats, the older first; where they are too many, of the older ones only what still fits."""
    fitting = [one for one in older if one not in newer][: most - len(newer)]
    return tuple(one for one in dict.fromkeys((*older, *newer)) if one in newer or one in fitting)


def _joined_metadata(newer: Mapping[str, Any], older: Mapping[str, Any]) -> Mapping[str, Any]:
    both = {**older, **newer}
    return both if len(json.dumps(both, ensure_ascii=False).encode()) <= MAX_METADATA_BYTES else newer


def merge(memory: Memory, candidate: Candidate) -> Memory:
    """The memory brought up to date by a candidate that says the same: its wording, importance and confidence are the
    candidate's, nothing else is lost but what is over a memory's limits. Equal to the memory where nothing changes."""
    return replace(
        memory,
        value=candidate.value,
        trigger=candidate.trigger or memory.trigger,
        importance=candidate.importance,
        confidence=max(memory.confidence, candidate.confidence),
        tags=_joined(candidate.tags, memory.tags, MAX_TAGS),
        metadata=_joined_metadata(candidate.metadata, memory.metadata),
        is_core=memory.is_core or candidate.is_core,
        derived_from=_joined(candidate.derived_from, memory.derived_from, MAX_DERIVED_FROM),
        expires_at=candidate.expires_at or memory.expires_at,
        standing=mark(memory.kind, candidate.value),
        trust=max(memory.trust, candidate.trust),
    )


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a candidate, and the memory that stands for it."""

    outcome: str
    memory: Memory
    superseded: tuple[UUID, ...] = ()
    superseded_by: UUID | None = None
    detail: str = ""


Place = tuple[str, str]


class Versions:
    """Collects a call's new revisions, relations and conflicts, then writes them. Several changes of one memory become one
    revision."""

    def __init__(self, current: Mapping[UUID, Memory], principal: str, now: datetime, *, least_cosine: float = 1.0) -> None:
        self._current = dict(current)
        self._principal = principal
        self._now = now
        self._least_cosine = least_cosine
        self._added: dict[UUID, tuple[Memory, Embedded | int]] = {}
        self._by_place: dict[Place, list[UUID]] = {}
        self._ended: list[tuple[UUID, int]] = []
        self._relations: list[Relation] = []
        self._conflicts: list[Conflict] = []
        self.reviews: list[Review] = []

    def put(
        self, candidate: Candidate, embedded: Embedded, near: Sequence[UUID], *, verdict: Verdict, approved: UUID | None = None
    ) -> Written:
        """Hold a candidate back where the guard says so. Else add it, bring its twin up to date, or end what it contradicts; or
        keep that, and a record of the conflict.

        `near` are stored memories, nearest first, among which its twin and what it contradicts were before the lock; what
        was changed meanwhile is looked at again. `approved` is the memory in quarantine that the candidate was until now.
        """
        added = self._added_at(place_of(candidate))
        stored = [self._current[i] for i in near if i in self._current and i not in self._added]
        if verdict.status != "active":
            return self._quarantine(candidate, embedded, verdict, [*added, *stored])
        waiting = self._current.get(approved) if approved else None
        twin = _find_twin(candidate, [*added, *stored])
        if twin is not None:
            if waiting:
                self.replace(replace(waiting, status="deleted"), waiting.revision)
            return self._update(twin, candidate, embedded)
        close = self._closest(added, candidate, embedded)
        rules = {m.memory_id: rule for m in (*close, *stored) if (rule := find_rule(candidate, m))}
        settled = settle(candidate, [m for m in (*close, *stored) if m.memory_id in rules])
        if settled.kept is not None:
            return self._refuse(candidate, settled.kept, rules[settled.kept.memory_id], settled.reason)
        return self._supersede(candidate, embedded, settled, waiting)

    def _quarantine(self, candidate: Candidate, embedded: Embedded, verdict: Verdict, near: Sequence[Memory]) -> Written:
        """Hold a candidate back; the same once more is one memory in quarantine, however often it is written."""
        waiting = next((m for m in near if is_waiting_twin(candidate, m)), None)
        memory = waiting or self._add(candidate, embedded, verdict.status)
        self.reviews.append(Review(memory.memory_id, verdict.reason, verdict.signs, verdict.score, self._now))
        return Written("quarantined", memory, detail="waits for review and is not recalled until a person approves it")

    def _update(self, twin: Memory, candidate: Candidate, embedded: Embedded) -> Written:
        merged = merge(twin, candidate)
        self._relate(twin.memory_id, "derived_from", candidate.derived_from)
        return Written("updated", twin if merged == twin else self.replace(merged, embedded))

    def _refuse(self, candidate: Candidate, kept: Memory, rule: str, reason: str) -> Written:
        self._conflicts.append(new_conflict(candidate, kept, rule, principal=self._principal, now=self._now))
        return Written("conflict", kept, detail=f"contradicts a memory ({rule}); {reason}")

    def _supersede(self, candidate: Candidate, embedded: Embedded, settled: Settlement, waiting: Memory | None = None) -> Written:
        for memory in settled.ended:
            added = self._added.get(memory.memory_id)
            self.replace(end(memory, candidate.valid_from, self._now), added[1] if added else memory.revision)
        fresh = self._add(candidate, embedded, "active", settled.followed_by, waiting)
        superseded = tuple(sorted(m.memory_id for m in settled.ended))
        self._relate(fresh.memory_id, "supersedes", superseded)
        follower = settled.followed_by.memory_id if settled.followed_by else None
        if follower:
            self._relate(follower, "supersedes", [fresh.memory_id])
        return Written("superseded" if superseded else "created", fresh, superseded, follower)

    def _add(
        self,
        candidate: Candidate,
        embedded: Embedded,
        status: str,
        followed_by: Memory | None = None,
        waiting: Memory | None = None,
    ) -> Memory:
        fresh = new_memory(candidate, principal=self._principal, status=status, now=self._now)
        if followed_by:
            fresh = end(fresh, followed_by.valid_from, self._now)
        if waiting:
            kept = {name: getattr(waiting, name) for name in ("memory_id", "revision", "created_at")}
            # Who vouched for the words that waited does not vouch for others.
            trust = waiting.trust if waiting.value == fresh.value else fresh.trust
            return self.replace(replace(fresh, **kept, trust=trust), embedded)
        self._added[fresh.memory_id] = (fresh, embedded)
        self._by_place.setdefault(place_of(fresh), []).append(fresh.memory_id)
        self._relate(fresh.memory_id, "derived_from", candidate.derived_from)
        return fresh

    def _relate(self, from_id: UUID, relation_type: str, to_ids: Iterable[UUID]) -> None:
        self._relations += [Relation(from_id, relation_type, i) for i in to_ids if i != from_id]

    def replace(self, changed: Memory, embeddings: Embedded | int) -> Memory:
        """Make a changed memory, given with its current revision, its next one. Its embeddings are new, or those of an
        earlier revision with the same text."""
        memory_id = changed.memory_id
        if memory_id not in self._added:
            self._ended.append((memory_id, changed.revision))
            changed = replace(
                changed, revision=changed.revision + 1, known_from=self._now, known_to=None, principal=self._principal
            )
            self._by_place.setdefault(place_of(changed), []).append(memory_id)
        self._added[memory_id] = (changed, embeddings)
        return changed

    @property
    def fresh(self) -> list[Memory]:
        """The memories that are new and in force."""
        return [memory for memory, _ in self._added.values() if memory.revision == 1 and memory.status == "active"]

    async def write(self, writer: Writer, bank_id: int, generation: int) -> None:
        """Write what was collected."""
        added = list(self._added.values())
        await writer.end_revisions(bank_id, self._ended, self._now)
        await writer.insert(bank_id, [memory for memory, _ in added])
        fresh = [(memory, e) for memory, e in added if isinstance(e, Embedded)]
        await writer.insert_embeddings(bank_id, generation, fresh)
        await writer.copy_embeddings(bank_id, [(memory, e) for memory, e in added if isinstance(e, int)])
        await writer.relate(bank_id, list(dict.fromkeys(self._relations)), self._principal, self._now)
        await writer.insert_conflicts(bank_id, self._conflicts)

    def _added_at(self, place: Place) -> list[Memory]:
        return [self._added[i][0] for i in self._by_place.get(place, ())]

    def _closest(self, added: Sequence[Memory], candidate: Candidate, embedded: Embedded) -> list[Memory]:
        """The memories of this call that a candidate is compared with: the nearest, as many as of stored ones, nearest first."""
        cosines = {m.memory_id: self._cosine(m, embedded) for m in added if not _is_past(m, candidate)}
        near = [m for m in added if cosines.get(m.memory_id, -1.0) >= self._least_cosine]
        return sorted(near, key=lambda m: (-cosines[m.memory_id], m.memory_id))[:NEIGHBOURS]

    def _cosine(self, memory: Memory, embedded: Embedded) -> float:
        """How near a memory of this call is; 1 for a stored one, which was found by its nearness."""
        vectors = self._added[memory.memory_id][1]
        return 1.0 if isinstance(vectors, int) else float(vectors.content @ embedded.content)


def _is_past(memory: Memory, candidate: Candidate) -> bool:
    return memory.valid_to is not None and memory.valid_to <= candidate.valid_from


def find_rule(candidate: Candidate, memory: Memory) -> str:
    """The rule by which a candidate contradicts a memory while both would hold; "" where it does not."""
    is_there = memory.status in ("active", "archived", "superseded") and place_of(memory) == place_of(candidate)
    if not is_there or _is_past(memory, candidate):
        return ""
    mine = Statement(candidate.key, candidate.value, candidate.kind)
    other = Statement(memory.key, memory.value, memory.kind)
    return contradicts(mine, other) if memory.valid_from <= candidate.valid_from else contradicts(other, mine)


def is_twin(candidate: Candidate, memory: Memory) -> bool:
    """Whether a memory says what a candidate says, and is in force or was when the candidate began to hold."""
    if place_of(memory) != place_of(candidate) or sense(memory.value) != sense(candidate.value):
        return False
    if memory.status == "superseded":
        return holds_at(memory, candidate.valid_from)
    return memory.status in ("active", "archived") and memory.valid_to is None


def is_waiting_twin(candidate: Candidate, memory: Memory) -> bool:
    """Whether a memory in quarantine says what a candidate says."""
    is_there = memory.status == "pending_review" and place_of(memory) == place_of(candidate)
    return is_there and sense(memory.value) == sense(candidate.value)


def _find_twin(candidate: Candidate, memories: Sequence[Memory]) -> Memory | None:
    return next((m for m in memories if is_twin(candidate, m)), None)


def new_conflict(candidate: Candidate, kept: Memory, rule: str, *, principal: str, now: datetime) -> Conflict:
    """The record of a candidate that is refused because it contradicts a memory."""
    return Conflict(
        conflict_id=uuid7(),
        kept_id=kept.memory_id,
        rule=rule,
        scope=candidate.scope,
        kind=candidate.kind,
        key=candidate.key,
        trigger=candidate.trigger,
        value=candidate.value,
        source=candidate.source,
        session_id=candidate.session_id,
        turn=candidate.turn,
        confidence=candidate.confidence,
        valid_from=candidate.valid_from,
        principal=principal,
        at=now,
    )
