"""How well the gate tells turns that need a recall from those that need none, through the real service.

.venv/bin/python bench/gate.py                   bench/sets/should_recall.jsonl
.venv/bin/python bench/gate.py --heldout         should_recall_heldout.jsonl as well, which is for judging, not for tuning
"""

import argparse
import asyncio
import json
import math
import platform
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from hindsight_local.trial import running
from hindsight_memory import Hindsight

SETS = Path(__file__).with_name("sets")
LABELLED = SETS / "should_recall.jsonl"
HELDOUT = SETS / "should_recall_heldout.jsonl"
CALLS = 4  # at once
Z95 = 1.959964  # the 97.5 % point of the normal distribution


@dataclass(frozen=True, slots=True)
class Judgement:
    """A labelled turn and what the gate said of it."""

    lang: str
    is_wanted: bool
    is_open: bool


async def measure_gate(client: Hindsight, files: Sequence[Path] = (LABELLED,)) -> list[str]:
    """The table: for each file and language n, precision and recall with 95 % Wilson intervals, F1."""
    lines = [f"{'should-recall':26}{'lang':>5}{'n':>5}  {'precision':22}{'recall':22}    F1"]
    for file in files:
        judgements = await _judge_all(client, file)
        for lang in (*sorted({j.lang for j in judgements}), "all"):
            lines.append(f"{file.stem:26}{lang:>5}" + _row([j for j in judgements if lang in ("all", j.lang)]))
    return lines


async def _judge_all(client: Hindsight, file: Path) -> list[Judgement]:
    """What the gate says of every turn of a file; a degraded answer is an error."""
    limit = asyncio.Semaphore(CALLS)

    async def judge(row: dict[str, str]) -> Judgement:
        async with limit:
            verdict = await client.should_recall(row["text"])
        if verdict.missing_channels:
            raise RuntimeError("the gate answered without the embedder: that is not what is measured here")
        return Judgement(row["lang"], bool(row["label"]), verdict.should_recall)

    return await asyncio.gather(*map(judge, _read(file)))


def _read(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _row(judgements: Sequence[Judgement]) -> str:
    wanted = _count(j.is_wanted for j in judgements)
    opened = _count(j.is_open for j in judgements)
    hits = _count(j.is_wanted and j.is_open for j in judgements)
    f1 = 2 * hits / (wanted + opened) if wanted + opened else 0.0
    return f"{len(judgements):5}  {_share(hits, opened):22}{_share(hits, wanted):22}{f1:6.3f}"


def _count(flags: Iterable[bool]) -> int:
    return sum(flags)


def _share(hits: int, of: int) -> str:
    low, high = wilson(hits, of)
    return f"{hits / of if of else 0.0:.3f} [{low:.3f}, {high:.3f}]"


def wilson(hits: int, of: int) -> tuple[float, float]:
    """The bounds of a share's 95 % interval; Wilson, JASA 1927."""
    if not of:
        return 0.0, 1.0
    share, spread = hits / of, Z95**2 / of
    centre = (share + spread / 2) / (1 + spread)
    reach = Z95 / (1 + spread) * math.sqrt(share * (1 - share) / of + spread / (4 * of))
    return max(0.0, centre - reach), min(1.0, centre + reach)


async def run(files: Sequence[Path]) -> None:
    """Start hindsight, measure, print."""
    async with running({"HINDSIGHT_EMBED_THREADS": "2"}) as instance, instance.client(timeout_s=120.0) as client:
        print("\n".join(await measure_gate(client, files)))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heldout", action="store_true")
    arguments = parser.parse_args()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    print(f"{datetime.now(UTC):%Y-%m-%d}, commit {commit or 'unknown'}, {platform.machine()}, Python {platform.python_version()}")
    asyncio.run(run((LABELLED, HELDOUT) if arguments.heldout else (LABELLED,)))


if __name__ == "__main__":
    main()
