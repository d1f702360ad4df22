"""Desks and their entries, from and to messages."""

from datetime import UTC

from hindsight.v1 import desk_pb2, memory_pb2

from hindsight_memory.types.desks import Desk, DeskEntry, NewEntry, Placed
from hindsight_memory.wire.fields import fill, moment
from hindsight_memory.wire.memories import from_source, to_source


def from_new_entry(entry: NewEntry) -> desk_pb2.PutEntryRequest:
    """An entry to put, inside an otherwise empty request."""
    fields = {name: getattr(entry, name) for name in NewEntry.__dataclass_fields__}
    return fill(desk_pb2.PutEntryRequest(), fields | {"source": from_source(entry.source) if entry.source else None})


def to_entry(e: memory_pb2.DeskEntry) -> DeskEntry:
    """An entry of a desk."""
    return DeskEntry(
        id=e.id,
        scope=e.scope,
        key=e.key,
        query=e.query,
        value=e.value,
        source=to_source(e.source),
        confidence=e.confidence,
        importance=e.importance,
        tokens=e.tokens,
        is_pinned=e.is_pinned,
        is_task_state=e.is_task_state,
        uses=e.uses,
        put_at=e.put_at.ToDatetime(tzinfo=UTC),
        expires_at=moment(e, "expires_at"),
    )


def to_placed(response: desk_pb2.PutEntryResponse) -> Placed:
    """What was put, and what had to leave."""
    return Placed(to_entry(response.entry), tuple(response.evicted_keys), response.used_tokens, response.budget_tokens)


def to_desk(response: desk_pb2.ListEntriesResponse) -> Desk:
    """A desk."""
    tokens = (response.used_tokens, response.pinned_tokens, response.budget_tokens)
    return Desk(tuple(map(to_entry, response.entries)), *tokens)
