"""Changes of memories that are already there: update, forget, restore."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

import asyncpg
from hindsight_runtime.errors import DisguisedText, InstructionNotAllowed, NotFound, PermissionDenied, RevisionMismatch
from hindsight_runtime.identity import Principal
from hindsight_store.reader import reading
from hindsight_store.records import Embedded, Memory
from hindsight_store.writer import Writer

from hindsight_ingest.candidate import CEILINGS, Candidate, lower_to_ceiling, reword
from hindsight_ingest.guard import DISGUISED
from hindsight_ingest.pipeline import Call, NotOpened, Pipeline, Result, lock_key
from hindsight_ingest.standing import mark
from hindsight_ingest.versions import Versions

FADE = 0.1  # what is left of the importance
TEXT_FIELDS = frozenset({"key", "trigger", "value"})
READ_BY_GUARD = frozenset({"key", "trigger", "value", "tags", "metadata"})
REVISED = ("key", "trigger", "value", "tags", "confidence", "metadata", "derived_from")  # of a memory that says more now
UPDATE_TRIES = 5  # an update embeds before it locks; somebody else may be quicker


class _Outrun(Exception):
    """The memory changed between reading and locking it."""


class Changes:
    """Changes memories through the pipeline. One for the life of a process."""

    def __init__(self, pool: asyncpg.Pool, pipeline: Pipeline) -> None:
        self._pool = pool
        self._pipeline = pipeline

    async def update(self, call: Call, memory_id: UUID, fields: Mapping[str, Any], revision: int | None) -> Result:
        """Change some fields (named as in the record) of a memory that is not deleted.

        Raises:
            NotFound: no such memory within what the caller may see.
            RevisionMismatch: a revision was given and is not the current one.
            InstructionNotAllowed, DisguisedText: as the guard says of what it would say.
        """
        for _ in range(UPDATE_TRIES):
            try:
                return await self._try_update(call, memory_id, fields, revision)
            except _Outrun:
                continue
        raise RevisionMismatch("the memory is changed by others all the time; read it again and repeat")

    async def _try_update(self, call: Call, memory_id: UUID, fields: Mapping[str, Any], revision: int | None) -> Result:
        if past := await self._pipeline.recall_request(call):
            return past[0]
        seen, embedded = None, None
        if TEXT_FIELDS & fields.keys():
            seen = await self._read(call, memory_id)
            embedded = await self._pipeline.embed_memory(replace(seen, **fields))

        async def make(writer: Writer, bank_id: int) -> list[Result]:
            memory = await self._lock_and_get(writer, bank_id, memory_id, call)
            if memory.status == "deleted":
                raise NotFound("no such memory")
            # Whoever reviews it lets in what they have read.
            is_read = memory.status == "pending_review" and READ_BY_GUARD & fields.keys()
            if is_read and "admin" not in call.principal.rights:
                raise NotFound("the memory waits for review; an admin may change its words")
            if revision is not None and revision != memory.revision:
                raise RevisionMismatch(f"the memory is at revision {memory.revision}; read it again and repeat")
            if seen and seen.revision != memory.revision:
                raise _Outrun
            changed, adjustments = _apply(memory, fields, call.principal)
            if not call.admits(changed.scope, changed.key):
                raise NotOpened
            if READ_BY_GUARD & fields.keys():
                await self._check(changed, call.principal, embedded)
            if changed != memory:
                changed = (await self._write(writer, bank_id, call, (changed, embedded or memory.revision)))[0]
            return [Result("updated", memory_id, changed.revision, adjustments=adjustments)]

        return (await self._pipeline.change(call, make))[0]

    async def revise(self, call: Call, memory_id: UUID, candidate: Candidate) -> Result:
        """Let a memory say what a candidate says, which knows more of the same; its place and history stay. It stays as it is
        where the guard would hold the candidate back.

        Raises:
            NotFound: no such memory, or somebody has deleted it.
        """
        if past := await self._pipeline.recall_request(call):
            return past[0]
        embedded = (await self._pipeline.embed([(candidate.content, candidate.trigger)]))[0]

        async def make(writer: Writer, bank_id: int) -> list[Result]:
            memory = await self._lock_and_get(writer, bank_id, memory_id, call)
            if memory.status == "deleted":
                raise NotFound("no such memory")
            verdict = await asyncio.to_thread(self._pipeline.guard.admit, candidate, call.principal, embedded.content)
            if verdict.status != "active":
                return [Result("quarantined", memory_id, memory.revision)]
            said = {name: getattr(candidate, name) for name in REVISED}
            changed = replace(memory, **said, standing=mark(memory.kind, candidate.value))
            if changed != memory:
                changed = (await self._write(writer, bank_id, call, (changed, embedded)))[0]
            return [Result("updated", memory_id, changed.revision)]

        return (await self._pipeline.change(call, make))[0]

    async def restore(self, call: Call, memory_id: UUID, revision: int) -> Result:
        """Make an earlier revision the current one again, as a new revision. Brings back what was deleted, faded or
        superseded. What took its place stays as it is; the relations that deleting removed stay gone.

        Raises:
            NotFound: no such memory or revision, or it waits for review.
        """

        async def make(writer: Writer, bank_id: int) -> list[Result]:
            memory = await self._lock_and_get(writer, bank_id, memory_id, call)
            earlier = await writer.revision(bank_id, memory_id, revision)
            if earlier is None or "pending_review" in (memory.status, earlier.status):
                raise NotFound("the memory has no such revision, or waits for review; list its revisions")
            review = await writer.reviews.find(bank_id, memory_id)
            is_rejected = memory.status == "deleted" and review is not None and review.state == "rejected"
            if is_rejected and "admin" not in call.principal.rights:
                raise NotFound("a person rejected the memory; an admin may restore it")
            if await writer.withdrawals.holds(bank_id, memory_id, revision):
                raise NotFound("that revision is of a source that was withdrawn; an admin may approve or reinstate it")
            if not call.principal.may_use(earlier.scope):
                raise PermissionDenied("the key may not write the scope of that revision")
            target = replace(earlier, revision=memory.revision)
            if memory.status == "superseded" != target.status:
                await writer.remove_superseding(bank_id, memory_id)
            written = await self._write(writer, bank_id, call, (target, earlier.revision))
            return [Result("updated", memory_id, written[0].revision)]

        return (await self._pipeline.change(call, make))[0]

    async def forget(self, call: Call, memory_id: UUID | None, place: tuple[str, str], mode: str) -> list[UUID]:
        """Fade or delete one memory, or every active one with a (key, scope); the ids, ascending.

        Raises:
            NotFound: a memory was named that does not exist within what the caller may see.
        """

        async def make(writer: Writer, bank_id: int) -> list[Result]:
            if memory_id is not None:
                memories = [await self._lock_and_get(writer, bank_id, memory_id, call)]
                if memories[0].status == "deleted":
                    raise NotFound("no such memory")
            else:
                key, scope = place
                found = [m.memory_id for m in await writer.current_by_key(bank_id, key, scope)]
                await writer.lock([lock_key(bank_id, i) for i in found])
                locked = (await writer.current(bank_id, found)).values()
                memories = [m for m in locked if (m.key, m.scope) == place and m.status in ("active", "archived")]
            await self._write(writer, bank_id, call, *((_forgotten(m, mode), m.revision) for m in memories))
            if mode == "delete":
                await writer.remove_relations(bank_id, [m.memory_id for m in memories])
            return [Result("updated", i) for i in sorted(m.memory_id for m in memories)]

        places = [(place[1], place[0])] if memory_id is None else []
        return [r.memory_id for r in await self._pipeline.change(call, make, places) if r.memory_id]

    async def _check(self, changed: Memory, principal: Principal, embedded: Embedded | None) -> None:
        """Raise where the guard would quarantine what a memory is to say; a memory that is recalled stays so."""
        vector = embedded.content if embedded else None
        verdict = await asyncio.to_thread(self._pipeline.guard.admit, changed, principal, vector)
        if verdict.status != "active" and changed.status != "pending_review":
            held_back = DisguisedText if verdict.reason == DISGUISED else InstructionNotAllowed
            raise held_back("nothing was changed: write it as a memory of its own, which waits for review")

    async def clear(self, call: Call, memory_id: UUID, edits: Mapping[str, str]) -> Result:
        """Free a memory that is recalled of a doubt, with other words where there are edits.

        Raises:
            NotFound: no such memory waits within what the caller may see.
        """
        embedded = None
        if edits:
            embedded = await self._pipeline.embed_memory(replace(await self._read(call, memory_id), **edits))

        async def make(writer: Writer, bank_id: int) -> list[Result]:
            memory = await self._lock_and_get(writer, bank_id, memory_id, call)
            at = self._pipeline.clock()
            if not await writer.reviews.decide(bank_id, memory_id, "approved", call.principal.key_id, at):
                raise NotFound("no such memory waits for review")
            changed = reword(memory, edits, call.principal.sources)
            if changed.value != memory.value:
                changed = replace(changed, trust=CEILINGS[changed.source], standing=mark(changed.kind, changed.value))
            if embedded and changed != memory:
                changed = (await self._write(writer, bank_id, call, (changed, embedded)))[0]
            return [Result("updated", memory_id, changed.revision)]

        return (await self._pipeline.change(call, make))[0]

    async def reject(self, call: Call, memory_id: UUID) -> None:
        """Delete a memory that waits for review.

        Raises:
            NotFound: no such memory waits within what the caller may see.
        """

        async def make(writer: Writer, bank_id: int) -> list[Result]:
            memory = await self._lock_and_get(writer, bank_id, memory_id, call)
            at = self._pipeline.clock()
            if not await writer.reviews.decide(bank_id, memory_id, "rejected", call.principal.key_id, at):
                raise NotFound("no such memory waits for review")
            if memory.status != "deleted":
                await self._write(writer, bank_id, call, (replace(memory, status="deleted"), memory.revision))
                await writer.remove_relations(bank_id, [memory_id])
            return [Result("updated", memory_id)]

        await self._pipeline.change(call, make)

    async def _read(self, call: Call, memory_id: UUID) -> Memory:
        async with reading(self._pool, call.principal.tenant_id) as reader:
            bank_id = await reader.find_bank(call.principal.tenant_id, call.agent_id)
            kept = None if bank_id is None else await reader.get(bank_id, memory_id)
        if kept is None or not call.sees(kept.memory) or kept.memory.status == "deleted":
            raise NotFound("no such memory")
        return kept.memory

    async def _lock_and_get(self, writer: Writer, bank_id: int, memory_id: UUID, call: Call) -> Memory:
        await writer.lock([lock_key(bank_id, memory_id)])
        memory = (await writer.current(bank_id, [memory_id])).get(memory_id)
        if memory is None or not call.sees(memory):
            raise NotFound("no such memory")
        if not call.principal.may_use(memory.scope):
            raise PermissionDenied("the key may read this scope, not change it")
        return memory

    async def _write(self, writer: Writer, bank_id: int, call: Call, *changes: tuple[Memory, Embedded | int]) -> list[Memory]:
        versions = Versions({}, call.principal.key_id, self._pipeline.clock())
        written = [versions.replace(memory, embeddings) for memory, embeddings in changes]
        await versions.write(writer, bank_id, self._pipeline.generation)
        return written


def _apply(memory: Memory, fields: Mapping[str, Any], principal: Principal) -> tuple[Memory, Any]:
    """The memory with some fields changed, no higher than the caller's best source may claim.

    A new value is the caller's statement: what importance and confidence the old one had do not vouch for it.
    """
    source = "user" if "user" in principal.sources else "inference"
    claimed = [name for name in ("importance", "confidence") if name in fields]
    if "value" in fields:
        fields = {**fields, "source": source, "trust": CEILINGS[source]}
        claimed = ["importance", "confidence"]
    changed = replace(memory, **fields)
    changed = replace(changed, standing=mark(changed.kind, changed.value))
    importance, confidence, adjustments = lower_to_ceiling(source, changed.importance, changed.confidence)
    lowered = {"importance": importance, "confidence": confidence}
    kept = tuple(a for a in adjustments if a.field in claimed)
    return replace(changed, **{name: lowered[name] for name in claimed}), kept


def _forgotten(memory: Memory, mode: str) -> Memory:
    if mode == "fade":
        return replace(memory, importance=memory.importance * FADE)
    return replace(memory, status="deleted")
