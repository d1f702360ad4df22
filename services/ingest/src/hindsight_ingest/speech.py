"""What a user says during a task: the request, corrections, preferences, facts, thanks; by rules, English and Chinese."""

import re
from collections.abc import Iterable, Sequence

from hindsight_store.turns import Turn

from hindsight_ingest.wording import Language, clip

MAX_CHARS = 2000  # of a user's turn that is read; what is longer is material
MAX_TURNS = 400  # of the user that are read
GOAL_CHARS, QUOTE_CHARS = 300, 200
THANKS_CHARS = 60  # of a sentence that does no more than thank

_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[A-Za-z]{2,}")
_SENTENCE = re.compile(r"[^.!?。！？；\n]*(?:[.!?](?=\S)[^.!?。！？；\n]*)*[.!?。！？；]*", re.DOTALL)
_GREETING = re.compile(
    r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening))(?: there| again)?\b|您好|你好|嗨|哈喽|早上好|上午好|下午好|"
    r"晚上好|早安|在吗)[\s,.!~，。！？?~、]*",
    re.IGNORECASE,
)
# Each round is atomic, longer words first: a long text of such words that ends otherwise costs no more than its length.
_CLOSING = re.compile(
    r"(?:(?>(?:no problem|no worries|good job|well done|thank you|goodbye|it works|that works|all good|much appreciated|for now|"
    r"for (?:your|the) help|that'?s? (?:is )?(?:all|it|great|perfect|right|fine)|so much|"
    r"very much|a lot|got it|see you|ok(?:ay)?|"
    r"great|perfect|cool|nice|good|awesome|excellent|wonderful|works?|done|yes|yep|no|sure|thanks?|thx|ty|tysm|cheers|bye|now|then|again|"
    r"lovely|exactly)(?![A-Za-z])|"
    r"不用了|没有了?|没别的了?|没问题|没事了?|太好了|太棒了|就这样吧?|先这样|的帮助|好的?|行了?|可以了?|嗯+|对的?|完美|"
    r"很好|棒|不错|收到|明白了?|知道了|搞定了?|谢谢|多谢|感谢|辛苦了?|再见|拜拜|你|您|啦|了|吧|哈|非常|十分)[\s,.!~，。！~、-]*+)+",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"\b(?:thanks|thank you|thx|perfect|great|works now|it works|awesome|excellent)\b|谢谢|多谢|感谢|太好了|完美|搞定|辛苦了",
    re.IGNORECASE,
)
_COMPLAINT = re.compile(
    r"\b(?:(?:is|are|was|looks?) wrong|still (?:not|doesn'?t|isn'?t|fails?|broken|wrong)|doesn'?t work|"
    r"not working|didn'?t work|that'?s (?:wrong|"
    r"not right|not what)|useless|"
    r"never ?mind|forget it|give up|wrong again)\b|还是(?:不行|不对|失败|报错|没)|没(?:用|成功|解决)|不行|不对|错了|算了|白费",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"^(?:no|nope)[,.!;:—– -]+(?!problem|worries|thanks?|thank|need|that'?s (?:all|it|fine|ok)|nothing|rush|hurry|more)\S|"
    r"^(?:wrong|incorrect|not quite|not like that)\b|\bthat(?:'s| is| was) (?:wrong|incorrect|not (?:right|correct|what))|"
    r"\b(?:it|that|this|they|those|the [\w -]{1,30}) should(?:n'?t| not)? (?:be|have been|go|use|say|come)\b"
    r"(?! (?:fine|ok(?:ay)?|good|great|enough|all|possible|easy)\b)|"
    r"\byou should(?:n'?t| not)? (?:use|have)\b|\bi (?:meant|said(?! thank)|did(?:n'?t| not) (?:ask|mean|say))\b|"
    r"\bnot (?!bad|sure|yet|now|really|urgent)[^,.;]{1,40}, but \S|^not (?:the|an?|in|on|at|for|by) [^,.;]{1,40}, \S|"
    r"\byou (?:used|took|picked|sent|chose|wrote|booked|gave)[^,.;]{1,20} wrong\b|\binstead of\b|"
    r"\bactually,? (?:it|that|this|the|use|we|my)\b|"
    r"不对[，,]\s*(?:要|得|需|是|用|改)|^(?:不对|错了|不是这样|不是的|搞错|弄错|有误)|(?:应该|应当)(?:用|为|填|选|按|改成|写成?|发给|放在?|走)|"
    r"(?:应该|应当)是(?!没|可以|好了|对|能|行)[^吧]*$|我(?:说|要|指|问)的(?:是|不是)|我的意思是|"
    r"不是.{1,30}[，,]\s*(?:而?是)|而不是|(?:搞|弄|写|填|算|选|发|用)错了",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(
    r"\bi(?:'d| would)? (?:really |much |always |usually |generally )?prefer\b|"
    r"\bi (?:always|never|usually) (?:want|use|fly|take|write|need|sit|eat|pay)\b|"
    r"\bi (?:really |absolutely )?(?:like|love|hate|dislike|can'?t stand|don'?t like|don'?t want)\b"
    r"(?! (?:to (?:ask|know|say)|it|this|that|you)\b)|"
    r"\bfrom now on\b|\bin (?:the )?future\b|(?:^|[,;] )next time\b|"
    r"\b(?:always|never) (?:use|send|put|write|keep|ask|include|show|call|make|run|commit|book|add|answer|reply)\b|"
    r"\bremember (?:that|to|this|my|our|:)|\bkeep in mind\b|\bby default\b|\bi'?m allergic\b|"
    r"我(?:们)?(?:更|比较|很|最|一般|通常|一直|总是|平时|从来)?.{0,6}(?:都)?(?:不?喜欢|偏好|习惯|讨厌|倾向)(?!这|它|你|的|了|[。！!，,]|$)|"
    r"我(?:们)?(?:一般|通常|一直|总是|平时|从来)?(?:都)?(?:不吃|不喝|只坐|只用|只喝)|我(?:一般|通常|总是|平时)都?(?:坐|住|用|吃|喝|选|订|走)|我对.{1,12}过敏|"
    r"(?:^|[，。,;；\s])(?:以后|今后|下次)(?!的|会|见|有空|再说)|每次都|一律|(?:请|要|你)?记住|(?:^|[，。,;；\s])记得|别再|默认(?:用|都|按)",
    re.IGNORECASE,
)
_FACT = re.compile(
    r"\b(?:my|our) (?!question|problem|guess|point)[\w' -]{2,40}? (?:is|are|lives?|costs?|runs?)(?: on| at| in)? \S|"
    r"我(?:的|们的|们公司的?|家的?)[\u3400-\u9fffA-Za-z]{1,12}(?:是|在|叫|为).{2,}|我(?:叫|住在|在.{2,12}工作)",
    re.IGNORECASE,
)
_FURTHER = re.compile(
    r"[?？]|\b(?:can|could|would|will) you\b|\bplease\b|\balso\b|\bnow\b(?!\W*$)|\bnext\b|\bone more\b|\bbut\b|"
    r"帮我|请(?!放心)|再(?!见|次感谢|次谢谢)|还要|顺便|另外|但|不过",
    re.IGNORECASE,
)
_OVER = re.compile(  # the task itself is said to be over
    r"\bthat(?:'s| is|s) (?:all|everything|it(?: for (?:now|today))?)\s*(?:[.!,;]|$)|"
    r"\b(?:all|we(?:'re| are)|i(?:'m| am)) (?:done|set|finished)\b|"
    r"\b(?:the |this |that )?(?:task|issue|ticket|case|problem|bug|job) (?:is |was |has been )?(?:now )?"
    r"(?:done|completed?|finished|solved|closed|fixed|resolved)\b|"
    r"\bnothing else\b|\bthat (?:solved|fixed|did) it\b|"
    r"搞定|(?:完成|解决|修好|弄好|办好|结束)了|就这样|没(?:有)?(?:别的|其他|其它)(?:事|问题|需要)?了?[。！!，,]?$|不用了|任务(?:完成|结束)",
    re.IGNORECASE,
)
_WORKS = re.compile(
    r"\b(?:it|that|everything|this) works\b|\bworks (?:now|perfectly|fine)\b|"
    r"可以了|没事了|可以用了|好使了|成功了|没问题了|通过了",
    re.IGNORECASE,
)
_WILL_GO_ON = re.compile(
    r"\b(?:i'?ll|i will|let me|let'?s|i'?m (?:going|still)|get back to you|shortly|one moment)\b|"
    r"我(?:会|去|先|再|马上)|稍后|稍等|等(?:一下|会)",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"[?？]\s*$|[吗呢么][。.!！]?\s*$")


def user_texts(turns: Iterable[Turn]) -> list[tuple[int, str]]:
    """What the user said, with its place among the turns."""
    said = [(at, turn.content[:MAX_CHARS]) for at, turn in enumerate(turns) if turn.role == "user" and turn.content.strip()]
    return said[: MAX_TURNS // 2] + said[MAX_TURNS // 2 :][-MAX_TURNS // 2 :]


def tell_language(texts: Sequence[str]) -> Language:
    """The language most of the texts are in; a Chinese character weighs half a word."""
    sample = "\n".join(texts)[:20_000]
    return "zh" if len(_HAN.findall(sample)) > 2 * len(_WORD.findall(sample)) or _is_bare_han(sample) else "en"


def _is_bare_han(text: str) -> bool:
    """Whether Latin words are but names in a Chinese sentence: 把 orders 表的 user_id 列改成 bigint."""
    return len(_HAN.findall(text)) >= max(4, len(_WORD.findall(text)))


def split_sentences(text: str) -> list[str]:
    """Sentences of a text; a point inside a word ends none."""
    return [part.strip() for part in _SENTENCE.findall(text) if part.strip()]


def is_closing(text: str) -> bool:
    """Whether a turn only thanks, agrees or takes leave."""
    return bool(_CLOSING.fullmatch(text.strip()))


def is_last_word(text: str) -> bool:
    """Whether a turn needs no answer: thanks or leave, with no further request or correction."""
    return is_closing(text) or (has_thanks(text) and not _FURTHER.search(text) and not find_corrections(text))


def says_done(text: str, *, was_asked: bool) -> bool:
    """Whether a user's turn says that the task is over. After a question of the agent, thanks or content may mean yes."""
    if _QUESTION.search(text) or has_complaint(text) or _FURTHER.search(text) or _WILL_GO_ON.search(text):
        return False
    if _OVER.search(text):
        return True
    sentences = split_sentences(text)
    return (
        not was_asked
        and all(
            is_closing(one) or (len(one) <= THANKS_CHARS and (has_thanks(one) or bool(_WORKS.search(one)))) for one in sentences
        )
        and any(has_thanks(one) or _WORKS.search(one) for one in sentences)
    )


def has_thanks(text: str) -> bool:
    """Whether a turn thanks or is content."""
    return bool(_THANKS.search(text)) and not has_complaint(text)


def has_complaint(text: str) -> bool:
    """Whether a turn says that something is still wrong."""
    return bool(_COMPLAINT.search(text))


def is_substantial(text: str) -> bool:
    """Whether a turn says more than a greeting or thanks."""
    rest = _GREETING.sub("", text, count=2).strip()
    return bool(rest) and not is_closing(rest) and (len(_HAN.findall(rest)) >= 3 or len(rest.split()) >= 2)


def find_goal(texts: Iterable[str]) -> str:
    """The first request of substance, its first two sentences at most."""
    for text in texts:
        if is_substantial(text):
            rest = _GREETING.sub("", text.strip(), count=2) if _GREETING.match(text.strip()) else text
            sentences = [one for one in split_sentences(rest) if is_substantial(one)][:2]
            if sentences:
                chosen = sentences if sum(map(len, sentences)) <= GOAL_CHARS else sentences[:1]
                return clip(_join(chosen), GOAL_CHARS)
    return ""


def find_corrections(text: str) -> list[str]:
    """The sentences by which a turn corrects the agent, each with the one after it where it says what is wrong only."""
    sentences, found, skip = split_sentences(text), [], -1
    for n, sentence in enumerate(sentences):
        if n == skip or not _CORRECTION.search(sentence) or _QUESTION.search(sentence):
            continue
        quoted = sentence
        if len(_HAN.findall(sentence)) + 2 * len(sentence.split()) < 9 and n + 1 < len(sentences):
            quoted, skip = _join(sentences[n : n + 2]), n + 1
        if len(_HAN.findall(quoted)) >= 4 or len(quoted.split()) >= 4:
            found.append(clip(quoted, QUOTE_CHARS))
    return found


def find_preferences(text: str) -> list[str]:
    """The sentences in which a turn says what the user wants each time."""
    return [clip(one, QUOTE_CHARS) for one in split_sentences(text) if _PREFERENCE.search(one) and not _QUESTION.search(one)]


def find_facts(text: str) -> list[str]:
    """The sentences in which a turn tells something of the user's own."""
    return [clip(one, QUOTE_CHARS) for one in split_sentences(text) if _FACT.search(one) and not _QUESTION.search(one)]


def _join(sentences: Sequence[str]) -> str:
    joined = ""
    for one in sentences:
        joined += one if not joined or _HAN.match(one) or joined[-1] in "。！？；" else f" {one}"
    return joined
