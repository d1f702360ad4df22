"""How much one tenant may store."""

import time
from collections.abc import Awaitable, Callable

from hindsight_runtime.errors import Overloaded

FRESH_S = 30.0  # a size is measured again after so long; until then a tenant may go over its limit
TENANTS = 4096
MIB = 2**20


class Quota:
    """Refuses what would add to a tenant that has stored its share. For the life of a process."""

    def __init__(
        self, limit_mib: int, measure: Callable[[int], Awaitable[int]], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit = limit_mib * MIB
        self._measure = measure
        self._clock = clock
        self._sizes: dict[int, tuple[int, float]] = {}  # tenant -> bytes, and when they were measured

    async def check(self, tenant_id: int) -> None:
        """Let through a tenant that has room left.

        Raises:
            Overloaded: it has none; the remedy is in the message.
        """
        if not self._limit:
            return
        size, at = self._sizes.get(tenant_id, (0, float("-inf")))
        if self._clock() - at > FRESH_S:
            size = await self._measure(tenant_id)
            self._sizes.pop(tenant_id, None)
            self._sizes[tenant_id] = (size, self._clock())
            if len(self._sizes) > TENANTS:
                del self._sizes[next(iter(self._sizes))]
        if size >= self._limit:
            raise Overloaded(
                f"the tenant stores {size // MIB} MiB of text and may store {self._limit // MIB}: erase what is not needed, "
                "or ask the operator to raise HINDSIGHT_TENANT_MIB",
                retry_after_s=FRESH_S,
            )
