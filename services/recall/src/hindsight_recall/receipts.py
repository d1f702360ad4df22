"""The account of one recall: enough to explain it, to compute its ranking again and to ask it again. Holds no memory's text."""

import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from hindsight_store.desks import ENTRY_PREFIX
from hindsight_store.records import Kept, Selection

from hindsight_recall.consistency import CONTRADICTS
from hindsight_recall.ranking import Contribution, Finding, Importance, Measured, Place, Weights, rank
from hindsight_recall.recalling import Answer, Query, limits_of

NOT_KEPT = ("selection", "zone", "desks")  # of a query as it stands; desks are gone when it is asked again
NEAR_MISSES = 20  # the best of the rest
NEAR_OF_CHANNEL = 5  # and the best that each channel found
MOMENTS = ("now", "holds_after", "begun_by", "known_at", "valid_since", "valid_until", "created_since", "created_until")


@dataclass(frozen=True, slots=True)
class Receipt:
    """What is kept of one recall."""

    receipt_id: UUID
    at: datetime
    principal: str  # that asked
    query: Query
    weights: Weights
    hits: Sequence[Place]
    near_misses: Sequence[Place]
    missing: Mapping[str, str]  # channel -> "deadline" or "unavailable"
    took_ms: Mapping[str, float]  # by stage
    flags: Mapping[str, Sequence[str]] = field(default_factory=dict)  # of hits, by id
    withheld: Mapping[str, str] = field(default_factory=dict)  # what the guard kept out, by id, with the flag
    shared: Mapping[str, int] = field(default_factory=dict)  # hits that are other agents', by id, with the owner's bank
    used: Sequence[str] | None = None  # of the hits those that came into a context; None: all

    @property
    def contradicted(self) -> list[str]:
        """The memories that what was said then contradicted."""
        names = [name for name, flags in self.flags.items() if CONTRADICTS in flags]
        return names + [name for name, flag in self.withheld.items() if flag == CONTRADICTS]

    @property
    def memory_ids(self) -> list[str]:
        """The agent's own memories that were returned."""
        memories = [p.measured.id for p in self.hits if not p.measured.is_turn and not p.measured.id.startswith(ENTRY_PREFIX)]
        return [name for name in memories if name not in self.shared and (self.used is None or name in self.used)]

    def replay(self) -> tuple[list[Place], bool]:
        """The ranking from the kept features, and whether it is the answer that was given."""
        measured = [place.measured for place in (*self.hits, *self.near_misses)]
        again, _ = rank(measured, self.weights, limits_of(self.query))
        return again, again == list(self.hits)

    def found_by(self) -> Counter[str]:
        """How many of what is kept each channel found."""
        return Counter(f.channel for p in (*self.hits, *self.near_misses) for f in p.measured.findings if f.rank)


def receipt_of(
    receipt_id: UUID, at: datetime, principal: str, query: Query, answer: Answer, used: Sequence[str] | None
) -> Receipt:
    """The account of an answer, of which so much was used; None: all."""
    return Receipt(
        receipt_id=receipt_id,
        at=at,
        principal=principal,
        query=query,
        weights=answer.weights,
        hits=[hit.place for hit in answer.hits],
        near_misses=nearest_misses(answer.near_misses),
        missing=answer.missing,
        took_ms=answer.took_ms,
        flags={hit.place.measured.id: hit.flags for hit in answer.hits if hit.flags},
        withheld=answer.withheld,
        shared={
            h.place.measured.id: h.subject.grant.bank_id for h in answer.hits if isinstance(h.subject, Kept) and h.subject.grant
        },
        used=used,
    )


def nearest_misses(places: Sequence[Place]) -> list[Place]:
    """The best of what was not returned, the best of each channel, and what any of these stands behind, in their order."""
    ranked = [(f.channel, f.rank, n) for n, place in enumerate(places) for f in place.measured.findings if f.rank]
    kept = set(range(NEAR_MISSES))
    for channel in {channel for channel, _, _ in ranked}:
        kept.update(n for _, n in sorted((r, n) for c, r, n in ranked if c == channel)[:NEAR_OF_CHANNEL])
    fronts = {places[n].measured.behind for n in kept if n < len(places)}
    return [place for n, place in enumerate(places) if n in kept or place.measured.id in fronts]


def to_document(receipt: Receipt) -> bytes:
    """A receipt as it is kept: JSON, compressed."""
    query, selection = receipt.query, receipt.query.selection
    chosen = {name: getattr(selection, name) for name in Selection.__dataclass_fields__}
    document = {
        "receipt_id": str(receipt.receipt_id),
        "at": receipt.at.isoformat(),
        "principal": receipt.principal,
        "query": {
            **{n: getattr(query, n) for n in Query.__dataclass_fields__ if n not in NOT_KEPT},
            "zone": str(query.zone),
            "selection": {**chosen, **{n: chosen[n].isoformat() if chosen[n] else None for n in MOMENTS}},
        },
        "weights": {n: getattr(receipt.weights, n) for n in Weights.__dataclass_fields__},
        "hits": [_from_place(place) for place in receipt.hits],
        "near_misses": [_from_place(place) for place in receipt.near_misses],
        "missing": receipt.missing,
        "took_ms": receipt.took_ms,
        "flags": receipt.flags,
        "withheld": receipt.withheld,
        "shared": receipt.shared,
        "used": receipt.used,
    }
    return zlib.compress(json.dumps(document, ensure_ascii=False, default=dict).encode(), 1)


def from_document(kept: bytes) -> Receipt:
    """A receipt as it was."""
    document = json.loads(zlib.decompress(kept))
    asked = document["query"]
    chosen = asked["selection"]
    moments = {n: datetime.fromisoformat(chosen[n]) if chosen[n] else None for n in MOMENTS}
    several = {n: tuple(v) for n, v in chosen.items() if isinstance(v, list)}
    selection = Selection(**{**chosen, **moments, **several})
    zone = UTC if asked["zone"] == "UTC" else ZoneInfo(asked["zone"])
    return Receipt(
        receipt_id=UUID(document["receipt_id"]),
        at=datetime.fromisoformat(document["at"]),
        principal=document["principal"],
        query=Query(**{**asked, "selection": selection, "zone": zone}),
        weights=Weights(**document["weights"]),
        hits=[_to_place(place) for place in document["hits"]],
        near_misses=[_to_place(place) for place in document["near_misses"]],
        missing=document["missing"],
        took_ms=document["took_ms"],
        flags=document.get("flags", {}),
        withheld=document.get("withheld", {}),
        shared=document.get("shared", {}),
        used=document.get("used"),
    )


def _from_place(place: Place) -> dict[str, Any]:
    m = place.measured
    return {
        "id": m.id,
        "features": dict(m.features),
        "importance": [m.importance.stored, m.importance.stage, m.importance.retention, m.importance.utility],
        "findings": [[f.channel, f.rank, f.score] for f in m.findings],
        "is_turn": m.is_turn,
        "standing": m.standing,
        "behind": m.behind,
        "contributions": [[c.feature, c.value, c.weight] for c in place.contributions],
        "similarity": place.similarity,
        "final_score": place.final_score,
        "reason": place.reason,
    }


def _to_place(kept: Mapping[str, Any]) -> Place:
    measured = Measured(
        id=kept["id"],
        features=kept["features"],
        importance=Importance(*kept["importance"]),
        findings=tuple(Finding(*finding) for finding in kept["findings"]),
        is_turn=kept["is_turn"],
        standing=kept["standing"],
        behind=kept["behind"],
    )
    contributions = tuple(Contribution(*c) for c in kept["contributions"])
    return Place(measured, contributions, kept["similarity"], kept["final_score"], kept["reason"])


def asked_again(receipt: Receipt, now: datetime, *, as_of_then: bool) -> Query:
    """A receipt's query, to be asked of what was recorded then, or of what is recorded now; without its deadline."""
    selection = receipt.query.selection
    if as_of_then:
        selection = replace(selection, known_at=selection.known_at or receipt.at)
    elif selection.begun_by is None and selection.known_at is None:
        selection = replace(selection, now=now, holds_after=now)
    return replace(receipt.query, selection=selection, deadline_ms=0)
