"""Keys and triggers for statements that came without: what they are about, and when to recall them. English and Chinese."""

from hindsight_ingest.speech import tell_language

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


def derive_key(kind: str, text: str, name: str = "") -> str:
    """What a statement is about. Statements that may contradict each other get the same key."""
    key = KEYS[tell_language([text])].get(kind, kind)
    return f"{name[:80]} {key}" if name else key


def derive_query(kind: str, text: str) -> str:
    """When to recall a statement; empty where its own words say it best."""
    return ""
