"""Which memories of the labelled sets are marked as standing when their kind gives nothing away: totals only.

.venv/bin/python bench/standing.py               bench/sets/standing.jsonl
.venv/bin/python bench/standing.py --heldout     standing_heldout.jsonl as well, which is for judging, not for tuning
"""

import argparse
import json
from collections import Counter
from pathlib import Path

from hindsight_ingest.standing import mark

SETS = Path(__file__).with_name("sets")


def count(file: Path) -> list[str]:
    """A line for each language and sort of memory: how many there are and how many are marked."""
    there: Counter[tuple[str, str]] = Counter()
    marked: Counter[tuple[str, str]] = Counter()
    for case in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        for place, memory in enumerate(case["memories"]):
            sort = (case["lang"], f"gold {memory['kind']}" if place in case["gold"] else "other")
            there[sort] += 1
            marked[sort] += mark("fact", memory["value"]) != ""
    return [
        f"{file.stem:18}{lang:4}{sort:18}{marked[lang, sort]:4} of {n:4}  {marked[lang, sort] / n:6.1%}"
        for (lang, sort), n in sorted(there.items())
    ]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heldout", action="store_true")
    names = ["standing", *(["standing_heldout"] if parser.parse_args().heldout else [])]
    for name in names:
        print("\n".join(count(SETS / f"{name}.jsonl")))


if __name__ == "__main__":
    main()
