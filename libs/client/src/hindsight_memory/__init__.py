"""The typed asyncio client of hindsight, a memory server for agents."""

from hindsight_memory.client import Hindsight
from hindsight_memory.errors import HindsightError
from hindsight_memory.types import (
    Adjustment,
    Answer,
    Contribution,
    Filter,
    Finding,
    GateVerdict,
    Hit,
    Key,
    Memory,
    NewKey,
    NewMemory,
    Observed,
    Source,
    Turn,
    WriteResult,
)

__all__ = [
    "Adjustment",
    "Answer",
    "Contribution",
    "Filter",
    "Finding",
    "GateVerdict",
    "Hindsight",
    "HindsightError",
    "Hit",
    "Key",
    "Memory",
    "NewKey",
    "NewMemory",
    "Observed",
    "Source",
    "Turn",
    "WriteResult",
]
