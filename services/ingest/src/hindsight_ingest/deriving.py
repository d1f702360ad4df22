"""Keys and triggers for statements that came without: what they are about, and when to recall them. English and Chinese."""

import re

from hindsight_ingest.speech import tell_language
from hindsight_ingest.wording import Language

KEYS = {
    "en": {
        "preference": "user preference",
        "correction": "correction",
        "state": "status",
        "fact": "fact",
        "entity": "entity",
        "summary": "session summary",
    },
    "zh": {
        "preference": "用户偏好",
        "correction": "纠正",
        "state": "状态",
        "fact": "事实",
        "entity": "实体",
        "summary": "会话摘要",
    },
}
TYPES_ZH = {
    "order": "订单", "ticket": "工单", "invoice": "发票", "booking": "预订", "parcel": "快递", "case": "案件",
    "contract": "合同", "flight": "航班", "pet": "宠物", "person": "人物", "organisation": "机构", "project": "项目",
    "place": "地点", "number": "编号", "name": "名称",
}  # fmt: skip
NAME_CHARS, SUBJECT_CHARS = 80, 40

# Of these a person has one at a time: whatever is said of it, the newer statement may contradict the older.
SUBJECTS = {
    "en": {
        ("home city"): (
            r"\b(?:i|we)(?:['’]ve| have)? (?:now )?(?:live|lived|moved|relocated)\b(?! (?:in )?(?:office|out))|\bnew address\b|"
            r"\bmy (?:home|address|city)\b"
        ),
        ("job"): (
            r"\bmy (?:job|employer|company|boss)\b|\bi (?:work|quit|resigned|start(?:ed)?|got (?:the|a new) job|was promoted)\b|"
            r"\b(?:hired|laid off|made redundant)\b"
        ),
        "marital status": r"\b(?:married|divorced|engaged|single|separated|widowed)\b",
        "phone number": r"\b(?:phone|new) number\b",
        "rent": r"\brent\b",
        "diet": r"\b(?:vegan|vegetarian|allergic|intolerant)\b|\bi (?:don['’]t|no longer) (?:eat|drink)\b",
    },
    "zh": {
        "居住地": r"我(?:们)?(?:已经?)?(?:家)?(?:住|搬)|新地址|住址",
        "工作": r"我(?:们)?(?:已经?)?(?:辞|换工作|升|被裁|转正|退休|在.{1,12}(?:上班|工作))|新单位|录用|录取通知",
        "婚姻状况": r"结婚|领证|离婚|分手|单身|已婚",
        "电话号码": r"电话|号码|手机号",
        "房租": r"房租|月租",
        "饮食": r"过敏|吃素|不吃|不喝|忌口",
    },
}
_SUBJECTS = {
    language: {key: re.compile(pattern, re.IGNORECASE) for key, pattern in subjects.items()}
    for language, subjects in SUBJECTS.items()
}
_NOUN = re.compile(
    (
        r"\b(?:my|our|the|his|her|their|your)\s+(?P<n>(?:[\w-]+\s+){0,3}?[\w'-]+?)(?=(?:'s)?\s+(?:is|are|was|were|has|have|"
        r"had|will|can|must|got|went|came|ran|broke|"
        r"turned|arrived|closed|died|changed|lost|goes?|lives?|needs?|should|that|which|who|in|on|at|for|to|of|with|behind|"
        r"under|from|didn't|accepted)\b|'s|[,.;:!?]|$)"
    ),
    re.IGNORECASE,
)
_NOUN_ZH = re.compile(
    r"^(?:(?:对了|跟你说一声|好消息|记住|请|麻烦|帮我|你|这个|那个|我们?的?|咱们?的?|他的?|她的?|这|那|把)[,，:：]?)*"
    r"(?P<n>[\u3400-\u9fffA-Za-z0-9 .·-]{2,14}?)(?=已经?|正式|总算|终于|昨|今|上个?[周月]|下周|刚|还|都|"
    r"又|要|会|不|没|在|是|被|了|从|由|通过|签|发|搬|换|改|取消|"
    r"到[了期手账]|修|批|关|停|完|[,，。!！:：]|$)"
)


def derive_key(kind: str, text: str, name: str = "") -> str:
    """What a statement is about. Statements that may contradict each other get the same key."""
    language = tell_language([text])
    label = KEYS[language].get(kind, kind)
    if kind == "entity" and name:
        return name[:NAME_CHARS]
    if kind in ("preference", "summary", "experience"):
        return label
    subject = name[:NAME_CHARS] or find_subject(text)
    if not subject:
        return label
    return subject if kind == "fact" else f"{subject} {label}"


def is_label(key: str) -> bool:
    """Whether a derived key tells no more than a kind: different things share it."""
    return any(key in labels.values() for labels in KEYS.values())


def find_subject(text: str) -> str:
    """What a statement is about: one of what a person has one of, or the first thing it speaks of; empty in doubt."""
    language = tell_language([text])
    for subject, pattern in _SUBJECTS[language].items():
        if pattern.search(text[: SUBJECT_CHARS * 5]):
            return subject
    match = (_NOUN_ZH if language == "zh" else _NOUN).search(text[: SUBJECT_CHARS * 5])
    return " ".join(match["n"].lower().split())[:SUBJECT_CHARS] if match else ""


def name_subject(name: str, sort: str, language: str) -> str:
    """What an entity's memory is about: its type and its name."""
    return f"{TYPES_ZH.get(sort, sort)} {name}" if language == "zh" else f"{sort} {name}"


def derive_query(kind: str, text: str, language: Language | None = None) -> str:
    """When to recall a statement; empty where its own words say it best. Of an entity the text is its name, which does not
    tell the language it was introduced in."""
    language = language or tell_language([text])
    if kind == "entity":
        return f"{text[:NAME_CHARS]} 是谁或是什么？" if language == "zh" else f"who or what is {text[:NAME_CHARS]}?"
    if kind == "state":
        subject = find_subject(text)
        if subject:
            return f"{subject}现在怎么样了？" if language == "zh" else f"status of {subject}; what has become of it?"
    return ""
