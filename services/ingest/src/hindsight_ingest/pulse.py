"""Where tasks end: a session's turns, folded one by one into what is known of its open task. English and Chinese, no LLM."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hindsight_store.turns import Turn
from hindsight_store.words import terms

from hindsight_ingest import speech
from hindsight_ingest.trace import tells_failure

BOUNDARIES = ("done", "chain", "resolved", "topic", "idle")  # what ends a task without the client's word; SPEC D1
CHAIN_CALLS = 3
SAME_TOPIC = 0.3  # share of a request's terms that the task knows, above which the task goes on
NEW_TERMS = 4  # of a request, none of which the task knows, that make another topic
ENDING_CHARS = 400  # of what the agent says, where it asks
MAX_TERMS = 400  # of a task that a new topic is told from
FAILED_TOOLS = 20

_ASKS = re.compile(
    r"[?？]\s*\W*$|\bplease (?:provide|confirm|specify|tell|send|share|choose|select|give|let me know|enter|upload|reply)\b|"
    r"\blet me know (?:which|when|what|how|if|whether|your|once)\b|\bonce (?:you|i) (?:have|provide|confirm)|"
    r"请(?:您)?(?:提供|确认|告诉|告知|选择|说明|发|输入|上传|回复|补充)|您(?:想|要|希望|选)哪",
    re.IGNORECASE,
)
_ELSE = re.compile(  # the agent asks whether there is anything else: that is no open question of this task
    r"(?:anything|something) else|any (?:other|more|further)|need (?:any )?(?:more|further)|(?:can|may) i help (?:you )?with|"
    r"还有(?:什么|别的|其他|其它)|其他(?:需要|问题)|需要(?:我)?(?:再|其他)|别的(?:吗|需要)",
    re.IGNORECASE,
)
_MORE = re.compile(  # the user goes on with the same thing
    r"^\W*(?:and|also|then|but|so|now|next|plus|wait|hmm|ok(?:ay)?|yes|no|actually|again|still|what about|how about|"
    r"还有|然后|接着|再|那|但|不过|所以|现在|等等|继续|顺带|也|还|对了|嗯|好|是的|不)",
    re.IGNORECASE,
)
_BACK = re.compile(  # words that point at what was said, or add to it
    r"\b(?:also|as well|one more|another|too|additionally|besides|it|its|this|that|these|those|them|they|"
    r"there|same|again|above|previous|other one|instead|result|output)\b|"
    r"[它这那还也]|另外再|上面|刚才|刚刚|之前|结果|同样|一样|改成|再",
    re.IGNORECASE,
)
_OTHER_TOPIC = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|great|thanks?|right|alright|all right|good)\W+)?"
    r"(?:new (?:topic|question|task)|different (?:topic|question|thing)|"
    r"(?:on )?(?:another|a different|an unrelated) (?:topic|note|thing|question|matter|subject|task)|"
    r"(?:something|a question) (?:else|unrelated|different)|unrelated\b|changing (?:the )?(?:topic|subject)|"
    r"(?:let'?s|can we) (?:move on|talk about something else|switch)|moving on|separately|by the way|btw\b|"
    r"换个话题|另(?:外)?(?:一件|一个)?(?:事|问题|话题|任务)|另外[,，]?(?:帮|请|想|我想|问)|说(?:个|点)别的|题外话|下一个(?:问题|任务|话题)|"
    r"新(?:问题|任务|话题)|顺便问|顺便(?:帮|请)|(?:接下来|现在)(?:换|来)(?:个|一个|另))",
    re.IGNORECASE,
)
_SETTLED = re.compile(  # something was submitted, placed, paid: a round is over
    r"\b(?:order|form|request|application|ticket|booking|reservation|payment|refund|report|pull request|issue|deployment) "
    r"(?:has been |have been |was |were |is |are )?(?:successfully )?"
    r"(?:submitted|placed|confirmed|created|booked|paid|sent|published|merged|deployed|filed|completed)\b|"
    r"(?:已经?|成功)(?:提交|下单|预订|预定|支付|付款|创建|发布|发送|部署|合并|退款|签署)|(?:提交|下单|预订|支付|付款|发布|部署)(?:成功|完成|好了)",
    re.IGNORECASE,
)
_SETTLING_TOOL = re.compile(
    r"submit|place_|create|book|pay|send|publish|deploy|merge|refund|cancel|confirm|提交|下单|支付|预订|发布|发送", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Pulse:
    """What the turns of an open task came to so far."""

    turns: int = 0
    calls: int = 0  # answered
    succeeded: int = 0
    failed_tools: tuple[str, ...] = ()  # whose last call failed
    is_resolved: bool = False  # a tool that had failed worked later
    is_answered: bool = False  # the agent spoke after its last call and asked nothing
    has_asked: bool = False  # the agent's last word is a question
    has_request: bool = False  # the user asked for something of substance
    terms: tuple[str, ...] = ()  # what it is about
    waiting_tool: str = ""  # of the last call, where its answer comes apart

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> "Pulse":
        """As kept with the session."""
        lists = {name: tuple(kept[name]) for name in ("failed_tools", "terms") if name in kept}
        return cls(**{**kept, **lists})

    def to_json(self) -> dict[str, Any]:
        """As kept with the session; nothing of an empty one."""
        return {name: value for name in self.__dataclass_fields__ if (value := getattr(self, name))}


@dataclass(frozen=True, slots=True)
class Rules:
    """Which boundaries are looked for, and how many calls make a chain."""

    boundaries: Collection[str] = field(default=BOUNDARIES)
    chain_calls: int = CHAIN_CALLS


@dataclass(frozen=True, slots=True)
class Beat:
    """What one turn does: the pulse after it, and the boundaries it makes."""

    pulse: Pulse
    ended_before: str = ""  # the boundary before this turn: what ended a task there
    ended_after: str = ""  # the boundary behind it
    reopens: bool = False  # it goes on with the task that was taken for ended
    is_settled: bool = False  # something was submitted or placed: the round is over


def hear(pulse: Pulse, turn: Turn, rules: Rules) -> Beat:
    """Fold one more turn into the pulse of its session's open task."""
    if turn.role == "user":
        return _hear_user(pulse, turn, rules)
    if turn.role == "assistant":
        return _hear_agent(pulse, turn)
    return _hear_tool(pulse, turn)


def quiet_boundary(pulse: Pulse, rules: Rules) -> str:
    """What ends a task when its round closes in silence: an answered chain of calls or a resolved error, or nothing."""
    if not pulse.is_answered or pulse.has_asked:
        return ""
    if "chain" in rules.boundaries and pulse.calls >= rules.chain_calls and pulse.succeeded:
        return "chain"
    return "resolved" if "resolved" in rules.boundaries and pulse.is_resolved else ""


def has_substance(pulse: Pulse) -> bool:
    """Whether there is anything to look back on."""
    return pulse.has_request or pulse.calls > 0


def _hear_user(pulse: Pulse, turn: Turn, rules: Rules) -> Beat:
    text = turn.content[: speech.MAX_CHARS]
    is_wrong = bool(speech.find_corrections(text)) or speech.has_complaint(text)
    if not pulse.turns:
        fresh = _add(pulse, turn, has_request=speech.is_substantial(text))
        return Beat(fresh, reopens=is_wrong)
    if has_substance(pulse) and "done" in rules.boundaries and not is_wrong and speech.says_done(text, was_asked=pulse.has_asked):
        return Beat(_add(pulse, turn), ended_after="done")
    is_fresh = not is_wrong and _is_new(text) and _overlap(pulse, text) <= SAME_TOPIC
    ended = quiet_boundary(pulse, rules) if is_fresh else ""
    ended = ended or ("topic" if not is_wrong and "topic" in rules.boundaries and _is_other_topic(pulse, text) else "")
    if ended and has_substance(pulse):
        return Beat(_add(Pulse(), turn, has_request=speech.is_substantial(text)), ended_before=ended)
    return Beat(_add(pulse, turn, has_request=pulse.has_request or speech.is_substantial(text)))


def _hear_agent(pulse: Pulse, turn: Turn) -> Beat:
    said = [one for one in speech.split_sentences(turn.content[-ENDING_CHARS:]) if not _ELSE.search(one)]
    has_asked = any(_ASKS.search(one) for one in said)
    is_answered = pulse.calls > 0 or pulse.has_request
    return Beat(
        replace(_add(pulse, turn), has_asked=has_asked, is_answered=is_answered), is_settled=bool(_SETTLED.search(turn.content))
    )


def _hear_tool(pulse: Pulse, turn: Turn) -> Beat:
    heard = replace(_add(pulse, turn), is_answered=False, has_asked=False)
    if turn.role == "tool_call" and not (turn.result or turn.is_error):
        return Beat(replace(heard, waiting_tool=turn.tool))
    has_failed = turn.is_error or tells_failure(turn.result or turn.content)
    failed = [tool for tool in pulse.failed_tools if tool != turn.tool]
    if has_failed:
        return Beat(replace(heard, calls=pulse.calls + 1, failed_tools=(*failed, turn.tool)[-FAILED_TOOLS:]))
    is_resolved = pulse.is_resolved or turn.tool in pulse.failed_tools
    counted = replace(heard, calls=pulse.calls + 1, succeeded=pulse.succeeded + 1, failed_tools=tuple(failed))
    return Beat(replace(counted, is_resolved=is_resolved), is_settled=bool(_SETTLING_TOOL.search(turn.tool)))


def _is_new(text: str) -> bool:
    """Whether a user's turn asks for something that does not lean on what was said."""
    return bool(_OTHER_TOPIC.search(text)) or (
        speech.is_substantial(text) and not speech.is_last_word(text) and not _MORE.search(text) and not _BACK.search(text)
    )


def _is_other_topic(pulse: Pulse, text: str) -> bool:
    """Whether a user's turn begins another topic: by its words, or because it shares none with the task."""
    if _OTHER_TOPIC.search(text):
        return _overlap(pulse, text) <= SAME_TOPIC
    if pulse.has_asked or not pulse.is_answered or not _is_new(text):
        return False
    return len(terms(text)) >= NEW_TERMS and not _overlap(pulse, text)


def _overlap(pulse: Pulse, text: str) -> float:
    """The share of a text's terms that the task knows."""
    said = set(terms(text))
    return len(said & set(pulse.terms)) / len(said) if said else 1.0


def _add(pulse: Pulse, turn: Turn, *, has_request: bool | None = None) -> Pulse:
    """The pulse with a turn counted and its words known."""
    known = pulse.terms
    if turn.role in {"user", "assistant"} and len(known) < MAX_TERMS:
        known = tuple(dict.fromkeys((*known, *terms(turn.content[: speech.MAX_CHARS]))))[:MAX_TERMS]
    asked = pulse.has_request if has_request is None else has_request
    return replace(pulse, turns=pulse.turns + 1, terms=known, has_request=asked)
