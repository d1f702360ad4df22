"""Blocks of the documentation marked "run" do what they show; links lead somewhere."""

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest
from hindsight_memory import NewKey

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
BLOCK = re.compile(r"^```python run\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = [(page.relative_to(ROOT), code) for page in PAGES for code in BLOCK.findall(page.read_text(encoding="utf-8"))]


def test_there_are_blocks_to_run_in_both_languages():
    assert {"README.md", "README.zh-CN.md"} <= {str(page) for page, _ in BLOCKS}


@pytest.mark.parametrize(("page", "code"), BLOCKS)
async def test_a_block_marked_run_works(services, worker, page: Path, code: str):
    _, api_key = await services.operator.create_key(NewKey(tenant="readers"))
    environment = {
        "HINDSIGHT_API_KEY": api_key,
        "HINDSIGHT_INGEST_ADDRESS": services.ingest_address,
        "HINDSIGHT_RECALL_ADDRESS": services.recall_address,
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, env={**os.environ, **environment}, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await asyncio.wait_for(process.communicate(), timeout=120)
    assert process.returncode == 0
    assert output.strip()


def test_links_inside_the_repository_lead_somewhere():
    broken = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            if not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)} -> {target}")
    assert broken == []
