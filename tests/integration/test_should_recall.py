"""The gate over the real service, with the packaged model."""

from typing import Any

import pytest
from hindsight_memory import Hindsight, HindsightError, NewKey
from hindsight_runtime.errors import DependencyUnavailable

NEEDING = (
    *("What did we decide about the fence?", "Order my usual.", "Has the kiln been repaired yet?", "Buy tickets for the match"),
    *("the second option", "水泵修好了吗？", "给我妈挑个生日礼物。", "还记得上次那家店吗"),
)
STANDING_ALONE = (
    *(
        "yes please",
        "Thanks, that's all.",
        "what is the capital of Peru",
        "write a haiku about rain",
        "Translate this: the pump is broken",
    ),
    *("写一首关于雨的俳句。", "上次奥运会在哪里举办？", "谢谢"),
)


async def test_the_gate_opens_for_turns_that_need_earlier_sessions_and_for_no_other(client: Hindsight):
    opened = {text: (await client.should_recall(text)).should_recall for text in (*NEEDING, *STANDING_ALONE)}
    assert opened == dict.fromkeys(NEEDING, True) | dict.fromkeys(STANDING_ALONE, False)


async def test_a_verdict_says_how_sure_it_is_and_why(client: Hindsight):
    verdict = await client.should_recall("What did we decide about the hedge last week?")
    assert 0 < verdict.threshold <= verdict.score <= 1
    assert {"reference_back", "decision"} <= set(verdict.reasons)
    assert verdict.missing_channels == ()


async def test_a_turn_gets_the_same_verdict_twice(client: Hindsight):
    assert await client.should_recall("水泵修好了吗？") == await client.should_recall("水泵修好了吗？")


async def test_without_the_embedder_the_gate_answers_and_the_answer_says_so(client: Hindsight, monkeypatch: pytest.MonkeyPatch):
    async def refuse(*arguments: Any, **named: Any) -> Any:
        raise DependencyUnavailable("not now")

    monkeypatch.setattr("hindsight_runtime.embedder.Embedder.embed", refuse)
    needing, alone = await client.should_recall("What did we decide about the hedge?"), await client.should_recall("Hello!")
    assert (needing.should_recall, alone.should_recall) == (True, False)
    assert needing.missing_channels == alone.missing_channels == ("content",)


async def test_a_turn_of_8192_characters_is_judged_and_a_longer_or_empty_one_refused(client: Hindsight):
    assert (await client.should_recall("中" * 8192)).missing_channels == ()
    for text in ("", " \n", "中" * 8193):
        with pytest.raises(HindsightError) as refusal:
            await client.should_recall(text)
        assert (refusal.value.code, refusal.value.reason, list(refusal.value.fields)) == (
            "INVALID_ARGUMENT",
            "INVALID_FIELD",
            ["text"],
        )


async def test_a_key_without_the_read_right_may_not_ask(services):
    async with await services.connect(NewKey(tenant="acme", default_agent_id="ada", rights=["write"])) as writer:
        with pytest.raises(HindsightError) as refusal:
            await writer.should_recall("Hello!")
    assert refusal.value.code == "PERMISSION_DENIED"
