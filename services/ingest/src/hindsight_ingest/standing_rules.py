"""What in a statement tells whether it holds whatever is being asked: named regular expressions in both languages."""

import re
from collections.abc import Mapping

from hindsight_language.whole_words import blank_parts

EN_VERBS = (
    r"answer|reply|respond|write|draft|speak|talk|call|address|use|"
    r"avoid|keep|give|show|ask|tell|check|confirm|explain|translate|"
    r"summari[sz]e|format|mention|include|quote|cite|list|put|start|"
    r"end|begin|send|book|schedule|suggest|recommend|propose|offer|"
    r"assume|say|round|spell|remind|warn|make|let|do|be|stick|leave|"
    r"skip|stop|refer|treat|convert|attach|run|sign|add|name|limit|"
    r"follow|present|wait|prefer|provide|return|note|flag|mark|bring|take|order|choose|pick|buy|plan|report|state|store|share|"
    r"push|delete|rewrite|shorten|bring up|store|look|compare|invite|decline|cc|plan|lead|finish"
)
EN_OUTPUT = (
    r"answer|repl(?:y|ies)|respon(?:d|se)|message|draft|summar(?:y|"
    r"i)|explanation|translation|e-?mail|letter|report|quote|estimate|"
    r"recipe|price|date|number|figure|amount|measurement|suggestion|recommendation|reminder|appointment|meeting|invoice|code|"
    r"comment|table|bullet|list|sentence|paragraph|heading|emoji|jargon|tone|wording|unit|source|link|option|file|commit|"
    r"flight|hotel|ticket|booking|purchase"
)
ZH_OUTPUT = (
    r"回答|回复|答复|答案|消息|邮件|信|总结|摘要|纪要|报告|报价|解释|译|推荐|建议|提醒|菜谱|日程|方案|代码|注释|列表|表格|"
    r"语气|措辞|称呼|单位|金额|日期|数字|格式|来源|出处|链接|文件|稿|标题|预约|预订|酒店|机票|通知|提示"
)

SIGNS: Mapping[str, str] = {
    "from_now_on": (
        r"\bfrom (now|today|here) on\b|\bgoing forward\b|\bin future,|\bas a rule\b|\bstanding (order|rule|instruction)\b|"
        r"\buntil further notice\b|从现在起|从今天起|以后(都|请|不要|别|一律|只|凡)|今后|往后|一律"
    ),
    "imperative": (
        rf"(?:^|[.;:,]\s+|—\s*)(?:(?:please|kindly|always|never|only|"
        rf"just)\s+)*(?:{EN_VERBS})\b(?!\s+(?:is|was|are|were|has|had))|"
        r"(?:^|[，。；：])(?:请|务必|切记|记得|别|不要|不许|禁止|千万|先|只|尽量|少用)"
    ),
    "forbids": r"\b(?:don['’]t|do not|never|must not|not to be|avoid)\b|别|不要|不许|不准|禁止|不得|不能|不可|勿",
    "without": r"^(?:no|nothing|nobody|only|without|at most|max|at least)\b|[;:,] no\b|^(?:只|仅|不|没有|除非|最多|至少)",
    "each": r"\b(?:every|each|all|any|always|whenever|whatever|whoever)\b|每|凡|所有|都|总|无论|不管|任何",
    "condition": (
        r"^(?:when|whenever|if|before|after|for|in|with|on|unless|"
        r"while|because|since|as)\b|时，|之前|的话|除非|遇到|凡"
    ),
    "then": (
        r"^(?:when|whenever|if|before|after|for|with|in|on|to|as|since|because|unless|once|until)\b[^,.:]{2,90}[,:] "
        r"(?:(?:please|always|never|just) )?(?!(?:the|a|an|it|he|she|they|"
        r"we|you|there|his|her|their|our|someone|nobody)\b)(?-i:[a-z])|"
        r"^(?:[^，。；：]{2,16}，)?(?:给|跟|对|为|向|由|先|把|替|按|用|请|直接|只|凡)"
    ),
    "to_be": (
        r"\b(?:is|are|am) (?:not |only )?(?:expected |supposed )?to (?:be )?|"
        r"\bmust (?:never )?be\b|\bby default\b|控制在|标明|写明|注明|一概"
    ),
    "wants_output": (
        r"\b(?:wants?|would like|expects?|asks|insists|wishes|demands|needs?|requires?|prefers?|likes)\b[^.!?;]{0,60}?\b"
        rf"(?:{EN_OUTPUT}|told|asked|reminded|warned|informed|called|"
        rf"addressed|shown|written|copied|risks?|numbers?|language)\w*\b|"
        rf"(?:希望|要求|想要|要|喜欢|只看|只要|坚持)[^。；]{{0,20}}(?:{ZH_OUTPUT}|说|讲|写|用|发|列|问)"
    ),
    "named_habit": (
        r"^(?:[\w.']+ ){1,5}(?:always|never|usually|only) (?!wants?|likes?|expects?|needs?|eats?|drinks?)\w+s\b|"
        r"^.{2,6}(?:总是?|从不|从来|每天|一向)(?!爱|喜欢)"
    ),
    "bare_verb": (
        r"^(?:prefers|likes|loves|hates|dislikes|avoids|enjoys|eats|"
        r"drinks|takes|wants|sleeps|always wants|cares|keeps|can['’]t)\b"
    ),
    "output": rf"\b(?:{EN_OUTPUT})\w*\b|{ZH_OUTPUT}",
    "spoken_to": r"\b(?:you|your|assistant|agent|me|i|my)\b|你|助手|帮我|给我|我",
    "user": r"\b(?:the )?user\b|用户",
    "wants": (
        r"\b(?:wants?|would like|expects?|asks|asked|insists|wishes|demands|"
        r"requests?(?:ed)?|needs?|requires?)\b|希望|要求|想要|坚持|需要|交代"
    ),
    "is_to": r"\b(?:is|are|has|have) to\b|\b(?:must|should|shall|may|needs? to|gets?|goes?|please)\b|必须|应该|应当|要|得|须",
    "likes": (
        r"\b(?:prefer\w*|favou?r\w*|rather|likes?|loves?|enjoys?|adores?|fond of|keen on|weakness for|happiest|over any)\b|"
        r"喜欢|偏好|偏爱|最爱|爱[吃喝看听用坐玩逛读]|更爱|更愿意|宁可|宁愿|倾向|习惯|胜过|认准"
    ),
    "dislikes": (
        r"\b(?:hates?|loathes?|detests?|dislikes?|can['’]t (?:stand|"
        r"bear)|not a fan|averse|afraid|dreads?|does(?:n['’]t| not))\b|"
        r"讨厌|不喜欢|不爱|受不了|怕|厌恶|嫌|烦"
    ),
    "diet": (
        r"\b(?:allerg\w+|intoleran\w+|vegan|vegetarian|halal|kosher|gluten|"
        r"lactose|decaf|sugar|no longer eats?|(?:eats?|drinks?) no)\b|"
        r"过敏|不吃|不喝|吃素|素食|忌|清真|不耐受|不沾"
    ),
    "others_rule": (
        r"\b(?:visitors?|guests?|passengers?|employees|members?|applicants?|"
        r"residents|parents|pupils|drivers|customers?|council|landlord|"
        r"school|bank|airline|insurer|company|firm|club|hotel|shop|museum|"
        r"api|server|endpoint|client library|table|service|function|"
        r"manual|sign|poster|notice|office|law|regulator)\b|房东|学校|"
        r"银行|公司|酒店|俱乐部|物业|街道|医院|航空|保险|税务|接口|服务器|"
        r"函数|员工|乘客|客人|住户|顾客|单位规定|说明书|牌子|告示|那家|平台|社区|景区|规定"
    ),
    "past": (
        r"\b(?:was|were|had|did|used to|once|ago|last (?:week|month|year|night|spring|friday)|yesterday|\w{3,}ed(?! to be)\b"
        r"(?=\s+(?:the|a|an|to|in|on|at|by|me|for)\b))|了(?:[，。]|$)|"
        r"过(?:[，。]|$)|昨|上周|上个月|去年|前天|以前|小时候|当年|已经"
    ),
    "definite_subject": r"^(?:the|a|an|our|his|her|their|most|there|they)\b|^(?:这|那|某|上|下|今年|去年|明年)",
    "quotes": r"[“\"「].{3,}[”\"」]|\b(?:says?|said|told)\b|写着|写道|说[：:]",
    "number": r"\d",
    "habit": (
        r"\b(?:usually|twice|every (?:evening|morning|sunday|day|"
        r"night)|always \w+s|never \w+s)\b|总是?|从不|从来|一般|每天"
    ),
}

# Settle that a statement stands, whatever its score. No training statement of another kind has one of them.
SURE: Mapping[str, str] = {
    "from_now_on": (
        r"\bfrom (?:now|today) on, (?!the\b)|\bgoing forward, (?:please|always|never|use)|"
        r"(?:从现在起|从今天起|以后|今后|往后)[^，。；]{0,8}(?:请(?!假|客|帖|柬|教)|不要|别|一律|用(?![户人途处品]))|一律(?:用|写|说|按|不|改|叫|放|以)"
    ),
    "request": (
        r"^(?:please|always|never|do not|don['’]t) (?!was|were|is|had)[a-z]+\b|"
        r"^(?:请(?!假|客|帖|柬|教|勿)|务必|切记|千万|别(?!人|的|墅|称|针)|不要|不许|少用)"
    ),
    "order": (
        r"^(?:answer|reply|respond|address|call|speak|write|keep|use|"
        r"round|explain|translate|remind|ask|confirm|show|tell|avoid|"
        r"cite|mark|give|suggest|recommend|offer|book|quote|leave|send|sign|list|skip) (?!is|was|are)\w+"
    ),
    "no_output": (
        r"^no (?:emojis?|jargon|slang|abbreviations|exclamation marks|bullet points|small talk|irony|sarcasm|markdown|links|"
        r"spoilers|calls|reminders|meetings|footnotes)\b|"
        r"^(?:[^，。]{0,6}的)?(?:回答|回复|总结|摘要|称呼|金额|温度|日期|报价|标题|邮件|代码|注释)[^，。]{0,6}"
        r"(?:不要|别|控制在|保留|不超过|写成|一律|请)"
    ),
    "assistant": r"^(?:the )?(?:assistant|agent) (?:should|must|may|is to)\b|^(?:助手|你)(?:要|应|必须|不要|不能|只)",
    "user": (
        r"^(?:the )?user (?:wants|asks|expects|prefers|likes|needs|would like|insists|has asked|dislikes|hates)\b|"
        r"^用户(?:希望|要求(?!退)|不想|不要|喜欢|不喜欢|偏好|讨厌|更)"
    ),
    "wants_to_be": (
        r"\b(?:wants|expects|insists|asks|wishes|would like|prefers|"
        r"likes) (?:to be (?:told|asked|called|addressed|informed|reminded)|"
        r"that|every|answers|replies|summaries|explanations|messages|sources|hints)\b"
    ),
    "is_to_be": (
        r"\b(?:is|are) (?:never |not |always |only )?to be (?:called|"
        r"addressed|told|asked|reminded|sent|given|shown|written|mentioned|"
        r"kept|left|answered|copied|used)\b"
    ),
    "likes": (
        r"^(?:(?:he|she|i) )?(?:strongly |really )?(?:prefers?|likes?|loves?|hates?|dislikes?|detests?|enjoys?|avoids?|"
        r"can['’]t stand)\b|^最?(?:喜欢|偏爱|偏好|讨厌|不喜欢|不爱|爱[吃喝看听玩坐穿用住])(?!.*(?:了|过)。?$)|^更喜欢"
    ),
    "diet": (
        r"\b(?:is|am|are) (?:severely |very )?(?:allergic|intolerant|"
        r"(?:a )?vegan|(?:a )?vegetarian)\b|对[^，。]{1,8}过敏|吃素"
    ),
}
RULES, CERTAIN = ({name: re.compile(pattern, re.IGNORECASE) for name, pattern in patterns.items()} for patterns in (SIGNS, SURE))


def find_rules(text: str) -> dict[str, bool]:
    """Each sign's name, and whether it shows in a text."""
    text = blank_parts(text)
    return {name: pattern.search(text) is not None for name, pattern in RULES.items()}


def is_sure(text: str) -> bool:
    """Whether one rule is enough: a text stands that neither quotes somebody nor tells what was."""
    text = blank_parts(text)
    if RULES["quotes"].search(text) or RULES["past"].search(text):
        return False
    return any(pattern.search(text) for pattern in CERTAIN.values())
