"""Where tasks end, told from turns one by one."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from hindsight_ingest.pulse import BOUNDARIES, Pulse, Rules, hear, quiet_boundary
from hindsight_store.turns import Turn

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ALL = Rules()


def said(role: str, content: str = "", tool: str = "", result: str = "", *, is_error: bool = False) -> Turn:
    return Turn("s", 0, "agent", role, content, tool, {}, result, is_error, (), "k", NOW, NOW)


def call(tool: str, result: str = '{"ok": true}', *, is_error: bool = False) -> list[Turn]:
    return [said("tool_call", tool=tool), said("tool_result", tool=tool, result=result, is_error=is_error)]


@dataclass
class Heard:
    """What turns came to."""

    pulse: Pulse = field(default_factory=Pulse)
    ends: list[tuple[int, str]] = field(default_factory=list)  # the number of turns before a boundary, and which


def hear_all(turns: list[Turn], rules: Rules = ALL) -> Heard:
    heard = Heard()
    for n, turn in enumerate(turns):
        beat = hear(heard.pulse, turn, rules)
        heard.pulse = beat.pulse
        if beat.ended_before:
            heard.ends.append((n, beat.ended_before))
        if beat.ended_after:
            heard.ends.append((n + 1, beat.ended_after))
            heard.pulse = Pulse()
    return heard


CHAIN = {
    "en": [
        said("user", "Move the meeting with Ines to Friday and tell everybody."),
        *call("calendar_find"),
        *call("calendar_move"),
        *call("mail_send"),
        said("assistant", "The meeting is on Friday now, and everybody has been told."),
    ],
    "zh": [
        said("user", "把和伊内斯的会议改到周五，并通知所有人。"),
        *call("calendar_find"),
        *call("calendar_move"),
        *call("mail_send"),
        said("assistant", "会议已改到周五，所有人都通知了。"),
    ],
}
NEXT = {"en": "Which flights leave for Lisbon tomorrow morning?", "zh": "明天早上去里斯本有哪些航班？"}
WRONG = {"en": "No, that's wrong, I said Thursday.", "zh": "不对，我说的是周四。"}
MORE = {"en": "And put the room into that invitation.", "zh": "再把会议室写进邀请里。"}
THANKS = {"en": "Perfect, thank you!", "zh": "太好了，谢谢！"}
DONE = {"en": "That's all, we're done here.", "zh": "搞定了，没别的了。"}
OTHER = {"en": "By the way, what is the capital of Peru?", "zh": "换个话题，秘鲁的首都是哪里？"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_answered_chain_ends_with_the_next_request(language):
    heard = hear_all([*CHAIN[language], said("user", NEXT[language])])
    assert heard.ends == [(8, "chain")]
    assert (heard.pulse.turns, heard.pulse.calls, heard.pulse.has_request) == (1, 0, True)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("words", [WRONG, MORE])
def test_a_chain_goes_on_with_a_correction_or_more_of_the_same(language, words):
    heard = hear_all([*CHAIN[language], said("user", words[language])])
    assert heard.ends == []
    assert heard.pulse.calls == 3


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("words", [THANKS, DONE])
def test_the_user_says_that_it_is_done(language, words):
    assert hear_all([*CHAIN[language], said("user", words[language])]).ends == [(9, "done")]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_thanks_after_a_question_of_the_agent_is_an_answer(language):
    question = {"en": "Shall I book the large room as well?", "zh": "要不要同时预订大会议室？"}[language]
    yes = {"en": "Yes, thanks.", "zh": "好的，谢谢。"}[language]
    turns = [*CHAIN[language][:-1], said("assistant", question), said("user", yes)]
    assert hear_all(turns).ends == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_error_that_was_resolved_ends_with_the_next_request(language):
    turns = [
        said("user", {"en": "Count the orders of customer 4711.", "zh": "统计客户4711的订单数。"}[language]),
        *call("sql", "unknown column uid", is_error=True),
        *call("sql", '{"count": 12}'),
        said("assistant", "12"),
    ]
    assert hear_all([*turns, said("user", NEXT[language])]).ends == [(6, "resolved")]
    assert quiet_boundary(hear_all(turns).pulse, ALL) == "resolved"
    failed = [*turns[:1], *call("sql", "unknown column uid", is_error=True), turns[-1]]
    assert quiet_boundary(hear_all(failed).pulse, ALL) == ""


@pytest.mark.parametrize("language", ["en", "zh"])
def test_another_topic_ends_a_task_without_calls(language):
    turns = [
        said("user", {"en": "How do I prune an old apple tree?", "zh": "老苹果树怎么修剪？"}[language]),
        said("assistant", {"en": "Cut dead wood first, in late winter.", "zh": "冬末先剪去枯枝。"}[language]),
    ]
    assert hear_all([*turns, said("user", OTHER[language])]).ends == [(2, "topic")]
    nearer = {"en": "How much of an old apple tree may I prune in winter?", "zh": "老苹果树冬天最多能修剪多少？"}[language]
    assert hear_all([*turns, said("user", nearer)]).ends == []


def test_small_talk_ends_nothing():
    assert hear_all([said("user", "Hi!"), said("assistant", "Hello!"), said("user", "Thanks, bye!")]).ends == []
    assert hear_all([said("user", "你好"), said("assistant", "你好！"), said("user", "谢谢，再见")]).ends == []


@pytest.mark.parametrize("boundary", BOUNDARIES[:4])
def test_a_boundary_that_is_switched_off_ends_nothing(boundary):
    rules = Rules([b for b in BOUNDARIES if b != boundary])
    for last in (NEXT, THANKS, OTHER):
        assert boundary not in [name for _, name in hear_all([*CHAIN["en"], said("user", last["en"])], rules).ends]


def test_how_many_calls_make_a_chain_is_a_setting():
    assert quiet_boundary(hear_all(CHAIN["en"]).pulse, Rules(chain_calls=4)) == ""
    assert quiet_boundary(hear_all(CHAIN["en"]).pulse, Rules(chain_calls=3)) == "chain"


def test_a_chain_in_the_middle_is_no_boundary_in_silence():
    assert quiet_boundary(hear_all(CHAIN["en"][:-1]).pulse, ALL) == ""
    asked = [*CHAIN["en"][:-1], said("assistant", "Which room?")]
    assert quiet_boundary(hear_all(asked).pulse, ALL) == ""


def test_a_correction_right_after_the_end_goes_on_with_the_task():
    assert hear(Pulse(), said("user", "No, that's wrong, I said Thursday."), ALL).reopens
    assert not hear(Pulse(), said("user", "Which flights leave for Lisbon?"), ALL).reopens


def test_a_submission_closes_the_round():
    assert hear(Pulse(), call("submit_order")[1], ALL).is_settled
    assert hear(Pulse(), said("assistant", "Your order has been placed."), ALL).is_settled
    assert hear(Pulse(), said("assistant", "已提交申请。"), ALL).is_settled
    assert not hear(Pulse(), call("submit_order", "out of stock", is_error=True)[1], ALL).is_settled
    assert not hear(Pulse(), said("assistant", "Shall I place the order?"), ALL).is_settled


def test_a_pulse_is_kept_and_read_back():
    pulse = hear_all(CHAIN["zh"][:-1]).pulse
    assert Pulse.of(pulse.to_json()) == pulse
    assert Pulse.of({}) == Pulse()
