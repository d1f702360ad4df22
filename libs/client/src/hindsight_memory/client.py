"""The client: one object for an agent's memory, over gRPC."""

from hindsight_memory.calls.access import AccessCalls
from hindsight_memory.calls.desks import DeskCalls
from hindsight_memory.calls.memories import MemoryCalls
from hindsight_memory.calls.recalls import RecallCalls
from hindsight_memory.calls.sessions import SessionCalls
from hindsight_memory.calls.upkeep import UpkeepCalls


class Hindsight(MemoryCalls, RecallCalls, SessionCalls, DeskCalls, AccessCalls, UpkeepCalls):
    """A connection to hindsight. An async context manager; safe for concurrent use.

    Every method raises HindsightError when the server refuses or fails. Calls answered UNAVAILABLE are repeated a few
    times; a change is never made twice, since each carries a request id (yours, or a fresh one).
    """
