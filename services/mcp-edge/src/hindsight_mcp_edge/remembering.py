"""What a memory is about and which question it answers, from its words alone, in English and Chinese. Pure."""

import re

KEY_CHARS = 64  # enough to tell statements apart; a key may have 128
MIN_WORDS = 2  # of a clause that says something: "Yes," says nothing
_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[\u3400-\u9fff]|\w+")
_LEAD = re.compile(
    r"(?:please |kindly )?(?:remember|note|keep in mind|don['’]t forget|memo|fyi)\b(?: that\b)?[:,\s]*"
    r"|(?:请|麻烦)?(?:你|帮我)?(?:记住|记下|记一下|记得|注意|备注|别忘了)(?:一下)?[:：，,\s]*",
    re.IGNORECASE,
)
_END = re.compile(r"[。！？；，：\n]|[.!?;,:](?=\s|$)")
_PREFERENCE = re.compile(
    r"\b(?:prefer|like|love|enjoy|favou?r|hate|dislike|avoid|rather|allergic)\w*\b|喜欢|偏好|偏爱|爱吃|最爱|讨厌|不吃|不喝|忌口|过敏|习惯",
    re.IGNORECASE,
)


def derive_key(content: str) -> str:
    """What it is about: its first clause that says something, without "remember that", in at most 64 characters."""
    text = " ".join(content.split())
    text = text[lead.end() :] if (lead := _LEAD.match(text)) and lead.end() < len(text) else text
    ends = (match.start() for match in _END.finditer(text))
    clause = next((text[:end] for end in ends if len(_WORD.findall(text[:end])) >= MIN_WORDS), text)
    return _shorten(clause.strip(" .!?;,:。！？；，：")) or _shorten(text)


def derive_query(content: str, key: str) -> str:
    """The question it answers, in its language."""
    asks_preference = _PREFERENCE.search(content) is not None
    if _HAN.search(content):
        return f"{key}：有什么偏好或习惯？" if asks_preference else f"{key}：是什么情况？"
    return f"What are the preferences: {key}?" if asks_preference else f"What is known: {key}?"


def _shorten(text: str) -> str:
    if len(text) <= KEY_CHARS:
        return text
    cut = text[:KEY_CHARS]
    words, _, last = cut.rpartition(" ")
    return words if words and not _HAN.search(last) else cut
