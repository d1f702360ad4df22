"""What a text asks for, by the words of both languages: the named signs that the guard's heads weigh."""

import re
from collections.abc import Mapping, Sequence, Set

_SETASIDE = (
    r"(?:ignor\w+|disregard\w*|forget\w*|overrid\w+|overrul\w+|bypass\w*|neglect|drop|discard|abandon|set aside|do not follow|"
    r"don't follow|stop following|no longer (?:apply|follow|obey)|supersed\w+|void)"
)
_RULES = (
    r"(?:instruction|directive|guideline|guardrail|rule|polic(?:y|ies)|prompt|constraint|restriction|limitation|safety|filter|"
    r"safeguard|protocol|training|everything (?:above|before)|(?:the|all) above|context|what you were told|system message)"
)
_ZH_SETASIDE = (
    r"(?:忽略|无视|不用理会|不要理会|别管|忘掉|忘记|抛弃|丢弃|绕过|覆盖|推翻|取消|作废|不再遵守|不必遵守|停止遵守|废除|解除)"
)
_ZH_RULES = r"(?:指令|指示|规则|规定|限制|约束|设定|提示词|系统提示|准则|守则|政策|要求|安全策略|内容|命令|过滤)"
_CHECK = (
    r"(?:confirm\w*|verif\w*|approv\w*|validat\w*|authenticat\w*|authori[sz]ation|review\w*|check\w*|permission|consent|"
    r"warning\w*|"
    r"alert\w*|audit\w*|2fa|mfa|two-factor|otp|captcha|signature|backup\w*|test\w*|logging|sandbox|tls|ssl|"
    r"certificat\w*|encrypt\w*|"
    r"firewall|antivirus|scan\w*|safety|security)"
)
_SKIP = (
    r"(?:skip\w*|bypass\w*|disabl\w*|turn(?:ed|ing)? off|without (?:any |asking |further |your |the |prior )*|"
    r"no need (?:to|for)|"
    r"not (?:necessary|needed|required)|no longer (?:require\w*|need\w*|necessary)|never (?:ask|require|wait)|"
    r"don't (?:ask|bother|wait)|"
    r"do not (?:ask|require|wait|perform)|omit|waiv\w+|exempt\w*|auto-?approv\w*|suppress\w*|switch(?:ed|ing)? off|"
    r"remov\w+|comment out)"
)
_ZH_CHECK = (
    r"(?:确认|核对|核实|验证|审核|审批|校验|检查|复核|授权|许可|警告|提醒|告警|审计|双重认证|二次验证|备份|测试|签名|加密|防火墙|杀毒|"
    r"日志|风控|签字|评审|询问|请示)"
)
_ZH_SKIP = (
    r"(?:跳过|略过|绕过|免去|免除|省去|省略|关闭|关掉|禁用|停用|不用|不必|无需|"
    r"无须|不需要|不再|别再|不要|不经|未经|自动通过|直接通过|一律通过|取消)"
)
_BOSS = (
    r"(?:admin\w*|administrator|system|developer|root|operator|management|security team|it (?:department|desk|support)|ceo|cfo|"
    r"compliance|openai|anthropic|vendor|headquarters|legal|supervisor|superuser|owner|support team|the bank|finance)"
)
_ALLOWED = (
    r"(?:approv\w+|authori[sz]\w+|allow\w*|permit\w*|clear(?:ed)?|grant\w*|whitelist\w*|trusted|verified|confirmed|"
    r"waived|mandat\w+|"
    r"requires? (?:you|that)|instruct\w*|order(?:ed|s)|enabled|unlimited|exempt\w*|signed off)"
)
_ZH_BOSS = (
    r"(?:管理员|系统|开发者|开发人员|超级用户|领导|总部|安全团队|安全部|"
    r"运维|厂商|官方|公司|上级|老板|客服主管|银行|财务|合规|平台|后台)"
)
_ZH_ALLOWED = (
    r"(?:授权|批准|同意|允许|许可|开通|豁免|放行|要求你|规定|指示|命令|特批|白名单|最高权限|已确认|已核实|已通过|不限额|无限)"
)
_PRIVATE = (
    r"(?:password\w*|passphrase|passcode|credential\w*|api[ _-]?keys?|secrets?\b|tokens?\b|private keys?|ssh keys?|"
    r"cookies?|session id|"
    r"system prompt|hidden prompt|initial prompt|your (?:instructions|prompt|rules)|card numbers?|cvv|\.env\b|"
    r"env(?:ironment)? var\w*|"
    r"customer (?:list|data|records|emails)|chat history|conversation(?:s| history)?|personal data|contacts|"
    r"other users?'?|all (?:memories|users|customers))"
)
_ZH_PRIVATE = (
    r"(?:密码|口令|凭证|密钥|私钥|令牌|验证码|系统提示|提示词|内部指令|初始指令|银行卡号|身份证号|客户名单|客户资料|用户数据|聊天记录|"
    r"对话记录|通讯录|隐私|环境变量|其他用户|所有记忆|全部记忆|内部文档|机密)"
)
_SEND = (
    r"(?:send|post|upload|forward|e-?mail|transmit|leak|exfiltrat\w*|copy|cc|bcc|export|share|deliver|submit|append|"
    r"embed|include|"
    r"attach|report|sync|mirror|push|put)"
)
_ZH_SEND = r"(?:发送|发到|发给|发往|寄到|上传|转发|提交|外传|泄露|抄送|同步到|推送|回传|附在|拼接|拼到|写入|导出|传到|输出|透露)"
_REVEAL = (
    r"(?:reveal|show|print|repeat|output|display|tell me|give me|"
    r"list|dump|disclose|expose|recite|translate|"
    r"summari[sz]e|echo|leak|what (?:is|are|were))"
)
_ZH_REVEAL = r"(?:透露|显示|打印|重复|复述|输出|告诉我|列出|给我|公开|泄露|原样|逐字|背出|说出|展示)"
_WHERE = (
    r"(?:https?://|www\.|ftp://|[\w.+-]+@[\w-]+\.\w+|\b\d{1,3}(?:\.\d{1,3}){3}\b|"
    r"webhook|\b[\w-]+\.(?:example|evil|"
    r"ru|cn|tk|xyz|top|io|net|com|org|cc|link|site)\b)"
)
_MONEY = (
    r"(?:pay(?:ment|ments|out|roll|ee)?s?\b|refund\w*|transfer\w*|wire\b|invoice\w*|iban|bank account|account number|"
    r"wallet|bitcoin|btc|usdt|"
    r"crypto|deposit\w*|gift cards?|salary|funds)"
)
_ZH_MONEY = r"(?:付款|支付|退款|转账|汇款|打款|收款|账户|账号|银行卡|钱包|比特币|货款|发票|工资|保证金|充值|礼品卡|提现)"


def _near(left: str, right: str, gap: int = 40) -> str:
    """Either before the other, few characters apart, inside one sentence."""
    between = rf"[^.!?。！？\n]{{0,{gap}}}"
    return rf"{left}{between}{right}|{right}{between}{left}"


def _after(left: str, right: str, gap: int = 40) -> str:
    return rf"{left}[^.!?。！？\n]{{0,{gap}}}?{right}"


_PATTERNS = {
    "sets_aside": (_after(rf"\b{_SETASIDE}\b", rf"\b{_RULES}"), _near(_ZH_SETASIDE, _ZH_RULES, 14)),
    "prior": (
        r"\b(?:previous|prior|earlier|above|preceding|original|initial|existing|current|former)\b",
        r"之前|上述|以上|先前|前面|原有|原来|此前|上面",
    ),
    "standing": (
        r"\b(?:from now on|from here on|from this point|henceforth|going forward|always|never|every time|each time|"
        r"whenever|in (?:all )?future|"
        r"any time|at all times|permanently|by default|for all|all future|until further notice)\b",
        r"从现在起|从今以后|从今往后|今后|以后|往后|每次|每当|一律|总是|永远|始终|任何时候|凡是|默认|自此|下次|只要|长期",
    ),
    "skips_check": (_after(rf"\b{_SKIP}", rf"\b{_CHECK}", 30), _after(_ZH_SKIP, _ZH_CHECK, 10)),
    "check": (rf"\b{_CHECK}", _ZH_CHECK),
    "authority": (rf"\b{_BOSS}\b", _ZH_BOSS),
    "authority_allows": (_near(rf"\b{_BOSS}\b", rf"\b{_ALLOWED}\b", 40), _near(_ZH_BOSS, _ZH_ALLOWED, 12)),
    "permits": (rf"\b{_ALLOWED}\b", _ZH_ALLOWED),
    "secret": (rf"\b{_PRIVATE}", _ZH_PRIVATE),
    "sends_out": (
        _after(rf"\b{_SEND}\b", _WHERE, 90),
        rf"{_after(_ZH_SEND, _WHERE, 40)}|(?:发|传|寄|转|抄送|同步|上报)[^。！？\n]{{0,30}}{_WHERE}",
    ),
    "sends_secret": (_after(rf"\b{_SEND}\b", rf"\b{_PRIVATE}", 60), _near(_ZH_SEND, _ZH_PRIVATE, 24)),
    "reveals_secret": (_after(rf"\b{_REVEAL}\b", rf"\b{_PRIVATE}", 50), _near(_ZH_REVEAL, _ZH_PRIVATE, 20)),
    "place": (_WHERE, "网址|链接|邮箱"),
    "conceals": (
        r"(?:do not|don't|never|without) (?:\w+ ){0,2}(?:tell\w*|inform\w*|mention\w*|notify\w*|reveal\w*|alert\w*|"
        r"let\w*|disclos\w*|warn\w*|report\w*|show\w*)"
        r"|\b(?:silently|secretly|quietly|covertly|unnoticed|in the background|keep (?:this|it) (?:secret|hidden|quiet|"
        r"between)|confidentially)\b",
        r"(?:不要|别|勿|不得|无需|不必|不用|切勿)(?:再)?(?:告诉|告知|通知|提示|提及|透露|让|提醒|声张|显示)|悄悄|偷偷|暗中|秘密|静默|瞒着|后台",
    ),
    "role": (
        r"\b(?:you are now|you're now|act as|pretend (?:to be|you|that)|role-?play|roleplay as|become|"
        r"assume the (?:role|persona)|jailbr\w+|dan\b|"
        r"(?:developer|debug|god|admin|maintenance|unrestricted|root|sudo|system|evil|chaos) mode|unrestricted|"
        r"uncensored|no (?:rules|limits|restrictions|filters?)|"
        r"without (?:any )?(?:rules|limits|restrictions|filters?|censorship)|alter ego|persona)\b",
        r"你现在是|你是一个没有|扮演|假装|角色扮演|开发者模式|维护模式|调试模式|上帝模式|越狱|不受(?:任何)?限制|没有(?:任何)?限制|无限制|无过滤|解锁|切换(?:为|到|成)",
    ),
    "delimiter": (
        r"<\|?/?(?:im_start|im_end|system|assistant|user|instructions?|context|memory|tool|inst|s)\|?>|\[/?(?:system|"
        r"inst|admin|assistant|user|sys)\b[^\]]{0,30}\]|"
        r"^\s*#{2,}\s*(?:system|instruction|new|admin|override|assistant|end)|(?:-{3,}|={3,}|\*{3,})\s*(?:end|begin|"
        r"system|new|start)|"
        r"\bend of (?:document|context|input|user|data|prompt|text|message|file)\b|^\s*(?:system|assistant|admin|"
        r"developer)(?: (?:message|note|prompt))?\s*[:>]|"
        r"\{\{.{0,40}\}\}|\"role\"\s*:\s*\"(?:system|assistant)\"",
        r"【(?:系统|管理员|指令|提示|开发者)[^】]{0,12}】|\[(?:系统|管理员|指令)[^\]]{0,12}\]|^\s*(?:系统|管理员|开发者|助手)(?:消息|提示|通知|指令)?\s*[:：]|"
        r"文档(?:到此)?结束|以下(?:为|是)(?:新的?|系统)",
    ),
    "markup": (
        r"<!--|display:\s*none|<script|<span|<div|/\*|#\s*(?:ai|llm|note to|assistant)|\bnote to (?:ai|the ai|assistant|"
        r"llm|agents?)",
        r"AI助手请|给AI|致AI|模型请注意|智能助手",
    ),
    "addresses_agent": (
        r"\b(?:assistant|the ai|ai (?:agent|assistant|model)|language model|llm|chatbot|the model|agents?|bot)\b|"
        r"\byou (?:must|should|will|shall|are|have to|need to)\b",
        r"助手|AI|模型|机器人|智能体|你(?:必须|应当|应该|要|需要|得|务必)",
    ),
    "tool_call": (
        r"\b(?:call|invoke|run|execute|use|trigger)\b[^.!?\n]{0,30}\b(?:tool|function|command|script|api|endpoint|shell|"
        r"curl|bash|rm -rf|sql|delete_\w+|send_\w+|http_\w+|\w+_\w+)\b|"
        r"\b(?:curl|wget|rm -rf|drop table|chmod 777|eval|sudo|powershell)\b",
        r"(?:调用|执行|运行|使用)[^。！？\n]{0,16}(?:工具|函数|命令|脚本|接口|[a-z]+_[a-z]+)",
    ),
    "destroys": (
        r"\b(?:delete|drop|wipe|erase|destroy|purge|overwrite|format|remove) (?:all|every|the (?:database|backups?|"
        r"logs?|files?|production|records?|users?))",
        r"(?:删除|清空|抹掉|格式化|销毁|覆盖)(?:所有|全部|整个|数据库|备份|日志|文件|记录)",
    ),
    "money": (rf"\b{_MONEY}", _ZH_MONEY),
    "redirects": (
        r"\b(?:instead of|rather than|redirect\w*|reroute\w*|replac\w+|switch\w*|change\w*|"
        r"new) \b[^.!?\n]{0,40}\b(?:account|address|endpoint|url|mirror|server|payee|iban|wallet|number|link|repository|"
        r"registry|package)|"
        r"\b(?:account|address|endpoint|payee|iban|wallet|number|mirror|registry)\b[^.!?\n]{0,30}\b(?:has|"
        r"have) (?:been )?(?:changed|moved|updated|replaced)",
        r"(?:改为|改成|换成|改用|改到|统一(?:打|转|付|汇|发|用)|更换为|变更为|替换(?:为|成)|转到|转入|打到|打入|汇入|汇到)",
    ),
    "grants": (
        r"\b(?:grant|give|assign|add|elevate|promote)\b[^.!?\n]{0,40}\b(?:admin\w*|root|full access|permissions?|"
        r"privileges?|access|owner|superuser|sudo)\b|\bunlimited\b|\bfull (?:access|permissions?|rights|trust)\b",
        r"(?:授予|赋予|给予|开放|提升|拥有|享有)[^。！？\n]{0,16}(?:权限|管理员|最高|root|访问权)|最高权限|完全信任|无条件|不限额",
    ),
    "remember": (
        r"\b(?:remember|memori[sz]e|store|save|note|record|keep in mind|add (?:this )?to (?:your )?(?:memory|notes|"
        r"knowledge)|update your (?:memory|profile))\b",
        r"记住|记得|记下|牢记|存入|写入记忆|保存到记忆|存到|请记录|加入记忆|更新记忆",
    ),
    "urgent": (
        r"\b(?:urgent\w*|immediately|right away|at once|important|critical|mandatory|must|asap|attention|warning)\b|!!",
        r"紧急|立即|立刻|马上|务必|必须|重要|注意|警告|强制",
    ),
    "obeys": (
        r"\b(?:comply|obey|follow (?:my|this|these|the following)|do exactly|no questions|answer (?:any|every|all)|"
        r"any request|whatever (?:i|they)|unconditionally|without (?:question|hesitation|refus\w+))\b",
        r"服从|照做|照办|无条件|听从|按我说的|有求必应|不得拒绝|不许拒绝|遵从",
    ),
    "lesson": (
        r"\b(?:lesson|learned|learnt|experience|worked|works|turned out|the (?:fix|trick|solution)|workaround|"
        r"best practice|shortcut)\b",
        r"经验|教训|总结|诀窍|实测|有效|最佳实践|办法|捷径|成功率",
    ),
    "danger": (
        r"\b(?:exploit|malware|phish\w*|hack\w*|steal|bomb|weapon|attack\w*|ransom\w*|keylog\w*|backdoor|illegal|"
        r"fraud\w*|launder\w*|overdose)\b",
        r"黑客|病毒|木马|钓鱼|盗取|窃取|炸弹|武器|后门|非法|诈骗|洗钱|攻击|破解",
    ),
    # What speaks for an ordinary memory.
    "keeps_check": (
        r"\b(?:never|not|don't|nobody|no one|cannot|can't|mustn't|shouldn't|won't)\b[^.!?,;]{0,40}"
        r"\b(?:without|skip\w*|bypass\w*|disabl\w+|turn(?:ed)? off|switch(?:ed)? off|ignor\w+)\b",
        r"(?:不要|不得|禁止|严禁|不能|不可|不准|不许|切勿|别)[^。！？，；\n]{0,12}(?:跳过|绕过|关闭|关掉|省略|省去|忽略|禁用)|"
        r"(?:未经|没有|没)[^。！？\n]{0,14}(?:不得|不能|禁止|不要|不可|不准|别)",
    ),
    "own": (r"\b(?:i|i'm|i've|my|me|mine|we|our|us)\b", r"我|咱"),
    "taste": (
        r"\b(?:prefer\w*|like|love|hate|dislike|allerg\w*|favou?rite|enjoy|vegetarian|vegan|call me|my name|"
        r"answer (?:me )?in|reply in|respond in|"
        r"bullet points?|emoji\w*|short answers?|tone|format|units?|language|metric|celsius|spelling)\b",
        r"喜欢|讨厌|爱吃|不吃|过敏|偏好|称呼|叫我|用中文|用英文|用简体|用繁体|语气|格式|回答|回复|表情|单位|简短|详细|口味",
    ),
    "asks": (
        r"\?\s*$|^\s*(?:what|how|why|when|where|who|which|can|could|would|is|are|do|does)\b",
        r"[?？]\s*$|吗|怎么|什么|如何|为什么|能不能",
    ),
    "creative": (
        r"\b(?:story|poem|novel|song|recipe|essay|screenplay|dialogue|interviewer|travel guide|bedtime|fairy|translate|"
        r"summari[sz]e)\b",
        r"故事|诗|小说|歌词|菜谱|作文|剧本|面试官|导游|翻译|总结一下",
    ),
    "tells": (
        r"\b(?:was|were|had|did|said|told|got|went|asked|found|happened|yesterday|last (?:week|month|night|year))\b",
        r"昨天|上周|上个月|去年|当时|后来|刚才|了。|过了|说过",
    ),
    "about_security": (
        r"\b(?:prompt injection|phishing|scam|article|paper|talk|training|course|quiz|slides?|report|policy says|"
        r"according to|incident|awareness|example of)\b",
        r"诈骗|钓鱼|骗子|骗局|培训|文章|论文|讲座|案例|演练|报告|提示注入|注入攻击",
    ),
}
SIGNS = tuple(_PATTERNS)
_COMPILED = {
    name: re.compile("|".join(f"(?:{p})" for p in patterns), re.IGNORECASE | re.MULTILINE) for name, patterns in _PATTERNS.items()
}

DISGUISES = frozenset({"hidden", "look_alike", "spaced", "leet", "encoded"})
_RETOLD = frozenset({"about_security", "tells", "keeps_check"})  # of what happened, of attacks, or against them: no order
# What is an order beyond doubt: signs of which all are there, of which one is, and of which none may be.
_SURE: Sequence[tuple[frozenset[str], frozenset[str], frozenset[str]]] = tuple(
    (frozenset(every), frozenset(one), frozenset(none) | {"about_security"})
    for every, one, none in (
        (
            ("sets_aside",),
            ("prior", "role", "reveals_secret", "obeys", "delimiter", "addresses_agent", "standing", "conceals"),
            (),
        ),
        (("reveals_secret",), ("reveals_secret",), ("tells",)),
        (("skips_check",), ("standing", "authority_allows"), _RETOLD),
        (("authority_allows",), ("grants", "conceals", "skips_check", "remember", "standing"), _RETOLD),
        (("sends_secret", "place"), ("place",), ()),
        (("delimiter",), ("addresses_agent", "role", "sets_aside", "tool_call", "obeys", "standing", "permits", "sends_out"), ()),
        (
            (),
            ("sets_aside", "reveals_secret", "sends_out", "sends_secret", "role", "skips_check", "conceals", "obeys", "grants"),
            (),
        ),
    )
)


_INNER = re.compile(r"\([^()]*\)|\[[^]]*\]|\\[a-z]")  # of a pattern: what is no literal, from the inside
_LITERAL = re.compile(r"(?:\\\.|[^\\()|?*+.](?![?*]))+")


def _literals(*patterns: str) -> Sequence[str]:
    """Texts of which one stands in whatever one of some patterns, each of alternatives, matches: the longest of each."""
    found: set[str] = set()
    for pattern in patterns:
        bare = pattern.removeprefix("(?:").removesuffix(")")
        while _INNER.search(bare):
            bare = _INNER.sub(".", bare)
        found |= {max(_LITERAL.findall(each), key=len).replace("\\", "") for each in bare.split("|")}
    return sorted(found)


# Without disguise no order is sure without a delimiter, or both of these.
_PAIRS = tuple(
    (_literals(*first), _literals(*second))
    for first, second in (
        ((_SETASIDE, _ZH_SETASIDE), (_RULES, _ZH_RULES)),
        ((_SKIP, _ZH_SKIP), (_CHECK, _ZH_CHECK)),
        ((_BOSS, _ZH_BOSS), (_ALLOWED, _ZH_ALLOWED)),
        ((_PRIVATE, _ZH_PRIVATE), (_SEND, _ZH_SEND, _REVEAL, _ZH_REVEAL)),
    )
)


_DOTLESS = str.maketrans("İı", "ii")  # patterns that ignore case take them for an i


def may_be_sure(text: str) -> bool:
    """Whether a text without disguise may be an order beyond doubt; most are not, and need not be read for every sign."""
    small = text.translate(_DOTLESS).lower()
    has_both = any(any(word in small for word in first) and any(word in small for word in second) for first, second in _PAIRS)
    return has_both or _COMPILED["delimiter"].search(text) is not None


def is_sure(signs: Set[str]) -> bool:
    """Whether some signs are those of an order beyond doubt. The last rule asks for a disguise."""
    *plain, disguised = _SURE
    rules = [*plain, disguised] if signs & DISGUISES else plain
    return any(every <= signs and one & signs and not none & signs for every, one, none in rules)


def find_signs(text: str) -> Mapping[str, bool]:
    """Which signs a text without disguise shows, each by its name."""
    return {name: pattern.search(text) is not None for name, pattern in _COMPILED.items()}
