"""The revisions that one call adds and ends."""

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from hindsight_store.ids import uuid7
from hindsight_store.records import Embedded, Memory
from hindsight_store.writer import Writer

from hindsight_ingest.candidate import Candidate
from hindsight_ingest.duplicates import sense
from hindsight_ingest.standing import mark

T = TypeVar("T", bound=Hashable)


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


class Versions:
    """Collects a call's new revisions, then writes them. Several changes of one memory become one revision."""

    def __init__(self, current: Mapping[UUID, Memory], principal: str, now: datetime) -> None:
        self._current = dict(current)
        self._principal = principal
        self._now = now
        self._added: dict[UUID, tuple[Memory, Embedded | int]] = {}
        self._ended: list[tuple[UUID, int]] = []

    def put(self, candidate: Candidate, embedded: Embedded, twin: UUID | None, *, status: str) -> tuple[str, Memory]:
        """Add a candidate, or bring its twin up to date; the outcome and the memory as it then stands.

        The twin is a stored memory that said the same before the lock; one that was changed meanwhile is none.
        """
        memory = self._find(candidate, twin)
        if memory is None:
            fresh = new_memory(candidate, principal=self._principal, status=status, now=self._now)
            self._added[fresh.memory_id] = (fresh, embedded)
            return "created", fresh
        merged = merge(memory, candidate)
        return "updated", memory if merged == memory else self.replace(merged, embedded)

    def replace(self, changed: Memory, embeddings: Embedded | int) -> Memory:
        """Make a changed memory, given with its current revision, its next one. Its embeddings are new, or those of an
        earlier revision with the same text."""
        memory_id = changed.memory_id
        if memory_id not in self._added:
            self._ended.append((memory_id, changed.revision))
            changed = replace(
                changed, revision=changed.revision + 1, known_from=self._now, known_to=None, principal=self._principal
            )
        self._added[memory_id] = (changed, embeddings)
        return changed

    async def write(self, writer: Writer, bank_id: int, generation: int) -> None:
        """Write what was collected."""
        added = list(self._added.values())
        await writer.end_revisions(bank_id, self._ended, self._now)
        await writer.insert(bank_id, [memory for memory, _ in added])
        fresh = [(memory, e) for memory, e in added if isinstance(e, Embedded)]
        await writer.insert_embeddings(bank_id, generation, fresh)
        await writer.copy_embeddings(bank_id, [(memory, e) for memory, e in added if isinstance(e, int)])

    def _find(self, candidate: Candidate, twin: UUID | None) -> Memory | None:
        meaning = sense(candidate.value)
        memories = [memory for memory, _ in self._added.values()]
        if twin is not None and twin in self._current and twin not in self._added:
            memories.append(self._current[twin])
        for memory in memories:
            is_place_same = (memory.scope, memory.key) == (candidate.scope, candidate.key)
            if is_place_same and memory.status in ("active", "archived") and sense(memory.value) == meaning:
                return memory
        return None
