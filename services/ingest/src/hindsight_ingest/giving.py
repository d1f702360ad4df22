"""What a caller may hand on in a key or a grant: nothing that it has not itself. The operator may hand on anything."""

from datetime import datetime

from hindsight_runtime.errors import FieldViolation, PermissionDenied
from hindsight_runtime.identity import Principal
from hindsight_store.keys import NewKey

OF_ADMINS = frozenset({"read", "write", "admin"})  # an admin's to give; `instruct` lets in unread, so only who has it gives it
OF_ALL = frozenset({"inference"})  # a source that any key may claim


class Excess(PermissionDenied):
    """More would be given than the caller has."""

    def __init__(self, field: str, remedy: str) -> None:
        super().__init__(f"{field}: {remedy}", violations=[FieldViolation(field, remedy)])


def find_excess(principal: Principal, key: NewKey | Principal) -> Excess | None:
    """Why a caller may not make a key or get its secret, by the first field that goes beyond its own; None where it may."""
    if not has_agents(principal, key):
        return Excess("agent_ids", "your key is limited to agents; name only agents of its own")
    if not has_scopes(principal, key):
        return Excess("scopes", "your key is limited to scopes; name only scopes within its own")
    if "operator" in principal.rights:
        return None
    if rights := set(key.rights) - principal.rights - OF_ADMINS:
        return Excess("rights", f"your key lacks {_list(rights)}; leave it out, or ask the operator for the key")
    if sources := set(key.sources) - principal.sources - OF_ALL:
        own = _list(principal.sources | OF_ALL)
        return Excess("sources", f"your key may not claim {_list(sources)}; name only of {own}, or ask the operator for the key")
    return find_outliving(principal, key.expires_at)


def find_outliving(principal: Principal, expires_at: datetime | None) -> Excess | None:
    """Why a caller may not give what lasts until a moment (None: for ever), or None where its own key lasts as long."""
    last = None if "operator" in principal.rights else principal.expires_at
    if last is None or (expires_at and expires_at <= last):
        return None
    return Excess("expires_at", f"your key expires; name a moment that is not after {last.isoformat()}")


def has_agents(principal: Principal, key: NewKey | Principal) -> bool:
    """Whether a key's agents are all the caller's."""
    return not principal.agent_ids or bool(key.agent_ids and set(key.agent_ids) <= set(principal.agent_ids))


def has_scopes(principal: Principal, key: NewKey | Principal) -> bool:
    """Whether a key's scopes are all within the caller's."""
    own = principal.scopes
    return not own or bool(key.scopes and all(principal.may_use(s) or s in own for s in key.scopes))


def _list(names: set[str] | frozenset[str]) -> str:
    return ", ".join(f"'{name}'" for name in sorted(names))
