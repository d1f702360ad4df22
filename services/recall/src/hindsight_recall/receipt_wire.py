"""Receipts, and what is told of one, as protobuf."""

import math
from collections.abc import Sequence
from typing import Any

from hindsight.v1 import receipt_pb2
from hindsight_store.records import Report

from hindsight_recall.ranking import Place
from hindsight_recall.recalling import Hit
from hindsight_recall.receipts import Receipt
from hindsight_recall.wire import to_contributions, to_findings, to_stamp, to_withheld


def to_considered(rank: int, place: Place) -> receipt_pb2.Considered:
    """A place in a receipt as a message; rank 0 for a near miss."""
    parts = place.measured.importance
    return receipt_pb2.Considered(
        **_to_identity(place.measured.id, is_turn=place.measured.is_turn),
        rank=rank,
        reason=f"HIT_REASON_{place.reason.upper() if rank else 'UNSPECIFIED'}",
        similarity=place.similarity,
        final_score=place.final_score,
        contributions=to_contributions(place),
        importance=receipt_pb2.ImportanceParts(
            stored=parts.stored, stage=parts.stage, retention=parts.retention, utility=parts.utility
        ),
        findings=to_findings(place),
    )


def to_receipt(receipt: Receipt, report: Report | None) -> receipt_pb2.Receipt:
    """A receipt as a message, with what was reported of it."""
    query, found = receipt.query, receipt.found_by()
    channels = sorted({*found, *receipt.missing})
    message = receipt_pb2.Receipt(
        receipt_id=str(receipt.receipt_id),
        at=to_stamp(receipt.at),
        query=query.text,
        mode=f"MODE_{query.mode.upper()}",
        top_k=query.top_k,
        relevance_floor=query.relevance_floor,
        weight_similarity=receipt.weights.similarity,
        weight_importance=receipt.weights.importance,
        hits=[to_considered(n, place) for n, place in enumerate(receipt.hits, start=1)],
        near_misses=[to_considered(0, place) for place in receipt.near_misses],
        channels=[
            receipt_pb2.ChannelAccount(channel=f"CHANNEL_{c.upper()}", found=found[c], missing=receipt.missing.get(c, ""))
            for c in channels
        ],
        took_ms=receipt.took_ms,
        withheld=to_withheld(receipt.withheld),
    )
    for considered, place in zip(message.hits, receipt.hits, strict=True):
        flags = receipt.flags.get(place.measured.id, ())
        considered.MergeFrom(receipt_pb2.Considered(flags=[f"FLAG_{flag.upper()}" for flag in flags]))
    if query.selection.begun_by:
        message.as_of.CopyFrom(to_stamp(query.selection.begun_by))
    if report:
        said = {"note": report.note, "final_prompt": report.final_prompt, "reported_at": to_stamp(report.at)}
        message.MergeFrom(receipt_pb2.Receipt(outcome=f"REPORTED_OUTCOME_{report.outcome.upper()}", **said))
    return message


def to_differences(then: Sequence[Place], now: Sequence[Hit]) -> list[receipt_pb2.Difference]:
    """What does not stand at the same place in an answer and in a later one, by place then and now."""
    both = (then, [hit.place for hit in now])
    places = [{place.measured.id: rank for rank, place in enumerate(answer, start=1)} for answer in both]
    turns = {place.measured.id for answer in both for place in answer if place.measured.is_turn}
    last = math.inf
    names = sorted(places[0].keys() | places[1].keys(), key=lambda n: (places[0].get(n, last), places[1].get(n, last), n))
    return [
        receipt_pb2.Difference(
            **_to_identity(name, is_turn=name in turns), rank_then=places[0].get(name, 0), rank_now=places[1].get(name, 0)
        )
        for name in names
        if places[0].get(name) != places[1].get(name)
    ]


def _to_identity(name: str, *, is_turn: bool) -> dict[str, Any]:
    session_id, _, number = name.rpartition("#")
    return {"session_id": session_id, "turn": int(number)} if is_turn else {"memory_id": name}
