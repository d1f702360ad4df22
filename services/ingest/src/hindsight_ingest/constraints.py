"""What a user tells of himself that binds whatever is asked: health, diet, how to be called. Rules in both languages."""

import re

MAX_CHARS = 400  # that are read: what binds is told in short
# Where a clause begins, and how it may go on before it comes to the point.
_BEGIN = (
    r"(?:^|[.!?;:,\n—–] ?|(?<= - )|\b(?:and|but|because|since|as|so|also|(?:note|mind|remember|aware) that) )"
    r"(?:(?:and|but|also|well|so|oh|hi|hello|btw|fyi|by the way|actually|please|note|remember|just so you know|"
    r"my doctor (?:says|said|told me)(?: that)?)[,:]? )*"
)
_BEGIN_ZH = (
    r"(?:^|[,，。.!！?？;；:：、\s])(?:(?:对了|另外|顺便[说提]?(?:一下|一句)?|还有|哦|嗯|其实|忘了说|请?注意|请?记[住得下]|"
    r"提醒一下|先说一下|(?:我的?)?(?:医生|大夫)(?:说|跟我说|诊断|诊断出|查出)|因为|由于|而且|但是?|不过|所以|以后|"
    r"请)[,，:： ]?)*"
)
# It is told, not asked: a question may follow in the next clause.
_END = r"[^?？,，.;；。!！\n]{0,80}(?:[,，.;；。!！\n]|$)"
_END_ZH = r"[^?？吗么呢,，.;；。!！\n]{0,40}(?:[,，.;；。!！\n]|$)"
_AM = (
    r"(?:i['’]?m|i am|(?:the )?user is|i['’]ve been|i have been)(?: (?:really|severely|very|highly|mildly|also|now|"
    r"currently|still|strictly|a|an|no longer|not))*"
)
_CONDITION = (
    r"allerg(?:y|ies)|intolerances?|diabetes|co?eliac(?: disease)?|asthma|epilepsy|hypertension|high blood pressure|"
    r"heart (?:condition|"
    r"disease|trouble)|pacemaker|ibs|crohn['’]?s(?: disease)?|gout|kidney (?:disease|failure|stones)|migraines?|"
    r"ha?emophilia|lupus|"
    r"arthritis|dyslexia|adhd|anaemia|anemia|vertigo|g6pd deficiency"
)
# What is not borne, and no other person.
_OF_WHAT_ZH = "[^\\W\\da-z对的他她它和跟与妹姐哥弟爸妈爷奶儿女孙舅叔姑姨婆娘老孩友事家个位]"
_CONDITION_ZH = (
    r"糖尿病|高血压|低血压|低血糖|高血脂|高尿酸|心脏病|冠心病|哮喘|癫痫|痛风|胃病|胃溃疡|胃炎|肾病|肝病|乙肝|甲亢|"
    r"甲减|贫血|蚕豆病|"
    r"色盲|色弱|夜盲|恐高症?|幽闭恐惧症|抑郁症|焦虑症|鼻炎|(?:心脏)?起搏器|"
    rf"{_OF_WHAT_ZH}{{1,6}}不耐受|{_OF_WHAT_ZH}{{0,6}}过敏"
)
_I_ZH = r"(?:我们?|咱们?|本人|用户)(?:自己|本人|本身|从小|一直|现在|目前|这人|其实|平时|也|还|可|就|真的?|天生|已经|是)*"
_FOR_NOW = (
    r"[^?,.;!\n]*\b(?:it|this|that|them|these|those|now|today|tonight|tomorrow|yet|another|anything else|more|much|"
    r"until|before)\b"
)
_FOR_NOW_ZH = r"[^,，。?？]*(?:这|那|它|今[天晚]|现在|明[天早]|一会|刚|之前|完|饱|不下|太多)"

RULES = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "health": (
            rf"{_BEGIN}(?:{_AM} (?:(?:lactose|gluten|fructose|histamine|alcohol|dairy)[- ])?(?:allergic(?! reaction|"
            rf" to (?:\w+days?|mornings?|meetings?|work|people|you|him|her|nonsense)\b)|intolerant|diabetic|c?o?eliac|"
            r"asthmatic|epileptic|pregnant(?! with)|breastfeeding|immunocompromised|colou?r[- ]?blind|hard of hearing|"
            r"left[- ]handed|claustrophobic|afraid of (?:heights|flying|needles)|deaf|blind|dyslexic|"
            r"an[ae]{1,2}mic|type [12] diabetic|wheelchair user|diagnosed with|on (?:insulin|dialysis|blood thinners|warfarin|"
            r"antidepressants))\b|"
            r"(?:(?:i|(?:the )?user) (?:also )?(?:have|has|suffer from|live with)|i['’]ve(?: got)?|i was diagnosed with) "
            rf"(?:(?!(?:about|for|on|to|in|with|of|no|any|a friend)\b)[\w'’-]+ ){{0,4}}(?:{_CONDITION})\b(?! (?:tests?|"
            rf"medicines?|medication|pills?|drugs?|season|clinic|books?|exams?|appointments?)\b)|"
            r"i take (?:insulin|warfarin|blood thinners|metformin|beta blockers))"
            rf"{_END}"
        ),
        "health_zh": (
            rf"{_BEGIN_ZH}{_I_ZH}(?:对[^,，。?？!！吗]{{1,16}}?(?:也|都|会|很|有点|有些|严重|重度|轻微|已经|不再|不|非常)*过敏|"
            rf"(?:患有|患|有|得了|得过|确诊了?|查出|戴着?|装了)(?:轻度|中度|重度|轻微|严重|先天性?|遗传性?|一点|点|"
            rf"的)*(?:{_CONDITION_ZH})|"
            rf"{_OF_WHAT_ZH}{{1,6}}(?:不耐受|过敏)|过敏体质|色盲|色弱|恐高|晕[车船机]|左撇子|孕妇|"
            r"(?:糖尿病|高血压|哮喘|痛风|过敏|心脏病)(?:患者|病人)|怀孕|怀了|在哺乳)(?!的|门诊|讲座|资料)"
            rf"{_END_ZH}|^(?:对[^,，。?？!！吗]{{1,8}}过敏|{_OF_WHAT_ZH}{{1,4}}不耐受)[了啊哦]?[。.!！]*$"
        ),
        "diet": (
            rf"{_BEGIN}(?:{_AM} (?:vegan|vegetarian|pescatarian|teetotal|a teetotaller|sober|keto|(?:keeping )?kosher|halal|"
            r"(?:on )?(?:a )?(?:low|no|high|gluten|dairy|sugar|salt)[- ][\w-]+ diet)\b|"
            r"i (?:only eat|eat only|keep) (?:halal|kosher|vegan|vegetarian|plant-based)\b|"
            r"(?:i|we) (?:also |still )?(?:can(?:not|['’]?t| not)|don['’]?t|do not|never|must(?:n['’]t| not)|no longer|"
            r"am not allowed to|"
            rf"may not)(?: really| ever| usually)* (?:eat|drink|tolerate|digest|smoke|have (?:gluten|dairy|nuts?|milk|caffeine|"
            rf"alcohol|sugar|"
            rf"salt|shellfish|seafood|eggs?|soy|wheat|pork|beef|meat))\b(?!{_FOR_NOW})){_END}"
        ),
        "diet_zh": (
            rf"{_BEGIN_ZH}{_I_ZH}(?:(?:只吃|吃)(?:素|斋|清真)|(?:严格)?素食(?:者|主义者?)?|清真|回民|穆斯林|忌口|"
            r"(?:不能|不可以|不可|不得|不敢|不)(?:再)?(?:吃|喝|碰|沾|抽)(?![了过到得上起吧啊吗])"
            rf"(?!{_FOR_NOW_ZH})){_END_ZH}"
        ),
        "called": (
            rf"{_BEGIN}(?:(?:please |just |you (?:can|may|should) )*call me (?!(?:back|later|again|now|when|if|asap|"
            r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|today)\b)(?-i:[A-Z])[\w'’-]*(?: (?-i:[A-Z])[\w'’-]*)?"
            r"(?= please|,| instead| from now on| not\b|[.!]|$)|"
            r"i go by (?-i:[A-Z])\w+|i (?:use|go by) (?:she|he|they|xe|ze|it)(?:/\w+)+|"
            rf"my (?:preferred )?pronouns are |my (?:preferred name|nickname) is ){_END}"
        ),
        "called_zh": (
            rf"{_BEGIN_ZH}(?:请|可以|就|直接|你|您|都)*(?:叫|称呼)我(?:为|作|做)?(?![起来去到吃怎干做说如别不先过一])"
            r"(?:[小老阿][\u3400-\u9fff]|[A-Za-z][\w'-]*|[\u3400-\u9fff]{1,3}(?:总|老师|哥|姐|先生|女士|小姐|同学|师傅|医生)|"
            r"[\u3400-\u9fff]{2,5}(?=就[行好]|就可以|即可|吧|好了))(?:就[行好]|就可以|即可|吧|好了)?了?(?=[,，。.!！\s]|$)|"
            r"我的?(?:人称)?代词(?:是|用)"
        ),
    }.items()
}
# Before it in the sentence, it is supposed, made up, or told by somebody else.
_NOT_OWN = re.compile(
    r"\b(?:if|suppose|supposing|imagine|pretend|whether|(?:she|he|they|who|it|character|hero|heroine|patient|customer|guest) "
    r"(?:says?|said|goes|wrote|writes)|novel|story|lyrics|role-?play|translate|translation)\b|"
    r"如果|假如|假设|要是|万一|假装|比如|例如|是否|是不是|[他她它们人员者]说|写道|扮演|角色|小说|故事|台词|翻译|译成",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?。！？\n]")
_OF_KIN = re.compile(
    r"(?:my|our|his|her|their) (?!allerg|diet|doctor)[\w' -]{2,30}? (?:is|are|has|have|can|does|do|cannot|can['’]t|"
    r"doesn['’]t)\b|"
    r"(?:对了[,，])?(?:我|他|她)(?:们)?(?:的|家)?(?:[大小老二三]?(?:妹|姐|哥|弟|爸|妈|爷|奶|儿|女|孙|舅|叔|姑|姨|婆|"
    r"娘)|老公|老婆|妻子|丈夫|"
    r"先生|太太|孩子|宝宝|同事|朋友|同学|室友|邻居|老板|猫|狗|外[公婆])",
    re.IGNORECASE,
)
_HEALTH = re.compile(
    r"\ballerg|\bintoleran|\bdiabet|\bc?o?eliac|\bvegan|\bvegetarian|\beat\b|\bdrink\b|过敏|不耐受|病|不能|不[吃喝]|吃素", re.I
)


def find_constraint(text: str) -> str:
    """The rule by which a text tells what binds its own speaker; empty where none fires."""
    text = text[:MAX_CHARS]
    for name, rule in RULES.items():
        for match in rule.finditer(text):
            before = _SENTENCE_END.split(text[: match.start() + 1])[-1]
            if not _NOT_OWN.search(before):
                return name
    return ""


def is_of_kin(text: str) -> bool:
    """Whether a text tells of the health or the diet of somebody of the user's, not of the user's own."""
    return _OF_KIN.match(text) is not None and _HEALTH.search(text[:MAX_CHARS]) is not None and not find_constraint(text)
