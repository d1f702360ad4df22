"""Protobuf from and to the client's types."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp
from hindsight.v1 import (
    admin_pb2,
    erasure_pb2,
    error_reason_pb2,
    ingest_pb2,
    memory_pb2,
    recall_pb2,
    receipt_pb2,
    session_pb2,
    sharing_pb2,
)

from hindsight_memory.errors import HindsightError
from hindsight_memory.types import (
    Adjustment,
    Answer,
    AuditLine,
    Candidate,
    ChannelAccount,
    Conflict,
    Considered,
    Contribution,
    Difference,
    ErasureReceipt,
    Filter,
    Finding,
    Flag,
    GateVerdict,
    Grant,
    Hit,
    Job,
    Key,
    Memory,
    MemorySource,
    NewGrant,
    NewKey,
    NewMemory,
    Receipt,
    Relation,
    Review,
    Session,
    Source,
    Task,
    ThenAndNow,
    Turn,
    Withdrawal,
    WriteResult,
)


def invalid(field: str, remedy: str) -> HindsightError:
    """The error for a field that cannot even be sent."""
    return HindsightError(
        f"{field}: {remedy}", code="INVALID_ARGUMENT", reason="INVALID_FIELD", fields={field: remedy}, retry_after_s=None
    )


def stamp(moment: datetime) -> Timestamp:
    """A moment as a message; a naive one is taken for UTC."""
    message = Timestamp()
    message.FromDatetime(moment if moment.tzinfo is None else moment.astimezone(UTC))
    return message


def moment(message: Message, field: str) -> datetime | None:
    """A message's moment, aware, or None where it is absent."""
    return getattr(message, field).ToDatetime(tzinfo=UTC) if message.HasField(field) else None


def fill(message: Any, fields: Mapping[str, Any]) -> Any:
    """Set fields of a message, leaving out what is None.

    Raises:
        HindsightError: INVALID_FIELD, a value has the wrong type or cannot be text; the field is named.
    """
    for field, value in fields.items():
        if value is None:
            continue
        try:
            if isinstance(value, datetime):
                getattr(message, field).CopyFrom(stamp(value))
            elif isinstance(value, Mapping):
                ParseDict(dict(value), getattr(message, field), max_recursion_depth=64)
                getattr(message, field).SetInParent()
            elif isinstance(value, Message):
                getattr(message, field).CopyFrom(value)
            elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
                getattr(message, field).extend(value)
            else:
                setattr(message, field, value)
        except (ParseError, TypeError, ValueError, RecursionError) as error:
            raise invalid(field, f"not accepted: {type(error).__name__}; see the field's type in the protos") from None
    return message


def enum(prefix: str, name: str | None, enum_type: Any, field: str) -> int | None:
    """The number of an enum's value by its short name."""
    if name is None:
        return None
    full = f"{prefix}_{name.upper()}" if isinstance(name, str) else ""
    if full not in enum_type.keys():  # noqa: SIM118 - not a mapping
        known = ", ".join(k.removeprefix(f"{prefix}_").lower() for k in enum_type.keys()[1:])
        raise invalid(field, f"one of: {known}")
    return enum_type.Value(full)


def enums(prefix: str, names: Sequence[str], enum_type: Any, field: str) -> list[int | None]:
    """The numbers of several values."""
    return [enum(prefix, name, enum_type, f"{field}[{i}]") for i, name in enumerate(names)]


def short(prefix: str, number: int, enum_type: Any) -> Any:
    """The short name of an enum's number."""
    return enum_type.Name(number).removeprefix(f"{prefix}_").lower()


def from_source(source: Source) -> memory_pb2.Source:
    """A source as a message."""
    kind = enum("SOURCE_KIND", source.kind, memory_pb2.SourceKind, "source")
    return fill(memory_pb2.Source(), {"kind": kind, "session_id": source.session_id, "turn": source.turn})


def from_new_memory(memory: NewMemory) -> ingest_pb2.WriteRequest:
    """A memory to write, inside an otherwise empty request."""
    fields = {name: getattr(memory, name) for name in NewMemory.__dataclass_fields__}
    fields["kind"] = enum("KIND", memory.kind, memory_pb2.Kind, "kind")
    fields["source"] = from_source(memory.source) if memory.source else None
    fields["metadata"] = memory.metadata or None
    return ingest_pb2.WriteRequest(memory=fill(memory_pb2.NewMemory(), fields))


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


def from_new_key(key: NewKey) -> admin_pb2.CreateKeyRequest:
    """A key to make."""
    fields = {name: getattr(key, name) for name in NewKey.__dataclass_fields__}
    fields["rights"] = enums("RIGHT", key.rights, admin_pb2.Right, "rights")
    fields["sources"] = enums("SOURCE_KIND", key.sources, memory_pb2.SourceKind, "sources")
    return fill(admin_pb2.CreateKeyRequest(), fields)


def to_source(s: memory_pb2.Source) -> Source:
    """A source."""
    kind = short("SOURCE_KIND", s.kind, memory_pb2.SourceKind)
    return Source(kind, s.session_id, s.turn if s.HasField("turn") else None)


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


def from_turn(turn: Turn) -> memory_pb2.Turn:
    """A turn to observe."""
    fields = {name: getattr(turn, name) for name in ("content", "tool", "result", "is_error", "at")}
    fields |= {"role": enum("TURN_ROLE", turn.role, memory_pb2.TurnRole, "role"), "arguments": turn.arguments or None}
    return fill(memory_pb2.Turn(), fields)


def to_turn(t: memory_pb2.Turn) -> Turn:
    """A turn."""
    return Turn(
        role=short("TURN_ROLE", t.role, memory_pb2.TurnRole),
        content=t.content,
        tool=t.tool,
        arguments=to_json(t.arguments),
        result=t.result,
        is_error=t.is_error,
        at=moment(t, "at"),
        session_id=t.session_id,
        turn=t.turn,
        scope=t.scope,
        masked=tuple(t.masked),
    )


def to_json(struct: Struct) -> dict[str, Any]:
    """A struct as JSON values; whole numbers as int."""
    return {name: _value(value) for name, value in struct.fields.items()}


def _value(value: Value) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return to_json(value.struct_value)
    if kind == "list_value":
        return [_value(v) for v in value.list_value.values]
    if kind == "number_value":
        return int(value.number_value) if value.number_value.is_integer() else value.number_value
    return None if kind in (None, "null_value") else getattr(value, kind)


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


def to_candidate(c: session_pb2.Candidate) -> Candidate:
    """Something worth keeping."""
    return Candidate(
        turn=c.turn,
        trigger=c.trigger,
        rule=c.rule,
        kind=short("KIND", c.kind, memory_pb2.Kind),
        key=c.key,
        query=c.query,
        value=c.value,
        importance=c.importance,
        confidence=c.confidence,
        timing=short("TIMING", c.timing, session_pb2.Timing),
    )


def to_session(s: session_pb2.Session) -> Session:
    """A session with its tasks."""
    return Session(
        id=s.id,
        scope=s.scope,
        started_at=s.started_at.ToDatetime(tzinfo=UTC),
        last_turn_at=s.last_turn_at.ToDatetime(tzinfo=UTC),
        ended_at=moment(s, "ended_at"),
        turns=s.turns,
        summary_id=s.summary_id,
        judged_by=s.judged_by,
        tasks=tuple(map(to_task, s.tasks)),
    )


def to_task(t: session_pb2.Task) -> Task:
    """A task of a session."""
    return Task(
        id=t.id,
        first_turn=t.first_turn,
        end_turn=t.end_turn,
        boundary=short("BOUNDARY", t.boundary, session_pb2.Boundary),
        outcome=t.outcome,
        state=short("TASK_STATE", t.state, session_pb2.TaskState),
        reason=t.reason,
        judged_by=t.judged_by,
        experience_id=t.experience_id,
        memory_ids=tuple(t.memory_ids),
        looks=t.looks,
        created_at=t.created_at.ToDatetime(tzinfo=UTC),
        looked_at=moment(t, "looked_at"),
    )


def to_job(j: admin_pb2.Job) -> Job:
    """A job."""
    return Job(
        id=j.id,
        kind=j.kind,
        agent_id=j.agent_id,
        state=short("JOB_STATE", j.state, admin_pb2.JobState),
        attempts=j.attempts,
        error=j.error,
        created_at=j.created_at.ToDatetime(tzinfo=UTC),
        run_after=j.run_after.ToDatetime(tzinfo=UTC),
    )


def to_audit_line(line: admin_pb2.AuditLine) -> AuditLine:
    """A line of the audit log."""
    told = (line.agent_id, line.principal, line.action, line.subject, line.outcome)
    return AuditLine(line.id, line.at.ToDatetime(tzinfo=UTC), *told)


def from_memory_source(source: MemorySource) -> admin_pb2.MemorySource:
    """Where memories come from, as a message."""
    return fill(admin_pb2.MemorySource(), asdict(source))


def to_withdrawal(w: admin_pb2.Withdrawal) -> Withdrawal:
    """A withdrawal."""
    counts = (w.withdrawn, w.rolled_back, w.turns)
    return Withdrawal(w.id, w.kind, w.source, moment(w, "at"), w.principal, moment(w, "reinstated_at"), *counts)


def to_erasure_receipt(r: erasure_pb2.ErasureReceipt) -> ErasureReceipt:
    """The proof of an erasure."""
    moments = {name: moment(r, name) for name in _ERASURE_MOMENTS}
    texts = {name: getattr(r, name) for name in ("id", "kind", "name_hash", "is_rewritten", "ids_digest", "signature")}
    return ErasureReceipt(**moments, **texts, counts=dict(r.counts))


def from_erasure_receipt(receipt: ErasureReceipt) -> erasure_pb2.ErasureReceipt:
    """The proof of an erasure, as a message."""
    message = fill(erasure_pb2.ErasureReceipt(), {k: v for k, v in asdict(receipt).items() if k != "counts"})
    message.counts.update(receipt.counts)
    return message


_ERASURE_MOMENTS = ("asked_at", "removed_at", "vacuumed_at", "caches_cleared_at")


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


def to_answer(response: recall_pb2.RecallResponse) -> Answer:
    """The answer to a recall."""
    missing = _channels(response.missing_channels)
    hits = tuple(to_hit(h) for h in response.hits)
    states = (response.is_partial, response.is_degraded, response.receipt_id)
    withheld = to_withheld(response.withheld)
    return Answer(hits, missing, response.next_page_token, *states, withheld=withheld, agent_id=response.agent_id)


def to_verdict(response: recall_pb2.ShouldRecallResponse) -> GateVerdict:
    """The verdict on a turn."""
    missing = _channels(response.missing_channels)
    return GateVerdict(response.should_recall, response.score, response.threshold, tuple(response.reasons), missing)


def _channels(numbers: Iterable[int]) -> tuple[str, ...]:
    return tuple(short("CHANNEL", number, recall_pb2.Channel) for number in numbers)


def to_receipt(r: receipt_pb2.Receipt) -> Receipt:
    """The account of a recall."""
    channels = tuple(ChannelAccount(short("CHANNEL", c.channel, recall_pb2.Channel), c.found, c.missing) for c in r.channels)
    return Receipt(
        receipt_id=r.receipt_id,
        at=moment(r, "at"),
        query=r.query,
        mode=short("MODE", r.mode, recall_pb2.Mode),
        top_k=r.top_k,
        relevance_floor=r.relevance_floor,
        weight_similarity=r.weight_similarity,
        weight_importance=r.weight_importance,
        hits=tuple(to_considered(c) for c in r.hits),
        near_misses=tuple(to_considered(c) for c in r.near_misses),
        channels=channels,
        took_ms=dict(r.took_ms),
        withheld=to_withheld(r.withheld),
    )


def to_considered(c: receipt_pb2.Considered) -> Considered:
    """One memory or turn in the account of a recall."""
    parts = c.importance
    return Considered(
        memory_id=c.memory_id,
        session_id=c.session_id,
        turn=c.turn,
        rank=c.rank,
        reason=short("HIT_REASON", c.reason, recall_pb2.HitReason) if c.reason else "",
        similarity=c.similarity,
        final_score=c.final_score,
        contributions=_contributions(c),
        importance=(parts.stored, parts.stage, parts.retention, parts.utility),
        findings=_findings(c),
    )


def to_then_and_now(r: receipt_pb2.RecallAsOfThenResponse) -> ThenAndNow:
    """A recall asked again."""
    differences = tuple(Difference(d.memory_id, d.session_id, d.turn, d.rank_then, d.rank_now) for d in r.differences)
    return ThenAndNow(tuple(to_hit(h) for h in r.hits_then), tuple(to_hit(h) for h in r.hits_now), differences)


def _findings(message: Any) -> tuple[Finding, ...]:
    return tuple(Finding(short("CHANNEL", f.channel, recall_pb2.Channel), f.rank, f.score) for f in message.findings)


def _contributions(message: Any) -> tuple[Contribution, ...]:
    return tuple(Contribution(c.feature, c.value, c.weight) for c in message.contributions)


def to_hit(h: recall_pb2.Hit) -> Hit:
    """A hit."""
    return Hit(
        subject=to_turn(h.turn) if h.HasField("turn") else to_memory(h.memory),
        rank=h.rank,
        similarity=h.similarity,
        final_score=h.final_score,
        effective_importance=h.effective_importance,
        findings=_findings(h),
        contributions=_contributions(h),
        reason=short("HIT_REASON", h.reason, recall_pb2.HitReason),
        flags=tuple(short("FLAG", flag, memory_pb2.Flag) for flag in h.flags),
    )


def to_withheld(withheld: Iterable[recall_pb2.Withheld]) -> dict[str, Flag]:
    """What the guard kept out of an answer: id -> flag."""
    return {one.memory_id: short("FLAG", one.reason, memory_pb2.Flag) for one in withheld}


def to_review(r: recall_pb2.Review) -> Review:
    """A memory that waits for a person's word."""
    return Review(to_memory(r.memory), r.reason, tuple(r.signs), r.score, r.copies, moment(r, "at"), r.principal)


def from_new_grant(grant: NewGrant) -> sharing_pb2.ShareRequest:
    """What to open, as a request."""
    fields = {name: getattr(grant, name) for name in ("grantee_agent_id", "scope", "key_prefix", "expires_at")}
    access = enum("ACCESS", grant.access, memory_pb2.Access, "access")
    return fill(sharing_pb2.ShareRequest(), fields | {"access": access})


def to_grant(g: memory_pb2.Grant) -> Grant:
    """A grant."""
    return Grant(
        id=g.id,
        agent_id=g.agent_id,
        grantee_agent_id=g.grantee_agent_id,
        scope=g.scope,
        key_prefix=g.key_prefix,
        access=short("ACCESS", g.access, memory_pb2.Access),
        created_by=g.created_by,
        created_at=moment(g, "created_at"),
        expires_at=moment(g, "expires_at"),
        revoked_at=moment(g, "revoked_at"),
    )


def to_key(k: admin_pb2.Key) -> Key:
    """A key."""
    return Key(
        id=k.id,
        tenant=k.tenant,
        name=k.name,
        agent_ids=tuple(k.agent_ids),
        default_agent_id=k.default_agent_id,
        scopes=tuple(k.scopes),
        rights=tuple(short("RIGHT", r, admin_pb2.Right) for r in k.rights),
        sources=tuple(short("SOURCE_KIND", s, memory_pb2.SourceKind) for s in k.sources),
        created_at=moment(k, "created_at"),
        expires_at=moment(k, "expires_at"),
        revoked_at=moment(k, "revoked_at"),
    )
