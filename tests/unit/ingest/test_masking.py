"""What of a turn is masked before it is stored, and what is not."""

import time
from datetime import UTC, datetime

import pytest
from hindsight_ingest.masking import is_card_number, mask, mask_turn
from hindsight_store.turns import Turn

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
SECRETS = [
    ("my key is sk-proj-AbCdEfGhIjKlMnOpQrSt12", "AbCdEfGhIjKlMnOp", "token"),
    ("密钥：sk-AbCdEfGhIjKlMnOpQrSt1234", "AbCdEfGhIjKlMnOp", "token"),
    ("export GH=ghp_abcdefghijklmnopqrstuvwxyz0123", "ghp_abc", "token"),
    ("AWS AKIAIOSFODNN7EXAMPLE here", "AKIAIOSF", "token"),
    ("阿里云 LTAI4FoLmvQ9urWXgSRpDvh1", "LTAI4Fo", "token"),
    (f"Authorization: Bearer {JWT}", "eyJzdWIi", "jwt"),
    ("curl -H 'Authorization: Bearer abcdef1234567890'", "abcdef1234567890", "bearer"),
    ("password: hunter2!", "hunter2", "password"),
    ("The password is Tr0ub4dor&3, don't tell", "Tr0ub4dor", "password"),
    ("密码是 Xiao2024lin", "Xiao2024lin", "password"),
    ("支付密码：839201", "839201", "password"),
    ("wifi密码：abc12345", "abc12345", "password"),
    ("WiFi密码是abc12345", "abc12345", "password"),
    ("验证码是 558213，十分钟内有效", "558213", "password"),
    ("DB_PASSWORD=s3cr3t-value", "s3cr3t-value", "password"),
    ("postgresql://ada:pa55w0rd@db/x", "pa55w0rd", "url_password"),
    ("card 4111 1111 1111 1111 exp 12/29", "4111 1111", "card_number"),
    ("卡号6222021234567890128", "6222021234567890128", "card_number"),
    ("身份证号11010519491231002X", "11010519491231002X", "resident_id"),
    ("SSN 078-05-1120", "078-05-1120", "social_security_number"),
    ("IBAN DE89 3704 0044 0532 0130 00 please", "3704 0044", "iban"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----", "MIIE", "private_key"),
]
HARMLESS = [
    "I forgot my password.",
    "The password is wrong, says the form.",
    "密码是什么？",
    "我的密码忘了",
    "order 4111111111111112 was shipped",
    "订单号 20240115000123456789",
    "Call me on 138 0013 8000.",
    "The token was expired; get a new token.",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "https://example.org/a:b/c",
    "Meet at 10:30, room 4-12-1999.",
    "The secret is to knead it slowly.",
    "version 1.2.3.4567890123456",
    "01890a5d-ac96-774b-bcce-b302099a8057",
]


@pytest.mark.parametrize(("text", "secret", "rule"), SECRETS)
def test_a_secret_is_masked_and_its_rule_named(text: str, secret: str, rule: str):
    masked, fired = mask(text)
    assert secret not in masked
    assert rule in fired
    assert f"[masked: {rule}]" in masked


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text: str):
    assert mask(text) == (text, [])


def turn(**fields) -> Turn:
    now = datetime(2026, 11, 30, tzinfo=UTC)
    whole = {"content": "", "tool": "login", "arguments": {}, "result": "", **fields}
    return Turn("s", 0, "agent", "tool_call", is_error=False, masked=(), principal="k", at=now, known_from=now, **whole)


def test_arguments_and_results_are_masked_too():
    masked = mask_turn(
        turn(
            arguments={"user": "ada", "password": "hunter2", "api_key": 12345, "headers": [{"Authorization": f"Bearer {JWT}"}]},
            result="token: abc123def456",
        )
    )
    assert masked.arguments["user"] == "ada"
    assert masked.arguments["password"] == masked.arguments["api_key"] == "[masked: password]"
    assert "eyJ" not in str(masked.arguments)
    assert "abc123def456" not in masked.result
    assert set(masked.masked) == {"password", "jwt"}


def test_a_turn_without_secrets_is_the_same():
    plain = turn(content="Hello", arguments={"city": "Turin", "token_count": 3})
    assert mask_turn(plain).content == "Hello"


def test_masking_twice_changes_nothing():
    for text, _, _ in SECRETS:
        once, _ = mask(text)
        assert mask(once) == (once, [])


def test_a_long_hostile_text_costs_little():
    texts = ["4" * 32_000, "4 " * 16_000, "eyJ" * 10_000, "password " * 3500, "-----BEGIN PRIVATE KEY-----" * 1000, "a:" * 16_000,
             "AB12 " * 6000, "://" + "a" * 32_000, "密码" * 10_000]  # fmt: skip
    for text in texts:
        began = time.process_time()
        mask(text)
        assert time.process_time() - began < 0.2


def test_the_luhn_check_knows_cards():
    assert is_card_number("4111-1111-1111-1111")
    assert not is_card_number("0000 0000 0000 0000")
