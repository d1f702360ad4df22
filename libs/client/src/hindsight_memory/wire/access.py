"""Keys and grants, from and to messages."""

from hindsight.v1 import admin_pb2, memory_pb2, sharing_pb2

from hindsight_memory.types.access import Grant, Key, NewGrant, NewKey
from hindsight_memory.wire.fields import enum, enums, fill, moment, short


def from_new_key(key: NewKey) -> admin_pb2.CreateKeyRequest:
    """A key to make."""
    fields = {name: getattr(key, name) for name in NewKey.__dataclass_fields__}
    fields["rights"] = enums("RIGHT", key.rights, admin_pb2.Right, "rights")
    fields["sources"] = enums("SOURCE_KIND", key.sources, memory_pb2.SourceKind, "sources")
    return fill(admin_pb2.CreateKeyRequest(), fields)


def to_key(k: admin_pb2.Key) -> Key:
    """A key."""
    return Key(
        id=k.id,
        tenant=k.tenant,
        name=k.name,
        agent_ids=tuple(k.agent_ids),
        default_agent_id=k.default_agent_id,
        scopes=tuple(k.scopes),
        rights=tuple(short("RIGHT", r, admin_pb2.Right) for r in k.rights),
        sources=tuple(short("SOURCE_KIND", s, memory_pb2.SourceKind) for s in k.sources),
        created_at=moment(k, "created_at"),
        expires_at=moment(k, "expires_at"),
        revoked_at=moment(k, "revoked_at"),
    )


def from_new_grant(grant: NewGrant) -> sharing_pb2.ShareRequest:
    """What to open, as a request."""
    fields = {name: getattr(grant, name) for name in ("grantee_agent_id", "scope", "key_prefix", "expires_at")}
    access = enum("ACCESS", grant.access, memory_pb2.Access, "access")
    return fill(sharing_pb2.ShareRequest(), fields | {"access": access})


def to_grant(g: memory_pb2.Grant) -> Grant:
    """A grant."""
    return Grant(
        id=g.id,
        agent_id=g.agent_id,
        grantee_agent_id=g.grantee_agent_id,
        scope=g.scope,
        key_prefix=g.key_prefix,
        access=short("ACCESS", g.access, memory_pb2.Access),
        created_by=g.created_by,
        created_at=moment(g, "created_at"),
        expires_at=moment(g, "expires_at"),
        revoked_at=moment(g, "revoked_at"),
    )
