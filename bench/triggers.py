"""How well listening finds what is worth keeping, and what it keeps of small talk: labelled sets in both languages.

.venv/bin/python bench/triggers.py             bench/sets/triggers_*.jsonl, each case judged by heads that have not seen it
.venv/bin/python bench/triggers.py --heldout   triggers_*_heldout.jsonl as well, which is for judging, not for tuning
"""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gate import wilson
from hindsight_ingest.listening import Heads, listen, load_heads, read_heads
from hindsight_ingest.summing_up import sum_up

SETS = Path(__file__).with_name("sets")
sys.path.append(str(SETS.parents[1] / "services" / "ingest" / "training"))
import train_listening as training  # noqa: E402

KINDS = ("preference", "entity", "state", "correction", "summary")


@dataclass(slots=True)
class Tally:
    """What was labelled, found and both, by kind, and the cases of small talk of which anything was kept."""

    wanted: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    found: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    right: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    small_talk: int = 0
    kept: int = 0

    def add(self, wanted: set[tuple[int, str]], found: set[tuple[int, str]]) -> None:
        """Count the pairs of turn and kind of a case."""
        for pairs, counts in ((wanted, self.wanted), (found, self.found), (wanted & found, self.right)):
            for _, kind in pairs:
                counts[kind] += 1


def measure_triggers(*, heldout: bool = False) -> list[str]:
    """The table: for each set and kind precision, recall and how many there are, with 95 % Wilson intervals; small talk kept."""
    lines = [f"{'triggers':24}{'kind':>11}{'n':>5}  {'precision':22}{'recall':22}"]
    by_fold = _train_folds()
    for lang in ("en", "zh"):
        lines += _show(f"triggers_{lang}", lambda case: by_fold(case["id"]))
        if heldout:
            lines += _show(f"triggers_{lang}_heldout", lambda _: load_heads())
    return lines


def _show(name: str, heads_for: Callable[[Any], Heads]) -> list[str]:
    tally = Tally()
    for case in map(json.loads, (SETS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()):
        _judge(case, heads_for(case), tally)
    lines = [
        f"{name:24}{kind:>11}{tally.wanted[kind]:5}  {_share(tally.right[kind], tally.found[kind]):22}"
        f"{_share(tally.right[kind], tally.wanted[kind]):22}"
        for kind in KINDS
    ]
    return [*lines, f"{name:24}small talk kept {tally.kept} of {tally.small_talk}: {_share(tally.kept, tally.small_talk)}"]


def _judge(case: Any, heads: Heads, tally: Tally) -> None:
    turns = training.to_turns(case)
    found: set[tuple[int, str]] = set()
    named: set[str] = set()
    for place, turn in enumerate(turns):
        for one in listen(turn, turns[place - 1] if place else None, heads):
            if one.timing != "desk" and not (one.trigger == "entity" and one.name in named):
                found.add((one.turn, one.trigger))
            named |= {one.name} if one.name else set()
    if case["group"] == "small_talk":
        tally.small_talk += 1
        tally.kept += bool(found)
    wanted = {(label["turn"], label["kind"]) for label in case["labels"]}
    if case["group"] == "session":
        wanted |= {(-1, "summary")} if case.get("summary") else set()
        found |= {(-1, "summary")} if sum_up(turns) else set()
    tally.add(wanted, found)


def _train_folds() -> Callable[[str], Heads]:
    """For each case the heads trained without its fold."""
    thresholds = {name: head.threshold for name, head in load_heads().by_trigger.items()}
    heard = training.read_sentences() + training.read_cases(training.load_cases())
    by_fold = [
        read_heads(training.train([one for one in heard if training.find_fold(one.case) != fold], thresholds, ""))
        for fold in range(training.FOLDS)
    ]
    return lambda case: by_fold[training.find_fold(case)]


def _share(hits: int, of: int) -> str:
    low, high = wilson(hits, of)
    return f"{hits / of if of else 0.0:.3f} [{low:.3f}, {high:.3f}]"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heldout", action="store_true")
    print("\n".join(measure_triggers(heldout=parser.parse_args().heldout)))


if __name__ == "__main__":
    main()
