"""Which of two contradicting statements stands, and since when."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hindsight_ingest import versions
from hindsight_ingest.candidate import CEILINGS, Candidate
from hindsight_ingest.guard import Verdict
from hindsight_ingest.superseding import MOMENT, Settlement, end, holds_at, settle
from hindsight_ingest.versions import NEIGHBOURS, Versions, new_memory
from hindsight_store.records import Embedded

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def candidate(source: str = "user", confidence: float = 0.8, days: float = 0) -> Candidate:
    return Candidate(
        scope="agent", kind="fact", key="k", trigger="", value="v", tags=(), importance=0.5, confidence=confidence,
        source=source, session_id="", turn=None, metadata={}, is_core=False, valid_from=NOW + days * DAY, valid_to=None,
        expires_at=None, derived_from=(),
    )  # fmt: skip


OLDER = new_memory(candidate("tool", 0.8), principal="p", status="active", now=NOW)


@pytest.mark.parametrize(
    ("source", "confidence", "days", "wins"),
    [
        ("user", 0.8, 1, True),
        ("tool", 0.8, 1, True),
        ("inference", 0.8, 1, False),  # as sure, less trusted
        ("user", 0.8, 0, False),  # as sure, no later
        ("user", 0.7, 1, False),
        ("user", 0.9, 0, True),
        ("inference", 0.9, 0, True),  # surer
    ],
)
def test_the_surer_wins_and_among_equals_the_later_of_a_source_trusted_as_much(source, confidence, days, wins):
    assert source in CEILINGS
    settled = settle(candidate(source, confidence, days), [OLDER])
    assert (settled.ended, settled.kept) == (((OLDER,), None) if wins else ((), OLDER))
    assert bool(settled.reason) is not wins


def test_one_that_stands_keeps_the_candidate_out_whatever_the_others():
    sure = replace(OLDER, confidence=0.9)
    assert settle(candidate(days=1), [OLDER, sure]).kept == sure


def test_what_begins_later_follows_the_candidate_however_sure_either_is():
    later = [replace(OLDER, valid_from=NOW + n * DAY, confidence=1.0) for n in (5, 3)]
    assert settle(candidate(days=1), [*later, OLDER]) == Settlement((OLDER,), later[1])


def test_a_statement_that_passes_by_itself_ends_nothing():
    passing = replace(candidate(days=1), valid_to=NOW + 2 * DAY)
    assert settle(passing, [OLDER]) == Settlement()


def test_an_ended_statement_is_superseded_once_the_time_has_come_and_always_held_for_a_moment():
    assert (end(OLDER, NOW + DAY, NOW + DAY).status, end(OLDER, NOW + DAY, NOW).status) == ("superseded", "active")
    ended = end(OLDER, NOW, NOW + DAY)
    assert ended.valid_to == NOW + MOMENT
    assert (holds_at(ended, NOW), holds_at(ended, NOW + MOMENT), holds_at(OLDER, NOW - MOMENT)) == (True, False, False)


def test_in_a_batch_of_one_key_a_candidate_is_compared_with_the_nearest_only(monkeypatch: pytest.MonkeyPatch):
    compared: list[str] = []
    monkeypatch.setattr(versions, "contradicts", lambda newer, older: compared.append(older.value) or "")
    written = Versions({}, "p", NOW, least_cosine=0.5)
    for n in range(256):
        angle = np.float32(n / 256)
        vector = Embedded(np.array([np.cos(angle), np.sin(angle)], np.float32), None)
        written.put(replace(candidate(days=n), value=f"crate {n}"), vector, (), verdict=Verdict())
    assert len(compared) <= 256 * NEIGHBOURS
    assert compared[-NEIGHBOURS:] == [f"crate {n}" for n in range(254, 254 - NEIGHBOURS, -1)]


def test_a_statement_that_holds_since_the_last_moment_there_is_has_no_time_to_end_in():
    older = replace(OLDER, valid_from=datetime.max.replace(tzinfo=UTC))
    surer = replace(candidate("user", 0.9), valid_from=older.valid_from)
    assert settle(surer, [older]).kept == older
