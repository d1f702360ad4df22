"""Answers, receipts and verdicts, from messages."""

from collections.abc import Iterable
from typing import Any

from hindsight.v1 import memory_pb2, recall_pb2, receipt_pb2

from hindsight_memory.types.desks import DeskEntry
from hindsight_memory.types.memories import Memory
from hindsight_memory.types.recalls import (
    Answer,
    ChannelAccount,
    Considered,
    Contribution,
    Difference,
    Finding,
    Flag,
    GateVerdict,
    Hit,
    Receipt,
    ThenAndNow,
)
from hindsight_memory.types.sessions import Turn
from hindsight_memory.wire.desks import to_entry
from hindsight_memory.wire.fields import moment, short
from hindsight_memory.wire.memories import to_memory
from hindsight_memory.wire.sessions import to_turn


def to_answer(response: recall_pb2.RecallResponse) -> Answer:
    """The answer to a recall."""
    missing = to_channels(response.missing_channels)
    hits = tuple(to_hit(h) for h in response.hits)
    states = (response.is_partial, response.is_degraded, response.receipt_id)
    told = {"withheld": to_withheld(response.withheld), "agent_id": response.agent_id}
    return Answer(hits, missing, response.next_page_token, *states, **told, is_from_working=response.is_from_working)


def to_hit(h: recall_pb2.Hit) -> Hit:
    """A hit."""
    return Hit(
        subject=_to_subject(h),
        rank=h.rank,
        similarity=h.similarity,
        final_score=h.final_score,
        effective_importance=h.effective_importance,
        findings=_findings(h),
        contributions=_contributions(h),
        reason=short("HIT_REASON", h.reason, recall_pb2.HitReason),
        flags=_flags(h),
    )


def _to_subject(h: recall_pb2.Hit) -> Memory | Turn | DeskEntry:
    if h.HasField("entry"):
        return to_entry(h.entry)
    return to_turn(h.turn) if h.HasField("turn") else to_memory(h.memory)


def to_withheld(withheld: Iterable[recall_pb2.Withheld]) -> dict[str, Flag]:
    """What the guard kept out of an answer: id -> flag."""
    return {one.memory_id: short("FLAG", one.reason, memory_pb2.Flag) for one in withheld}


def to_verdict(response: recall_pb2.ShouldRecallResponse) -> GateVerdict:
    """The verdict on a turn."""
    missing = to_channels(response.missing_channels)
    return GateVerdict(response.should_recall, response.score, response.threshold, tuple(response.reasons), missing)


def to_channels(numbers: Iterable[int]) -> tuple[str, ...]:
    """The names of channels."""
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
        outcome=short("REPORTED_OUTCOME", r.outcome, memory_pb2.ReportedOutcome) if r.outcome else "",
        note=r.note,
        final_prompt=r.final_prompt,
        reported_at=moment(r, "reported_at"),
        as_of=moment(r, "as_of"),
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
        flags=_flags(c),
    )


def _flags(found: recall_pb2.Hit | receipt_pb2.Considered) -> tuple[Flag, ...]:
    return tuple(short("FLAG", flag, memory_pb2.Flag) for flag in found.flags)


def to_then_and_now(r: receipt_pb2.RecallAsOfThenResponse) -> ThenAndNow:
    """A recall asked again."""
    differences = tuple(Difference(d.memory_id, d.session_id, d.turn, d.rank_then, d.rank_now) for d in r.differences)
    return ThenAndNow(tuple(to_hit(h) for h in r.hits_then), tuple(to_hit(h) for h in r.hits_now), differences)


def _findings(message: Any) -> tuple[Finding, ...]:
    return tuple(Finding(short("CHANNEL", f.channel, recall_pb2.Channel), f.rank, f.score) for f in message.findings)


def _contributions(message: Any) -> tuple[Contribution, ...]:
    return tuple(Contribution(c.feature, c.value, c.weight) for c in message.contributions)
