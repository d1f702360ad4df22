"""No call of one tenant, agent or scope sees another's memories, even with the application's own filter gone."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest
from hindsight_memory import Filter, Hindsight, HindsightError, NewKey, NewMemory
from hindsight_runtime.identity import Principal, sign_assertion
from hindsight_store import reader

SECRET = "The vault code is 4471."


@dataclass
class Owner:
    """The tenant whose memory is to stay unseen."""

    client: Hindsight
    memory_id: str
    tenant_id: int


@pytest.fixture
async def owner(services) -> AsyncIterator[Owner]:
    async with await services.connect(NewKey(tenant="victim", default_agent_id="ada")) as client:
        written = await client.write(NewMemory("vault", SECRET, scope="user:1", tags=["secret"]))
        connection = await asyncpg.connect(services.database.owner)
        tenant_id = await connection.fetchval("SELECT tenant_id FROM tenants WHERE name = 'victim'")
        await connection.close()
        yield Owner(client, written.memory_id, tenant_id)


async def _collect(items: AsyncIterator[Any]) -> list[Any]:
    return [item async for item in items]


CALLS: dict[str, Callable[[Hindsight, str], Awaitable[Any]]] = {
    "recall": lambda c, i: c.recall("vault code"),
    "recall semantic": lambda c, i: c.recall("vault code", mode="semantic"),
    "recall tag": lambda c, i: c.recall(mode="tag", where=Filter(tags=["secret"])),
    "get": lambda c, i: c.get(i),
    "list": lambda c, i: _collect(c.list()),
    "revisions": lambda c, i: _collect(c.revisions(i)),
    "update": lambda c, i: c.update(i, {"importance": 0.1}),
    "update text": lambda c, i: c.update(i, {"value": "stolen"}),
    "forget": lambda c, i: c.forget(memory_id=i),
    "forget key": lambda c, i: c.forget(key="vault", scope="user:1"),
    "relations": lambda c, i: _collect(c.list_relations(i)),
    "conflicts": lambda c, i: _collect(c.list_conflicts()),
    "relate": lambda c, i: c.relate((i, i[:-1] + ("0" if i[-1] != "0" else "1")), "follows"),
    "unrelate": lambda c, i: c.unrelate((i, i[:-1] + ("0" if i[-1] != "0" else "1")), "follows"),
    "restore": lambda c, i: c.restore(i, 1),
    "derive": lambda c, i: c.write(NewMemory("copy", "Derived.", derived_from=[i])),
}


async def _seen(call: Callable[[Hindsight, str], Awaitable[Any]], client: Hindsight, memory_id: str) -> Any:
    """What a call shows: an empty answer, or the error's reason."""
    try:
        answer = await call(client, memory_id)
    except HindsightError as error:
        return error.reason
    return getattr(answer, "hits", answer) or "nothing"


async def _unharmed(owner: Owner) -> None:
    memory = await owner.client.get(owner.memory_id)
    assert (memory.value, memory.revision, memory.status) == (SECRET, 1, "active")


@pytest.mark.parametrize("name", CALLS)
async def test_another_tenants_key_sees_nothing(services, owner: Owner, name: str):
    async with await services.connect(NewKey(tenant="thief", default_agent_id="ada")) as thief:
        assert await _seen(CALLS[name], thief, owner.memory_id) in ("nothing", "NOT_FOUND", "INVALID_FIELD")
    await _unharmed(owner)


@pytest.mark.parametrize("name", CALLS)
async def test_without_the_applications_filter_another_tenants_key_still_sees_nothing(
    services, owner: Owner, name: str, monkeypatch: pytest.MonkeyPatch
):
    connection = await asyncpg.connect(services.database.owner)
    bank_id = await connection.fetchval("SELECT bank_id FROM agents WHERE tenant_id = $1", owner.tenant_id)
    await connection.close()

    async def victims_bank(self: reader.Reader, tenant_id: int, agent_id: str) -> int:
        return bank_id

    async with await services.connect(NewKey(tenant="thief", default_agent_id="ada")) as thief:
        with monkeypatch.context() as patch:
            patch.setattr(reader.Reader, "find_bank", victims_bank)
            seen = await _seen(CALLS[name], thief, owner.memory_id)
            # proof that the hook is in force: the owner still reaches the bank through it
            assert (await owner.client.recall("vault code")).hits
    assert seen in ("nothing", "NOT_FOUND", "INVALID_FIELD", "INTERNAL")
    # a write into a foreign bank breaks a foreign key, which nothing but such a hook can bring about
    assert (seen == "INTERNAL") <= (name in ("derive", "forget key"))
    await _unharmed(owner)


@pytest.mark.parametrize("name", CALLS)
async def test_a_key_limited_to_a_scope_sees_no_other_user(services, owner: Owner, name: str):
    async with await services.connect(NewKey(tenant="victim", default_agent_id="ada", scopes=["user:2"])) as other:
        expected = ("nothing", "NOT_FOUND", "INVALID_FIELD", "PERMISSION_DENIED")
        assert await _seen(CALLS[name], other, owner.memory_id) in expected
    await _unharmed(owner)


@pytest.mark.parametrize("name", CALLS)
async def test_a_key_of_another_agent_sees_nothing(services, owner: Owner, name: str):
    async with await services.connect(NewKey(tenant="victim", default_agent_id="bob", agent_ids=["bob"])) as other:
        assert await _seen(CALLS[name], other, owner.memory_id) in ("nothing", "NOT_FOUND", "INVALID_FIELD")
        with pytest.raises(HindsightError) as refusal:
            await other.recall("vault", agent_id="ada")
        assert refusal.value.code == "PERMISSION_DENIED"
    await _unharmed(owner)


@pytest.mark.parametrize("name", CALLS)
async def test_missing_wrong_expired_and_revoked_keys_are_refused_alike(services, owner: Owner, name: str):
    key, revoked = await services.operator.create_key(NewKey(tenant="victim", default_agent_id="ada"))
    await services.operator.revoke_key(key.id, tenant="victim")
    past = datetime.now(UTC) - timedelta(seconds=1)
    _, expired = await services.operator.create_key(NewKey(tenant="victim", default_agent_id="ada", expires_at=past))
    refusals = set()
    for api_key in ("", "hs_wrong", revoked, expired, "a.b.c"):
        async with services.with_key(api_key) as client:
            with pytest.raises(HindsightError) as refusal:
                await CALLS[name](client, owner.memory_id)
            refusals.add((refusal.value.code, refusal.value.reason, refusal.value.message))
    assert len(refusals) == 1
    assert refusals.pop()[:2] == ("UNAUTHENTICATED", "UNAUTHENTICATED")


async def test_a_read_only_key_cannot_change_and_a_write_only_key_cannot_read(services, owner: Owner):
    changing = {"update", "update text", "forget", "forget key", "restore", "derive", "relate", "unrelate"}
    async with (
        await services.connect(NewKey(tenant="victim", default_agent_id="ada", rights=["read"])) as reading,
        await services.connect(NewKey(tenant="victim", default_agent_id="ada", rights=["write"])) as writing,
    ):
        for name, call in CALLS.items():
            assert await _seen(call, reading if name in changing else writing, owner.memory_id) == "PERMISSION_DENIED"
    await _unharmed(owner)


async def test_keys_of_a_tenant_are_managed_by_its_admin_and_the_operator_only(services):
    async with (
        await services.connect(NewKey(tenant="acme", rights=["admin"])) as admin,
        await services.connect(NewKey(tenant="other", rights=["admin"])) as foreign,
        await services.connect(NewKey(tenant="acme")) as plain,
    ):
        key, _ = await admin.create_key(NewKey(name="worker"))
        for client, tenant in ((plain, ""), (foreign, "acme")):
            for attempt in (
                lambda c=client, t=tenant: c.create_key(NewKey(tenant=t)),
                lambda c=client, t=tenant: _collect(c.list_keys(tenant=t)),
                lambda c=client, t=tenant: c.rotate_key(key.id, tenant=t),
                lambda c=client, t=tenant: c.revoke_key(key.id, tenant=t),
            ):
                with pytest.raises(HindsightError) as refusal:
                    await attempt()
                assert refusal.value.code == "PERMISSION_DENIED"
        with pytest.raises(HindsightError) as refusal:
            await foreign.revoke_key(key.id)
        assert refusal.value.code == "NOT_FOUND"
        with pytest.raises(HindsightError) as refusal:
            await admin.create_key(NewKey(rights=["operator"]))
        assert refusal.value.code == "PERMISSION_DENIED"


async def test_an_assertion_signed_by_the_edge_sees_what_its_principal_may_see_and_no_more(services, owner: Owner):
    def asserting(tenant: str, scopes: tuple[str, ...]) -> Hindsight:
        rights = frozenset({"read"})
        principal = Principal(owner.tenant_id, tenant, "subject", default_agent_id="ada", scopes=scopes, rights=rights)
        return services.with_key(sign_assertion(principal, services.assertion_private_key))

    async with asserting("victim", ("user:1",)) as client:
        assert [h.memory.id for h in (await client.recall("vault code")).hits] == [owner.memory_id]
        with pytest.raises(HindsightError) as refusal:
            await client.forget(memory_id=owner.memory_id)
        assert refusal.value.code == "PERMISSION_DENIED"
    await services.operator.create_key(NewKey(tenant="other"))
    for client in (asserting("victim", ("user:2",)), asserting("other", ())):
        async with client:
            assert (await client.recall("vault code")).hits == ()
    async with asserting("nobody", ()) as client:
        with pytest.raises(HindsightError) as refusal:
            await client.recall("vault code")
        assert refusal.value.code == "UNAUTHENTICATED"


async def test_what_a_memory_is_derived_from_is_told_as_far_as_the_key_may_read_it(services, owner: Owner):
    public = (await owner.client.write(NewMemory("door", "The door is blue.", scope="user:2"))).memory_id
    origins = [owner.memory_id, public]
    copy = NewMemory("copy", "The vault is behind the blue door.", scope="user:2", tags=["copy"], derived_from=origins)
    written = await owner.client.write(copy)
    async with await services.connect(NewKey(tenant="victim", default_agent_id="ada", scopes=["user:2"])) as other:
        where = Filter(tags=["copy"])
        recalled = (await other.recall("blue door", where=where)).hits
        seen = [await other.get(written.memory_id), *await _collect(other.list(where=where)), recalled[0].memory]
        seen += [
            (await other.recall(mode="tag", where=where)).hits[0].memory,
            *await _collect(other.revisions(written.memory_id)),
        ]
        assert [memory.derived_from for memory in seen] == [(public,)] * 5
        assert await _collect(other.list_relations(written.memory_id)) == [
            relation for relation in await _collect(owner.client.list_relations(written.memory_id)) if public in (relation.to_id,)
        ]
    assert sorted((await owner.client.get(written.memory_id)).derived_from) == sorted(origins)


async def test_rotating_and_revoking_a_key_ends_its_secret(services):
    key, secret = await services.operator.create_key(NewKey(tenant="acme", default_agent_id="ada"))
    rotated, fresh = await services.operator.rotate_key(key.id, tenant="acme")
    assert rotated.id == key.id
    async with services.with_key(secret) as old, services.with_key(fresh) as new:
        with pytest.raises(HindsightError):
            await old.recall("x")
        await new.recall("x")
        await services.operator.revoke_key(key.id, tenant="acme")
        await asyncio.wait_for(_until_refused(new), timeout=10)


async def _until_refused(client: Hindsight) -> None:
    while await _seen(CALLS["recall"], client, "") != "UNAUTHENTICATED":  # noqa: ASYNC110
        await asyncio.sleep(0.05)  # there is no event for a cache entry growing old


@pytest.mark.parametrize("role", ["ingest", "recall"])
async def test_the_database_shows_a_service_role_nothing_without_a_tenant(services, owner: Owner, role: str):
    connection = await asyncpg.connect(getattr(services.database, role))
    tables = ("tenants", "agents", "memories", "embeddings", "memory_use", "memory_hits", "memory_relations", "turns")
    assert {t: await connection.fetchval(f"SELECT count(*) FROM {t}") for t in tables} == dict.fromkeys(tables, 0)
    await connection.close()


async def test_the_recall_role_cannot_write(services, owner: Owner):
    connection = await asyncpg.connect(services.database.recall)
    await connection.execute("SET default_transaction_read_only = off")
    await connection.execute(f"SELECT set_config('app.tenant', '{owner.tenant_id}', false)")
    for statement in ("UPDATE memories SET value = ''", "DELETE FROM memories", "INSERT INTO tenants (name) VALUES ('x')"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)
    await connection.close()


async def test_every_table_with_a_tenant_forces_row_security(database):
    connection = await asyncpg.connect(database.owner)
    rows = await connection.fetch("""SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity AS is_forced FROM pg_class AS c
        WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace""")
    await connection.close()
    assert {r["relname"] for r in rows if not r["is_forced"]} == {"generations", "schema_migrations"}


async def test_a_revoked_admin_key_ends_at_once_and_makes_no_successor(services):
    key, secret = await services.operator.create_key(NewKey(tenant="acme", rights=["read", "write", "admin"]))
    async with services.with_key(secret) as admin:
        await admin.create_key(NewKey(name="worker"))
        await services.operator.revoke_key(key.id, tenant="acme")
        with pytest.raises(HindsightError) as refusal:
            await admin.create_key(NewKey(name="backdoor"))
        assert refusal.value.code == "UNAUTHENTICATED"


@pytest.mark.parametrize("limits", [{"scopes": ["user:1"]}, {"agent_ids": ["ada"]}, {"scopes": ["user:*"], "agent_ids": ["ada"]}])
async def test_a_limited_admin_key_manages_keys_within_its_limits_only(services, limits):
    wide, _ = await services.operator.create_key(NewKey(tenant="acme"))
    async with await services.connect(NewKey(tenant="acme", rights=["admin"], **limits)) as admin:
        inside, _ = await admin.create_key(NewKey(**limits))
        await admin.revoke_key(inside.id)
        assert [key.id async for key in admin.list_keys() if key.id in (inside.id, wide.id)] == [inside.id]
        for attempt, code in (
            (lambda: admin.create_key(NewKey()), "PERMISSION_DENIED"),
            (lambda: admin.create_key(NewKey(agent_ids=["bob"], scopes=["project:x"])), "PERMISSION_DENIED"),
            (lambda: admin.rotate_key(wide.id), "NOT_FOUND"),
            (lambda: admin.revoke_key(wide.id), "NOT_FOUND"),
        ):
            with pytest.raises(HindsightError) as refusal:
                await attempt()
            assert refusal.value.code == code


async def test_what_was_forgotten_is_shown_to_an_admin_only_and_can_be_undone_by_its_writer(services, owner: Owner):
    await owner.client.forget(memory_id=owner.memory_id)
    assert await _seen(CALLS["revisions"], owner.client, owner.memory_id) == "NOT_FOUND"
    with pytest.raises(HindsightError) as refusal:
        await _collect(owner.client.list(statuses=["deleted"]))
    assert refusal.value.code == "PERMISSION_DENIED"
    async with await services.connect(NewKey(tenant="victim", default_agent_id="ada", rights=["read", "admin"])) as admin:
        assert [m.value async for m in admin.list(statuses=["deleted"])] == [SECRET]
        assert [m.status async for m in admin.revisions(owner.memory_id)] == ["deleted", "active"]
    await owner.client.restore(owner.memory_id, 1)
    assert (await owner.client.get(owner.memory_id)).value == SECRET
