"""recall_context: what is offered to a context, from the desks, from what an agent should always know, and from a recall."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import asyncpg
from hindsight_language.tokens import Count
from hindsight_store.desks import DesksUnavailable
from hindsight_store.reader import reading
from hindsight_store.records import Kept
from hindsight_store.turns import Turn

from hindsight_recall.consistency import Doubt, doubt, flags_of
from hindsight_recall.contexts import DESK_SHARE, Context, Offer, compose, far_of, memory_ids, withheld_of, without_scores
from hindsight_recall.recalling import Answer, Query, Recaller
from hindsight_recall.working import WORKING

CORE = 64  # of a bank that are offered
NEAR = 3  # that were too far from the query are named
RELATIONS = 100  # among the memories that are offered, the strongest


@dataclass(frozen=True, slots=True)
class Made:
    """A context, the recall behind it, if there was a query, and what of its hits came in."""

    context: Context
    answer: Answer | None = None
    missing: Mapping[str, str] = field(default_factory=dict)  # channel -> "deadline" or "unavailable"

    @property
    def used(self) -> list[str]:
        """The ids of what came in."""
        return [item.offer.name for item in self.context.items]


class ContextMaker:
    """Makes contexts. One for the life of a process."""

    def __init__(self, pool: asyncpg.Pool, recaller: Recaller, count: Count) -> None:
        self._pool = pool
        self._recaller = recaller
        self._count = count

    async def make(self, query: Query, budget_tokens: int) -> Made:
        """What is at hand, what an agent should always know, and what answers the query, if there is one."""
        missing: dict[str, str] = {}
        asks = bool(query.text.strip() and query.bank_id)
        async with asyncio.TaskGroup() as tasks:
            recalling = tasks.create_task(self._recaller.recall(query)) if asks else None
            core = tasks.create_task(self._read_core(query, with_standing=not asks))
            desk = tasks.create_task(self._read_desks(query, int(DESK_SHARE * budget_tokens), missing))
        answer = recalling.result() if recalling else None
        hits = answer.hits if answer else ()
        found = [Offer("turn" if isinstance(hit.subject, Turn) else "memory", hit) for hit in hits]
        offers = [*desk.result(), *core.result(), *found]
        async with reading(self._pool, query.tenant_id) as reader:
            relations = await reader.relations.among(query.bank_id, list(memory_ids(offers)), limit=RELATIONS)
        told = {"budget_tokens": budget_tokens, "count": self._count, "zone": query.zone}
        context = await asyncio.to_thread(compose, offers, relations, **told)
        if answer:
            far = far_of(answer.near_misses, {offer.name for offer in offers})[:NEAR]
            context = replace(context, left_out=[*withheld_of(answer.withheld), *context.left_out, *far])
            missing |= answer.missing
        return Made(context, answer, missing)

    async def _read_desks(self, query: Query, share_tokens: int, missing: dict[str, str]) -> list[Offer]:
        """The entries of desks; where Redis is away none, and the channel is missing.

        Pinned ones come first, then the others, as recall would rank them where they do not fit into the desk's share, the newest
        first where they do and among equals.
        """
        try:
            entries = await self._recaller.read_desks(query) if query.desks else []
        except DesksUnavailable:
            missing[WORKING] = "unavailable"
            return []
        if sum(entry.tokens for entry in entries) > share_tokens:
            alike = await self._recaller.compare(query, entries) if query.text.strip() else {}
            weights = self._recaller.weights
            worth = {
                e.entry_id: weights.similarity * alike.get(e.entry_id, 0.0) + weights.importance * e.importance for e in entries
            }
            entries.sort(key=lambda entry: -worth[entry.entry_id])
        entries.sort(key=lambda entry: not entry.is_pinned)
        return [Offer("desk", replace(without_scores(entry), flags=flags_of(entry, {}))) for entry in entries]

    async def _read_core(self, query: Query, *, with_standing: bool) -> list[Offer]:
        """What an agent should always know; without what the present contradicts and a weak source says."""
        if not query.bank_id:
            return []
        async with reading(self._pool, query.tenant_id) as reader:
            found = await reader.core(query.bank_id, query.selection, with_standing=with_standing, limit=CORE)
        doubts = doubt([kept.memory for kept in found], query.said)
        return [_offer_core(kept, flags_of(kept, doubts)) for kept in found if not _is_withheld(kept, doubts)]


def _is_withheld(kept: Kept, doubts: Mapping[str, Doubt]) -> bool:
    found = doubts.get(str(kept.memory.memory_id))
    return found is not None and found.is_withheld


def _offer_core(kept: Kept, flags: tuple[str, ...]) -> Offer:
    return Offer("core", replace(without_scores(kept), flags=flags))
