"""What is measured of a memory against a query."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hindsight_recall import scoring
from hindsight_recall.scoring import Gauge
from hindsight_store.records import Features, Kept, Memory, Use, WordStatistics

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MEMORY = Memory(
    memory_id=UUID(int=1), revision=1, scope="agent", kind="fact", key="k", trigger="", value="v", tags=(), importance=0.5,
    confidence=0.8, source="user", session_id="", turn=None, principal="p", trust=1.0, metadata={}, is_core=False,
    status="active", derived_from=(), valid_from=NOW, valid_to=None, known_from=NOW, known_to=None, created_at=NOW,
    expires_at=None,
)  # fmt: skip


def test_the_words_of_a_long_query_are_added_up_once_and_not_for_every_memory(monkeypatch: pytest.MonkeyPatch):
    calls, idf = [], scoring.idf
    monkeypatch.setattr(scoring, "idf", lambda *arguments: calls.append(arguments) or idf(*arguments))
    wanted = {f"word{n}": 1.0 for n in range(256)}
    statistics = WordStatistics(100, 10.0, {"word7": 100})
    features = [Features(Kept(MEMORY, Use()), 10.0, {"word7": 2}, None, None)] * 100
    measured = Gauge(None, wanted, statistics, (), NOW).measure(features, {}, {})
    assert len({m.features["lexical"] for m in measured}) == 1
    assert len(calls) <= 256 + 2 * 100
