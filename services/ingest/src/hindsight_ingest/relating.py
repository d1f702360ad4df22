"""Relations that clients state between memories, and take back."""

from uuid import UUID

from hindsight_runtime.errors import InvalidField, PermissionDenied
from hindsight_store.records import Memory, Relation
from hindsight_store.writer import Writer

from hindsight_ingest.pipeline import Call, Pipeline, Result, lock_key


class Relating:
    """Changes relations through the pipeline. One for the life of a process."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    async def relate(self, call: Call, relation: Relation) -> None:
        """State a relation; one that is there gets the new weight.

        Raises:
            InvalidField: an end is no memory that the caller may see.
            PermissionDenied: the caller may not write the scope of the memory it starts from.
        """

        async def make(writer: Writer, bank_id: int) -> list[Result]:
            await _check_ends(writer, bank_id, call, relation)
            await writer.relate(bank_id, [relation], call.principal.key_id, self._pipeline.clock())
            return [Result("updated", relation.from_id)]

        await self._pipeline.change(call, make)

    async def unrelate(self, call: Call, relation: Relation) -> bool:
        """Take a relation back, whatever its weight; False where there was none.

        Raises:
            InvalidField: an end is no memory that the caller may see.
            PermissionDenied: the caller may not write the scope of the memory it starts from.
        """

        async def make(writer: Writer, bank_id: int) -> list[Result]:
            await _check_ends(writer, bank_id, call, relation)
            removed = await writer.unrelate(bank_id, relation.from_id, relation.type, relation.to_id)
            return [Result("updated" if removed else "unchanged", relation.from_id)]

        return (await self._pipeline.change(call, make))[0].outcome == "updated"


async def _check_ends(writer: Writer, bank_id: int, call: Call, relation: Relation) -> None:
    """Lock both ends, so that neither is deleted meanwhile, and see that the caller may relate them."""
    ends = {"from_id": relation.from_id, "to_id": relation.to_id}
    await writer.lock([lock_key(bank_id, i) for i in ends.values()])
    found = await writer.current(bank_id, list(ends.values()))
    for field, memory_id in ends.items():
        if not _is_visible(found.get(memory_id), memory_id, call):
            raise InvalidField(field, "no such memory of this agent; give the id of one that is not deleted")
    if not call.principal.may_use(found[relation.from_id].scope):
        raise PermissionDenied("the key may read the scope of the memory the relation starts from, not change it")


def _is_visible(memory: Memory | None, memory_id: UUID, call: Call) -> bool:
    return memory is not None and memory.status not in ("deleted", "pending_review") and call.principal.may_read(memory.scope)
