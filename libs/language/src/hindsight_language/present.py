"""Whether what is said now contradicts a statement that was kept, by rules in English and Chinese. In doubt, it does not."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from hindsight_language import lexicon
from hindsight_language.conflicts import Statement, contradicts
from hindsight_language.statements import HAN, split_words, stem, tidy
from hindsight_language.whole_words import blank_parts

MOST_SENTENCES = 24  # of what is said, the newest
SENTENCE_CHARS = 400
LEAST_LETTERS = 12  # by which the language of a line can be told
LEAST_HAN = 4

_REFUSES = re.compile(
    r"\b(?:no|not|never|without|avoids?|stop|dislikes?|hates?|allergic to|refuses?|declines?|opt(?:ed|s)? out of|unsubscribed?|"
    r"no longer|can't|cannot|don't|doesn't|does not|do not|won't|vegetarian|vegan)\b|"
    r"不要|不用|不必|别(?!的|人|处)|不想|不喜欢|不爱|讨厌|反感|拒绝|禁止|过敏|不吃|不喝|不接|不收|不看|不再|勿|无需|退订|素食|吃素",
    re.IGNORECASE,
)
_WANTS = re.compile(
    r"\b(?:prefers?|likes?|loves?|enjoys?|wants?|always|favou?rite|fond of|keen on)\b|"
    r"喜欢|喜爱|偏好|偏爱|想要|爱(?=[吃喝看听用])|总是|习惯|最爱|首选",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:please|send|book|order|use|give|get|put|make|write|call|text|mail|add|switch|set|turn|remind|show|let's|i'd like|"
    r"i would like|i want|i need|i'll (?:have|take)|can you|could you|would you)\b|"
    r"请|把|帮我|给我|替我|发|订|点|用|要|想|来[一份个]",
    re.IGNORECASE,
)
_INQUIRES = re.compile(
    r"^\s*(?:what|which|who|when|where|why|how|did|does|do|is|are|was|were|has|have)\b|"
    r"[吗呢么][?？]?\s*$|什么|哪|谁|几|多少|怎么|为什么|是不是",
    re.IGNORECASE,
)
_LANGUAGES = {
    "en": re.compile(r"\benglish\b|英文|英语", re.IGNORECASE),
    "zh": re.compile(r"\b(?:chinese|mandarin)\b|中文|汉语|普通话|[简繁]体", re.IGNORECASE),
}
_SPEAKS = re.compile(
    r"\b(?:prefer\w*|answer\w*|repl(?:y|ies|ied)|respon\w+|write\w*|speak\w*|use\w*|language|in (?:english|"
    r"chinese))\b|偏好|喜欢|回答|回复|"
    r"答复|用|说|讲|语言",
    re.IGNORECASE,
)
_WHATEVER_IS_SPOKEN = re.compile(
    r"\b(?:always|from now on|regardless|whatever|whichever|no matter)\b|"
    r"以后|今后|从现在起|都(?=[用以要请说写])|一律|始终|总是|永远|无论|不管",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\s*([A-Za-z][\w.-]{0,23}|[\u4e00-\u9fff]{1,8})\s*[:：]\s*")
_USER_LABELS = frozenset({"user", "human", "customer", "client", "me", "用户", "客户", "顾客", "我"})
_AGENT_LABELS = frozenset(
    {"assistant", "agent", "ai", "bot", "tool", "system", "助手", "智能体", "机器人", "客服", "工具", "系统"}
)
_SENTENCE = re.compile(r"[^.!?。！？\n;；]+[.!?。！？]?")
_CLAUSE_END = re.compile(r"[,，;；.。!！?？]|\b(?:but|because|and then|when|unless|except)\b|但|因为|除非|除了")

# What is one thing in both languages, by stems and words. Enough of everyday life for the commonest refusals.
_CONCEPTS: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "mail": "email e-mail mail mailbox inbox newslett 邮件 邮箱 电邮 信箱",
        "call": "call phone telephon 电话 来电",
        "message": "sms text 短信",
        "notice": "notif notic notification alert remind 通知 提醒 推送",
        "meat": "meat beef pork steak chicken ham bacon lamb burger 肉 牛排 牛肉 猪肉 鸡肉 羊肉 火腿 烤肉",
        "spice": "spici spice chili chilli 辣 辣椒 麻辣 川菜",
        "alcohol": "alcohol wine beer whisky cocktail 酒 白酒 啤酒 红酒",
        "coffee": "coffe espresso latt 咖啡 拿铁",
        "tea": "tea 茶 绿茶 红茶",
        "milk": "milk dairi chees cream 牛奶 奶 乳制品 奶酪",
        "nut": "peanut nut almond 花生 坚果",
        "seafood": "seafood shrimp fish shellfish 海鲜 虾 鱼",
        "coriander": "coriand cilantro 香菜",
        "emoji": "emoji emot 表情",
        "meeting": "meet 会议 开会",
        "smoke": "smoke cigarett 烟 吸烟 抽烟",
        "flight": "flight fli plane 飞机 航班",
        "train": "train 火车 高铁",
    }.items()
}
_CONCEPT_OF = {word: name for name, words in _CONCEPTS.items() for word in words}
_HAN_CONCEPTS = sorted((word for word in _CONCEPT_OF if HAN.search(word)), key=len, reverse=True)
_EMPTY = frozenset(
    [
        *("the", "a", "an", "to", "of", "in", "on", "at", "for", "with", "my", "me", "i", "you", "it", "is", "are", "be", "user"),
        *("us", "we", "they", "he", "she", "his", "her", "their", "this", "that", "any", "all", "more", "pleas", "want", "like"),
        *("prefer", "love", "enjoy", "alway", "never", "not", "no", "do", "doe", "don", "send", "give", "get", "use", "make"),
        *("put", "have", "has", "eat", "drink", "take", "receiv", "read", "的", "了", "我", "你", "他", "她", "用户", "是", "在"),
        *(
            "不",
            "要",
            "用",
            "请",
            "把",
            "给",
            "发",
            "喜欢",
            "想",
            "来",
            "吃",
            "喝",
            "看",
            "接",
            "收",
            "再",
            "会",
            "都",
            "也",
            "很",
        ),
        *("吧", "就", "和"),
    ]
)
_NARROWS = re.compile(
    r"\b(?:before|after|during|while|when|until|unless|if|except|more than|less than|at night|on)\b|"
    r"之前|以后|之后|时候|期间|除非|如果|"
    r"超过|晚上|早上|周[一二三四五六日末]",
    re.IGNORECASE,
)
_QUALITIES = frozenset(word for pair in lexicon.ANTONYMS for word in pair)


def contradicts_present(memory: Statement, said: Sequence[str]) -> str:
    """The rule by which what is said now, newest last, contradicts a memory; "" where it does not.

    language: it asks for another language than is spoken; refusal: it refuses what is asked for; wish: it wants what is
    refused; choice: the opposite is chosen; else a rule of `contradicts`.
    """
    if memory.kind in ("summary", "experience"):
        return ""
    spoken = [line for turn in said if (line := _without_label(turn))]
    if spoken and _is_other_language(memory.value, spoken[-1]):
        return "language"
    for sentence in _sentences(spoken):
        if _INQUIRES.search(sentence):
            continue
        if rule := _contradicts_sentence(memory, sentence):
            return rule
    return ""


def _without_label(turn: str) -> str:
    """What people say in a turn, without who says it; "" where an agent speaks. A name stays, in place of "I"."""
    label = _LABEL.match(turn)
    if not label:
        return turn
    name, rest = label[1], turn[label.end() :]
    if name.lower() in _AGENT_LABELS:
        return ""
    if name.lower() in _USER_LABELS:
        return rest
    return re.sub(r"^(?:I\b|我)", name + (" " if name.isascii() else ""), rest) if re.match(r"I\b(?!')|我", rest) else turn


def _sentences(said: Sequence[str]) -> list[str]:
    """The sentences of what is said, the newest first."""
    found = [part.strip()[:SENTENCE_CHARS] for text in said for part in _SENTENCE.findall(text) if part.strip()]
    return found[::-1][:MOST_SENTENCES]


def _contradicts_sentence(memory: Statement, sentence: str) -> str:
    refused = set(_objects(memory.value, _REFUSES))
    is_refusing = _REFUSES.search(blank_parts(sentence)) is not None
    if refused and not is_refusing and _ASKS.search(sentence) and refused & topics(sentence):
        return "refusal"
    wanted = set() if refused else set(_objects(memory.value, _WANTS))
    if wanted and is_refusing and wanted & set(_objects(sentence, _REFUSES)):
        return "wish"
    if not refused and not is_refusing and _WANTS.search(memory.value) and _chooses_opposite(memory.value, sentence):
        return "choice"
    for spoken in (sentence, _as_user(sentence, memory.value)):
        if spoken and (rule := contradicts(Statement(memory.key, spoken, memory.kind), memory)):
            return rule
    return ""


@lru_cache(maxsize=4096)
def topics(text: str) -> frozenset[str]:
    """What a text is about: its words without the empty ones, things that have a name in both languages by one name."""
    words = {word for word, _ in split_words(tidy(text))}
    found = {_CONCEPT_OF.get(word, word) for word in words} - _EMPTY
    return frozenset(found | {_CONCEPT_OF[word] for word in _HAN_CONCEPTS if word in text})


def _objects(text: str, verb: re.Pattern[str]) -> Iterator[str]:
    """What stands behind a verb, up to the end of its clause."""
    for found in verb.finditer(blank_parts(text)):
        rest = text[found.end() :]
        end = _CLAUSE_END.search(rest)
        named = topics(rest[: end.start()] if end else rest)
        if not _NARROWS.search(rest) and not named & _QUALITIES:  # "no calls before nine" refuses some calls only
            yield from named
        if stem(found[0]) in ("vegetarian", "vegan") or found[0] in ("素食", "吃素"):
            yield "meat"


def _chooses_opposite(kept: str, sentence: str) -> bool:
    """Whether the two name opposites of one thing, such as a window seat and an aisle seat."""
    if HAN.search(kept) and HAN.search(sentence):
        pairs = [pair for a, b in lexicon.ANTONYMS_ZH if len(a) > 1 and len(b) > 1 for pair in ((a, b), (b, a))]
        return any(a in kept and b in sentence and b not in kept and a not in sentence for a, b in pairs)
    mine, other = ({word for word, _ in split_words(tidy(text))} for text in (kept, sentence))
    opposite = any({a, b} & mine and {a, b} & other and not {a, b} & mine & other for a, b in lexicon.ANTONYMS)
    return opposite and bool(topics(kept) & topics(sentence))


def _as_user(sentence: str, kept: str) -> str:
    """What the user says of themselves, in the words in which a memory speaks of the user."""
    if re.match(r"用户", kept) and sentence.startswith("我"):
        return "用户" + sentence[1:]
    subject = re.match(r"(?i)(?:the )?user\b", kept)
    if subject and (said := re.sub(r"^I(?:'m| am)\b", f"{subject[0]} is", sentence)) != sentence:
        return said
    return re.sub(r"^I\b", subject[0], sentence) if subject and re.match(r"I\b", sentence) else ""


def _is_other_language(kept: str, spoken: str) -> bool:
    """Whether a memory asks for one language, and the last that was said is in the other."""
    asked = [name for name, pattern in _LANGUAGES.items() if pattern.search(kept)]
    if len(asked) != 1 or not _SPEAKS.search(kept) or _REFUSES.search(blank_parts(kept)) or len(kept) > SENTENCE_CHARS:
        return False
    if _WHATEVER_IS_SPOKEN.search(blank_parts(kept)):  # who asks for answers in one language may well speak another
        return False
    han, letters = len(HAN.findall(spoken)), len(re.findall(r"[A-Za-z]", spoken))
    if asked[0] == "en":
        return han >= LEAST_HAN and han > letters
    return not han and letters >= LEAST_LETTERS
