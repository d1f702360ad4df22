"""A memory's life through the real services: written, recalled, changed, forgotten, restored."""

import pytest
from hindsight_memory import Filter, Hindsight, HindsightError, NewMemory


async def test_a_memory_is_recalled_in_both_languages_right_after_it_was_written(client: Hindsight):
    english = await client.write(NewMemory("seat", "Ada prefers a window seat on long flights."))
    chinese = await client.write(NewMemory("口味", "小林不吃辣，喜欢清淡的菜。"))
    assert (english.outcome, chinese.outcome) == ("created", "created")
    first = await client.recall("Which seat should I book for Ada?")
    second = await client.recall("给小林点菜要注意什么？")
    assert first.hits[0].memory.id == english.memory_id
    assert second.hits[0].memory.id == chinese.memory_id


async def test_a_hit_explains_itself(client: Hindsight):
    await client.write(NewMemory("seat", "Ada prefers a window seat on long flights.", query="booking a flight"))
    hit = (await client.recall("window seat for the flight")).hits[0]
    assert {f.channel for f in hit.findings} == {"content", "trigger", "lexical", "standing"}
    assert all(f.rank == 1 for f in hit.findings)
    total = sum(c.value * c.weight for c in hit.contributions)
    assert hit.similarity == pytest.approx(min(1, max(0, total)))
    assert hit.final_score == pytest.approx(0.7 * hit.similarity + 0.3 * hit.effective_importance)


async def test_update_forget_and_restore_each_make_a_revision(client: Hindsight):
    written = await client.write(NewMemory("home city", "Ada lives in Turin."))
    updated = await client.update(written.memory_id, {"value": "Ada lives in Lisbon.", "tags": ["home"]}, revision=1)
    assert updated.revision == 2
    assert (await client.get(written.memory_id)).value == "Ada lives in Lisbon."
    assert await client.forget(memory_id=written.memory_id) == [written.memory_id]
    assert (await client.recall("Where does Ada live?")).hits == ()
    with pytest.raises(HindsightError) as refusal:
        await client.get(written.memory_id)
    assert (refusal.value.code, refusal.value.reason) == ("NOT_FOUND", "NOT_FOUND")
    restored = await client.restore(written.memory_id, 1)
    assert restored.revision == 4
    history = [(m.revision, m.status, m.value) async for m in client.revisions(written.memory_id)]
    assert history == [
        (4, "active", "Ada lives in Turin."),
        (3, "deleted", "Ada lives in Lisbon."),
        (2, "active", "Ada lives in Lisbon."),
        (1, "active", "Ada lives in Turin."),
    ]
    assert (await client.recall("Where does Ada live?")).hits[0].memory.revision == 4


async def test_an_update_of_another_revision_is_refused(client: Hindsight):
    written = await client.write(NewMemory("home city", "Ada lives in Turin."))
    with pytest.raises(HindsightError) as refusal:
        await client.update(written.memory_id, {"importance": 0.9}, revision=7)
    assert (refusal.value.code, refusal.value.reason) == ("ABORTED", "REVISION_MISMATCH")


async def test_fading_lowers_importance_and_keeps_the_memory(client: Hindsight):
    written = await client.write(NewMemory("home city", "Ada lives in Turin.", importance=0.8))
    await client.forget(memory_id=written.memory_id, mode="fade")
    assert (await client.get(written.memory_id)).importance == pytest.approx(0.08)
    assert (await client.recall("Where does Ada live?")).hits[0].memory.id == written.memory_id


async def test_forgetting_a_key_takes_every_memory_of_that_key_and_scope(client: Hindsight):
    gone = [await client.write(NewMemory("todo", f"Call supplier {n}.", scope="user:1")) for n in range(3)]
    kept = await client.write(NewMemory("todo", "Call supplier 1.", scope="user:2"))
    assert await client.forget(key="todo", scope="user:1") == sorted(r.memory_id for r in gone)
    assert [m.id async for m in client.list()] == [kept.memory_id]


async def test_tag_mode_pages_through_all_of_a_category(client: Hindsight):
    results = await client.write_batch([NewMemory(f"k{n}", f"Fact number {n}.", tags=["even"[n % 2 :]]) for n in range(12)])
    wanted = [r.memory_id for r in results][::2]
    seen, token = [], ""
    while True:
        page = await client.recall(mode="tag", where=Filter(tags=["even"]), top_k=4, page_token=token)
        seen += [h.memory.id for h in page.hits]
        if not (token := page.next_page_token):
            break
    assert seen == wanted[::-1]
