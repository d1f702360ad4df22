"""Calls that manage keys and grants."""

from collections.abc import AsyncIterator

from hindsight.v1 import admin_pb2, recall_pb2, sharing_pb2

from hindsight_memory.connection import Connection
from hindsight_memory.types.access import Grant, Key, NewGrant, NewKey
from hindsight_memory.wire.access import from_new_grant, from_new_key, to_grant, to_key
from hindsight_memory.wire.fields import fill


class AccessCalls(Connection):
    """Managing keys, and sharing between agents."""

    async def create_key(self, key: NewKey, *, request_id: str = "") -> tuple[Key, str]:
        """Make a key; the key and its secret, which is told only here."""
        request = from_new_key(key)
        request.request_id = request_id
        response = await self._call(self._admin.CreateKey, request, repeatable=False)
        return to_key(response.key), response.secret

    async def list_keys(self, *, tenant: str = "") -> AsyncIterator[Key]:
        """The tenant's keys, oldest first."""
        async for page in self._pages(self._admin.ListKeys, admin_pb2.ListKeysRequest(tenant=tenant)):
            for key in page.keys:
                yield to_key(key)

    async def rotate_key(self, key_id: str, *, tenant: str = "") -> tuple[Key, str]:
        """Give a key a new secret; the key and the secret."""
        request = admin_pb2.RotateKeyRequest(key_id=key_id, tenant=tenant)
        response = await self._call(self._admin.RotateKey, request, repeatable=False)
        return to_key(response.key), response.secret

    async def revoke_key(self, key_id: str, *, tenant: str = "") -> Key:
        """End a key."""
        request = admin_pb2.RevokeKeyRequest(key_id=key_id, tenant=tenant)
        return to_key((await self._call(self._admin.RevokeKey, request)).key)

    async def describe_caller(self) -> Key:
        """Who the caller is, as the server sees it."""
        return to_key((await self._call(self._admin.DescribeCaller, admin_pb2.DescribeCallerRequest())).key)

    async def share(self, grant: NewGrant, *, agent_id: str = "", request_id: str = "") -> Grant:
        """Open memories to another agent of the tenant."""
        request = fill(from_new_grant(grant), self._identity(agent_id, request_id))
        return to_grant((await self._call(self._sharing.Share, request)).grant)

    async def unshare(self, grant_id: str, *, agent_id: str = "", request_id: str = "") -> Grant:
        """End a grant."""
        request = fill(sharing_pb2.UnshareRequest(), self._identity(agent_id, request_id) | {"grant_id": grant_id})
        return to_grant((await self._call(self._sharing.Unshare, request)).grant)

    async def list_grants(self, *, include_ended: bool = False, agent_id: str = "") -> AsyncIterator[Grant]:
        """What the agent has opened to others and others to it, newest first."""
        request = recall_pb2.ListGrantsRequest(agent_id=agent_id or self._agent_id, include_ended=include_ended)
        async for page in self._pages(self._recall.ListGrants, request):
            for grant in page.grants:
                yield to_grant(grant)
