# ruff: noqa: E501 - a case is a line
"""Which statements contradict each other, and which stay beside each other, in English and Chinese."""

import pytest
from hindsight_ingest.conflicts import Statement, contradicts

# kind, key, what is there, what is new, the rule or "" where both stand
CASES = [  # one a line
    ("fact", "coffee", "Oleg likes coffee after dinner.", "Oleg no longer likes coffee after dinner.", "negation"),
    ("fact", "咖啡", "老何喜欢饭后喝咖啡。", "老何不再喜欢饭后喝咖啡了。", "negation"),
    ("fact", "smoking", "Rosa smokes.", "Rosa quit smoking.", "negation"),
    ("fact", "吸烟", "老罗抽烟。", "老罗戒烟了。", "negation"),
    ("fact", "lift", "The lift stops at the third floor.", "The lift doesn't stop at the third floor.", "negation"),
    ("fact", "电梯", "电梯停三楼。", "电梯不停三楼。", "negation"),
    ("fact", "coffee", "Oleg likes coffee after dinner.", "Oleg no longer likes coffee.", "negation"),
    ("fact", "coffee", "Oleg does not like coffee after dinner.", "Oleg likes coffee.", ""),
    ("fact", "allergies", "Mia is allergic to penicillin.", "Tessa is not allergic to penicillin.", ""),
    ("fact", "过敏", "欣欣对青霉素过敏。", "糖糖对青霉素不过敏。", ""),
    ("fact", "过敏", "欣欣对青霉素过敏。", "欣欣对青霉素不过敏。", "negation"),
    ("fact", "invoices", "Always send invoices by mail.", "Never send invoices by mail.", "negation"),
    ("fact", "发票", "发票要寄纸质的。", "发票不要寄纸质的。", "negation"),
    ("fact", "lift", "By day the lift stops at the third floor.", "By night the lift does not stop at the third floor.", ""),
    ("fact", "电梯", "白天电梯停三楼。", "夜里电梯不停三楼。", ""),
    ("fact", "car", "Ada has a car.", "Ada has no car.", "negation"),
    ("fact", "车", "阿丽有车。", "阿丽没有车。", "negation"),
    ("fact", "diet", "Noor eats meat.", "Noor has stopped eating meat.", "negation"),
    ("fact", "theme", "Ada prefers dark mode.", "Ada prefers light mode.", "antonym"),
    ("fact", "主题", "小林喜欢深色主题。", "小林喜欢浅色主题。", "antonym"),
    ("fact", "alarm", "The alarm is on.", "The alarm is off.", "antonym"),
    ("fact", "警报", "警报开着。", "警报关着。", "antonym"),
    ("fact", "shop", "The shop is open.", "The shop is closed.", "antonym"),
    ("fact", "tea", "Ada likes tea.", "Ada hates tea.", "antonym"),
    ("fact", "茶", "小林喜欢茶。", "小林讨厌茶。", "antonym"),
    ("fact", "tea", "Ada likes tea.", "Bo hates tea.", ""),
    ("fact", "door", "The left door is open.", "The right door is closed.", ""),
    ("fact", "门", "左边的门开着。", "右边的门关着。", ""),
    ("fact", "warehouse manager", "Henrik Falk manages the Malmö warehouse.", "Sunniva Dahl manages the Malmö warehouse.", "holder"),
    ("fact", "仓库主管", "常熟仓由方志远主管。", "常熟仓由殷小梅主管。", "value"),
    ("fact", "仓库主管", "方志远负责常熟仓。", "殷小梅负责常熟仓。", "holder"),
    ("fact", "home city", "Ada lives in Turin.", "Ada moved to Lisbon last week.", "value"),
    ("fact", "城市", "小林住在绍兴。", "小林搬到了泉州。", "value"),
    ("fact", "home town", "Ana lives in Braga.", "João lives in Évora.", ""),
    ("fact", "住处", "小杨住在绍兴。", "阿香住在泉州。", ""),
    ("fact", "home town", "Ana lives in Braga.", "João lives in Braga.", ""),
    ("fact", "住处", "小杨住在绍兴。", "阿香住在绍兴。", ""),
    ("fact", "budget", "The budget is 3,000.", "The budget is 4,500.", "value"),
    ("fact", "预算", "预算是三千元。", "预算是四千五百元。", "value"),
    ("fact", "预算", "预算三千元。", "预算改成四千五百元。", "value"),
    ("fact", "budget", "The budget for May is 3,000.", "The budget for June is 4,500.", ""),
    ("fact", "预算", "五月的预算是三千元。", "六月的预算是四千元。", ""),
    ("fact", "office", "The office is in Porto.", "The office moved to Lyon.", "value"),
    ("fact", "公司地址", "公司在杭州。", "公司搬到了苏州。", "value"),
    ("fact", "team meeting", "The team meeting is on Tuesday.", "The team meeting was moved to Thursday.", "value"),
    ("fact", "例会", "例会定在周二。", "例会改到周四。", "value"),
    ("fact", "team meeting", "The team meeting is on Tuesday.", "The team meeting is at 3 pm.", ""),
    ("fact", "例会", "例会在周二。", "例会在三楼。", ""),
    ("fact", "favorite color", "Ada's favourite color is blue.", "Ada's favourite color is green.", "value"),
    ("fact", "颜色", "小林最喜欢的颜色是蓝色。", "小林最喜欢的颜色是绿色。", "value"),
    ("fact", "colors", "Ada likes blue.", "Ada likes green.", ""),
    ("fact", "颜色", "小林喜欢蓝色。", "小林喜欢绿色。", ""),
    ("fact", "job", "Ada works at Acme.", "Ada now works at Globex.", "value"),
    ("fact", "工作", "小林在阿里工作。", "小林在腾讯工作。", "value"),
    ("fact", "room", "The workshop is in room 4.", "The workshop is in room 7.", "value"),
    ("fact", "rooms", "Room 4 has a projector.", "Room 7 has a projector.", ""),
    ("fact", "order status", "Order 17 is packed and waits for the courier.", "Order 18 is packed and waits for the courier.", ""),
    ("fact", "订单状态", "17 号订单已打包，等快递来取。", "18 号订单已打包，等快递来取。", ""),
    ("fact", "order status", "Order 17 is packed.", "Order 18 has shipped.", ""),
    ("fact", "订单状态", "订单17已发货", "订单18已签收", ""),
    ("fact", "order status", "Order 17 is packed.", "Order 17 has shipped.", "state"),
    ("fact", "订单状态", "订单17已发货", "订单17已签收", "state"),
    ("fact", "订单状态", "订单十七已发货", "17号订单已签收", ""),
    ("fact", "drinks", "Ada likes coffee.", "Ada likes tea.", ""),
    ("fact", "饮料", "小林喜欢咖啡。", "小林喜欢茶。", ""),
    ("fact", "drinks", "Ada likes coffee.", "Ada now likes tea.", ""),
    ("fact", "drinks", "Ada prefers tea over coffee.", "Ada prefers coffee over tea.", "order"),
    ("fact", "饮料", "小林更喜欢茶而不是咖啡。", "小林更喜欢咖啡而不是茶。", "order"),
    ("fact", "editor", "Ada uses Vim.", "Ada uses Emacs.", ""),
    ("fact", "editor", "Ada uses Vim.", "Ada now uses Emacs.", "change"),
    ("fact", "编辑器", "小林用Vim写代码。", "小林现在用Emacs写代码。", "change"),
    ("fact", "editor", "Ada uses Vim.", "Ada also uses Emacs now.", ""),
    ("fact", "home city", "Ada lives in Turin.", "Ada plans to move to Lisbon.", ""),
    ("fact", "城市", "小林住在绍兴。", "小林打算搬到泉州。", ""),
    ("fact", "home city", "Ada lives in Turin.", "Ada used to live in Lisbon.", ""),
    ("fact", "home city", "Ada lives in Turin.", "Ada lives in the old town of Turin.", ""),
    ("fact", "age", "Ada is 34.", "Ada is 35.", "value"),
    ("fact", "Ada", "Ada is 34 years old.", "Ada is 170 cm tall.", ""),
    ("fact", "Ada", "Ada is a nurse.", "Ada is a mother.", ""),
    ("fact", "小林", "小林是护士。", "小林是妈妈。", ""),
    ("fact", "friend", "Ada's friend is Tom.", "Ada's friend is Bo.", ""),
    ("fact", "budget", "3,000", "4,500", "answer"),
    ("fact", "预算", "三千元", "四千五百元", "answer"),
    ("fact", "home city", "Turin", "Lisbon", "answer"),
    ("fact", "allergies", "peanuts", "milk", ""),
    ("fact", "note", "Buy milk", "Buy bread", ""),
    ("fact", "笔记", "买牛奶", "买面包", ""),
    ("fact", "user", "Ada lives in Turin.", "Ada moved to Lisbon.", ""),
    ("fact", "user", "Ada lives in Turin.", "Ada lives in Lisbon.", "value"),
    ("fact", "note", "The printer is on the second floor.", "The printer is on the third floor.", "value"),
    ("fact", "版本", "当前版本是3.9。", "当前版本是3.10。", "value"),
    ("fact", "release", "The current version is 3.9.", "The current version is 3.10.", "value"),
    ("fact", "release", "Release 3.9 needs a restart.", "Release 3.10 needs a rebuild.", ""),
    ("fact", "museum hours", "The museum opens at ten o'clock.", "The museum opens at 11 am.", "value"),
    ("fact", "博物馆时间", "博物馆十点开门。", "博物馆十一点开门。", "answer"),
    ("fact", "key", "The spare key is in the drawer.", "The spare key is on the shelf.", "value"),
    ("state", "visa application state", "The visa application is being drafted.", "The visa application has been filed.", "state"),
    ("state", "visa application state", "The visa application has been filed.", "The visa application has been granted.", "state"),
    ("state", "签证办理状态", "签证材料正在准备。", "签证材料已经递交。", "state"),
    ("state", "签证办理状态", "签证材料已经递交。", "签证已经批下来了。", "state"),
    ("state", "项目", "项目进入开发阶段。", "项目进入测试阶段。", "state"),
    ("state", "car", "The car is parked at home.", "The car is low on fuel.", ""),
    ("state", "订单状态", "已下单", "已发货", "state"),
    ("state", "order status", "placed", "shipped", "state"),
    ("fact", "purchases", "Ada bought 3 apples.", "Ada bought 5 apples.", ""),
    ("fact", "购物", "小林买了三个苹果。", "小林买了五个苹果。", ""),
    ("fact", "heating bill", "The heating bill was 212 euros.", "The heating bill was 31 euros.", ""),
    ("fact", "contact", "陈立 signs contracts and answers on 微信 only.", "陈丽 pays invoices and answers by mail only.", ""),
    ("fact", "home city", "Ada moved to Lisbon.", "Ada lives in Graz.", "value"),
    ("fact", "城市", "小林搬到了泉州。", "小林住在绍兴。", "value"),
    ("fact", "job", "Ada works at Acme.", "Ada moved to Lisbon.", ""),
    ("fact", "home city", "Ada moved to Lisbon.", "Ada is in Porto.", ""),
    ("fact", "工作", "小林在阿里工作。", "小林跳槽到腾讯了。", "value"),
    ("fact", "salary", "Bo's salary is 3,000 euros.", "Bo's salary was raised to 3,400 euros.", "value"),
    ("fact", "rent", "The rent went up from 800 to 900 euros.", "The rent is 950 euros.", "value"),
    ("fact", "房租", "房租是三千元。", "房租涨到三千五百元了。", "value"),
    ("fact", "deadline", "The deadline is 5 May.", "The deadline was extended to 9 May.", "value"),
    ("fact", "截止日期", "截止日期是5月3日。", "截止日期推迟到5月9日。", "value"),
    ("fact", "carrier", "Redline ships our parcels.", "Blueline ships our parcels.", ""),
    ("fact", "班主任", "三班的班主任是王芳。", "三班的班主任是李强。", "value"),
    ("fact", "team lead", "The team lead is Tom.", "The team lead is Mira.", "value"),
    ("fact", "team", "Tom is the team lead.", "Mira is the team lead.", "holder"),
    ("fact", "team", "Tom is on the team.", "Mira is on the team.", ""),
    ("fact", "managers", "Tom manages the shop.", "Mira manages the shop.", ""),
    ("fact", "dentist", "Dr Roth is Ada's dentist.", "Dr Weil is Ada's dentist.", "answer"),
    ("fact", "printer", "打印机在二楼。", "打印机挪到三楼了。", "value"),
    ("fact", "server", "The server listens on port 8080.", "The server listens on port 9090.", ""),
    ("fact", "port", "The server port is 8080.", "The server port is 9090.", "value"),
    ("fact", "timeout", "timeout = 30", "timeout = 60", "value"),
    ("fact", "超时", "超时：30秒", "超时：60秒", "value"),
    ("fact", "api", "请求超时是30秒。", "连接超时是60秒。", ""),
    ("fact", "api", "The request timeout is 30 seconds.", "The connect timeout is 60 seconds.", ""),
    ("fact", "wifi", "The guest network is called Lobby.", "The guest network is called Atrium.", "value"),
    ("fact", "wifi", "访客网络叫大厅。", "访客网络改名为中庭。", "value"),
    ("fact", "cat", "Mira's cat is called Pip.", "Bo's cat is called Nox.", ""),
    ("fact", "diet", "Noor is vegetarian.", "Noor is not vegetarian any more.", "negation"),
    ("fact", "饮食", "小林吃素。", "小林不吃素了。", "negation"),
    ("fact", "饮食", "小林吃香菜。", "小林不吃花生。", ""),
    ("fact", "notifications", "Send e-mail notifications.", "Do not send e-mail notifications.", "negation"),
    ("fact", "通知", "发邮件通知。", "不要发邮件通知。", "negation"),
    ("fact", "通知", "发邮件通知。", "不要发短信通知。", ""),
    ("fact", "language", "Answer in English.", "Answer in Chinese.", ""),
    ("fact", "language", "Answer in English.", "From now on answer in Danish.", "change"),
    ("fact", "meeting", "We meet on Tuesdays.", "We meet on Thursdays.", ""),
    ("fact", "opening hours", "The café opens at 8 am.", "The café closes at 6 pm.", ""),
    ("fact", "kids", "Ada has two children.", "Ada has three children.", "value"),
    ("fact", "孩子", "阿丽有两个孩子。", "阿丽有三个孩子。", ""),
    ("fact", "todo", "Call Bo on Monday.", "Call Mira on Monday.", ""),
    ("fact", "fact", "Paris is in France.", "Rome is in Italy.", ""),
    ("fact", "project", "The project Alder is paused.", "The project Birch is paused.", ""),
    ("fact", "project status", "Alder is in testing.", "Birch is in testing.", ""),
    ("fact", "项目状态", "青松项目已上线。", "白桦项目已上线。", ""),
    ("fact", "项目状态", "青松项目在开发。", "青松项目已上线。", "state"),
    ("fact", "ticket status", "OPS-31 is open.", "OPS-31 is closed.", "antonym"),
    ("fact", "ticket status", "OPS-31 is open.", "OPS-310 is closed.", ""),
    ("fact", "job", "Ada is a teacher.", "Ada is a nurse.", ""),
    ("fact", "seat", "Ada prefers an aisle seat.", "Ada prefers a window seat.", "antonym"),
    ("fact", "座位", "小林坐飞机喜欢靠窗。", "小林坐飞机喜欢靠过道。", "antonym"),
    ("fact", "spouse", "Ada is married to Bo.", "Ada is married to Tom.", "value"),
    ("fact", "coffee", "Oleg might no longer like coffee.", "Oleg likes coffee.", ""),
    ("fact", "birthday", "Ada's birthday is 3 May.", "Bo's birthday is 4 June.", ""),
    ("fact", "生日", "小林的生日是5月3日。", "小王的生日是6月4日。", ""),
    ("fact", "生日", "小林的生日是5月3日。", "小林的生日是5月8日。", "value"),
    ("fact", "weather", "It is raining in Porto.", "It is raining in Lyon.", ""),
    ("fact", "phone", "Ada's phone number is 0151 2233.", "Ada's phone number is 0160 4455.", "value"),
    ("fact", "stock", "We have 40 chairs.", "We have 55 chairs.", "value"),
    ("fact", "库存", "椅子有40把。", "椅子有55把。", ""),
    ("fact", "库存数量", "椅子有40把。", "椅子有55把。", "answer"),
    ("fact", "库存数量", "椅子有40把。", "桌子有55张。", ""),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "key", "older", "newer", "rule"), CASES)
def test_a_contradiction_is_told_from_two_statements(kind: str, key: str, older: str, newer: str, rule: str):
    assert contradicts(Statement(key, newer, kind), Statement(key, older, kind)) == rule


@pytest.mark.parametrize(("kind", "key", "older", "newer", "rule"), [c for c in CASES if c[4]])
def test_nothing_contradicts_itself_or_a_longer_text_around_it(kind: str, key: str, older: str, newer: str, rule: str):
    for text in (older, newer):
        assert contradicts(Statement(key, text, kind), Statement(key, text, kind)) == ""
    around = f"{older} Something else was said as well. 另外还说了别的。"
    assert contradicts(Statement(key, newer, kind), Statement(key, around, kind)) == ""


def test_the_one_sentence_that_differs_decides():
    older = "Ada works at Acme. Ada lives in Turin. She has a dog."
    newer = "Ada works at Acme. Ada lives in Lisbon. She has a dog."
    assert contradicts(Statement("home city", newer), Statement("home city", older)) == "value"
    both = "Ada works at Globex. Ada lives in Lisbon. She has a dog."
    assert contradicts(Statement("home city", both), Statement("home city", older)) == ""


def test_a_key_that_names_no_subject_asks_for_likeness():
    older, newer = "Ada lives in Turin.", "Ada moved to Lisbon."
    assert contradicts(Statement("home city", newer), Statement("home city", older)) == "value"
    for key in ("user", "note", "用户", "Notes "):
        assert contradicts(Statement(key, newer), Statement(key, older)) == ""


@pytest.mark.parametrize(
    "value",
    [
        "",
        ".",
        "。",
        "??",
        "🙂",
        "\u202e",
        "a" * 30_000,
        "是" * 5000,
        "not " * 90,
        "不" * 390,
        "1 " * 190,
        "=" * 300,
        "is " * 130,
        "从" * 390,
        "moved from " * 36,
        "由带" * 190,
    ],
)
def test_any_text_is_judged_in_short_time(value: str):
    for other in ("Ada lives in Turin.", "小林住在绍兴。", value + "x"):
        contradicts(Statement("k", value), Statement("k", other))
        contradicts(Statement("状态", other, "state"), Statement("状态", value, "state"))
