"""Ingest's settings: what is refused at the start."""

from typing import Any

import pytest
from hindsight_ingest.settings import IngestSettings
from pydantic import ValidationError


@pytest.mark.parametrize("name", ["round_quiet_s", "task_idle_s", "session_idle_s"])
@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan"), 1e12])
def test_a_silence_that_no_clock_can_tell_is_refused(name: str, seconds: float):
    given: dict[str, Any] = {"database_url": "postgresql://x/x", name: seconds}
    with pytest.raises(ValidationError):
        IngestSettings(**given)
