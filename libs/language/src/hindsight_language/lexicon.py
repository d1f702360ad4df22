"""The words by which a contradiction is recognised, in English and Chinese."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _pairs(words: str) -> tuple[tuple[str, str], ...]:
    """Pairs from words such as "on/off"."""
    return tuple((pair.partition("/")[0], pair.partition("/")[2]) for pair in words.split())


def alternatives(words: str) -> str:
    """A regular expression that matches any of the words, the longest first."""
    return "|".join(sorted(words.split(), key=len, reverse=True))


# Keys under which anything is kept: they name no subject and ask for nothing.
GENERIC_KEYS = _set(
    "user users note notes fact facts memory memories info information misc general other others agent person people "
    "preference preferences context remember todo todos log data text message 用户 笔记 备注 事实 信息 记录 其他 其它 偏好 "
    "用户偏好 用户信息 用户资料 喜好 记忆 待办 随记 杂项 资料 消息 备忘"
) | {"user preference", "user preferences", "user info", "user fact", "user facts"}

# The head of a key that asks for exactly one answer, by the type of the answer.
ASKED = {
    "name": _set(
        "manager lead leader head boss owner ceo cto cfo chair chairman chairwoman chairperson captain director doctor "
        "dentist landlord "
        "landlady teacher coach tutor supplier carrier accountant president spouse wife husband assistant reviewer "
        "approver maintainer "
        "engineer host driver translator supervisor principal mayor organizer organiser treasurer secretary mentor "
        "advisor keeper "
        "city town home location address place country hometown residence employer company"
    ),
    "time": _set("time date day deadline hours start end birthday schedule slot expiry due"),
    "number": _set(
        "budget price cost amount size count age salary port rent fee weight height quota limit total score version rate capacity"
    ),
    "color": _set("color colour"),
}
ASKED_ZH = {
    "name": alternatives(
        "主管 经理 负责人 店长 班主任 主任 老板 联系人 组长 队长 司机 校长 总监 主持人 房东 医生 管家 供应商 承运商 "
        "会计 管理员 维护人 维护者 "
        "站长 厂长 院长 馆长 家教 老师 教练 导师 雇主 公司 城市 住处 住址 地址 地点 位置 家乡 所在地 居住地"
    ),
    "time": alternatives("时间 日期 截止 截止日 截止日期 生日 日子 钟点 到期日"),
    "number": alternatives("预算 价格 费用 金额 数量 年龄 工资 薪水 端口 房租 租金 体重 身高 上限 总额 版本 容量 人数 单价"),
    "color": alternatives("颜色"),
}
ROLES = ASKED["name"] - _set("city town home location address place country hometown residence")
ROLES_ZH = alternatives(
    "主管 经理 负责人 店长 班主任 主任 老板 组长 队长 司机 校长 总监 主持人 房东 医生 管家 会计 管理员 维护人 维护者 "
    "站长 厂长 院长 馆长 家教 "
    "老师 教练 导师"
)
RESPONSIBLE = _set(
    "manag run lead head handl chair own overse maintain respons charg teach drive host edit supervis organ"
)  # stems
# A subject of which there is one at a time, so that "is" gives it one value, whatever the value is.
SINGLE = _set(
    "favorite favourite preferred current main primary default only official capital password budget deadline price version "
    "status state language timezone address birthday nickname surname employer hostname port url branch locale theme name"
)
SINGLE_ZH = alternatives(
    "最喜欢的 最爱的 首选 当前 主要 默认 唯一 预算 截止日期 截止时间 价格 版本 状态 语言 时区 地址 住址 生日 昵称 端口 "
    "主题 名字 工作单位 单价 月租 房租"
)
STATE_KEYS = r"\b(?:status|state|stage|progress|phase|step)\b|状态|进度|阶段|进展|情况"

# Steps of one thing's way from planned to done. Stems in English.
PROGRESS = _set(
    "draft file submit grant reject approv ship deliv deliver pack paid cancel complet done start finish pend close "
    "merg deploy releas test "
    "review sign archiv receiv order place confirm schedul run stop fail succeed plan queu readi ready book resolv "
    "block wait open progress "
    "prepar publish refund dispatch accept assign develop design return expir suspend paus launch transit hold arriv "
    "process issu"
)
PROGRESS_ZH = alternatives(
    "下单 发货 签收 付款 支付 退款 打包 审核 批准 提交 递交 完成 完工 开始 测试 上线 发布 取消 关闭 准备 起草 通过 "
    "驳回 收到 送达 派送 配送 出库 入库 "
    "揽收 处理 解决 合并 部署 开发 设计 验收 交付 归档 暂停 批 办理 办好 办完 受理 排队 等待 运输 到货 结案 结束 启动 "
    "施工 收货 评审 打样 量产 退货"
)

ADDITIVE = (
    r"\b(?:also|too|as well|another|additionally|besides)\b|也(?!许|门)|(?<![归偿])还(?!款|是|在|没|未|钱|有待|原)|另外|同时"
)
# Not a statement about the present: a wish, a plan, a possibility, a memory of earlier days.
UNREAL = (
    r"\b(?:might|may|maybe|perhaps|would|could|should|if|plans?|planning|wants?|hopes?|considers?|considering|thinking|"
    r"wish(?:es)?|"
    r"will|going to|about to|used to|formerly|previously|once|asks?|asked|whether|probably|possibly|almost|tomorrow|next)\b"
    r"|\b(?:was|were)\b(?! (?:moved|relocated|changed|switched|raised|lowered|set|updated|increased|reduced|cut|"
    r"postponed|rescheduled|"
    r"pushed|brought|delayed|extended|upgraded|transferred|shifted))"
    r"|可能|也许|或许|大概|如果|要是|假如|打算|计划(?!是|书)|考虑|想|希望|将要|即将|以前|曾经|曾|原来|过去|当时|之前|"
    r"那时|是否|吗|差点|下周|下个?月|明天|明年"
)
NOW = (
    r"\b(?:now|currently|nowadays|as of now|from now on|these days|instead|any ?more|any longer|at the moment)\b|"
    r"现在|如今|目前|改|换|从此|以后都|往后"
)
# Words that say when it was learned, or that it is new; a frame is the same with and without them.
PASSING = (
    r"\b(?:now|currently|already|just|recently|finally|nowadays|as of now|from now on|these days|instead|any ?more|"
    r"any longer|still|yet|"
    r"at the moment|right)\b"
)
PASSING_ZH = (
    r"现在|目前|如今|已经|刚刚|最近|上周|上个?月|昨天|今天|今年|去年|从此|以后都|往后|"
    r"(?<=[\u3400-\u9fff])了(?!解|结|不)"
)

WEEKDAYS = "mondays? tuesdays? wednesdays? thursdays? fridays? saturdays? sundays? weekdays weekends"
MONTHS = "january february march april may june july august september october november december"
COLORS = _set("red blue green yellow black white grey gray orange purple pink brown violet turquoise beige silver gold")
COLORS_ZH = "[红蓝绿黄黑白灰橙紫粉棕青]色?"
NUMBERS = _set(
    "one two three four five six seven eight nine ten eleven twelve thirteen fifteen twenty thirty forty fifty sixty "
    "seventy eighty ninety "
    "hundred thousand million half dozen"
)

# Words after which a number is an amount or a place in a list, not the name of what the word before it means.
BEFORE_AMOUNTS = _set(
    "is are was were be to of at in on by for from about around under over above below and or than has have had costs "
    "cost weighs takes "
    "needs lasts holds seats with least most exactly only nearly almost the a an every until till since after before "
    "between within uses "
    "requires allows earns totals equals measures reached now not no plus minus per"
) | frozenset(MONTHS.split())

ANTONYMS = (
    ("on", "off"), ("open", "close"), ("open", "shut"), ("dark", "light"), ("enabl", "disabl"), ("allow", "forbidden"),
    ("allow", "forbid"), ("allow", "prohibit"), ("allow", "ban"), ("permit", "forbidden"), ("yes", "no"), ("true", "fals"),
    ("like", "dislik"), ("like", "hate"), ("love", "hate"), ("enjoy", "hate"), ("enjoy", "dislik"), ("up", "down"),
    ("onlin", "offlin"), ("public", "privat"), ("mandatori", "option"), ("requir", "option"), ("marri", "singl"),
    ("marri", "divorc"), ("full", "empti"), ("empti", "stock"), ("lock", "unlock"), ("activ", "inact"), ("avail", "unavail"),
    ("short", "long"), ("brief", "detail"), ("formal", "inform"), ("support", "oppos"), ("healthi", "sick"), ("safe", "unsaf"),
    ("vegetarian", "omnivor"), ("paid", "unpaid"), ("accept", "refus"), ("accept", "declin"), ("trust", "distrust"),
    ("early", "late"), ("earli", "late"), ("aisl", "window"), ("left-hand", "right-hand"), ("accept", "reject"),
)  # fmt: skip
ANTONYMS_ZH = _pairs(
    "打开/关闭 开着/关着 开启/关闭 开放/关闭 喜欢/讨厌 喜欢/反感 允许/禁止 深色/浅色 "
    "启用/停用 启用/禁用 在线/离线 支持/反对 公开/私密 公开/保密 免费/收费 单身/已婚 "
    "结婚/离婚 可以/不可以 必须/不必 上锁/没锁 简短/详细 正式/随意 靠窗/靠过道 开灯/关灯 "
    "同意/反对 同意/拒绝 接受/拒绝 素食/荤食 早起/晚起 有货/缺货 营业/歇业 信任/不信任 "
    "已付/未付 在职/离职 开门/关门 深/浅 开/关 有/无"
)
# Of these one can do several: another object adds to the first, and takes nothing away.
SEVERAL = _set(
    "like love enjoy hate dislik know speak have has own buy bought read visit learn met meet support collect follow "
    "need recommend "
    "allergi afraid studi see saw"
)
SEVERAL_ZH = r"喜欢|爱|会(?!议)|认识|买|去过|看过|有|懂|讨厌|过敏|学|支持|收藏|吃过|拥有"
# Of those one has several, so that naming another adds to them.
# Behind these stands what narrows a statement down.
NARROWING = _set("after before in at on with for during every while when by until if near from")
PLURAL_NOUNS = _set(
    "friend colleague child son daughter brother sister cousin neighbour neighbor customer client hobby skill allergy "
    "pet language supplier goal "
    "interest member task ingredient option risk colleagu"
)
PLURAL_NOUNS_ZH = alternatives("朋友 同事 孩子 儿子 女儿 兄弟 姐妹 邻居 客户 爱好 技能 过敏 宠物 成员 目标 兴趣")
