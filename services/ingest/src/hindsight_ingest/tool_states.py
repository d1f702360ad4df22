"""States that tools tell of: an order that has been shipped, a case that is closed. Not what a tool did itself."""

import re
from dataclasses import dataclass

MAX_CHARS = 4000  # of a result that is read
PLAIN_CHARS = 600  # a longer result is read only where it is JSON or lines of fields
STATE_CHARS = 400
MAX_STATES = 2  # a result with more of them is a list, not news

# Where something has come to; not a passing one such as "running" or "loading".
_STEPS = (
    r"shipped|dispatched|delivered|collected|picked up|returned|refunded|paid(?: out)?|unpaid|cancel?led(?:_by_\w+)?|"
    r"closed|resolved|merged|released|deployed|published|"
    r"withdrawn|archived|granted|approved|rejected|reject|accept(?:ed)?|denied|declined|terminated|expired|suspended|"
    r"revoked|deactivated|discontinued|confirmed|"
    r"settled|signed|completed|postponed|rescheduled|discharged|retired|sold|out of stock|no longer \w+|fulfilled|"
    r"passed away|admitted|enrolled|dropped|downgraded|upgraded"
)
_STEPS_ZH = (
    r"已(?:发货|签收|送达|妥投|出库|揽收|退款|付款|支付|结清|取消|关闭|解决|合并|发布|上线|下架|下线|结案|"
    r"归档|通过|驳回|拒绝|批准|终止|到期|冻结|吊销|注销|停产|停用|确认|签署|完成|"
    r"改签|改期|退选|选课|退货|入库|收货|离职|出院|退租|出票|退票|放款|还清|过户|立案|受理|转正|录取|延期|"
    r"作废|失效|解约|续费|降级|升级)|"
    r"签收|退选成功|降级|升级为|停产|审批结果|结案|下架|(?:预约|航班|时间|日期)[^,，。\n]{0,12}(?:改为|改到|变更为)"
)
_FIELD = r"(?:status|state|stage|resolution|decision|outcome|result|phase|level|状态|结果|阶段|进度|结论|进展)"
_RULES = {
    "state_changed": re.compile(
        (
            rf"\b(?:status|state|stage|{_FIELD})\b.{{0,40}}\b(?:changed|moved|went)\b.{{0,20}}\bto\b|"
            rf"{_FIELD}[^\n]{{0,24}}(?:->|→|"
            r"=>|变更为|改为)|变更[:：]|由[^,，。\n]{1,16}(?:改为|变更为|升为|降为)|原[:：]"
        ),
        re.IGNORECASE,
    ),
    "state_field": re.compile(
        (rf"{_FIELD}[\"']?\s*[:=：]\s*[\"']?\s*(?:\w+ (?:->|→) )?(?:{_STEPS}|{_STEPS_ZH}|通过|驳回|成功退|失效)(?![a-z])"),
        re.IGNORECASE,
    ),
    "state_told": re.compile(
        (
            rf"\b(?:has|have) been (?:{_STEPS})\b|^[^\n]{{0,60}}\b(?:{_STEPS})\b[^\n]{{0,24}}(?:\b(?:on|at|by|"
            r"since|for|to|ago)\b|"
            rf"\d)|{_STEPS_ZH}"
        ),
        re.IGNORECASE | re.MULTILINE,
    ),
}
_NO_STATE = re.compile(
    r"\b(?:error|not found|no such|failed|traceback|exception|\d+ (?:passed|failed)|saved|lines? changed|files? changed|"
    r"page \d|step \d|loaded|running|pending|exit code|removed \d+|"
    r"results?[:：] ?\d+|warning)\b|错误|失败|找不到|不存在|当前步骤|第 ?\d+ ?页|共 ?\d+ ?条|已保存|加载|个文件",
    re.IGNORECASE,
)
_FIELDS = re.compile(r"^\s*[\[{]|^[^\n:：]{1,24}[:：=][^\n]*(?:\n|$)")


@dataclass(frozen=True, slots=True)
class ToolState:
    """A state in a tool's result: the rule that found it, and the part of the result that tells it."""

    rule: str
    text: str


def find_state(result: str) -> ToolState | None:
    """The one state a short or structured result tells of, or None."""
    text = result[:MAX_CHARS].strip()
    if not text or (len(result) > PLAIN_CHARS and not _FIELDS.search(text)) or _NO_STATE.search(text):
        return None
    for rule, pattern in _RULES.items():
        matches = [match for _, match in zip(range(MAX_STATES + 1), pattern.finditer(text), strict=False)]
        if matches:
            return None if len(matches) > MAX_STATES else ToolState(rule, _around(text, matches[0].start()))
    return None


def _around(text: str, place: int) -> str:
    """All of a short text, or its lines around a place."""
    if len(text) <= STATE_CHARS:
        return text
    start = max(text.rfind("\n", 0, place) + 1, place - STATE_CHARS // 2)
    return text[start : start + STATE_CHARS].strip()
