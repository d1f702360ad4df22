"""How well listening finds what is worth keeping, and what it keeps of small talk, on labelled sets in both languages.

The held-out sets are for judging, not for tuning. How the heads do on the sets they are trained on, each case judged by heads
that have not seen it, services/ingest/training/train_listening.py prints.
"""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gate import wilson
from hindsight_ingest.listener import Listener
from hindsight_ingest.listening import Finding, listen
from hindsight_ingest.summing_up import sum_up
from hindsight_local.trial import Instance
from hindsight_runtime.embedder import open_embedder
from hindsight_store.turns import Turn

SETS = Path(__file__).with_name("sets")
EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
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

    def lines(self, name: str) -> list[str]:
        """The rows of the table, with 95 % Wilson intervals."""
        rows = [
            f"{name:24}{kind:>11}{self.wanted[kind]:5}  {_share(self.right[kind], self.found[kind]):22}"
            f"{_share(self.right[kind], self.wanted[kind]):22}"
            for kind in KINDS
        ]
        return [*rows, f"{name:24}small talk kept {self.kept} of {self.small_talk}: {_share(self.kept, self.small_talk)}"]


async def measure_triggers(instance: Instance) -> list[str]:
    """The table: precision, recall and how many there are, by language and kind: with embeddings, as rounds are kept, and by
    the words alone, as observe answers at once."""
    lines = [f"{'listening':24}{'kind':>11}{'n':>5}  {'precision':22}{'recall':22}"]
    async with open_embedder(f"127.0.0.1:{instance.ports['embed']}", instance.embed_token) as embedder:
        listener = Listener(embedder, await embedder.describe_model())
        for lang in ("en", "zh"):
            cases = [json.loads(line) for line in (SETS / f"triggers_{lang}_heldout.jsonl").read_text("utf-8").splitlines()]
            kept, at_once = Tally(), Tally()
            for case in cases:
                turns = to_turns(case)
                _judge(case, turns, [one for _, one in await listener.listen(turns, 0)], kept)
                before = [None, *turns[:-1]]
                _judge(case, turns, [one for t, b in zip(turns, before, strict=True) for one in listen(t, b)], at_once)
            lines += [*kept.lines(f"{lang}, kept"), *at_once.lines(f"{lang}, words alone")]
    return lines


def to_turns(case: Any) -> list[Turn]:
    """The turns of a case."""
    told = [(t["role"], t.get("content", ""), t.get("tool", ""), str(t.get("result", ""))) for t in case["turns"]]
    return [
        Turn("", number, "", role, content, tool, {}, result, False, (), "", EPOCH, EPOCH)
        for number, (role, content, tool, result) in enumerate(told)
    ]


def _judge(case: Any, turns: list[Turn], findings: list[Finding], tally: Tally) -> None:
    found: set[tuple[int, str]] = set()
    named: set[str] = set()
    for one in findings:
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


def _share(hits: int, of: int) -> str:
    low, high = wilson(hits, of)
    return f"{hits / of if of else 0.0:.3f} [{low:.3f}, {high:.3f}]"
