"""What in a statement speaks for or against its holding whatever is being asked, as named regular expressions in both languages."""

import re
from collections.abc import Mapping

EN_VERBS = (
    r"answer|reply|respond|write|draft|speak|talk|call|address|use|avoid|keep|give|show|ask|tell|check|confirm|explain|translate|"
    r"summari[sz]e|format|mention|include|quote|cite|list|put|start|end|begin|send|book|schedule|suggest|recommend|propose|offer|"
    r"assume|say|round|spell|remind|warn|make|let|do|be|stick|leave|skip|stop|refer|treat|convert|attach|run|sign|add|name|limit|"
    r"follow|present|wait|prefer|provide|return|note|flag|mark|bring|take|order|choose|pick|buy|plan|report|state|store|share|"
    r"push|delete|rewrite|shorten|bring up|store|look|compare|invite|decline|cc|plan|lead|finish"
)
EN_OUTPUT = (
    r"answer|repl(?:y|ies)|respon(?:d|se)|message|draft|summar(?:y|i)|explanation|translation|e-?mail|letter|report|quote|estimate|"
    r"recipe|price|date|number|figure|amount|measurement|suggestion|recommendation|reminder|appointment|meeting|invoice|code|"
    r"comment|table|bullet|list|sentence|paragraph|heading|emoji|jargon|tone|wording|unit|source|link|option|file|commit|"
    r"flight|hotel|ticket|booking|purchase"
)
ZH_OUTPUT = (
    r"回答|回复|答复|答案|消息|邮件|信|总结|摘要|纪要|报告|报价|解释|译|推荐|建议|提醒|菜谱|日程|方案|代码|注释|列表|表格|"
    r"语气|措辞|称呼|单位|金额|日期|数字|格式|来源|出处|链接|文件|稿|标题|预约|预订|酒店|机票|通知|提示"
)

RULES_BY_NAME: Mapping[str, str] = {
    "from_now_on": (
        r"\bfrom (now|today|here) on\b|\bgoing forward\b|\bin future,|\bas a rule\b|\bstanding (order|rule|instruction)\b|"
        r"\buntil further notice\b|从现在起|从今天起|以后(都|请|不要|别|一律|只|凡)|今后|往后|一律"
    ),
    "imperative": (
        rf"(?:^|[.;:,]\s+|—\s*)(?:(?:please|kindly|always|never|only|just)\s+)*(?:{EN_VERBS})\b(?!\s+(?:is|was|are|were|has|had))|"
        r"(?:^|[，。；：])(?:请|务必|切记|记得|别|不要|不许|禁止|千万|先|只|尽量|少用)"
    ),
    "forbids": r"\b(?:don['’]t|do not|never|must not|not to be|avoid)\b|别|不要|不许|不准|禁止|不得|不能|不可|勿",
    "without": r"^(?:no|nothing|nobody|only|without|at most|max|at least)\b|[;:,] no\b|^(?:只|仅|不|没有|除非|最多|至少)",
    "each": r"\b(?:every|each|all|any|always|whenever|whatever|whoever)\b|每|凡|所有|都|总|无论|不管|任何",
    "condition": r"^(?:when|whenever|if|before|after|for|in|with|on|unless|while|because|since|as)\b|时，|之前|的话|除非|遇到|凡",
    "then": (
        r"^(?:when|whenever|if|before|after|for|with|in|on|to|as|since|because|unless|once|until)\b[^,.:]{2,90}[,:] "
        r"(?:(?:please|always|never|just) )?(?!(?:the|a|an|it|he|she|they|we|you|there|his|her|their|our|someone|nobody)\b)(?-i:[a-z])|"
        r"^(?:[^，。；：]{2,16}，)?(?:给|跟|对|为|向|由|先|把|替|按|用|请|直接|只|凡)"
    ),
    "to_be": r"\b(?:is|are|am) (?:not |only )?(?:expected |supposed )?to (?:be )?|\bmust (?:never )?be\b|\bby default\b|控制在|标明|写明|注明|一概",
    "wants_output": (
        r"\b(?:wants?|would like|expects?|asks|insists|wishes|demands|needs?|requires?|prefers?|likes)\b[^.!?;]{0,60}?\b"
        rf"(?:{EN_OUTPUT}|told|asked|reminded|warned|informed|called|addressed|shown|written|copied|risks?|numbers?|language)\w*\b|"
        rf"(?:希望|要求|想要|要|喜欢|只看|只要|坚持)[^。；]{{0,20}}(?:{ZH_OUTPUT}|说|讲|写|用|发|列|问)"
    ),
    "named_habit": (
        r"^(?:[\w.']+ ){1,5}(?:always|never|usually|only) (?!wants?|likes?|expects?|needs?|eats?|drinks?)\w+s\b|"
        r"^.{2,6}(?:总是?|从不|从来|每天|一向)(?!爱|喜欢)"
    ),
    "bare_verb": r"^(?:prefers|likes|loves|hates|dislikes|avoids|enjoys|eats|drinks|takes|wants|sleeps|always wants|cares|keeps|can['’]t)\b",
    "output": rf"\b(?:{EN_OUTPUT})\w*\b|{ZH_OUTPUT}",
    "spoken_to": r"\b(?:you|your|assistant|agent|me|i|my)\b|你|助手|帮我|给我|我",
    "user": r"\b(?:the )?user\b|用户",
    "wants": (
        r"\b(?:wants?|would like|expects?|asks|asked|insists|wishes|demands|requests?(?:ed)?|needs?|requires?)\b|希望|要求|想要|坚持|需要|交代"
    ),
    "is_to": r"\b(?:is|are|has|have) to\b|\b(?:must|should|shall|may|needs? to|gets?|goes?|please)\b|必须|应该|应当|要|得|须",
    "likes": (
        r"\b(?:prefer\w*|favou?r\w*|rather|likes?|loves?|enjoys?|adores?|fond of|keen on|weakness for|happiest|over any)\b|"
        r"喜欢|偏好|偏爱|最爱|爱[吃喝看听用坐玩逛读]|更爱|更愿意|宁可|宁愿|倾向|习惯|胜过|认准"
    ),
    "dislikes": (
        r"\b(?:hates?|loathes?|detests?|dislikes?|can['’]t (?:stand|bear)|not a fan|averse|afraid|dreads?|does(?:n['’]t| not))\b|"
        r"讨厌|不喜欢|不爱|受不了|怕|厌恶|嫌|烦"
    ),
    "diet": (
        r"\b(?:allerg\w+|intoleran\w+|vegan|vegetarian|halal|kosher|gluten|lactose|decaf|sugar|no longer eats?|(?:eats?|drinks?) no)\b|"
        r"过敏|不吃|不喝|吃素|素食|忌|清真|不耐受|不沾"
    ),
    "others_rule": (
        r"\b(?:visitors?|guests?|passengers?|employees|members?|applicants?|residents|parents|pupils|drivers|customers?|council|landlord|"
        r"school|bank|airline|insurer|company|firm|club|hotel|shop|museum|api|server|endpoint|client library|table|service|function|"
        r"manual|sign|poster|notice|office|law|regulator)\b|房东|学校|银行|公司|酒店|俱乐部|物业|街道|医院|航空|保险|税务|接口|服务器|"
        r"函数|员工|乘客|客人|住户|顾客|单位规定|说明书|牌子|告示|那家|平台|社区|景区|规定"
    ),
    "past": (
        r"\b(?:was|were|had|did|used to|once|ago|last (?:week|month|year|night|spring|friday)|yesterday|\w{3,}ed(?! to be)\b"
        r"(?=\s+(?:the|a|an|to|in|on|at|by|me|for)\b))|了(?:[，。]|$)|过(?:[，。]|$)|昨|上周|上个月|去年|前天|以前|小时候|当年|已经"
    ),
    "definite_subject": r"^(?:the|a|an|our|his|her|their|most|there|they)\b|^(?:这|那|某|上|下|今年|去年|明年)",
    "quotes": r"[“\"「].{3,}[”\"」]|\b(?:says?|said|told)\b|写着|写道|说[：:]",
    "number": r"\d",
    "habit": r"\b(?:usually|twice|every (?:evening|morning|sunday|day|night)|always \w+s|never \w+s)\b|总是?|从不|从来|一般|每天",
}
RULES = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in RULES_BY_NAME.items()}


def find_rules(text: str) -> dict[str, bool]:
    """Each rule's name, and whether it fires on a text."""
    return {name: pattern.search(text) is not None for name, pattern in RULES.items()}
