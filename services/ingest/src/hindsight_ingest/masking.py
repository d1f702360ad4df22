"""Secrets in observed turns: tokens, passwords, keys, card and identity numbers are masked before anything is stored."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hindsight_store.turns import Turn

MAX_DEPTH = 16  # of nested arguments; what is deeper is left out
_NAMED = (
    r"pass(?:word|wd|phrase|code)?|pwd|secret(?:[_ -]?(?:key|token))?|"
    r"(?:api|access|auth|private|client)[_ -]?(?:key|token|secret)|"
    r"(?:bearer|session|refresh|id)[_ -]?token|token|pin(?: ?(?:code|number))?|otp|cvv|cvc|security code|"
    r"密码|口令|密钥|私钥|令牌|验证码|支付密码|取款密码|安全码|访问密钥|授权码"
)
_SECRET_KEY = re.compile(rf"(?:^|[_\W])(?:{_NAMED})(?:$|[_\W])", re.IGNORECASE)
# A value after the name: quoted, or one word that is no everyday word of a sentence.
_ASSIGNED = re.compile(
    rf"(?P<name>(?:(?<![A-Za-z])|(?=[\u3400-\u9fff]))(?:{_NAMED}))"
    r"(?P<between>[\"'”’]?\s{0,3}(?:is now|is|was|=>|:=|=|:|：|是|为|改成了?|就是)\s{0,3}[\"'“‘`]?)"
    r"(?P<value>[^\s\"'“”‘’`,，。；;<>()（）\[\]{}]{3,200})",
    re.IGNORECASE,
)
_EVERYDAY = re.compile(r"[a-z]{1,12}[.!?]?|[\u3400-\u9fff]{1,8}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rule:
    """What one sort of secret looks like, and how a match is confirmed."""

    name: str
    pattern: re.Pattern[str]
    confirm: Callable[[str], bool] = lambda found: True


def _digits(text: str) -> list[int]:
    return [int(c) for c in text if c.isascii() and c.isdigit()]


def is_card_number(text: str) -> bool:
    """Whether the digits of a text pass the Luhn check of payment cards (ISO/IEC 7812), 13 to 19 of them and not all alike."""
    digits = _digits(text)
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = [d * 2 - 9 * (d > 4) if n % 2 else d for n, d in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0


def is_resident_id(text: str) -> bool:
    """Whether 18 characters are a Chinese resident identity number: GB 11643, ISO 7064 MOD 11-2."""
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    total = sum(int(c) * w for c, w in zip(text[:17], weights, strict=True))
    return "10X98765432"[total % 11] == text[17].upper()


def is_iban(text: str) -> bool:
    """Whether a text is an international bank account number: ISO 13616, MOD 97-10."""
    packed = text.replace(" ", "").upper()
    if not 15 <= len(packed) <= 34:
        return False
    return int("".join(str(int(c, 36)) for c in packed[4:] + packed[:4])) % 97 == 1


RULES = (
    Rule(
        "private_key",
        re.compile(
            r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----BEGIN )[\s\S]){0,8000}?"
            r"(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)"
        ),
    ),
    Rule("jwt", re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*")),
    Rule(
        "token",
        re.compile(
            r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|or)?[-_]?[A-Za-z0-9_-]{16,}|\bhs_[A-Za-z0-9_-]{20,}|\bgh[pousr]_[A-Za-z0-9]{20,}|"
            r"\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}|\bxox[abprs]-[A-Za-z0-9-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|"
            r"\bAIza[A-Za-z0-9_-]{30,}|\bya29\.[A-Za-z0-9_-]{20,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}|\bhf_[A-Za-z0-9]{30,}|"
            r"\bLTAI[A-Za-z0-9]{12,}|\bAKID[A-Za-z0-9]{13,}"
        ),
    ),
    Rule("bearer", re.compile(r"(?<=\bBearer )[A-Za-z0-9._~+/=-]{12,}|(?<=\bBasic )[A-Za-z0-9+/]{12,}={0,2}", re.IGNORECASE)),
    Rule("url_password", re.compile(r"(?<=://)[^\s/:@]{1,64}:[^\s/@]{1,128}(?=@)")),
    Rule(
        "resident_id",
        re.compile(r"(?<![0-9A-Za-z])[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])\d{5}[0-9Xx](?![0-9A-Za-z])"),
        is_resident_id,
    ),
    Rule("social_security_number", re.compile(r"(?<![\d-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])")),
    Rule("card_number", re.compile(r"(?<![\d.])(?:\d[ -]?){12,18}\d(?![\d.]*\d)"), is_card_number),
    Rule("iban", re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"), is_iban),
)


def mask(text: str) -> tuple[str, list[str]]:
    """A text with its secrets replaced by the names of the rules that found them, and those names."""
    fired: list[str] = []
    for rule in RULES:

        def cover(match: re.Match[str], rule: Rule = rule) -> str:
            if not rule.confirm(match[0]):
                return match[0]
            fired.append(rule.name)
            return f"[masked: {rule.name}]"

        text = rule.pattern.sub(cover, text)

    def cover_value(match: re.Match[str]) -> str:
        value = match["value"].rstrip(".!?！？…")
        if _EVERYDAY.fullmatch(value) or value.startswith("[masked"):
            return match[0]
        fired.append("password")
        return f"{match['name']}{match['between']}[masked: password]"

    return _ASSIGNED.sub(cover_value, text), fired


def mask_turn(turn: Turn) -> Turn:
    """A turn without secrets; `masked` names the rules that fired, once each."""
    content, in_content = mask(turn.content)
    result, in_result = mask(turn.result)
    fired = [*in_content, *in_result]
    arguments = _mask_fields(turn.arguments, fired, 0)
    if not fired:
        return turn
    return replace(turn, content=content, result=result, arguments=arguments, masked=tuple(dict.fromkeys(fired)))


def _mask_fields(fields: Mapping[str, Any], fired: list[str], depth: int) -> dict[str, Any]:
    masked: dict[str, Any] = {}
    for name, value in fields.items():
        if _SECRET_KEY.search(name) and isinstance(value, str | int | float) and not isinstance(value, bool) and str(value):
            fired.append("password")
            masked[name] = "[masked: password]"
        else:
            masked[name] = _mask_value(value, fired, depth + 1)
    return masked


def _mask_value(value: Any, fired: list[str], depth: int) -> Any:
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, str):
        text, found = mask(value)
        fired += found
        return text
    if isinstance(value, Mapping):
        return _mask_fields(value, fired, depth)
    if isinstance(value, Sequence):
        return [_mask_value(one, fired, depth + 1) for one in value]
    return value
