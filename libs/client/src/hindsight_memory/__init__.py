"""The typed asyncio client of hindsight, a memory server for agents."""

from hindsight_memory.client import Hindsight
from hindsight_memory.errors import HindsightError
from hindsight_memory.types import (
    Adjustment,
    Answer,
    ChannelAccount,
    Considered,
    Contribution,
    Difference,
    Filter,
    Finding,
    Hit,
    Key,
    Memory,
    NewKey,
    NewMemory,
    Observed,
    Receipt,
    Source,
    ThenAndNow,
    Turn,
    WriteResult,
)

__all__ = [
    "Adjustment",
    "Answer",
    "ChannelAccount",
    "Considered",
    "Contribution",
    "Difference",
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
    "Receipt",
    "Source",
    "ThenAndNow",
    "Turn",
    "WriteResult",
]
