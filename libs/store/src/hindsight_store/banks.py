"""Which bank belongs to an agent: asked once, since it never changes."""

KNOWN = 65_536


class KnownBanks:
    """The banks of agents seen so far, by tenant and agent; forgets all when it is full."""

    def __init__(self) -> None:
        self._banks: dict[tuple[int, str], int] = {}

    def get(self, tenant_id: int, agent_id: str) -> int | None:
        """The agent's bank, or None where it was not seen."""
        return self._banks.get((tenant_id, agent_id))

    def remember(self, tenant_id: int, agent_id: str, bank_id: int) -> None:
        """Remember the bank of an agent; it must be committed."""
        if len(self._banks) >= KNOWN:
            self._banks.clear()
        self._banks[tenant_id, agent_id] = bank_id
