"""Protobuf from and to what recall works with."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp
from hindsight.v1 import memory_pb2, recall_pb2, session_pb2
from hindsight_runtime import checks
from hindsight_runtime.errors import InvalidField
from hindsight_runtime.identity import SESSION_PREFIX, Principal
from hindsight_store.desks import Entry
from hindsight_store.records import Conflict, Grant, Kept, Memory, RelationSeen, Selection, Use
from hindsight_store.reviews import Review
from hindsight_store.sessions import Session, Task
from hindsight_store.turns import Turn

from hindsight_recall.context_making import Made
from hindsight_recall.ranking import Place
from hindsight_recall.recalling import Hit

KINDS = {v: k.removeprefix("KIND_").lower() for k, v in memory_pb2.Kind.items() if v}
STATUSES = {v: k.removeprefix("STATUS_").lower() for k, v in memory_pb2.Status.items() if v}
METADATA_BYTES = 16 * 1024


def to_stamp(moment: datetime) -> Timestamp:
    """A moment as a message."""
    stamp = Timestamp()
    stamp.FromDatetime(moment)
    return stamp


def to_memory(agent_id: str, memory: Memory, use: Use) -> memory_pb2.Memory:
    """A memory as a message."""
    message = memory_pb2.Memory(
        id=str(memory.memory_id),
        agent_id=agent_id,
        scope=memory.scope,
        kind=f"KIND_{memory.kind.upper()}",
        key=memory.key,
        query=memory.trigger,
        value=memory.value,
        tags=memory.tags,
        importance=memory.importance,
        confidence=memory.confidence,
        source=memory_pb2.Source(kind=f"SOURCE_KIND_{memory.source.upper()}", session_id=memory.session_id, turn=memory.turn),
        metadata=ParseDict(dict(memory.metadata), Struct()),
        is_core=memory.is_core,
        status=f"STATUS_{memory.status.upper()}",
        revision=memory.revision,
        hit_count=use.hit_count,
        derived_from=map(str, memory.derived_from),
    )
    for name in ("valid_from", "valid_to", "known_from", "known_to", "created_at", "expires_at"):
        if (moment := getattr(memory, name)) is not None:
            getattr(message, name).CopyFrom(to_stamp(moment))
    if use.last_hit_at:
        message.last_hit_at.CopyFrom(to_stamp(use.last_hit_at))
    return message


def to_kept(agent_id: str, kept: Kept) -> memory_pb2.Memory:
    """A memory with its use as a message; it says whose it is."""
    return to_memory(kept.grant.owner if kept.grant else agent_id, kept.memory, kept.use)


def to_grant(grant: Grant, *, with_principal: bool) -> memory_pb2.Grant:
    """A grant as a message."""
    message = memory_pb2.Grant(
        id=str(grant.grant_id),
        agent_id=grant.owner,
        grantee_agent_id=grant.grantee,
        scope=grant.scope,
        key_prefix=grant.key_prefix,
        access=f"ACCESS_{grant.access.upper()}",
        created_by=grant.created_by if with_principal else "",
    )
    for name in ("created_at", "expires_at", "revoked_at"):
        if (moment := getattr(grant, name)) is not None:
            getattr(message, name).CopyFrom(to_stamp(moment))
    return message


def to_turn(turn: Turn) -> memory_pb2.Turn:
    """A turn as a message."""
    return memory_pb2.Turn(
        role=f"TURN_ROLE_{turn.role.upper()}",
        content=turn.content,
        tool=turn.tool,
        arguments=ParseDict(dict(turn.arguments), Struct()),
        result=turn.result,
        is_error=turn.is_error,
        at=to_stamp(turn.at),
        session_id=turn.session_id,
        turn=turn.turn,
        scope=turn.scope,
        masked=turn.masked,
    )


def to_entry(entry: Entry) -> memory_pb2.DeskEntry:
    """A desk's entry as a message."""
    return memory_pb2.DeskEntry(
        scope=entry.scope,
        key=entry.key,
        query=entry.trigger,
        value=entry.value,
        source=memory_pb2.Source(kind=f"SOURCE_KIND_{entry.source.upper()}"),
        confidence=entry.confidence,
        importance=entry.importance,
        tokens=entry.tokens,
        is_pinned=entry.is_pinned,
        is_task_state=entry.is_task_state,
        uses=entry.uses,
        id=entry.entry_id,
        put_at=to_stamp(entry.put_at),
        expires_at=to_stamp(entry.expires_at) if entry.expires_at else None,
    )


def to_relation(seen: RelationSeen) -> recall_pb2.Relation:
    """A relation as a message."""
    r = seen.relation
    return recall_pb2.Relation(
        from_id=str(r.from_id), to_id=str(r.to_id), type=r.type, weight=r.weight, created_at=to_stamp(seen.created_at)
    )


def to_review(agent_id: str, review: Review, kept: Kept, principal: str) -> recall_pb2.Review:
    """A review with its memory as a message."""
    return recall_pb2.Review(
        memory=to_kept(agent_id, kept),
        reason=review.reason,
        signs=review.signs,
        score=review.score,
        copies=review.copies,
        at=to_stamp(review.at),
        principal=principal,
    )


def to_session(session: Session, tasks: Sequence[Task]) -> session_pb2.Session:
    """A session as a message."""
    message = session_pb2.Session(
        id=session.session_id,
        scope=session.scope,
        started_at=to_stamp(session.started_at),
        last_turn_at=to_stamp(session.last_turn_at),
        turns=session.next_turn,
        summary_id=str(session.summary_id or ""),
        judged_by=session.judged_by,
        tasks=map(to_task, tasks),
    )
    if session.ended_at:
        message.ended_at.CopyFrom(to_stamp(session.ended_at))
    return message


def to_task(task: Task) -> session_pb2.Task:
    """A task as a message."""
    message = session_pb2.Task(
        id=str(task.task_id),
        first_turn=task.first_turn,
        end_turn=task.end_turn,
        boundary=f"BOUNDARY_{task.boundary.upper()}",
        outcome=task.outcome,
        state=f"TASK_STATE_{task.state.upper()}",
        reason=task.reason,
        judged_by=task.judged_by,
        experience_id=str(task.experience_id or ""),
        memory_ids=map(str, task.memory_ids),
        looks=task.looks,
        created_at=to_stamp(task.created_at),
    )
    if task.looked_at:
        message.looked_at.CopyFrom(to_stamp(task.looked_at))
    return message


def to_conflict(conflict: Conflict, *, with_principal: bool) -> recall_pb2.Conflict:
    """A conflict record as a message."""
    return recall_pb2.Conflict(
        id=str(conflict.conflict_id),
        kept_id=str(conflict.kept_id),
        rule=conflict.rule,
        scope=conflict.scope,
        kind=f"KIND_{conflict.kind.upper()}",
        key=conflict.key,
        query=conflict.trigger,
        value=conflict.value,
        source=memory_pb2.Source(
            kind=f"SOURCE_KIND_{conflict.source.upper()}", session_id=conflict.session_id, turn=conflict.turn
        ),
        confidence=conflict.confidence,
        valid_from=to_stamp(conflict.valid_from),
        principal=conflict.principal if with_principal else "",
        at=to_stamp(conflict.at),
    )


def to_hit(agent_id: str, rank: int, hit: Hit) -> recall_pb2.Hit:
    """A hit as a message."""
    subject, place = hit.subject, hit.place
    return recall_pb2.Hit(
        memory=to_kept(agent_id, subject) if isinstance(subject, Kept) else None,
        turn=to_turn(subject) if isinstance(subject, Turn) else None,
        entry=to_entry(subject) if isinstance(subject, Entry) else None,
        rank=rank,
        similarity=place.similarity,
        final_score=place.final_score,
        effective_importance=place.measured.importance.effective,
        findings=to_findings(place),
        contributions=to_contributions(place),
        reason=f"HIT_REASON_{place.reason.upper()}",
        flags=[f"FLAG_{flag.upper()}" for flag in hit.flags],
    )


def to_withheld(withheld: Mapping[str, str]) -> list[recall_pb2.Withheld]:
    """What the guard kept out of an answer as messages."""
    return [recall_pb2.Withheld(memory_id=name, reason=f"FLAG_{flag.upper()}") for name, flag in withheld.items()]


def to_context(
    agent_id: str, made: Made, hits: Sequence[Hit], receipt_id: str, budget_tokens: int
) -> recall_pb2.RecallContextResponse:
    """A context as a message, its hits as the caller may see them."""
    context = made.context
    return recall_pb2.RecallContextResponse(
        text=context.text,
        items=[
            recall_pb2.ContextItem(
                section=f"SECTION_{item.offer.section.upper()}",
                citation=item.citation,
                hit=to_hit(agent_id, rank, hit),
                line=item.line,
                tokens=item.tokens,
            )
            for rank, (item, hit) in enumerate(zip(context.items, hits, strict=True), start=1)
        ],
        relations=[to_relation(seen) for seen in context.relations],
        left_out=[
            recall_pb2.LeftOut(
                id=one.name,
                section=f"SECTION_{one.section.upper()}",
                reason=f"LEFT_OUT_REASON_{one.reason.upper()}",
                duplicate_of=one.duplicate_of,
                key=one.key,
                tokens=one.tokens,
            )
            for one in context.left_out
        ],
        tokens=context.tokens,
        budget_tokens=budget_tokens,
        receipt_id=receipt_id,
        missing_channels=[f"CHANNEL_{channel.upper()}" for channel in sorted(made.missing)],
        is_partial="deadline" in made.missing.values(),
        is_degraded="unavailable" in made.missing.values(),
        agent_id=agent_id,
    )


def to_findings(place: Place) -> list[recall_pb2.Finding]:
    """How each channel saw what stands at a place, as messages."""
    findings = place.measured.findings
    return [recall_pb2.Finding(channel=f"CHANNEL_{f.channel.upper()}", rank=f.rank, score=f.score) for f in findings]


def to_contributions(place: Place) -> list[recall_pb2.Contribution]:
    """What the similarity of a place is made of, as messages."""
    return [recall_pb2.Contribution(feature=c.feature, value=c.value, weight=c.weight) for c in place.contributions]


def read_moment(message: Message, field: str) -> datetime | None:
    """A moment of a request; None where it is absent."""
    return checks.check_time(field, getattr(message, field)) if message.HasField(field) else None


def read_zone(name: str) -> tzinfo:
    """A caller's time zone; empty is UTC.

    Raises:
        InvalidField: there is no zone of this name.
    """
    checks.check_text("time_zone", name, max_chars=64)
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidField("time_zone", "give an IANA name such as Asia/Shanghai or Europe/Berlin") from None


def read_selection(filter_: memory_pb2.Filter, principal: Principal, now: datetime, statuses: Sequence[int] = ()) -> Selection:
    """A filter as a selection within what the caller may see.

    Raises:
        InvalidField: a field of the filter is not accepted.
        PermissionDenied: the credential does not admit the scope.
    """
    names = checks.check_names("statuses", statuses, STATUSES)
    if not names:
        names = ("active", "archived") if filter_.include_archived else ("active",)
    kinds = checks.check_names("filter.kinds", filter_.kinds, KINDS)
    tags = checks.check_tags("filter.tags", filter_.tags)
    valid = _read_range("filter.valid_from", filter_.valid_from)
    created = _read_range("filter.created_at", filter_.created_at)
    low = {name: getattr(filter_, name) if filter_.HasField(name) else 0.0 for name in ("min_importance", "min_confidence")}
    for name, value in low.items():
        checks.check_fraction(f"filter.{name}", value)
    return Selection(
        now=now,
        holds_after=None if "superseded" in names else now,
        scopes=principal.readable_scopes(checks.check_scope("filter.scope", filter_.scope), field="filter.scope"),
        statuses=names,
        key=checks.check_text("filter.key", filter_.key, max_chars=checks.KEY_CHARS + 1),
        kinds=kinds,
        any_tags=() if filter_.all_tags else tags,
        all_tags=tags if filter_.all_tags else (),
        min_importance=low["min_importance"],
        min_confidence=low["min_confidence"],
        valid_since=valid[0],
        valid_until=valid[1],
        created_since=created[0],
        created_until=created[1],
        metadata=checks.check_struct("filter.metadata", filter_.metadata, max_bytes=METADATA_BYTES),
    )


def read_context_selection(scope: str, session_id: str, principal: Principal, now: datetime) -> Selection:
    """What a context looks at: a scope, the agent's, and what a session of the caller's keeps for itself.

    Raises:
        InvalidField, PermissionDenied: as Principal.readable_scopes.
    """
    scopes = principal.readable_scopes(scope)
    own = SESSION_PREFIX + session_id
    if scopes is not None and session_id and principal.may_use(own):
        scopes = tuple(dict.fromkeys((*scopes, own)))
    return Selection(now=now, holds_after=now, scopes=scopes)


def read_recall_selection(request: recall_pb2.RecallRequest, principal: Principal, now: datetime) -> Selection:
    """What a recall looks at: its filter, as it held and as it was recorded at the moments it names.

    Raises:
        InvalidField, PermissionDenied: as read_selection.
    """
    selection = read_selection(request.filter, principal, now)
    as_of, known_at = read_moment(request, "as_of"), read_moment(request, "known_at")
    if known_at and known_at > now:
        raise InvalidField("known_at", "give a moment that has passed; what will be recorded is not known")
    statuses = (*selection.statuses, "superseded") if as_of else selection.statuses
    held = as_of or known_at or now
    return replace(selection, statuses=statuses, holds_after=held, begun_by=as_of, known_at=known_at)


def _read_range(field: str, span: memory_pb2.TimeRange) -> tuple[datetime | None, datetime | None]:
    since = checks.check_time(f"{field}.since", span.since) if span.HasField("since") else None
    until = checks.check_time(f"{field}.until", span.until) if span.HasField("until") else None
    checks.check_range(f"{field}.until", since, until)
    return since, until
