"""Which claims matter so much that a weak source alone is not believed: money, access, rules, safety, health. Both languages."""

import re
from functools import lru_cache

from hindsight_language.statements import HAN, split_words, tidy

_MATTERS = {
    "money": (
        r"\b(?:pay(?:s|ment\w*|out\w*|roll|ee\w*|able|ing)?|paid|rent|refund\w*|transfer\w*|wire[sd]?|"
        r"invoice\w*|iban|accounts?|"
        r"wallets?|bitcoin|crypto\w*|deposit\w*|gift cards?|salar(?:y|ies)|funds?|donat\w+|fees?|loan\w*|bank\w*|reimburs\w+|"
        r"purchas\w+|budget|spend\w*|cash|discount\w*|prices?|charge[sd]?|bill(?:s|ing)?|shares?|stocks?|invest\w*)\b",
        r"付款|支付|退款|转账|汇款|打款|收款|账户|账号|卡号|银行|钱包|比特币|货款|发票|工资|保证金|充值|礼品卡|提现|转到|打到|汇到|租金|房租|押金|报销|"
        r"采购|预算|额度|限额|价格|折扣|贷款|投资|股票|基金|赔付|理赔|费用|收费|对公|货到",
    ),
    "access": (
        r"\b(?:passwords?|passcode|passphrase|pin|otp|codes?|credentials?|keys?|tokens?|secrets?|"
        r"login\w*|log in|2fa|two-factor|"
        r"permissions?|access|admin\w*|root|privileg\w+|rights|vpn|ssh|firewall|backdoor|port|"
        r"public(?:ly)?|share[sd]?|export\w*|"
        r"visible|open to|unlock\w*|badge|visitor\w*|guest\w*|whitelist\w*|allow-?list\w*)\b",
        r"密码|口令|验证码|凭证|密钥|私钥|令牌|登录|权限|管理员|访问|开放|公开|共享|导出|外发|白名单|门禁|钥匙|门锁|解锁|访客|后门|端口|账号|提供给|"
        r"发给|传给|转发|抄送|同步给",
    ),
    "rules": (
        r"\b(?:skip\w*|bypass\w*|disabl\w+|turn(?:ed|ing)? off|switch(?:ed)? off|ignor\w+|waiv\w+|exempt\w*|without|no longer|"
        r"not (?:needed|required|necessary|have to)|needn't|no need|don't need|does not need|doesn't need|do not need|need not|"
        r"unnecessary|approv\w+|authori[sz]\w+|allow\w*|permit\w*|cleared|agreed|consent\w*|confirm\w*|verif\w+|sign(?:ed)? off|"
        r"signatures?|polic(?:y|ies)|rules?|must|always|never|from now on|any size|any amount|"
        r"automatically|straight away|instead of|"
        r"supersed\w+|replac\w+|overrid\w+|cancel\w*|delet\w+|leave out|left out|by default|should be told|mandat\w+)\b",
        r"跳过|绕过|免[去除]?|无需|无须|不用|不必|不需要|不再|取消|停用|禁用|关闭|关掉|忽略|授权|批准|同意|允许|许可|通过|审批|审核|确认|核实|核对|验证|"
        r"签字|规定|政策|制度|一律|直接|以后|今后|从现在起|必须|务必|自动|默认|删除|作废|替代|取代|改为|改成|换成|更新为|变更|长期有效|特批|例外",
    ),
    "safety": (
        r"\b(?:dos(?:e|es|age)|mg|ml|units|insulin|medicin\w*|medication\w*|pills?|tablets?|drugs?|"
        r"allerg\w*|antibiotic\w*|prescri\w+|"
        r"blood|vaccin\w*|smoke|alarm\w*|brakes?|gas|bleach|ammonia|chlor\w+|electric\w*|fuse\w*|breaker|"
        r"helmet\w*|lock\w*|poison\w*|"
        r"safe(?:ty|ly)?|harmless|danger\w*|test(?:s|ed|ing)?|backups?|certificat\w*|tls|ssl|encrypt\w*|"
        r"checks?|checked|logging|logs?|"
        r"monitor\w*|production|prod|force|chmod|sudo|eval|curl|npm|pip|install\w*|mirror|registry|package\w*|download\w*)\b",
        r"剂量|毫克|胰岛素|药|过敏|抗生素|处方|血糖|血压|疫苗|警报|报警|刹车|燃气|煤气|漂白|氨水|消毒|电闸|保险丝|安全|保护|无害|危险|测试|备份|证书|加密|"
        r"校验|检查|日志|监控|生产|强制|安装|镜像|下载|依赖|源|防火墙|杀毒",
    ),
    "where": (
        r"\b(?:address\w*|deliver\w*|ship\w*|phone|number|e-?mail\w*|mail(?:ed|s)?|contact\w*|website|url|link|https?|moved|"
        r"pick(?:ed)? up|hand(?:ed)? (?:over|to)|forward\w*|send|sent|account)\b|[\w.+-]+@[\w-]+\.\w+|https?://|"
        r"\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,7}\b(?=[\s,/]|$)",
        r"地址|收货|配送|寄到|寄往|送到|电话|号码|手机号|邮箱|联系|网址|链接|搬到|搬家|取件|代领|接走|接送|交给|转交",
    ),
}
_COMPILED = {name: re.compile("|".join(patterns), re.IGNORECASE) for name, patterns in _MATTERS.items()}
_NUMBER = re.compile(r"\d[\d,.]*")
LEAST_SHARED = 2  # words of substance by which two statements are about one thing


@lru_cache(maxsize=4096)
def find_matters(text: str) -> frozenset[str]:
    """Of which of the things that matter a text speaks: money, access, rules, safety, where."""
    return frozenset(name for name, pattern in _COMPILED.items() if pattern.search(text))


def differ_in_number(one: str, other: str) -> bool:
    """Whether two statements are about one thing and give it different numbers."""
    mine, theirs = set(_NUMBER.findall(one)), set(_NUMBER.findall(other))
    return bool(mine and theirs and not mine & theirs) and len(_substance(one) & _substance(other)) >= LEAST_SHARED


@lru_cache(maxsize=4096)
def _substance(text: str) -> frozenset[str]:
    words = {word for word, _ in split_words(tidy(text)) if not word[0].isdigit()}
    return frozenset(word for word in words if len(word) >= (2 if HAN.search(word) else 4))
