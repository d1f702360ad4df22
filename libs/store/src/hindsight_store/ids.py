"""UUIDv7: ids that sort by the time they were made."""

import secrets
import time
from datetime import datetime, timedelta
from uuid import UUID

_RANDOM_BITS = 74
_last = 0


def uuid7() -> UUID:
    """A fresh id: 48 bits of milliseconds, then 74 random bits that only grow within a millisecond. RFC 9562."""
    global _last
    moment = (time.time_ns() // 1_000_000) << _RANDOM_BITS
    fresh = moment | secrets.randbits(_RANDOM_BITS)
    _last = fresh if fresh > _last else _last + 1 + secrets.randbits(16)
    high, low = _last >> 62, _last & ((1 << 62) - 1)
    milliseconds, twelve = high >> 12, high & 0xFFF
    return UUID(int=(milliseconds << 80) | (7 << 76) | (twelve << 64) | (2 << 62) | low)


def first_at(moment: datetime, *, before: timedelta = timedelta()) -> UUID:
    """The least id that can have been made at a moment, or so long before it, to compare ids with."""
    milliseconds = int((moment.timestamp() - before.total_seconds()) * 1000)  # a datetime of the year 1 has no time before it
    return UUID(int=(max(0, milliseconds) << 80) | (7 << 76) | (2 << 62))
