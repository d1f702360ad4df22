"""Every change leaves one line in the audit log, and no line or request leaves any text."""

import asyncpg
import pytest
from hindsight_memory import AuditFilter, AuditLine, Hindsight, HindsightError, NewKey, NewMemory, Turn

TEXT = "Zephyrine"


def told(line: AuditLine) -> tuple[str, str, str, str]:
    return line.agent_id, line.action, line.subject, line.outcome


@pytest.fixture
async def admin(services):
    async with await services.connect(NewKey(tenant="acme", rights=["admin"])) as connected:
        yield connected


async def log(admin: Hindsight, **wanted) -> list[AuditLine]:
    """The log, oldest first."""
    return [line async for line in admin.list_audit(AuditFilter(**wanted))][::-1]


async def test_each_call_that_changes_something_leaves_one_line(services, client: Hindsight, admin: Hindsight):
    me = (await client.describe_caller()).id
    batch = await client.write_batch([NewMemory("tea", "Ada likes tea."), NewMemory("", "no key")])
    first, second = batch[0].memory_id, (await client.write(NewMemory("cat", "The cat is called Momo."))).memory_id
    await client.update(first, {"importance": 0.9})
    await client.relate((first, second), "supports")
    await client.unrelate((first, second), "supports")
    await client.forget(memory_id=second)
    await client.restore(second, 1)
    lines = await log(admin, principal=me)
    assert [told(line) for line in lines] == [
        ("ada", "write_batch", first, "created 1, rejected 1"),
        ("ada", "write", second, "created 1"),
        ("ada", "update", first, "updated 1"),
        ("ada", "relate", first, "updated 1"),
        ("ada", "unrelate", first, "updated 1"),
        ("ada", "forget", second, "updated 1"),
        ("ada", "restore", second, "updated 1"),
    ]


async def test_sessions_are_accounted_for_by_a_hash_and_what_the_worker_keeps_in_the_authors_name(
    services, client: Hindsight, admin: Hindsight, worker
):
    me = (await client.describe_caller()).id
    await client.observe(f"call with {TEXT}", [Turn("user", "Please remember that I am allergic to peanuts.")])
    await client.end_session(f"call with {TEXT}")
    await worker()
    lines = await log(admin, principal=me)
    assert [line.action for line in lines][:2] == ["observe", "end_session"]
    assert {line.action for line in lines[2:]} == {"keep", "summary"}
    assert lines[0].subject == lines[1].subject
    assert lines[0].subject.startswith("session:")
    assert lines[0].outcome == "first_turn 0, added 1"


async def test_a_repeat_changes_nothing_and_leaves_no_line(client: Hindsight, admin: Hindsight):
    for _ in range(2):
        await client.write(NewMemory("tea", "Ada likes tea."), request_id="r1")
    assert [line.action for line in await log(admin, agent_id="ada")] == ["write"]


async def test_keys_and_jobs_are_accounted_for_without_an_agent(services, admin: Hindsight):
    key, _ = await admin.create_key(NewKey(name="n"))
    await admin.revoke_key(key.id)
    mine = (await admin.describe_caller()).id
    assert [told(line) for line in await log(admin, principal=mine)] == [
        ("", "create_key", key.id, "ok"),
        ("", "revoke_key", key.id, "ok"),
    ]


async def test_the_log_is_read_in_pages_and_by_time(client: Hindsight, admin: Hindsight):
    for number in range(3):
        await client.write(NewMemory(f"k{number}", f"Value {number}."))
    lines = await log(admin, agent_id="ada", action="write")
    assert [line.id async for line in admin.list_audit(AuditFilter("ada", until=lines[2].at))] == [lines[1].id, lines[0].id]
    assert [line.id async for line in admin.list_audit(AuditFilter("ada", since=lines[2].at))] == [lines[2].id]


@pytest.mark.parametrize("limits", [{"rights": ["read", "write"]}, {"rights": ["admin"], "agent_ids": ["ada"]}])
async def test_a_key_that_is_no_admin_of_the_whole_tenant_does_not_see_the_log(services, limits):
    async with await services.connect(NewKey(tenant="acme", **limits)) as other:
        with pytest.raises(HindsightError) as refusal:
            await log(other)
        assert refusal.value.code == "PERMISSION_DENIED"


@pytest.mark.parametrize("role", ["owner", "maintenance", "ingest", "recall"])
@pytest.mark.parametrize("statement", ["UPDATE audit SET outcome = ''", "DELETE FROM audit", "TRUNCATE audit"])
async def test_no_role_can_change_or_remove_a_line(services, client: Hindsight, admin: Hindsight, role: str, statement: str):
    await client.write(NewMemory("tea", "Ada likes tea."))
    before = await log(admin)
    connection = await asyncpg.connect(getattr(services.database, role))
    with pytest.raises((asyncpg.InsufficientPrivilegeError, asyncpg.ReadOnlySQLTransactionError)):
        await connection.execute(statement)
    await connection.close()
    assert await log(admin) == before


async def test_request_ids_names_of_sessions_and_metadata_leave_no_text_in_tables_of_ids(services, client: Hindsight, admin):
    await client.write(NewMemory("tea", "Ada likes tea."), request_id=TEXT)
    await client.observe(TEXT, [Turn("user", "Hello.")], request_id=f"{TEXT} 2")
    await client.write_batch([NewMemory("tea", "x", metadata={TEXT: "\0"})], request_id=f"{TEXT} 3")
    await admin.create_key(NewKey(name="n"), request_id=TEXT)
    connection = await asyncpg.connect(services.database.owner)
    for table in ("requests", "admin_requests", "audit"):
        rows = await connection.fetch(f"SELECT t::text AS line FROM {table} AS t")
        assert [row["line"] for row in rows if TEXT in row["line"]] == []
        assert rows
    await connection.close()


async def test_the_key_of_the_hashes_is_a_tenants_own_and_recall_cannot_read_it(services, client: Hindsight):
    owner = await asyncpg.connect(services.database.owner)
    keys = [row["hash_key"] for row in await owner.fetch("SELECT hash_key FROM tenants")]
    await owner.close()
    assert len(set(keys)) == len(keys) > 1
    assert {len(key) for key in keys} == {32}
    recall = await asyncpg.connect(services.database.recall)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await recall.fetch("SELECT hash_key FROM tenants")
    await recall.close()
