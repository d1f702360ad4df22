"""What a retrospective makes of a trace: golden traces in both languages, and bounds that hold for any trace."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hindsight_ingest.retrospecting import Experience, retrospect, to_candidate_text
from hindsight_ingest.speech import find_corrections, find_preferences, is_last_word
from hindsight_ingest.trace import read_calls, tell_error, tells_failure
from hindsight_store.turns import Turn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FOLDER = Path(__file__).parents[2] / "golden" / "traces"
TRACES = {
    f"{file.stem}-{trace['name']}": trace
    for file in sorted(FOLDER.glob("*.yaml"))
    for trace in yaml.safe_load(file.read_text(encoding="utf-8"))
}
NOW = datetime(2026, 11, 30, tzinfo=UTC)
MASK = "[masked: token]"


def turn(role: str, content: str = "", tool: str = "", **fields: Any) -> Turn:
    whole = {"arguments": {}, "result": "", "is_error": False, **fields}
    return Turn("s", 0, "agent", role, content, tool, masked=(), principal="k", at=NOW, known_from=NOW, **whole)


def user(text: str) -> Turn:
    return turn("user", text)


def agent(text: str) -> Turn:
    return turn("assistant", text)


def call(tool: str, arguments: Mapping[str, Any] | None = None, *, result: str = "", error: str = "") -> Turn:
    return turn("tool_call", tool=tool, arguments=arguments or {}, result=error or result, is_error=bool(error))


def read_turn(told: Mapping[str, Any]) -> Turn:
    """A turn of a golden trace."""
    if "user" in told:
        return user(told["user"])
    if "agent" in told:
        return agent(told["agent"])
    if "call" in told:
        return call(told["call"], told.get("with"), result=told.get("result", ""), error=told.get("error", ""))
    return turn("tool_result", told.get("text", ""), told["result"], result=told.get("error", ""), is_error="error" in told)


def read_turns(name: str) -> list[Turn]:
    return [replace(read_turn(told), turn=n) for n, told in enumerate(TRACES[name]["turns"])]


def tell(experience: Experience | None) -> dict[str, Any] | None:
    """An experience as a golden trace has it."""
    if experience is None:
        return None
    told = {
        "goal": experience.goal,
        "outcome": experience.outcome,
        "steps": list(experience.key_steps),
        "pitfalls": list(experience.pitfalls),
        "knowledge": list(experience.reusable_knowledge),
        "scenario": experience.scenario_summary,
        "tags": list(experience.tags),
        "facts": list(experience.facts),
        "preferences": list(experience.preferences),
        "confidence": experience.confidence,
    }
    return {name: value for name, value in told.items() if value not in ([], "")}


@pytest.mark.parametrize("name", TRACES)
def test_a_golden_trace_teaches_what_it_shows(name: str):
    experience = retrospect(read_turns(name))
    assert tell(experience) == TRACES[name]["expect"]
    assert experience is None or experience.language == name[:2]


def test_half_of_the_golden_traces_are_chinese():
    languages = [name[:2] for name in TRACES]
    assert abs(languages.count("en") - languages.count("zh")) <= 6
    assert len(languages) >= 24


def test_a_call_that_carries_its_result_teaches_as_one_that_is_answered_later():
    for name in TRACES:
        turns = read_turns(name)
        apart: list[Turn] = []
        for one in turns:
            if one.role == "tool_call" and (one.result or one.is_error):
                asked = replace(one, result="", is_error=False)
                answer = replace(one, role="tool_result", arguments={})
                apart += [asked, answer]
            else:
                apart.append(one)
        assert retrospect(apart) == retrospect(turns), name


PITFALL = (
    user("Find the email address of user 42."),
    call("get_user", {"uid": 42}, error="unknown column"),
    call("get_user", {"user_id": 42}, result="ada@example.org"),
)


def test_the_client_s_word_is_the_outcome():
    turns = [*PITFALL, agent("Here it is.")]
    found = {word: retrospect(turns, word) for word in ("success", "partial", "failure", "", "whatever")}
    assert {word: one and one.outcome for word, one in found.items()} == {
        "success": "success", "partial": "partial", "failure": "failure", "": "success", "whatever": "success",
    }  # fmt: skip
    assert {word: one and one.confidence for word, one in found.items()} == {
        "success": 0.7, "partial": 0.7, "failure": 0.7, "": 0.6, "whatever": 0.6,
    }  # fmt: skip


def test_a_trace_that_ends_with_a_tool_s_answer_is_finished_only_by_the_client_s_word():
    assert retrospect(PITFALL) is None
    assert retrospect(PITFALL, "success") is not None


def test_an_open_call_is_never_a_finished_task():
    assert retrospect([*PITFALL, call("send_mail", {"to": "ada@example.org"})], "success") is None


def test_a_note_is_knowledge_and_enough_to_be_remembered():
    turns = [user("What time is it in Tokyo?"), call("get_time", {"zone": "Asia/Tokyo"}, result="9"), agent("Nine.")]
    assert retrospect(turns) is None
    noted = retrospect(turns, note="The clock service wants IANA names.")
    assert noted is not None
    assert noted.reusable_knowledge == ("Note: The clock service wants IANA names.",)


def test_an_empty_trace_teaches_nothing():
    assert retrospect([]) is None
    assert retrospect([], "success", "a note") is None


def test_an_unresolved_failure_is_no_pitfall_of_a_success():
    turns = [*PITFALL, call("send_mail", {"to": "ada"}, error="no such mailbox"), agent("I found it, but could not write.")]
    failed = retrospect(turns)
    assert failed is not None
    assert failed.outcome == "failure"
    assert failed.pitfalls[-1] == "`send_mail` (to=`ada`) failed with: no such mailbox; not resolved"
    succeeded = retrospect(turns, "success")
    assert succeeded is not None
    assert len(succeeded.pitfalls) == 1


def test_masked_values_and_secrets_are_never_told():
    turns = [
        user(f"Log in with {MASK} and list my servers, password is Tr0ub4dor&3x."),
        call("login", {"key": MASK, "region": "eu"}, error=f"unknown field key {MASK}"),
        call("login", {"api_key": MASK, "region": "eu", "password": "Tr0ub4dor&3x"}, result="ok"),
        call("list_servers", {"token": "sk-live-abcdefghijklmnopqrstuvwx"}, result="3"),
        agent("Three."),
    ]
    experience = retrospect(turns)
    assert experience is not None
    told = to_candidate_text(experience) + repr(experience)
    assert not any(secret in told for secret in ("masked", "Tr0ub4dor", "sk-live"))
    assert experience.pitfalls == ("`login`: `key` failed: unknown field key …; `api_key` worked",)


def test_an_experience_as_text_is_labelled_in_its_language():
    english, chinese = (retrospect(read_turns(f"{language}-api-field-name")) for language in ("en", "zh"))
    assert english is not None
    assert chinese is not None
    assert to_candidate_text(english).splitlines() == [
        "Goal: Find the email address of user 42 for me.",
        "Outcome: success",
        "Steps:",
        "- `get_user` (user_id=`42`)",
        "Pitfalls:",
        "- `get_user`: `uid` failed: unknown column; `user_id` worked",
        "Knowledge:",
        "- `get_user` takes `user_id`, not `uid`",
    ]
    assert to_candidate_text(chinese).splitlines() == [
        "目标：帮我查一下用户 42 的邮箱地址。",
        "结果：成功",
        "步骤：",
        "- `get_user`（user_id=`42`）",
        "避坑：",
        "- `get_user`：`uid` 失败：列不存在；改用 `user_id` 成功",
        "知识：",
        "- `get_user` 的参数是 `user_id`，不是 `uid`",
    ]


@pytest.mark.parametrize(
    ("result", "failed"),
    [
        ('{"error": "bad"}', True),
        ('{"error": null, "rows": 3}', False),
        ('{"errors": []}', False),
        ('{"success": false}', True),
        ('{"status": 404}', True),
        ('{"status": "failed", "id": 7}', False),  # an order may have failed; asking for it did not
        ("Error: no such table", True),
        ("错误：列不存在", True),
        ("失败订单共 3 笔", False),
        ("HTTP 502 Bad Gateway", True),
        ("exit code 1", True),
        ("exit code 0", False),
        ('{"errno": -1}', True),
        ('{"code": 40003, "msg": "优惠券已过期", "requestId": "7F2A"}', True),
        ('{"code": 40001, "message": "order unpaid"}', True),
        ('{"code": 40003, "msg": "验证码已发送"}', False),
        ('{"code": 0, "msg": "ok"}', False),
        ('{"code": 40001, "message": "spare key", "shelf": 7}', False),
        ("errors: 0", False),
        ("Traceback (most recent call last):\n  x\nKeyError: 'a'", True),
        ("", False),
        ("{" * 5000, False),
    ],
)
def test_an_unmarked_error_is_known_by_its_form(result: str, failed: bool):
    assert tells_failure(result) is failed


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ('{"error": {"code": 3, "message": "unit is unknown"}}', "unit is unknown"),
        ('{"errors": [{"detail": "too long"}]}', "too long"),
        ('{"code": 400, "消息": "缺少参数"}', "缺少参数"),
        ("Error: no such table\nat line 1", "no such table"),
        ("HTTP 401 Unauthorized\n\nmissing key", "HTTP 401 Unauthorized: missing key"),
        ("Traceback (most recent call last):\n  x\nKeyError: 'a'\n", "KeyError: 'a'"),
        ("", ""),
    ],
)
def test_an_error_is_told_by_its_message(result: str, message: str):
    assert tell_error(result) == message


def test_answers_of_calls_under_way_at_once_find_their_calls():
    turns = [
        call("get", {"id": 1}),
        call("put", {"id": 2}),
        call("get", {"id": 3}),
        turn("tool_result", tool="get", arguments={"id": 3}, result="three"),
        turn("tool_result", tool="put", content="two"),
        turn("tool_result", tool="get", result="one"),
        turn("tool_result", tool="get", result="nobody's"),
    ]
    found = [(c.tool, dict(c.arguments), c.result, c.asked_at, c.answered_at) for c in read_calls(turns)]
    assert found == [("get", {"id": 1}, "one", 0, 5), ("put", {"id": 2}, "two", 1, 4), ("get", {"id": 3}, "three", 2, 3)]


def test_an_answer_after_the_user_s_next_turn_belongs_to_no_earlier_call():
    turns = [call("get", {"id": 1}), user("Stop."), turn("tool_result", tool="get", result="late")]
    assert [c.answered_at for c in read_calls(turns)] == [None]


CORRECTIONS = [
    "No, it should be the third column.",
    "That's wrong, the total must include shipping.",
    "I meant the Berlin office.",
    "Not the draft, the final version.",
    "You used the wrong account, use the savings one.",
    "Actually, the meeting is on Thursday.",
    "It should have been sent to Bob.",
    "Wrong file, I need the 2024 report.",
    "No — use metric units.",
    "I said two rooms, not one.",
    "不对，是周四。",
    "应该用含税价。",
    "你弄错了，客户叫王芳。",
    "不是上海，是苏州。",
    "我要的是 PDF 版本。",
    "错了，应该发给财务部。",
    "这个数字不对，要按自然年算。",
    "单位写错了，是公斤。",
    "应该是三号楼，不是二号楼。",
    "我说的是下周三。",
]
NO_CORRECTIONS = [
    "No problem, go on.",
    "No thanks, I'm fine.",
    "What should it be?",
    "I said thank you already.",
    "That should be fine.",
    "It should be sunny tomorrow, right?",
    "Actually, can you also book dinner?",
    "Not bad, but let me think.",
    "No rush.",
    "Nice, not what I expected but great!",
    "不对吗？",
    "应该没问题。",
    "应该是吧。",
    "不是很急。",
    "没错，就是这样。",
    "这应用很好用。",
    "不用了，谢谢。",
    "应该可以了，谢谢。",
    "是不是应该用现金？",
    "对应的文件发我一下。",
]
PREFERENCES = [
    "I prefer aisle seats.",
    "Always reply in French.",
    "From now on, use tabs.",
    "Remember that I am vegetarian.",
    "I never eat meat.",
    "Please never send emails on weekends.",
    "Next time, ask me first.",
    "I like my reports short.",
    "In future keep answers brief.",
    "I'm allergic to peanuts.",
    "我喜欢靠窗的位置。",
    "以后都用中文回复。",
    "记住，我不吃香菜。",
    "下次先问我再提交。",
    "每次都要抄送李总。",
    "别再用邮件通知我了。",
    "我对花生过敏。",
    "一律用人民币报价。",
    "我习惯用深色主题。",
    "我一般坐早班机。",
]
NO_PREFERENCES = [
    "I'd like to book a flight.",
    "I like it!",
    "What will happen in the future?",
    "The next time slot is at ten.",
    "Can you always see my calendar?",
    "I would love to.",
    "Remember the milk?",
    "I want two tickets.",
    "It runs by default, doesn't it?",
    "I like that idea.",
    "三天以后发货。",
    "我想订一张票。",
    "我很喜欢！",
    "下次会议是什么时候？",
    "以后再说吧。",
    "你记得我的地址吗？",
    "我不要发票。",
    "默认端口是多少？",
    "喜欢这个方案的人多吗？",
    "下次见！",
]


@pytest.mark.parametrize(
    ("find", "texts", "found"),
    [
        (find_corrections, CORRECTIONS, True),
        (find_corrections, NO_CORRECTIONS, False),
        (find_preferences, PREFERENCES, True),
        (find_preferences, NO_PREFERENCES, False),
    ],
    ids=["corrections", "no-corrections", "preferences", "no-preferences"],
)
def test_corrections_and_preferences_are_known_by_their_form(find: Callable[[str], list[str]], texts: list[str], found: bool):
    assert [text for text in texts if bool(find(text)) is not found] == []


@pytest.mark.parametrize(
    ("text", "is_last"),
    [
        ("Thanks!", True),
        ("谢谢，麻烦了", True),
        ("Perfect, that's all.", True),
        ("Great, thanks a lot for your help!", True),
        ("嗯嗯，可以了，辛苦", True),
        ("好的，再订一个酒店", False),
        ("Yes, go ahead.", False),
        ("行，就这么办", False),
        ("thanks, but the total is wrong", False),
        ("谢谢，不过金额不对", False),
    ],
)
def test_a_last_word_needs_no_answer(text: str, is_last: bool):
    assert is_last_word(text) is is_last


NAMES = st.sampled_from(["get_user", "run_sql", "bash", "查询订单", "x" * 300, "", "`{a}`"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=40)
    | st.sampled_from([MASK, "a b c", "{", '{"a": [1]}'])
)
ARGUMENTS = st.dictionaries(
    st.text(max_size=8) | st.sampled_from(["id", "sql", "path", "uid", "user_id", "token"]),
    st.recursive(
        SCALARS, lambda one: st.lists(one, max_size=4) | st.dictionaries(st.text(max_size=5), one, max_size=4), max_leaves=8
    ),
    max_size=5,
)
SPEECH = st.text(max_size=60) | st.sampled_from(
    [
        "Find the order of Ada.",
        "不对，应该是 `uid`。",
        "No, it should be {x}.",
        "谢谢",
        "I prefer tea.",
        "以后都用中文。",
        "Thanks!",
    ]
)
TURNS = st.lists(
    st.builds(
        turn,
        st.sampled_from(["user", "assistant", "tool_call", "tool_call", "tool_result"]),
        content=SPEECH,
        tool=NAMES,
        arguments=ARGUMENTS,
        result=st.text(max_size=60) | st.sampled_from(["", "Error: no", '{"error": {"message": "uid {0}"}}', "429", MASK]),
        is_error=st.booleans(),
    ),
    max_size=25,
)


def assert_bounded(experience: Experience | None) -> None:
    if experience is None:
        return
    lists = (experience.key_steps, experience.pitfalls, experience.reusable_knowledge, experience.facts, experience.preferences)
    assert [len(one) <= most for one, most in zip(lists, (12, 8, 8, 8, 8), strict=True)] == [True] * 5
    assert all(0 < len(text) <= 300 and "\n" not in text for one in lists for text in one)
    assert 0 < len(experience.goal) <= 300
    assert 0 < len(experience.scenario_summary) <= 512
    assert all(0 < len(tag) <= 64 for tag in experience.tags)
    assert 0 < experience.confidence <= 0.7
    assert "[masked" not in repr(experience)
    assert to_candidate_text(experience)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(turns=TURNS, outcome=st.sampled_from(["", "success", "failure", "?"]), note=SPEECH | st.just(""))
def test_any_trace_gives_nothing_or_a_bounded_experience_and_the_same_each_time(turns: list[Turn], outcome: str, note: str):
    experience = retrospect(turns, outcome, note)
    assert_bounded(experience)
    assert experience == retrospect(turns, outcome, note)


def long_trace(arguments: Any, *, turns: int = 5000) -> list[Turn]:
    """A trace of thousands of turns in which every other call fails."""
    calls = [
        call("run_sql", arguments(n), error="syntax error") if n % 2 else call("run_sql", arguments(n), result="ok")
        for n in range(turns)
    ]
    return [user("Find the orders of all customers."), *calls, agent("Done.")]


@pytest.mark.parametrize(
    "arguments",
    [
        lambda n: {"sql": f"select {'a, b ' * 40}{n} from t{n}"},
        lambda n: {"sql": " ".join(str(k * n % 7) for k in range(3000))},
        lambda n: {f"name{k}": n * k for k in range(200)},
        lambda n: {"body": '{"a": ' * 900 + "1" + "}" * 900, "n": n},
        lambda n: {"text": "密码" * 8000 + str(n)},
    ],
    ids=["sql", "repeating", "many", "deep", "long"],
)
def test_a_trace_of_thousands_of_turns_takes_seconds_at_most(arguments: Any):
    turns = long_trace(arguments)
    began = time.process_time()
    assert_bounded(retrospect(turns, "failure"))
    assert time.process_time() - began < 5


@pytest.mark.parametrize("word", ["行了", "嗯", "thanks ", "not a, but ", "我喜欢", "a.", "no, ", "不是", "my a is ", "hi "])
def test_a_long_hostile_speech_costs_little(word: str):
    turns = [user(word * 2000 + "§") for _ in range(100)] + [agent("Yes?")]
    began = time.process_time()
    assert_bounded(retrospect(turns, note=word * 2000))
    assert time.process_time() - began < 5
