"""What became of an answer is kept with its receipt, for whom the receipt is there, and as long."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import asyncpg
import pytest
from hindsight_memory import AuditFilter, Hindsight, HindsightError, NewKey, NewMemory, Receipt
from hindsight_store.ids import first_at, uuid7
from hindsight_store.pool import open_pool
from hindsight_store.receipts import remove_old

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


async def test_a_report_waits_for_the_receipt_of_an_answer_that_was_just_given(client: Hindsight):
    await client.write(NewMemory("tea", "Ada likes green tea."))
    answer = await client.recall("What does Ada drink?")
    await client.report_outcome(answer.receipt_id, "success", "It was tea.")  # receipts are gathered for a moment first
    assert reported(await client.receipt(answer.receipt_id)) == ("success", "It was tea.", "")


async def test_a_report_finds_the_agent_that_was_asked(services, client: Hindsight):
    async with await services.connect(NewKey(tenant="acme", name="two", agent_ids=["ada", "bob"])) as two:
        await two.write(NewMemory("tea", "Bob likes black tea."), agent_id="bob")
        receipt_id = (await two.recall("What does Bob drink?", agent_id="bob")).receipt_id
        await two.report_outcome(receipt_id, "failure", "Es war Kaffee.")
        assert reported(await two.receipt(receipt_id, agent_id="bob")) == ("failure", "Es war Kaffee.", "")
        with pytest.raises(HindsightError, match="of a recall of 'bob'"):
            await two.report_outcome(receipt_id, "success", agent_id="ada")


async def test_nothing_is_reported_of_what_is_no_receipt_of_the_caller(services, client: Hindsight):
    written = await client.write(NewMemory("tea", "Ada likes green tea."))
    receipt_id = await ask(client)
    async with await services.connect(NewKey(tenant="other", default_agent_id="ada")) as other:
        for stranger, named in ((client, written.memory_id), (client, str(uuid7())), (other, receipt_id)):
            assert await refusal_of(stranger, named) == ("NOT_FOUND", "NOT_FOUND")


async def test_ids_that_no_answer_of_the_last_minute_had_are_refused_without_a_wait(client: Hindsight):
    await client.write(NewMemory("tea", "Ada likes green tea."))
    old = first_at(datetime.now(UTC), before=timedelta(hours=1))
    began = time.monotonic()
    refused = await asyncio.gather(*(refusal_of(client, str(name)) for name in (old, *(uuid4() for _ in range(31)))))
    assert set(refused) == {("NOT_FOUND", "NOT_FOUND")}
    assert time.monotonic() - began < 1.5


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


async def test_reports_are_removed_with_their_receipts(services, client: Hindsight):
    kept, old = await ask(client), await ask(client)
    for receipt_id in (kept, old):
        await client.report_outcome(receipt_id, "success")
    connection = await asyncpg.connect(services.database.owner)
    await connection.execute("UPDATE receipts SET at = at - interval '8 days' WHERE receipt_id = $1", UUID(old))
    async with open_pool(services.database.maintenance) as queue:
        await remove_old(queue, datetime.now(UTC))
    assert [str(row["receipt_id"]) for row in await connection.fetch("SELECT receipt_id FROM outcomes")] == [kept]
    await connection.close()


async def test_reports_of_one_receipt_at_once_leave_one_whole_report(client: Hindsight):
    receipt_id = await ask(client)
    await asyncio.gather(*(client.report_outcome(receipt_id, "success", str(n), str(n)) for n in range(12)))
    outcome, note, final_prompt = reported(await client.receipt(receipt_id))
    assert (outcome, note) == ("success", final_prompt)
