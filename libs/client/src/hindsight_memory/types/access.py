"""Access: keys, and grants to other agents."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from hindsight_memory.types.memories import SourceKind

Right = Literal["read", "write", "admin", "operator", "instruct"]
Access = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class NewGrant:
    """What to open to another agent: memories of a scope (a trailing "*" makes a prefix; "*": all) whose keys begin so."""

    grantee_agent_id: str
    scope: str
    key_prefix: str = ""
    access: Access = "read"
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """Memories of an agent that are open to another one."""

    id: str
    agent_id: str
    grantee_agent_id: str
    scope: str
    key_prefix: str
    access: Access
    created_by: str
    created_at: datetime | None
    expires_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its secret."""

    id: str
    tenant: str
    name: str
    agent_ids: tuple[str, ...]
    default_agent_id: str
    scopes: tuple[str, ...]
    rights: tuple[str, ...]
    sources: tuple[str, ...]
    created_at: datetime | None
    expires_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key to be made; what is not given means what admin.proto says."""

    tenant: str = ""
    name: str = ""
    agent_ids: Sequence[str] = ()
    default_agent_id: str = ""
    scopes: Sequence[str] = ()
    rights: Sequence[Right] = ()
    sources: Sequence[SourceKind] = ()
    expires_at: datetime | None = None
