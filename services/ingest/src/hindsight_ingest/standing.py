"""Which memories stand: instructions to the agent and preferences that hold whatever is being asked."""

import re

MAX_CHARS = 400  # longer texts tell of something; an instruction is short


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


# What an answer is made of: whoever rules on it speaks to the agent.
_ANSWERING = (
    r"answers?|answering|repl(?:y|ies|ying)|respon(?:d|ds|ses?|ding)|messages?|drafts?|summar(?:y|ies|ise|ize)\w*|explain\w*|explanations?|"
    r"translat\w*|e-?mails?|text|writ(?:e|es|ing)|speak|talk|call|address|tone|wording|phras\w+|language|format\w*|bullets?|bullet points?|lists?|"
    r"tables?|sentences?|paragraphs?|headings?|emojis?|jargon|abbreviations?|units?|metric|celsius|currenc(?:y|ies)|dates?|code|comments?|examples?|"
    r"sources?|citations?|quotes?|links?|suggest\w*|recommend\w*|advice|options?|remind\w*|ask|confirm\w*|check with|show|tell|use|avoid|mention|"
    r"include|give|keep|send|book|schedule|pick|propose|offer|assume|say|start|end|begin|round|spell"
)
_PARTICLE = r"(?:please|kindly|always|never|only|just|also)"
_IMPERATIVE = (
    r"(?:answer|reply|respond|write|draft|speak|talk|call|address|use|avoid|keep|give|show|ask|tell|check|confirm|explain|translate|summari[sz]e|"
    r"format|mention|include|quote|cite|list|put|start|end|begin|send|book|schedule|suggest|recommend|propose|offer|assume|say|round|spell|"
    r"remind|warn|make|let|do|be|stick|stay|leave|skip|stop|refer|treat|convert|attach|run|sign|add|name|spare|limit|follow|present|wait|work|"
    r"prefer|provide|return|round|note|flag|bring|take|set|count|order|choose|pick)"
)
INSTRUCTION = _any(
    r"\bfrom (?:now|here|today|this point) on\b|\bfrom now\b|\bgoing forward\b|\bin (?:the )?future\b,|\bas a (?:standing )?rule\b|"
    r"\bstanding (?:rule|instruction|order)\b|\bhouse rule\b",
    rf"(?:^|[.;:!?,—–-]\s*|\band\s+|\bthen\s+){_PARTICLE}\s+(?:{_PARTICLE}\s+)?{_IMPERATIVE}\b",
    rf"^(?:(?:when|whenever|if|before|after|for|in|with|unless|on|while|as soon as)\b[^.!?]{{2,90}},\s*)(?:{_PARTICLE}\s+)*{_IMPERATIVE}\b",
    r"\b(?:do not|don['’]t|never) (?:ever )?(?:use|write|send|call|book|mention|suggest|recommend|quote|schedule|offer|tell|give|show|ask|include|"
    r"answer|reply|say|add|put|propose|start|assume|round|abbreviate|translate|explain|repeat|apologi[sz]e|address|sign|share|order|delete|commit|"
    r"push|merge|touch|change|deploy|make|remind|contact|spell|shorten|print|cite|guess|sugar)\b",
    rf"\b(?:you|the (?:assistant|agent|model|bot)|assistant|agent) (?:should|must|shall|may|are to|is to|has to|have to|need to|ought to|can)\b(?:\s+\w+){{0,3}}\s+(?:{_ANSWERING})\b",
    r"\b(?:make sure|be sure|remember|take care|see to it|be careful|try) (?:that|to|not|you)\b",
    rf"\b(?:wants?|would like|['’]d like|likes?|needs?|expects?|asks?|asked|insists?|insisted|prefers?|requires?|demands?|wishes|requested|requests)\b"
    rf"[^.!?]{{0,60}}\b(?:{_ANSWERING}|me|you|us)\b",
    r"\b(?:every|each|all|any) (?:\w+ ){0,2}(?:answer|reply|response|draft|message|summary|e-?mail|report|quote|estimate|recipe|price|date|number|figure|"
    r"measurement|suggestion|explanation|document|letter|text)s?\b[^.!?]{0,60}\b(?:in|must|should|needs?|has to|have to|with|without|goes?|gets?|ends?|"
    r"starts?|comes?|is to|are to|please)\b",
    r"\b(?:no|without) (?:emojis?|jargon|bullet points?|bullets|small talk|preamble|exclamation marks?|abbreviations?|slang|exceptions?)\b",
    rf"(?:^|[.;:!]\s*){_IMPERATIVE}\b(?!\s+(?:is|was|are|were|has|had|will)\b)[^?]{{3,}}$",
    # Chinese
    r"从现在(?:起|开始)|从今(?:天|以?后)|以后(?:都|请|不要|别|一律|只|要|就|凡|每|回|跟|给|再|的|用|先|全)|今后(?:都|请|不要|别|一律|只|要|凡|先)?|往后(?:都|请|不要|别|一律)?",
    r"一律|务必|切记|牢记|记得(?:要|先|给|用|把|别|不要|提醒|每|在)|请(?:记住|务必|始终|总是|一直|不要|勿|用|先|把|给|尽量|直接|在|每)|千万(?:别|不要)|不许|不准|禁止|不得",
    r"(?:^|[，。；：、\s])(?:不要|别|不用|不必|先|只|尽量|始终|总是|永远|每次|凡是|只要|无论|不管|所有)[^，。；]{0,20}(?:回答|回复|答复|说|讲|写|用|发|问|列|给|叫|称呼|解释|总结|翻译|推荐|"
    r"建议|提醒|确认|标|注明|附|放|加|带|安排|订|约|报|排|念|读|改|提)",
    r"(?:回答|回复|答复|答案|说话|写(?:作|信|邮件|代码|报告)|称呼|语气|邮件|总结|摘要|报价|解释|翻译|推荐|建议|提醒|菜谱|日程|方案)[^。；]{0,16}(?:要|得|须|必须|应|应当|应该|不要|别|不能|不可|用|控制在|限|保持|一律|都)",
    r"(?:希望|要求|要|想要|想让|让|请|喜欢|习惯|愿意|坚持|规定|叮嘱|交代|嘱咐)(?:你|助手|我们|别人|大家)?[^。；]{0,24}(?:回答|回复|答复|说|讲|写|用|发|问|列|给|叫|称呼|解释|总结|翻译|推荐|建议|提醒|确认|标|注明|附)",
    r"(?:你|助手)(?:要|得|必须|应该|应当|不要|别|不能|不可以|以后|先|只)",
    r"(?:都|只|才|先|再)(?:要|得|能|许|可以)?(?:用|说|写|给|发|回)[^，。]{1,12}$",
)
PREFERENCE = _any(
    r"\b(?:prefer(?:s|red)?|favou?rites?|rather (?:than|have|not)|would rather|can(?:no|['’])t stand|hates?|loathes?|dislikes?|loves?|likes?|enjoys?|"
    r"adores?|detests?|is (?:allergic|intolerant|vegan|vegetarian|averse)|fond of|keen on|allergic|vegan|vegetarian|avoids?|no longer (?:likes?|eats?|drinks?)|"
    r"does(?:n['’]t| not) (?:like|eat|drink|want|care)|do(?:n['’]t| not) (?:like|eat|drink|want)|picky|sensitive to|by default)\b",
    r"喜欢|喜爱|偏好|偏爱|最爱|爱吃|爱喝|爱看|爱听|爱用|讨厌|不爱|厌恶|反感|受不了|忌口|过敏|吃素|素食|不吃|不喝|不喜|更愿意|宁愿|宁可|倾向于?|习惯(?:于|用|了|在|先)?|向来|钟爱|怕(?:辣|吵|冷|热|黑|高)",
)
_PAST = _any(r"\b(?:used to|once|as a child|formerly)\b", r"以前|曾经|小时候|过去")


def mark(kind: str, value: str) -> str:
    """ "instruction", "preference" or "": what of a memory holds whatever is being asked."""
    text = value.strip()
    if len(text) > MAX_CHARS:
        return "preference" if kind == "preference" else ""
    if INSTRUCTION.search(text):
        return "instruction"
    if kind == "preference" or (PREFERENCE.search(text) and not _PAST.search(text)):
        return "preference"
    return ""
