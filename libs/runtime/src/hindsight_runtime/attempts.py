"""Failed authentications, counted for each address they come from."""

import time
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address, ip_network

WINDOW_S = 60.0
ADDRESSES = 4096  # remembered at once; whoever commands more is not stopped by counting
KNOWN = 4096  # credentials
KNOWN_S = 600.0
IPV6_PREFIX = 64  # what one subscriber has


class Attempts:
    """Bars credentials nobody has seen valid from addresses that tried too many wrong ones. For the life of a process."""

    def __init__(self, limit: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._failed: dict[str, tuple[float, int]] = {}  # address -> when its window ends, failures in it
        self._known: dict[bytes, float] = {}  # hash of a credential -> until when it counts as known

    def barred_s(self, address: str, credential: bytes) -> float:
        """For how many seconds a credential (its hash) is not even looked up; 0 where it is. An empty address is nobody's."""
        ends_at, failures = self._failed.get(address, (0.0, 0))
        now = self._clock()
        if failures < self._limit or ends_at <= now or self._known.get(credential, 0.0) > now:
            return 0.0
        return ends_at - now

    def fail(self, address: str) -> None:
        """Count a failure."""
        if not address:
            return
        now = self._clock()
        ends_at, failures = self._failed.pop(address, (0.0, 0))
        if ends_at <= now:
            ends_at, failures = now + WINDOW_S, 0
        if len(self._failed) >= ADDRESSES:
            del self._failed[next(iter(self._failed))]  # the one that failed longest ago
        self._failed[address] = (ends_at, failures + 1)

    def succeed(self, credential: bytes) -> None:
        """Remember a credential as valid."""
        self._known.pop(credential, None)
        if len(self._known) >= KNOWN:
            del self._known[next(iter(self._known))]
        self._known[credential] = self._clock() + KNOWN_S


def to_address(host: str) -> str:
    """Whom a host's address stands for: itself, or its network where it is IPv6; empty where it is no address."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or ip_network((address, IPV6_PREFIX), strict=False).network_address
    return str(address)


def peer_address(peer: str) -> str:
    """The address of a gRPC peer, as in "ipv4:10.0.0.7:4711"; empty for a unix socket, whose folder says who may connect."""
    kind, _, rest = peer.partition(":")
    host = rest.rpartition(":")[0].replace("%5B", "[").replace("%5D", "]").strip("[]")
    return to_address(host) if kind in ("ipv4", "ipv6") else ""
