"""Calls about what is on desks."""

from collections.abc import Sequence

from hindsight.v1 import desk_pb2, memory_pb2

from hindsight_memory.connection import Connection
from hindsight_memory.types.desks import Desk, DeskEntry, NewEntry, Placed
from hindsight_memory.types.memories import Kind, WriteResult
from hindsight_memory.wire.desks import from_new_entry, to_desk, to_entry, to_placed
from hindsight_memory.wire.fields import enum, fill
from hindsight_memory.wire.memories import to_result


class DeskCalls(Connection):
    """Putting on desks, and taking from them. A desk is named by its scope: "session:abc" or "user:42"."""

    async def put_entry(self, scope: str, entry: NewEntry, *, agent_id: str = "") -> Placed:
        """Put something on a desk, in place of what has the same key."""
        request = fill(from_new_entry(entry), self._desk(scope, agent_id))
        return to_placed(await self._call(self._desks.PutEntry, request))

    async def get_entry(self, scope: str, key: str, *, agent_id: str = "") -> DeskEntry:
        """One entry of a desk, which counts as a use."""
        request = fill(desk_pb2.GetEntryRequest(), {"key": key, **self._desk(scope, agent_id)})
        return to_entry((await self._call(self._desks.GetEntry, request)).entry)

    async def list_entries(self, scope: str, *, agent_id: str = "") -> Desk:
        """All of a desk, which counts as no use."""
        request = fill(desk_pb2.ListEntriesRequest(), self._desk(scope, agent_id))
        return to_desk(await self._call(self._desks.ListEntries, request))

    async def pin_entry(self, scope: str, key: str, *, is_pinned: bool = True, agent_id: str = "") -> DeskEntry:
        """Pin an entry, so that it is never evicted, or unpin it."""
        request = fill(desk_pb2.PinEntryRequest(), {"key": key, "is_pinned": is_pinned, **self._desk(scope, agent_id)})
        return to_entry((await self._call(self._desks.PinEntry, request)).entry)

    async def clear_desk(self, scope: str, key: str = "", *, only_task_state: bool = False, agent_id: str = "") -> int:
        """Clear a desk, one entry of it, or what matters for the task at hand only; how many entries."""
        fields = {"key": key, "only_task_state": only_task_state, **self._desk(scope, agent_id)}
        return (await self._call(self._desks.ClearDesk, fill(desk_pb2.ClearDeskRequest(), fields))).cleared

    async def promote_entry(  # noqa: PLR0913 - the fields of the RPC
        self,
        scope: str,
        key: str,
        *,
        memory_scope: str = "",
        kind: Kind | None = None,
        tags: Sequence[str] = (),
        is_core: bool = False,
        agent_id: str = "",
        request_id: str = "",
    ) -> WriteResult:
        """Write an entry as a memory; it stays on the desk."""
        number = enum("KIND", kind, memory_pb2.Kind, "kind")
        fields = {"scope": scope, "key": key, "memory_scope": memory_scope, "kind": number, "tags": tags, "is_core": is_core}
        request = fill(desk_pb2.PromoteEntryRequest(), fields | self._identity(agent_id, request_id))
        return to_result((await self._call(self._desks.PromoteEntry, request)).result)

    def _desk(self, scope: str, agent_id: str) -> dict[str, str]:
        return {"scope": scope, "agent_id": agent_id or self._agent_id}
