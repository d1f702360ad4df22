"""Who may come in by HTTP: names under which the edge may be reached, and keys the services know."""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from hindsight_memory import Hindsight, HindsightError

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
CACHE_S = 5.0  # a revoked key is told so no later; the services check every call themselves
KNOWN_S = 600.0  # a key seen valid may go on this long while nobody can be asked
CACHE_KEYS = 4096
VERIFY_TIMEOUT_S = 5.0
HEADER = "Authorization: Bearer <key>"
Verdict = Literal["valid", "wrong", "unknown"]


def find_key(headers: Mapping[str, str]) -> str:
    """The key a request carries; empty where there is none."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    key = token.strip() if scheme.lower() == "bearer" else ""
    return key or headers.get("x-api-key", "").strip()


@dataclass(frozen=True, slots=True)
class Hosts:
    """The names a request's Host and Origin may have, against pages that rebind a name to this machine."""

    names: tuple[str, ...]  # "name" for any port, "name:port" for one

    def refuse(self, headers: Mapping[str, str]) -> str:
        """What is wrong with the request; empty where nothing is."""
        host, origin = headers.get("host", ""), headers.get("origin", "")
        if not self._admit(host):
            return f"the Host header '{host[:128]}' is not allowed; the operator adds it to HINDSIGHT_ALLOWED_HOSTS"
        if origin and not self._admit(_authority(origin)):
            return f"the Origin '{origin[:128]}' is not allowed; the operator adds its host to HINDSIGHT_ALLOWED_HOSTS"
        return ""

    def _admit(self, host: str) -> bool:
        name, colon, port = host.rpartition(":")
        bare = name if colon and port.isdigit() else host
        return bool(host) and any(allowed.lower() in (host.lower(), bare.lower()) for allowed in (*LOOPBACK_NAMES, *self.names))


def _authority(origin: str) -> str:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return ""
    return parts.netloc if parts.scheme in ("http", "https") else ""


class Keys:
    """Which keys the services know, remembered for a few seconds. For the life of a process."""

    def __init__(self, hindsight: Hindsight) -> None:
        self._hindsight = hindsight
        self._seen: dict[bytes, tuple[float, bool]] = {}  # hash of a key -> when it was asked about, and the answer

    async def verify(self, key: str) -> Verdict:
        """Whether a key is valid; "unknown" where nobody can be asked."""
        if not key or not (key.isascii() and key.isprintable()):
            return "wrong"
        digest, now = hashlib.sha256(key.encode()).digest(), time.monotonic()
        asked_at, was_valid = self._seen.get(digest, (0.0, False))
        if digest in self._seen and now - asked_at < CACHE_S:
            return "valid" if was_valid else "wrong"
        try:
            await self._hindsight.with_key(key, timeout_s=VERIFY_TIMEOUT_S).describe_caller()
            is_valid = True
        except HindsightError as error:
            if error.code not in ("UNAUTHENTICATED", "INVALID_ARGUMENT"):
                return "valid" if was_valid and now - asked_at < KNOWN_S else "unknown"
            is_valid = False
        if len(self._seen) >= CACHE_KEYS:
            self._seen.clear()
        self._seen[digest] = (now, is_valid)
        return "valid" if is_valid else "wrong"
