"""The gate's rules, its verdicts with and without an embedding, and where its weights come from."""

import asyncio
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from hindsight_recall.gate import Gate, excerpt, load_gate, signs
from hindsight_recall.gate_rules import AGAINST, FOR, find_rules
from hindsight_recall.judging import Judge
from hindsight_runtime.embedder import Model
from hindsight_runtime.errors import DependencyUnavailable, ModelMismatch, Overloaded
from hindsight_runtime.heads import grams

TURNS = Path(__file__).parents[3] / "services/recall/training/gate.jsonl"


@pytest.fixture(scope="module")
def gate() -> Gate:
    return load_gate()


CASES = (
    ("reference_back", "Remind me what you suggested last week", "上次你推荐的那家叫什么来着"),
    ("usual", "Order the usual", "照老样子来一份"),
    ("again", "The pump failed again", "水泵又坏了"),
    ("carry_on", "Let's carry on with the quiz", "接着背单词"),
    ("decision", "What did we decide about the hedge?", "树篱的事定下来没"),
    ("state_question", "Has the pump arrived yet?", "水泵修好了吗"),
    ("own", "When does my lease end?", "我的租约哪天到期"),
    ("one_of_several", "Take the second option", "就要第二个方案"),
    ("open_pronoun", "Tell her it is ready", "告诉她一声"),
    ("errand", "Book a table for two", "帮我订个两人位"),
    ("came_since", "I finally finished it", "我终于看完了"),
    ("relative", "Send the landlord a note", "给房东发条消息"),
    ("greeting", "Good morning!", "早上好！"),
    ("acknowledgement", "Okay, got it.", "好的，明白了"),
    ("material_given", "Translate this: the pump is broken", "翻译这句话：水泵坏了，请尽快来修理"),
    ("general_question", "Who invented the zip?", "拉链是谁发明的"),
    ("public_history", "Who won the last World Cup?", "上届世界杯谁赢了"),
    ("about_words", "What rhymes with orange?", "高兴的近义词"),
    ("invent", "Write a haiku about rain", "写首关于雨的诗"),
    ("assistant", "What can you do?", "你会做什么"),
    ("told", "Remember that the code is 12", "记住我不吃辣"),
    ("manner", "From now on, answer in French", "以后用英文回答"),
    ("computation", "What is 15% of 80?", "三加五等于几"),
    ("anyone", "How do people usually sleep better?", "一般人怎么睡得好"),
    ("computing", "How do I revert in git?", "git怎么回退"),
    ("news", "We adopted a cat!", "我搬家了！"),
)


@pytest.mark.parametrize(("rule", "english", "chinese"), CASES)
def test_a_rule_fires_in_both_languages(rule, english, chinese):
    assert find_rules(english)[rule]
    assert find_rules(chinese)[rule]


def test_every_rule_has_a_case_of_its_own():
    assert {rule for rule, _, _ in CASES} == FOR.keys() | AGAINST.keys()


@pytest.mark.parametrize("text", ["Boil an egg", "雨"])
def test_no_rule_fires_on_a_turn_without_cues(text):
    assert not [name for name, fired in find_rules(text).items() if fired]


@pytest.mark.parametrize(
    "text",
    ["What did we decide about the hedge?", "Order my usual", "那件事后来怎么样了？", "水泵修好了吗？", "照老样子给我来一份"],
)
def test_a_turn_that_points_back_opens_the_gate_even_without_an_embedding(gate, text):
    verdict = gate.judge(text, None)
    assert verdict.should_recall
    assert set(verdict.reasons) <= FOR.keys()


@pytest.mark.parametrize(
    "text",
    [
        "Hello!",
        "Thanks, that's all.",
        "Write a haiku about rain.",
        "Explain recursion to a child.",
        "你好",
        "谢谢",
        "什么是通货膨胀？",
    ],
)
def test_a_turn_that_stands_alone_leaves_the_gate_shut_even_without_an_embedding(gate, text):
    verdict = gate.judge(text, None)
    assert not verdict.should_recall
    assert set(verdict.reasons) <= AGAINST.keys()


def test_a_verdict_no_rule_speaks_for_is_the_models(gate):
    assert gate.judge("Boil an egg", None).reasons == ("model",)


def test_equal_turns_get_equal_verdicts_from_gates_loaded_apart(gate):
    embedding = np.full(gate.full.embedding.size, 0.05, np.float32)
    for text in ("Has the pump arrived yet?", "水泵修好了吗"):
        assert load_gate().judge(text, embedding) == gate.judge(text, embedding)


def test_the_buckets_of_a_text_are_the_same_in_every_process():
    assert hashlib.sha256(grams("Has it arrived? 到了吗")[0].astype("<i8").tobytes()).hexdigest().startswith("afe96b855f42c18a")


def test_full_width_forms_change_no_verdict(gate):
    assert gate.judge("Ｈａｓ ｔｈｅ ｐｕｍｐ ａｒｒｉｖｅｄ？", None) == gate.judge("Has the pump arrived?", None)


def test_a_long_turn_is_judged_by_both_its_ends():
    text = "begin " + "x" * 8000 + " end"
    assert excerpt(text).startswith("begin ")
    assert excerpt(text).endswith(" end")
    assert len(excerpt(text)) < 1000


def test_the_weights_fit_the_features(gate):
    size = len(signs("text"))
    assert gate.full.pairs.shape == gate.bare.pairs.shape == (size, size)
    assert (gate.full.embedding.size, gate.bare.embedding.size) == (384, 0)


def test_the_packaged_weights_were_trained_on_the_turns_in_the_repository(gate):
    assert gate.training_sha256 == hashlib.sha256(TURNS.read_bytes()).hexdigest()


def test_the_training_turns_are_many_varied_and_balanced():
    turns = [json.loads(line) for line in TURNS.read_text(encoding="utf-8").splitlines()]
    assert len({turn["text"] for turn in turns}) == len(turns) >= 1200
    for lang in ("en", "zh"):
        labels = [turn["label"] for turn in turns if turn["lang"] == lang]
        assert len(labels) >= 600
        assert 0.4 <= sum(labels) / len(labels) <= 0.6


class FakeEmbedder:
    """Answers with one embedding, or fails."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure

    async def embed(self, texts, role, *, model):
        if self.failure:
            raise self.failure
        return np.full((len(texts), model.dimension), 0.05, np.float32)


def model(model_id: str) -> Model:
    return Model(model_id, "1", 384, 512, 0.7, 0.2, 0.95, 0.3)


@pytest.mark.parametrize(
    "failure", [DependencyUnavailable("down"), Overloaded("full", retry_after_s=1), ModelMismatch("another"), TimeoutError()]
)
async def test_without_the_embedder_the_bare_head_answers_and_the_answer_says_so(gate, failure):
    judged = await Judge(gate, FakeEmbedder(failure), model(gate.model_id)).judge("水泵修好了吗")  # pyright: ignore[reportArgumentType]
    assert judged.missing == ("content",)
    assert judged.verdict == gate.judge("水泵修好了吗", None)


async def test_embeddings_of_a_model_the_gate_was_not_trained_on_are_not_read(gate):
    judged = await Judge(gate, FakeEmbedder(), model("another/model")).judge("Hello!")  # pyright: ignore[reportArgumentType]
    assert judged.missing == ("content",)


async def test_an_embedder_that_is_late_is_not_waited_for(gate, monkeypatch):
    class Late(FakeEmbedder):
        async def embed(self, texts, role, *, model):
            await asyncio.Event().wait()
            return await super().embed(texts, role, model=model)

    monkeypatch.setattr("hindsight_recall.judging.EMBED_WITHIN_S", 0.01)
    judged = await Judge(gate, Late(), model(gate.model_id)).judge("Hello!")  # pyright: ignore[reportArgumentType]
    assert judged.missing == ("content",)


async def test_with_its_embedding_a_turn_is_judged_by_the_full_head(gate):
    judged = await Judge(gate, FakeEmbedder(), model(gate.model_id)).judge("Hello!")  # pyright: ignore[reportArgumentType]
    assert judged.missing == ()
    assert judged.verdict == gate.judge("Hello!", np.full(384, 0.05, np.float32))
