"""Names that a turn introduces: numbers, people, pets, organisations, projects and places; by rules, English and Chinese."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import rjieba
from hindsight_language.simplified import simplify

_WORDS = re.compile(r"[^\W\d_][\w'’-]+")
MAX_NAMES = 6  # of one turn
NAME_CHARS = 60

TYPES = {
    "order": "order purchase 订单 采购单",
    "ticket": "ticket issue bug rma 工单 报修",
    "invoice": "invoice 发票",
    "booking": "booking reservation 预订 预定 预约 挂号",
    "parcel": "parcel tracking shipment 快递 包裹 运单",
    "case": "case claim file 案 理赔",
    "contract": "contract lease policy membership 合同 保单 租约",
    "flight": "flight train 航班 车次",
    "pet": "dog cat mare horse puppy kitten dachshund rabbit parrot hamster pony starter 猫 狗 兔 鸟",
    "person": (
        "sister brother husband wife partner son daughter mother father mum mom dad gran grandmother grandfather grandad "
        "aunt uncle cousin "
        "nephew niece friend mate flatmate roommate neighbour neighbor colleague coworker boss manager supervisor intern "
        "assistant teacher "
        "tutor coach dentist doctor vet physio therapist nurse solicitor lawyer landlord landlady accountant bookkeeper "
        "contact plumber "
        "electrician gardener postdoc student apprentice trainer guy chap bloke woman girl boyfriend girlfriend fiancé "
        "fiancée baby kid kids "
        "twins he she secretary supervisor director head chef waiter driver caretaker "
        "妹 姐 哥 弟 先生 老公 老婆 媳妇 闺女 女儿 儿子 孩子 外婆 奶奶 爷爷 姥姥 爸 妈 同事 同学 老师 师傅 "
        "律师 经理 合伙人 朋友 发小 阿姨 大爷 医生 "
        "大夫 领导 老板 导师 实习生 房东 邻居 哥们 对接人 客户 会长 会计 康复师 行政 室友 男友 女友 保姆 "
        "教练 助理 表哥 表弟 他 她 中医"
    ),
    "organisation": (
        "company firm agency supplier client customer school trust bank club band restaurant shop cafe bakery clinic "
        "hospital courier gym hotel "
        "landlord charity publisher studio 公司 店 供应商 供货商 物业 诊所 学校 小学 事务所 画室 银行 医院 "
        "乐队 公会 机构 工作室 饭馆 餐厅"
    ),
    "project": (
        "project app product service repo repository library package system database cluster server machine box host dataset "
        "job thing startup "
        "tool programme game site website 项目 服务 系统 仓库 代码 仓 游戏 主机 数据 表 组件库 活动 课题 "
        "题目 构建机 服务器 账本 群"
    ),
    "place": "house flat street road lane farm allotment village town home island building cottage 村 小区 大厦 路 地 园",
}
_TYPE_OF = {word: kind for kind, words in TYPES.items() for word in words.split()}
_EN_NOUNS = "|".join(sorted({w for w in _TYPE_OF if w.isascii()} - {"he", "she", "thing", "file", "head"}, key=len, reverse=True))
_ZH_PERSON = "|".join(
    sorted((w for w in TYPES["person"].split() if not w[0].isascii() and w not in "他她"), key=len, reverse=True)
)
_ZH_NOUNS = ("|").join(
    sorted((w for w in _TYPE_OF if not w.isascii() and len(w) > 0 and w not in ("他她地路表仓案")), key=len, reverse=True)
)

# Everybody knows them: naming one introduces nothing.
_KNOWN = (
    "i i'm i'd i've i'll monday tuesday wednesday thursday friday saturday sunday january february march april may june "
    "july august september october november december christmas easter english french german spanish italian dutch polish "
    "portuguese american british european chinese japanese latin london paris berlin rome madrid lisbon porto dublin "
    "york cork edinburgh ghent hamburg vienna tokyo sydney boston america europe england france germany italy spain "
    "china japan god internet google apple microsoft amazon facebook slack teams github gitlab gitea jira kubernetes "
    "docker postgres postgresql mysql python java javascript typescript go rust windows linux mac android iphone ipad "
    "excel word pdf json csv html css sql api ui ci pr vat utf-8 latin-1 ok yes no the a an and but so or if it he she "
    "they we you my our his her their this that there these those what who when where why how please dad mum mom granny "
    "grandma grandpa mondays fridays sundays saturdays nope whatever nothing anyway thanks thank hi hello dear good "
    "great mr mrs ms dr two three four five six seven half since as just also then now not new never always whenever "
    "every each all any some most let here"
)
KNOWN = frozenset(_KNOWN.split())
_OPENINGS = "to from with for by and but so ask call copy meet tell send contact our my at in on"
OPENINGS = frozenset(_OPENINGS.split())
_CAP = r"(?-i:[A-Z])[\w-]++(?:['’](?!s\b)\w++)?"
_NAME = (
    rf"(?:(?:Mr|Mrs|Ms|Miss|Dr|Prof|St)\.? )?{_CAP}(?: (?:& |and (?=(?-i:[A-Z]))|of |de |van |von |the )?{_CAP}|"
    r" \d[\w-]*+){0,3}"
)
_LOW = r"[a-z][\w-]{2,20}"
_QUOTED = r"[\"“”「」『』《»«']"
_EN_RULES = {
    "title": (
        r"\b(?P<n>(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Doctor|Aunt|Auntie|Uncle|Signora?|Señora?|Madame|Monsieur|Herr|Frau|"
        r"Granny|Captain)\.? (?-i:[A-Z])[\w'’-]+(?: (?-i:[A-Z])[\w'’-]+)?)"
    ),
    "called": (
        r"\b(?:called|named|nicknamed|labelled|labeled|code-?named|name is|name['’]s|goes by|we call(?: (?:it|him|her|them))?|"
        rf"call(?:ed)? (?:it|him|her)|known as|by the name of)\s+(?:the )?{_QUOTED}?(?P<n>{_NAME}|[a-z][\w]*(?:-[\w]+)+)"
    ),
    "relation": rf"\b(?:{_EN_NOUNS})s?(?:['’]s)?(?: (?:at|for|is|was|are|called))?(?: at| called)?[,:]? \(?(?P<n>{_NAME})",
    "relation_far": rf"\b(?:{_EN_NOUNS})s? (?:[a-z'’]+ ){{0,6}}(?:is|are|was)(?: (?:at|called|the))? (?P<n>{_NAME})",
    "is_ours": (
        rf"(?:^|[,.;:!] |\b(?:that|and|but) )(?P<n>{_NAME}|{_LOW}-[\w-]+)(?:['’]s| is| was| =|,) (?:is )?(?:my|"
        rf"our) (?:\w+[ -]){{0,4}}(?:{_EN_NOUNS})\b"
    ),
    "is_a": (
        rf"(?:^|[.;:!] )(?P<n>{_NAME}|{_LOW}-[\w-]+) (?:is|was|=|handles|does|looks after|runs) (?:the|a|an|all|another|our|"
        r"internal|about)\b"
    ),
    "equals": rf"(?:^|[.;:!] )(?P<n>{_NAME}|{_LOW}(?:-\w+)*) ?= ?\w",
    "who": rf"\b(?P<n>{_NAME}), (?:she|he|they|who|it['’]s|that['’]s|a|an|the|our|my|\d+)\b",
    "told_of": rf"\b(?P<n>{_NAME})[:,] (?:it['’]s|it is|that is|this is)\b",
    "age": (
        rf"\b(?P<n>{_NAME}) (?:is|['’]s|turns) (?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|"
        r"\w+teen|twenty|thirty|\w+ty)\b"
    ),
    "between_commas": rf"[a-z], (?P<n>(?!and |but |so )(?:The )?{_NAME})(?=[,.]|$)",
    "there_is": (
        rf"\b(?:there['’]s|there is|meet|introduce|ask for|talk to|contact|with|from|at|for|by) (?P<n>{_NAME})(?= (?:in|at|"
        r"from|on) (?:my|our|the)\b|[,:]|\.? (?:is|she|he)\b)"
    ),
    "full_name": rf"[a-z,:] (?P<n>{_CAP} {_CAP})(?=[,.;:!? ]|$)",
    "company": (
        rf"\b(?P<n>{_CAP} (?:& |and )?(?:{_CAP} )?(?-i:Ltd|Inc|GmbH|LLC|Group|Street|Road|Lane|House|Square|Hall|Farm|Row|"
        rf"Avenue|Clinic|Bakery|Trust|Hotel)|{_CAP} & {_CAP}|{_CAP} v\.? {_CAP})"
    ),
    "project": r"\b(?P<n>(?:Project|Operation|Section|Class|Room|Unit|Dataset) (?-i:[A-Z0-9])[\w-]*)",
    "colon": rf"\b(?:{_EN_NOUNS}): (?P<n>{_NAME})",
    "low_service": (
        r"(?:\b(?:repo|repository|service|package|machine|server|box|host|cluster|branch|app|called|named|project|courier|"
        r"mate) (?:is |called |named )?)(?P<n>[a-z]\w*(?:-[\w]+)+)\b"
    ),
    "low_mate": r"\b(?:my|our) (?:mate|friend|flatmate|brother|sister|colleague|cousin|dog|cat) (?P<n>(?-i:[A-Z])[a-z]{2,})\b",
    "low_first": rf"^(?P<n>[a-z]{{3,12}}) my (?:{_EN_NOUNS})\b",
}
_EN = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _EN_RULES.items()}
_ID_WORDS = (
    r"order|ticket|invoice|booking|reservation|ref(?:erence)?|tracking|parcel|case|claim|contract|lease|part|serial|"
    r"account|customer|membership|member|rma|flight|number|policy|issue|"
    r"file|licen[cs]e|request|po|section|class|unit|case"
)
_ID = {
    "number_after": re.compile(
        (
            rf"\b(?P<w>{_ID_WORDS})s?(?: (?:no|number|nr|ref|code|id)\b)?(?=[\s:#.,'’])(?: is|:|\.|,| #|"
            r"['’]s)*\s*#?(?P<n>(?=[\w/-]{0,12}\d)[A-Z0-9][\w]*(?:[-/][\w]+)*(?: \d{2,})?)\b"
        ),
        re.IGNORECASE,
    ),
    "number_zh": re.compile(
        r"(?P<w>订单|单号|编号|工单|发票|病[历案]号?|保单|退货单|型号|航班|车牌|预[订定]码?|凭证|快递|序列号|"
        r"采购单|理赔单|合同|案号|案|单|号|卡)(?:编?号|码)?(?:是|为|给你|:|：|,|，|叫|"
        r"写的是|\s|No\.?)*"
        r"(?P<n>(?=[\w/·\- ]{0,10}\d)[A-Za-z0-9][A-Za-z0-9]*(?:[-/ ]?[A-Za-z0-9]+)*)"
    ),
    "case_zh": re.compile(r"(?P<n>[(（]\d{4}[)）][\u4e00-\u9fff]{1,5} ?\d+[\u4e00-\u9fff]{0,2} ?\d*号?)"),
    "code": re.compile(
        r"(?<![\w./@-])(?P<n>(?:[A-Z]{1,5}-?\d{3,}[A-Z]?|[A-Z0-9]{2,6}-(?=[A-Z0-9-]*\d)[A-Z0-9]{2,}(?:-[A-Z0-9]+)*|"
        r"[A-Z]-?\d{4,}|(?:[A-Z]{2} ?\d{3,4})|[A-Z]\d[A-Z0-9]{4,}|\d[A-Z0-9]*[A-Z][A-Z0-9]{3,}|"
        r"[a-z]+-\d{1,3}|[A-Z][a-z]+-\d{1,3}))(?![\w/-])"
    ),
}
_SURNAMES = (
    "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻柏窦章云苏潘葛奚范彭郎鲁韦昌"
    "马苗方俞任袁柳酆鲍史唐费廉岑薛雷贺倪汤滕殷罗毕郝邬安常乐于傅皮卞齐康伍余元顾孟平黄和穆萧尹姚邵汪祁毛"
    "禹狄"
    "米贝明臧计伏成戴谈宋茅庞熊纪舒屈项祝董梁杜阮蓝闵席季麻强贾路娄危江童颜郭梅盛林刁钟徐邱骆高夏蔡田樊胡"
    "凌霍虞万支柯管卢莫经房裘缪干解宗丁宣邓郁单杭洪包诸左石崔吉龚程嵇邢滑裴陆荣翁荀羊甄曲家封芮储靳汲邴松"
    "井段富"
    "巫焦巴弓牧谷车侯宓蓬仰秋仲伊宫宁仇栾暴甘厉戎祖武符刘景詹束龙叶幸司韶郜黎蓟薄印宿白怀蒲邰鄂索赖卓蔺屠"
    "蒙池乔阴胥能苍双闻莘党翟谭贡劳申冉宰雍璩桑桂牛寿边扈燕冀浦尚温庄晏柴瞿阎充慕连茹习艾容古易慎戈廖佘覃"
    "段肖涂佟连麦欧游简蓝曾兰"
)
_NOT_SECOND = "在是的有了把被去来说要想和跟就也都还不很给让叫这那她他我你您它们吗呢吧啊岁位个"
_NOT_THIRD = _NOT_SECOND + "会做开管看教对为从特刚已上下里负坐住带写用当考吃喝走调离辞退每两只"
_HAN_NAME = rf"[{_SURNAMES}][^\W\d_a-zA-Z{_NOT_SECOND}](?:[^\W\d_a-zA-Z{_NOT_THIRD}])?"
_ANY_NAME = r"[A-Z][a-z]+(?: [A-Z][a-z]+)?|[A-Za-z_]+(?:[-_][A-Za-z0-9]+)+|[A-Z][A-Za-z]+-?\d*"
_ZH_RULES = {
    "quoted_called": (
        r"(?:叫|名|名字|代号|招牌|店|是|项目|群|游戏|公会|系统|定的|写的|取|称|乐队|画室|会长|排表的?|养|朋友开的|"
        r"小)[^,，。\"“「《『]{0,6}[,，]?[\"“「《『](?P<n>[^\"”」》』]{1,16})[\"”」》』]"
    ),
    "quoted_then": r"[\"“「《『](?P<n>[^\"”」》』]{2,12})[\"”」》』][,，](?=[^,，。]{1,16})",
    "called": (
        r"(?:叫做?|名叫|全名|取名|名为|代号|名[字称]?(?:就)?[叫是]|主机名是|起名)(?!我|你|什么|车|人|了|他|她|"
        rf"它|做|到)(?P<n>{_ANY_NAME}|"
        r"[\u4e00-\u9fff]{2,5}?)(?=[,，。!！、~ ]|$|的|在|是|基于|，)"
    ),
    "surnamed": r"姓(?P<s>[\u4e00-\u9fff])[,，](?:叫)?(?P<n>(?P=s)[\u4e00-\u9fff]{1,3}?)(?=[,，。!！]|$|的|在)",
    "surname_only": r"[^名本]姓(?P<n>[\u4e00-\u9fff])(?=[。]|$)",
    "relation": rf"(?:{_ZH_PERSON})(?:[,，:：是叫]|姓.[,，])?(?P<n>{_HAN_NAME}|阿[\u4e00-\u9fff]|"
    "[大小老][{_SURNAMES}]|{_ANY_NAME})",
    "relation_space": rf"(?:{_ZH_NOUNS})[^,，。]{{0,3}} (?P<n>{_ANY_NAME})",
    "is_ours": (
        rf"(?:^|[,，:：。])(?P<n>{_HAN_NAME}|[\u4e00-\u9fff]{{2,3}}?)(?:是|[,，])(?:我|我们|咱|咱们|我家)(?:的|"
        rf"们的)?[^,，。]{{0,6}}(?:{_ZH_NOUNS})"
    ),
    "in_charge": rf"(?:是|找|联系|归)(?P<n>{_HAN_NAME})(?=在|管|负责|[,，。]|$)",
    "titled": (
        rf"(?:[是找给姓,，教为]|^)(?P<n>[{_SURNAMES}][\u4e00-\u9fff]?(?:老先生|老师|医[生师]|大夫|师傅|律师|"
        r"经理|主任|总监|先生|小姐|女士|阿姨|大爷|法官|会计|教授|护士|"
        r"老板))(?!的?[订单]单)"
    ),
    "company": (
        r"(?:[是叫在给到:：方]|的|家|供货商|供应商|客户|物业|公司|搬到|发给|欠|^)(?P<n>(?!我|这|那|一|哪|自己|"
        r"公司|是|叫)[\u4e00-\u9fff]{2,8}?"
        r"(?:公司|科技|律师事务所|事务所|诊所|小学|中学|大学|医院|家居|豆制品|集团|银行|工作室|大厦|机电|贸易|"
        r"物流|餐饮|酒店|民宿|画室|物业|快修|磨坊|超市|商行|食品|建材))(?=[,，。!！ ]|$|的|欠|"
        r"\d|做|四|在|办|，)"
    ),
    "house_of": r"(?:一家|一个|家)叫(?P<n>[\u4e00-\u9fff]{2,6}?)的",
    "pet": r"(?:我家|家里|我们家|我養|我养|的)[^,，。]{0,4}(?:猫咪?|狗狗?|兔子?|鹦鹉|"
    "乌龟)[,，叫是]?(?:名字就?叫)?(?P<n>[\u4e00-\u9fff]{2,3})(?=[,，。]|$)",
    "place": r"(?:回|去|在|到|住)(?P<n>[\u4e00-\u9fff]{2,4}(?:坳|村|镇|庄|屯|湾|屿|寨|沟|岭|坡|里))(?=[,，。的]|$)",
    "code_place": (
        r"(?:仓库|repo|服务|表|系统|项目|主机|代码放在|分支|放在|建在|名字是|都?在|一个|叫|老系统) ?(?:名字是|是|叫|"
        r"里头)? ?(?P<n>[A-Za-z]+(?:[-_][A-Za-z0-9]+)+)(?! ?(?:表里|里没))"
    ),
    "lone": r"(?:有个|我们的?|那个|这个)[^,，。]{0,6}[,，](?P<n>[\u4e00-\u9fff]{2,4})[,，]",
    "friend": rf"(?:有个|有一个|个)[^,，。]{{0,6}}[,，](?P<n>{_HAN_NAME})(?=[,，])",
    "agent_is": r"(?:代理|供|负责|接|管)[^,，。]{1,12}的是(?P<n>[\u4e00-\u9fff]{2,12}?)(?=[,，。]|$)",
    "client_is": r"(?:客户|甲方|供货商|供应商|物业)[是叫](?P<n>[\u4e00-\u9fff]{3,10})(?=[,，。]|$)",
}
_ZH = {name: re.compile(pattern) for name, pattern in _ZH_RULES.items()}
RULE_NAMES = (*_EN_RULES, *_ID, *(f"zh_{name}" for name in _ZH_RULES))
_HAS_HAN = re.compile(r"[\u3400-\u9fff]")
_NO_NAME = re.compile(r"(?:什么|哪|谁|怎么|没有|不是|这样|那样|随便)|^(?:一|两|三|几|有|在|是|我|你|他|她|它)|^[A-Z]{1,4}$")
_UNIT = re.compile(r"^\d+(?:年|月|日|号|点|分|块|元|个|斤|岁|%|st|nd|rd|th|am|pm|kg|ml|g|k|m|s|h|cm|mm|GB|MB|x)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a turn, the sort of thing it names, and the rule that found it."""

    text: str
    type: str
    rule: str
    start: int


def find_names(text: str, known: str = "") -> list[Name]:
    """Names a text introduces, in their order, each once; without those that `known` has."""
    found: list[Name] = []
    for name in sorted(_find_all(text), key=lambda one: (one.rule not in _ID, one.start, -len(one.text))):
        end = name.start + len(name.text)
        overlaps = any(one.start < end and name.start < one.start + len(one.text) for one in found)
        if not overlaps and name.text not in known and all(one.text != name.text for one in found):
            found.append(name)
    return sorted(found, key=lambda one: one.start)[:MAX_NAMES]


def has_name(text: str) -> bool:
    """Whether a text introduces a name."""
    return next(_find_places(text, simplify(text)), None) is not None


def guess_names(text: str, common: Collection[str]) -> list[Name]:
    """The one word of a text that is most likely a name where no rule finds one: the first that is not common, or nothing."""
    plain = simplify(text)
    words = rjieba.cut(plain) if _HAS_HAN.search(plain) else _WORDS.findall(plain)
    for word in sorted(dict.fromkeys(words), key=lambda one: (one.islower(), plain.find(one))):
        start = plain.find(word)
        if len(word) > 1 and word[0].isalnum() and word.lower() not in common and word.lower() not in KNOWN:
            return [Name(text[start : start + len(word)], _type_near(plain, start, "name"), "rare", start)]
    return []


def _find_all(text: str) -> Iterator[Name]:
    plain = simplify(text)
    for start, name, rule, default in _find_places(text, plain):
        yield Name(name, _type_near(plain, start, default), rule, start)


def _find_places(text: str, plain: str) -> Iterator[tuple[int, str, str, str]]:
    """Where names are, what they are, the rule that found each, and the sort of thing it names where nothing near tells."""
    is_chinese = _HAS_HAN.search(plain) is not None
    for rule, pattern in _ID.items():
        for match in pattern.finditer(plain):
            name = text[match.start("n") : match.end("n")].strip()
            if _is_number_name(name, rule):
                yield match.start("n"), name, rule, "number"
    for rule, pattern in (_ZH if is_chinese else _EN).items():
        for match in pattern.finditer(plain):
            start, name = _without_opening(text, match)
            if is_chinese and _is_chinese_name(name):
                yield start, name, f"zh_{rule}", "name"
            elif not is_chinese and _is_english_name(name):
                yield start, name, rule, "person" if rule in ("title", "age") else "name"


def _without_opening(text: str, match: re.Match[str]) -> tuple[int, str]:
    """A name's place and text without the words before it that a sentence begins with, and without a possessive."""
    start, name = match.start("n"), match["n"]
    while (first := name.partition(" ")[0]) != name and first.lower() in OPENINGS:
        start += len(first) + 1
        name = name[len(first) + 1 :]
    name = text[start : start + len(name)].rstrip(" ,.'’")
    return start, name.removesuffix("'s").removesuffix("’s")


def _is_number_name(name: str, rule: str) -> bool:
    digits = sum(char.isdigit() for char in name)
    if (
        name.lower() in KNOWN
        or (_UNIT.match(name) and (digits < 4 or rule == ("code")))
        or re.fullmatch((r"\d{4}-\d\d-\d\d|\d{1,2}/\d{1,2}|(?:19|20)\d\d"), name)
    ):
        return False
    return digits >= 1 and len(name) >= 2


def _is_english_name(name: str) -> bool:
    words = re.findall(r"[\w'’-]+", name.lower())
    if not words or len(name) > NAME_CHARS or len(name) < 2:
        return False
    content = [word for word in words if word not in KNOWN and word.removesuffix("'s").removesuffix("’s") not in KNOWN]
    return (bool(content) and words[0] not in ("i", "i'm", "it", "the")) or len(content) > 1


def _is_chinese_name(name: str) -> bool:
    return 0 < len(name) <= NAME_CHARS and not _NO_NAME.search(name) and name.lower() not in KNOWN


def _type_near(text: str, start: int, default: str) -> str:
    """The sort of thing by the last telling word before a name, or else the first behind it."""
    before, behind = text[max(0, start - 40) : start].lower(), text[start : start + 60].lower()
    if _HAS_HAN.search(text):
        places = [
            (before.rfind(word) + len(word), kind) for word, kind in _TYPE_OF.items() if not word.isascii() and word in before
        ]
        places = places or [
            (-behind.find(word), kind) for word, kind in _TYPE_OF.items() if not word.isascii() and word in behind
        ]
        return max(places, default=(0, default))[1]
    words = [*reversed(re.findall(r"[a-z]+", before)), *re.findall(r"[a-z]+", behind)]
    kinds = (_TYPE_OF.get(word) or _TYPE_OF.get(word.removesuffix("s")) for word in words)
    return next((kind for kind in kinds if kind), default)
