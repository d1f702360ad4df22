"""How time and use weigh on a memory's importance."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hindsight_recall.lifecycle import LEAST, importance_of
from hindsight_store.records import Kept, Memory, Use

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def kept(age_days: float, use: Use | None = None, **fields) -> Kept:
    """A memory that began to hold so many days ago."""
    since = NOW - timedelta(days=age_days)
    memory = Memory(
        memory_id=UUID(int=1), revision=1, scope="agent", kind="fact", key="k", trigger="", value="v", tags=(), importance=0.5,
        confidence=0.8, source="user", session_id="", turn=None, principal="p", trust=1.0, metadata={}, is_core=False,
        status="active", derived_from=(), valid_from=since, valid_to=None, known_from=NOW, known_to=None, created_at=NOW,
        expires_at=None,
    )  # fmt: skip
    return Kept(replace(memory, **fields), use or Use())


def effective(*args, **fields) -> float:
    return importance_of(kept(*args, **fields), NOW).effective


def test_yesterday_weighs_more_than_three_months_ago_and_that_more_than_years_ago():
    assert effective(1) > effective(90) > effective(1000)
    assert effective(1) - effective(90) > 0.1


def test_forgetting_lowers_and_never_deletes():
    assert effective(100_000) == pytest.approx(0.5 * LEAST)


def test_hits_make_a_memory_fade_slower_within_bounds():
    last = NOW - timedelta(days=1)
    assert effective(90) < effective(90, Use(1, last)) < effective(90, Use(8, last)) == effective(90, Use(9000, last))


def test_having_been_returned_makes_no_memory_fresh():
    """An answer that feeds itself cost 8 points of recall where every question was asked of the same few memories."""
    assert effective(1000, Use(80, NOW)) - effective(1000) < 0.01


def test_core_memories_do_not_fade():
    assert effective(1000, is_core=True) == 0.5


def test_an_archived_memory_counts_half():
    assert effective(100, status="archived") == pytest.approx(effective(100) / 2)


def test_what_begins_in_the_future_is_fresh():
    assert effective(-10) == effective(0)


def test_of_two_memories_of_one_day_neither_is_older():
    assert effective(10.1) == effective(10.4)
