"""PostgreSQL 16 is enough: no SQL in the store is newer."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

NEWER = {  # what came with PostgreSQL 17 and 18
    "17": (
        *(r"\bMERGE\b[^;]*\bRETURNING\b", r"\bWHEN NOT MATCHED BY SOURCE\b", r"\bJSON_TABLE\s*\(", r"\bJSON_EXISTS\s*\("),
        *(r"\bJSON_QUERY\s*\(", r"\bJSON_VALUE\s*\(", r"\btransaction_timeout\b", r"\bON_ERROR\b", r"\bto_(bin|oct)\s*\("),
        *(r"\brandom\s*\(\s*[^)\s]", r"\bMAINTAIN\b", r"\buuid_extract_", r"\bunicode_assigned\s*\(", r"\bbuiltin\b"),
    ),
    "18": (
        *(r"\buuidv[47]\s*\(", r"\bVIRTUAL\b", r"\bWITHOUT OVERLAPS\b", r"\bNOT ENFORCED\b", r"\bcasefold\s*\("),
        *(r"\bRETURNING\s+(WITH\s*\(|old\.|new\.)", r"\barray_(sort|reverse)\s*\(", r"\bcrc32c?\s*\(", r"\bPERIOD\b"),
    ),
}


def sources() -> list[Path]:
    root = Path(str(files("hindsight_store")))
    return sorted([*root.rglob("*.sql"), *root.rglob("*.py")])


@pytest.mark.parametrize("source", sources(), ids=lambda path: path.name)
def test_no_sql_is_newer_than_postgresql_16(source: Path):
    text = source.read_text(encoding="utf-8")
    found = [(version, m[0]) for version, some in NEWER.items() for p in some for m in re.finditer(p, text, re.IGNORECASE)]
    assert found == []


def test_the_lint_would_notice():
    newer = "SELECT uuidv7(); CREATE TABLE t (a int, b int GENERATED ALWAYS AS (a) VIRTUAL)"
    assert [p for p in NEWER["18"] if re.search(p, newer, re.IGNORECASE)] == [r"\buuidv[47]\s*\(", r"\bVIRTUAL\b"]
