"""Memories, filters and what became of a write, from and to messages."""

from datetime import UTC, datetime

from hindsight.v1 import error_reason_pb2, ingest_pb2, memory_pb2, recall_pb2

from hindsight_memory.types.memories import Adjustment, Conflict, Filter, Memory, NewMemory, Relation, Review, Source, WriteResult
from hindsight_memory.wire.fields import enum, enums, fill, moment, short, to_json


def from_source(source: Source) -> memory_pb2.Source:
    """A source as a message."""
    kind = enum("SOURCE_KIND", source.kind, memory_pb2.SourceKind, "source")
    return fill(memory_pb2.Source(), {"kind": kind, "session_id": source.session_id, "turn": source.turn})


def to_source(s: memory_pb2.Source) -> Source:
    """A source."""
    kind = short("SOURCE_KIND", s.kind, memory_pb2.SourceKind)
    return Source(kind, s.session_id, s.turn if s.HasField("turn") else None)


def from_new_memory(memory: NewMemory) -> ingest_pb2.WriteRequest:
    """A memory to write, inside an otherwise empty request."""
    fields = {name: getattr(memory, name) for name in NewMemory.__dataclass_fields__}
    fields["kind"] = enum("KIND", memory.kind, memory_pb2.Kind, "kind")
    fields["source"] = from_source(memory.source) if memory.source else None
    fields["metadata"] = memory.metadata or None
    return ingest_pb2.WriteRequest(memory=fill(memory_pb2.NewMemory(), fields))


def to_memory(m: memory_pb2.Memory) -> Memory:
    """A memory."""
    return Memory(
        id=m.id,
        agent_id=m.agent_id,
        scope=m.scope,
        kind=short("KIND", m.kind, memory_pb2.Kind),
        key=m.key,
        query=m.query,
        value=m.value,
        tags=tuple(m.tags),
        importance=m.importance,
        confidence=m.confidence,
        source=to_source(m.source),
        metadata=to_json(m.metadata),
        is_core=m.is_core,
        status=short("STATUS", m.status, memory_pb2.Status),
        revision=m.revision,
        valid_from=m.valid_from.ToDatetime(tzinfo=UTC),
        valid_to=moment(m, "valid_to"),
        known_from=m.known_from.ToDatetime(tzinfo=UTC),
        known_to=moment(m, "known_to"),
        created_at=m.created_at.ToDatetime(tzinfo=UTC),
        expires_at=moment(m, "expires_at"),
        hit_count=m.hit_count,
        last_hit_at=moment(m, "last_hit_at"),
        derived_from=tuple(m.derived_from),
    )


def from_filter(filter_: Filter) -> memory_pb2.Filter:
    """A filter as a message."""
    spans = {
        "valid_from": _span(filter_.valid_since, filter_.valid_until),
        "created_at": _span(filter_.created_since, filter_.created_until),
    }
    plain = ("key", "scope", "tags", "all_tags", "min_importance", "min_confidence", "include_archived")
    fields = {name: getattr(filter_, name) for name in plain} | spans
    fields["kinds"] = enums("KIND", filter_.kinds, memory_pb2.Kind, "kinds")
    fields["metadata"] = filter_.metadata or None
    return fill(memory_pb2.Filter(), fields)


def _span(since: datetime | None, until: datetime | None) -> memory_pb2.TimeRange | None:
    return fill(memory_pb2.TimeRange(), {"since": since, "until": until}) if since or until else None


def to_result(r: ingest_pb2.WriteResult) -> WriteResult:
    """What became of one memory."""
    reason = error_reason_pb2.ErrorReason.Name(r.reason).removeprefix("ERROR_REASON_") if r.reason else ""
    adjustments = tuple(Adjustment(a.field, a.asked, a.stored) for a in r.adjustments)
    outcome = short("OUTCOME", r.outcome, ingest_pb2.Outcome)
    return WriteResult(
        outcome, r.memory_id, r.revision, reason, r.field, r.detail, adjustments, tuple(r.superseded_ids), r.superseded_by_id
    )


def to_relation(r: recall_pb2.Relation) -> Relation:
    """A relation."""
    return Relation(r.from_id, r.to_id, r.type, r.weight, r.created_at.ToDatetime(tzinfo=UTC))


def to_conflict(c: recall_pb2.Conflict) -> Conflict:
    """A conflict record."""
    return Conflict(
        id=c.id,
        kept_id=c.kept_id,
        rule=c.rule,
        scope=c.scope,
        kind=short("KIND", c.kind, memory_pb2.Kind),
        key=c.key,
        query=c.query,
        value=c.value,
        source=to_source(c.source),
        confidence=c.confidence,
        valid_from=c.valid_from.ToDatetime(tzinfo=UTC),
        principal=c.principal,
        at=c.at.ToDatetime(tzinfo=UTC),
    )


def to_review(r: recall_pb2.Review) -> Review:
    """A memory that waits for a person's word."""
    return Review(to_memory(r.memory), r.reason, tuple(r.signs), r.score, r.copies, moment(r, "at"), r.principal)
