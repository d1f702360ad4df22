"""An experience's tags in three fixed dimensions: type and names of the tools, type of the task, domain. English words always,
so that a task in one language finds what one in the other taught."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from hindsight_ingest.trace import ToolCall

MAX_TYPES, MAX_TOOLS, MAX_TASKS, MAX_DOMAINS = 3, 6, 2, 3
TAG_CHARS = 64
_HAN = re.compile(r"[\u3400-\u9fff]")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[\u3400-\u9fff]+")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Tags by the words that call for them."""

    latin: Mapping[str, str]
    han: Mapping[str, str]

    def find(self, words: Sequence[str], text: str) -> list[str]:
        """Tags of words, and of the Chinese in a text, the most often called for first, then the earliest."""
        counts = Counter(tag for word in words if (tag := self.latin.get(word) or self.latin.get(word.removesuffix("s"))))
        if _HAN.search(text):
            for word, tag in self.han.items():
                counts[tag] += text.count(word)
        return [tag for tag, count in counts.most_common() if count]


def _lexicon(words: Mapping[str, str]) -> Lexicon:
    pairs = [(word, tag) for tag, known in words.items() for word in known.split()]
    return Lexicon(dict(p for p in pairs if p[0].isascii()), dict(p for p in pairs if not p[0].isascii()))


TOOL_TYPES = _lexicon(
    {
        "database": "sql database db postgres postgresql mysql sqlite mongo mongodb redis clickhouse 数据库 数据表",
        "browser": "browser page click navigate playwright puppeteer selenium screenshot dom 浏览器 网页 点击",
        "file": "file files directory folder path read_file write_file edit spreadsheet csv pdf 文件 目录 文档",
        "http": "http https api rest request fetch curl url webhook graphql endpoint 接口 请求",
        "shell": "bash shell terminal exec command cmd powershell ssh 终端 命令",
        "mail": "mail email gmail smtp imap inbox 邮件 邮箱",
        "calendar": "calendar event meeting schedule appointment 日历 日程 会议",
        "search": "search grep find lookup google bing retrieve 搜索 检索",
        "code": "git commit github gitlab lint compile test tests pytest build repo branch 代码 编译 测试",
        "payment": "payment pay refund charge invoice stripe alipay wechatpay billing transfer 支付 付款 退款 转账 发票",
        "messaging": "slack message sms chat notify notification dingtalk feishu wecom 消息 短信 通知 钉钉 飞书",
    }
)
ARGUMENT_TYPES = {
    "sql": "database", "table": "database", "selector": "browser", "xpath": "browser", "path": "file", "filename": "file",
    "file": "file", "encoding": "file", "url": "http", "headers": "http", "endpoint": "http", "command": "shell", "cmd": "shell",
    "subject": "mail", "amount": "payment", "currency": "payment", "attendees": "calendar",
}  # fmt: skip
TASK_TYPES = _lexicon(
    {
        "debug": "debug fix bug crash failing broken repair troubleshoot diagnose 修复 排查 调试 报错 故障 修一下 修好 为什么",
        "configure": "configure config setup install deploy enable disable set provision upgrade "
        "配置 安装 部署 设置 开启 启用 关闭 升级",
        "transfer": "move copy transfer upload download migrate import export sync backup "
        "移动 复制 转移 上传 下载 迁移 导入 导出 同步 备份",
        "book": "book reserve reservation booking schedule 预订 预定 预约 订一 订个 订张 订两 订机票 订酒店 订票 安排",
        "pay": "pay refund charge reimburse 支付 付款 退款 转账 报销 收款",
        "update": "update change edit rename replace modify convert correct 修改 更新 替换 改名 改成 调整 转换",
        "delete": "delete remove cancel drop clean 删除 取消 移除 清理",
        "send": "send notify reply forward post 发送 发给 发一封 发邮件 回复 通知 转发",
        "write": "write draft compose create generate add implement translate summarize "
        "写 起草 生成 创建 新建 添加 新增 翻译 总结",
        "query": "query find get list look search show check count fetch read many lookup compare sum summarise "
        "查 查询 查找 统计 对比 搜索 列出 看看 多少 哪些 获取 汇总",
    }
)
DOMAINS = _lexicon(
    {
        "user": "user account customer member profile login signup 用户 账号 账户 客户 会员 登录",
        "order": "order purchase cart checkout 订单 下单 购物车",
        "payment": "payment refund invoice charge billing price cent euro currency 支付 付款 退款 发票 账单 金额 转账",
        "travel": "flight hotel trip travel train airport 航班 机票 酒店 旅行 出差 火车 高铁 车票",
        "code": "code bug function repo repository branch commit test unittest deploy python build "
        "代码 仓库 分支 函数 测试 编译 部署",
        "data": "report database csv dataset sale revenue statistic 报表 数据 销售额 营收 统计",
        "inventory": "inventory stock warehouse product sku 库存 商品 存货",
        "logistics": "shipment delivery parcel courier tracking 物流 快递 配送 发货 运单",
        "meeting": "meeting calendar appointment 会议 日程 例会",
        "mail": "mail email inbox newsletter 邮件 邮箱",
        "document": "document contract pdf manual 文档 合同 手册 简历",
        "server": "server nginx docker kubernetes disk certificate logs 服务器 容器 磁盘 证书 日志 集群",
        "weather": "weather forecast temperature 天气 气温",
        "health": "doctor patient clinic hospital medicine 医生 患者 医院 挂号 药",
        "food": "restaurant meal recipe dinner lunch 餐厅 外卖 菜谱 晚餐 午餐",
        "education": "course student school exam 课程 学生 学校 考试 作业",
        "hr": "employee leave payroll salary attendance 员工 请假 工资 考勤 入职",
    }
)  # fmt: skip
DOMAINS_ZH = {
    "user": "用户", "order": "订单", "payment": "支付", "travel": "出行", "code": "代码", "data": "数据", "inventory": "库存",
    "logistics": "物流", "meeting": "会议", "mail": "邮件", "document": "文档", "server": "运维",
    "weather": "天气", "health": "医疗",
    "food": "餐饮", "education": "教育", "hr": "人事",
}  # fmt: skip


def split_name(name: str) -> list[str]:
    """The words of a tool's or argument's name: getUser_orders -> get, user, orders."""
    return [part.lower() for part in _PARTS.findall(name[:256])]


def tag_tools(calls: Sequence[ToolCall]) -> list[str]:
    """Types of the tools called, then their names, the most used first."""
    types: Counter[str] = Counter()
    for call in calls[:500]:
        found = TOOL_TYPES.find(split_name(call.tool), call.tool)[:1]
        names = islice(call.arguments, 20)
        types.update(found or [ARGUMENT_TYPES[name.lower()] for name in names if name.lower() in ARGUMENT_TYPES][:1])
    return [tag for tag, _ in types.most_common(MAX_TYPES)] + name_tools(calls)


def name_tools(calls: Sequence[ToolCall]) -> list[str]:
    """Names of the tools called, the most used first."""
    return [tool[:TAG_CHARS] for tool, _ in Counter(call.tool for call in calls).most_common(MAX_TOOLS)]


def tag_task(goal: str, calls: Sequence[ToolCall]) -> list[str]:
    """What sort of task it was; by the goal, or else by the verbs of the tools."""
    return (TASK_TYPES.find(_words(goal), goal) or TASK_TYPES.find(_tool_words(calls), ""))[:MAX_TASKS]


def tag_domain(goal: str, calls: Sequence[ToolCall]) -> list[str]:
    """What the task was about; by the goal, or else by the names of the tools."""
    return (DOMAINS.find(_words(goal), goal) or DOMAINS.find(_tool_words(calls), " ".join(name_tools(calls))))[:MAX_DOMAINS]


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


def _tool_words(calls: Iterable[ToolCall]) -> list[str]:
    return [word for tool in dict.fromkeys(call.tool for call in calls) for word in split_name(tool)][:200]
