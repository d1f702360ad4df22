import pytest
from hindsight_language.claims import differ_in_number, find_matters
from hindsight_language.conflicts import Statement
from hindsight_language.present import contradicts_present


@pytest.mark.parametrize(
    ("kept", "said", "rule"),
    [
        ("No e-mail notices, please.", "Please send it to my mailbox.", "refusal"),
        ("不要发邮件通知我", "把结果发到我邮箱", "refusal"),
        ("不要发邮件通知我", "Please send the result to my mailbox.", "refusal"),
        ("The user is vegetarian.", "I'd like a steak tonight", "refusal"),
        ("User dislikes coriander", "点一份香菜牛肉", "refusal"),
        ("User prefers English.", "请把这份报告翻译一下", "language"),
        ("回答请用中文", "Could you translate this for me please?", "language"),
        ("他喜欢喝咖啡", "我现在不喝咖啡了", "wish"),
        ("Prefers window seat", "Book me an aisle seat", "choice"),
        ("用户喜欢简短的回答", "请详细解释一下", "choice"),
        ("User lives in Lisbon.", "I live in Berlin now.", "value"),
        ("用户住在成都", "我住在杭州", "value"),
        ("User lives in Lisbon.", "User: I live in Berlin now.", "value"),
        ("用户住在成都", "用户：我住在杭州", "value"),
        ("Ada lives in Lisbon.", "Ada: I live in Berlin now.", "value"),
        ("小林住在成都", "小林：我住在杭州", "value"),
        ("User prefers English.", "User: 请把这份报告翻译一下", "language"),
    ],
)
def test_the_present_contradicts(kept: str, said: str, rule: str):
    assert contradicts_present(Statement("", kept, "preference"), ["Hello.", said]) == rule


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ("No e-mail notices, please.", "Did you send it to my mailbox?"),
        ("Prefers tea", "What tea do we have?"),
        ("User likes short answers", "Please book a flight to Rome."),
        ("Never call before nine", "Please call Bob"),
        ("User does not like early meetings", "Set up a meeting at noon"),
        ("User works at Acme", "Send the report to Acme by mail"),
        ("User prefers English.", "Please translate this report."),
        ("用户住在成都", "成都有什么好吃的？"),
        ("不要发邮件通知我", "不要发邮件"),
        ("Always answer in Chinese.", "I moved to Lisbon last week."),
        ("From now on, reply in English.", "请把这份报告翻译一下"),
        ("以后都用中文回答我", "Could you translate this for me please?"),
        ("回答一律用英文", "请把这份报告翻译一下"),
        ("User lives in Lisbon.", "Assistant: I live in Berlin now."),
        ("用户住在成都", "助手：我住在杭州"),
        ("User lives in Lisbon.", "Bob: I live in Berlin now."),
        ("User prefers English.", "Assistant: 请把这份报告翻译一下"),
        ("用户特别喜欢牛排。", "帮我点一份牛排。"),
        ("用户在别墅里喝茶。", "帮我点一杯茶。"),
        ("用户喜欢喝咖啡。", "我特别想喝咖啡。"),
    ],
)
def test_the_present_does_not_contradict(kept: str, said: str):
    assert contradicts_present(Statement("", kept, "preference"), [said]) == ""


def test_an_account_of_what_happened_is_not_contradicted():
    assert contradicts_present(Statement("", "No e-mail notices, please.", "experience"), ["Send it to my mailbox."]) == ""


def test_what_matters_is_known_by_its_words_in_both_languages():
    assert find_matters("The rent goes to the account ending 9914.") >= {"money"}
    assert find_matters("以后转账不用再确认") >= {"money", "rules"}
    assert find_matters("Grandma grows tomatoes.") == frozenset()
    assert find_matters("外婆种了西红柿") == frozenset()


def test_two_statements_about_one_thing_may_differ_in_a_number():
    assert differ_in_number("The rent goes to the account ending 2207.", "Rent goes to the account ending 9914.")
    assert not differ_in_number("The rent goes to the account ending 2207.", "The meeting room holds 14 people.")
    assert not differ_in_number("Order 17 has shipped.", "Order 17 has arrived.")
