"""What became of an answer is kept with its receipt, for whom the receipt is there, and as long."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import asyncpg
import pytest
from hindsight_memory import AuditFilter, Hindsight, HindsightError, NewKey, NewMemory, Receipt
from hindsight_store.ids import first_at, uuid7
from hindsight_store.pool import open_pool
from hindsight_store.receipts import RecordedRecall, remove_old
from hindsight_store.writer import writing

from tests.integration.test_recall_explained import receipt_of


@pytest.fixture
async def stranger(services) -> AsyncIterator[Hindsight]:
    """Another key of the same agent."""
    async with await services.connect(NewKey(tenant="acme", name="stranger", default_agent_id="ada")) as connected:
        yield connected


@pytest.fixture
async def admin(services) -> AsyncIterator[Hindsight]:
    """A key that may see every receipt."""
    key = NewKey(tenant="acme", name="admin", default_agent_id="ada", rights=("read", "write", "admin"))
    async with await services.connect(key) as connected:
        yield connected


async def ask(client: Hindsight) -> str:
    """Ask something; the id of the receipt, which is there."""
    await client.write(NewMemory("tea", "Ada likes green tea."))
    answer = await client.recall("What does Ada drink?")
    await receipt_of(client, answer.receipt_id)
    return answer.receipt_id


def reported(receipt: Receipt) -> tuple[str, str, str]:
    return receipt.outcome, receipt.note, receipt.final_prompt


async def refusal_of(client: Hindsight, receipt_id: str) -> tuple[str, str]:
    with pytest.raises(HindsightError) as refusal:
        await client.report_outcome(receipt_id, "failure", "Stolen.")
    return refusal.value.code, refusal.value.reason


async def test_what_was_reported_is_shown_with_the_receipt_and_a_later_report_takes_its_place(client: Hindsight):
    receipt_id = await ask(client)
    before = await client.receipt(receipt_id)
    assert (reported(before), before.reported_at) == (("", "", ""), None)
    await client.report_outcome(receipt_id, "partial", "只对了一半。", "You are a helpful agent. 茶")
    first = await client.receipt(receipt_id)
    assert reported(first) == ("partial", "只对了一半。", "You are a helpful agent. 茶")
    assert first.reported_at
    assert abs(datetime.now(UTC) - first.reported_at) < timedelta(minutes=1)
    await client.report_outcome(receipt_id, "success")
    assert reported(await client.receipt(receipt_id)) == ("success", "", "")


async def test_a_report_that_comes_before_its_receipt_is_shown_once_that_is_there(client: Hindsight):
    await client.write(NewMemory("tea", "Ada likes green tea."))
    answer = await client.recall("What does Ada drink?")
    await client.report_outcome(answer.receipt_id, "success", "It was tea.")  # receipts are gathered for a moment first
    assert reported(await receipt_of(client, answer.receipt_id)) == ("success", "It was tea.", "")


async def test_secrets_are_masked_in_what_is_reported(client: Hindsight):
    receipt_id = await ask(client)
    await client.report_outcome(receipt_id, "failure", "The password is hunter2-Q9x7.", "api_key=sk-Zt81kLmQ02vXw93pRt5u")
    told = " ".join(reported(await client.receipt(receipt_id)))
    assert "hunter2" not in told
    assert "sk-Zt81kLmQ02vXw93pRt5u" not in told


async def test_a_repeat_of_a_report_is_one_report_with_one_line_in_the_audit_log(client: Hindsight, admin: Hindsight):
    receipt_id = await ask(client)
    await client.report_outcome(receipt_id, "success", request_id="r1")
    await client.report_outcome(receipt_id, "failure", request_id="r2")
    await client.report_outcome(receipt_id, "success", request_id="r1")
    assert reported(await client.receipt(receipt_id)) == ("failure", "", "")
    with pytest.raises(HindsightError) as refusal:
        await client.report_outcome(receipt_id, "partial", request_id="r1")
    assert (refusal.value.code, refusal.value.reason) == ("ALREADY_EXISTS", "REQUEST_ID_REUSED")
    lines = [line async for line in admin.list_audit(AuditFilter(action="report_outcome"))]
    assert [(line.subject, line.outcome) for line in lines] == [(receipt_id, "reported 1")] * 2


async def test_of_another_keys_receipt_only_an_admin_reports(client: Hindsight, stranger: Hindsight, admin: Hindsight):
    receipt_id = await ask(client)
    assert await refusal_of(stranger, receipt_id) == ("NOT_FOUND", "NOT_FOUND")
    await client.report_outcome(receipt_id, "success", "Mine.")
    assert await refusal_of(stranger, receipt_id) == ("NOT_FOUND", "NOT_FOUND")
    assert reported(await client.receipt(receipt_id)) == ("success", "Mine.", "")
    await admin.report_outcome(receipt_id, "failure", "Looked into it.")
    assert reported(await client.receipt(receipt_id)) == ("failure", "Looked into it.", "")


async def test_an_admin_of_some_scopes_reports_of_its_own_receipts_only(services, client: Hindsight):
    receipt_id = await ask(client)
    limited = NewKey(tenant="acme", default_agent_id="ada", scopes=["user:2"], rights=("read", "write", "admin"))
    async with await services.connect(limited) as other:
        assert await refusal_of(other, receipt_id) == ("NOT_FOUND", "NOT_FOUND")
        await other.report_outcome(await ask(other), "success")


async def test_what_a_stranger_reported_too_early_is_not_shown_and_gives_way(services, client: Hindsight, stranger: Hindsight):
    await client.write(NewMemory("tea", "Ada likes green tea."))
    connection = await asyncpg.connect(services.database.owner)
    bank_id, tenant_id = await connection.fetchrow("SELECT bank_id, tenant_id FROM agents") or (0, 0)
    answer = await client.recall("What does Ada drink?")
    kept = await receipt_of(client, answer.receipt_id)
    early = uuid7()
    await stranger.report_outcome(str(early), "failure", "Stolen.")
    assert await refusal_of(client, str(early)) == ("NOT_FOUND", "NOT_FOUND")
    document = await connection.fetchval("SELECT document FROM receipts WHERE receipt_id = $1", UUID(answer.receipt_id))
    told = RecordedRecall(bank_id, early, (await client.describe_caller()).id, datetime.now(UTC), "tea?", (), document)
    async with open_pool(services.database.ingest) as pool, writing(pool, tenant_id) as writer:
        assert await writer.record_recalls([told]) == 1
    assert reported(await client.receipt(str(early))) == reported(kept)
    await client.report_outcome(str(early), "success", "Mine.")
    assert reported(await client.receipt(str(early))) == ("success", "Mine.", "")
    await connection.close()


@pytest.mark.parametrize("age", [timedelta(hours=2), timedelta(hours=-2)])
async def test_of_a_receipt_that_is_not_there_and_not_to_come_nothing_is_reported(client: Hindsight, age: timedelta):
    await ask(client)
    assert await refusal_of(client, str(first_at(datetime.now(UTC) - age))) == ("NOT_FOUND", "NOT_FOUND")


async def test_reports_are_removed_with_their_receipts_and_where_none_came(services, client: Hindsight):
    kept, old = await ask(client), await ask(client)
    for receipt_id in (kept, old, str(uuid7())):
        await client.report_outcome(receipt_id, "success")
    connection = await asyncpg.connect(services.database.owner)
    await connection.execute("UPDATE receipts SET at = at - interval '8 days' WHERE receipt_id = $1", UUID(old))
    async with open_pool(services.database.maintenance) as queue:
        await remove_old(queue, datetime.now(UTC))
        assert await connection.fetchval("SELECT count(*) FROM outcomes") == 3  # a receipt may still come
        await remove_old(queue, datetime.now(UTC) + timedelta(hours=2))
    assert [str(row["receipt_id"]) for row in await connection.fetch("SELECT receipt_id FROM outcomes")] == [kept]
    await connection.close()


async def test_reports_of_one_receipt_at_once_leave_one_whole_report(client: Hindsight):
    receipt_id = await ask(client)
    await asyncio.gather(*(client.report_outcome(receipt_id, "success", str(n), str(n)) for n in range(12)))
    outcome, note, final_prompt = reported(await client.receipt(receipt_id))
    assert (outcome, note) == ("success", final_prompt)
