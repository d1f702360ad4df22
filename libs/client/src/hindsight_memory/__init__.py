"""The typed asyncio client of hindsight, a memory server for agents."""

from hindsight_memory.client import Hindsight
from hindsight_memory.errors import HindsightError
from hindsight_memory.types import (
    Adjustment,
    Answer,
    Conflict,
    Contribution,
    Filter,
    Finding,
    Hit,
    Key,
    Memory,
    NewKey,
    NewMemory,
    Observed,
    Relation,
    Source,
    Turn,
    WriteResult,
)

__all__ = [
    "Adjustment",
    "Answer",
    "Conflict",
    "Contribution",
    "Filter",
    "Finding",
    "Hindsight",
    "HindsightError",
    "Hit",
    "Key",
    "Memory",
    "NewKey",
    "NewMemory",
    "Observed",
    "Relation",
    "Source",
    "Turn",
    "WriteResult",
]
