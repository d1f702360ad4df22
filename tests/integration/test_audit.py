"""Refused calls are told in the audit log."""

import asyncio
from typing import Any

import asyncpg
import grpc
import pytest
from hindsight.v1 import record_pb2, record_pb2_grpc
from hindsight_memory import Filter, Hindsight, HindsightError, NewKey, NewMemory
from hindsight_store.ids import uuid7


async def lines(services: Any, count: int) -> list[tuple[str, ...]]:
    """The refused calls in the audit log, sorted, once there are as many; they are written behind the answers."""
    connection = await asyncpg.connect(services.database.maintenance)
    async with asyncio.timeout(10):
        while True:
            rows = await connection.fetch(
                """SELECT t.name, a.principal, a.action, replace(replace(replace(a.subject,
                    keyed_name(tenant_id, 'scope', 'user:2'), '<user:2>'),
                    keyed_name(tenant_id, 'tenant', 'other'), '<other>'),
                    keyed_name(tenant_id, 'agent_id', 'bob'), '<bob>'), a.outcome
                FROM audit AS a JOIN tenants AS t USING (tenant_id)
                WHERE a.outcome = 'denied'"""
            )
            if len(rows) >= count:
                await connection.close()
                return sorted(tuple(row) for row in rows)
            await asyncio.sleep(0.05)


async def test_refused_calls_of_both_services_are_in_the_audit_log_of_the_caller_s_tenant(services):
    key, secret = await services.operator.create_key(
        NewKey(tenant="acme", agent_ids=("ada",), default_agent_id="ada", scopes=("user:1",), rights=("read",))
    )
    await services.operator.create_key(NewKey(tenant="other"))
    refused: list[Any] = [
        lambda c: c.write(NewMemory("seat", "Row 7.")),
        lambda c: c.forget(key="seat", scope="user:2"),
        lambda c: c.create_key(NewKey(tenant="other")),
        lambda c: c.recall("Which row?", agent_id="bob\u200b"),
        lambda c: c.recall("Which row?", where=Filter(scope="user:2")),
    ]
    async with services.with_key(secret) as client:
        for call in refused:
            with pytest.raises(HindsightError) as refusal:
                await call(client)
            assert refusal.value.code == "PERMISSION_DENIED"
        assert (await client.recall("Which row?")).hits == ()
    told = {
        ("CreateKey", "tenant=<other>"),
        ("Forget", "scope=<user:2>"),
        ("Recall", "agent_id=<bob>"),
        ("Recall", "scope=<user:2>"),
        ("Write", ""),
    }
    assert await lines(services, len(refused)) == sorted(("acme", key.id, action, subject, "denied") for action, subject in told)


async def test_the_audit_log_cannot_be_changed(services, client: Hindsight):
    async with await services.connect(NewKey(tenant="acme", rights=("read",))) as reader:
        with pytest.raises(HindsightError):
            await reader.write(NewMemory("seat", "Row 7."), agent_id="ada")
    await lines(services, 1)
    connection = await asyncpg.connect(services.database.ingest)
    for statement in ("UPDATE audit SET outcome = 'ok'", "DELETE FROM audit"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)
    await connection.close()


async def test_a_refused_call_of_a_tenant_that_is_gone_is_dropped_and_harms_no_other(services: Any):
    known = await services.operator.describe_caller()
    calls = [
        record_pb2.DeniedCall(tenant_id=tenant_id, audit_id=str(uuid7()), principal=known.id, action="Get")
        for tenant_id in (10**12, 1)
    ]
    async with grpc.aio.insecure_channel(services.ingest_address) as channel:
        metadata = (("authorization", f"Bearer {services.record_token}"),)
        await record_pb2_grpc.RecordServiceStub(channel).Record(record_pb2.RecordRequest(denied=calls), metadata=metadata)
    assert len(await lines(services, 1)) == 1
