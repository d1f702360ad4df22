"""How good recall is: evaluation sets written and asked through the real services, beside BM25 and vectors alone.

make bench-quality                                   the sets in this repository
make bench-quality ARGS="--shared FOLDER"            the sets beside retrieval_eval.py in a folder as well
make bench-quality ARGS="--ablation --keep FOLDER"   what each part of recall is worth, on banks kept for the next run
"""

import argparse
import asyncio
import json
import platform
import subprocess
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from ablation import Bench, ablate, bench_on, compare_triples, show_floor, show_recency, show_standing
from adapter import BATCH, Banks
from evaluation import DEPTH, OWN_SETS, SETS, Bank, Figures, bm25_rankings, compare, load, mean, measure
from gate import measure_gate
from hindsight_local.trial import running
from hindsight_memory import Hindsight
from hindsight_recall.scoring import Scale
from hindsight_store.words import terms, weight
from runs import measure_runs
from second_attempt import NAME as SECOND_ATTEMPT
from second_attempt import TOOLSETS, measure_second_attempts
from triggers import measure_triggers

HEADLINE = {"lme-lite": "hit@1", "locomo-dev": "r@10", "tau-exp": "all@10", "standing": "hit@10", "standing-heldout": "hit@10"}
SEVERAL_BANKS = ("sample", "triples", "lme-lite")
SHOWN = ("hit@1", "hit@5", "r@5", "r@10", "all@5", "all@10", "ndcg@10")
CALLS = 4  # at once
RUNS_SET = "tau-runs"  # observed, looked back on, and asked for by the next run's first message


async def write_banks(banks: Banks, data: Sequence[Bank]) -> float:
    """Write every bank; seconds."""
    began = time.perf_counter()
    limit = asyncio.Semaphore(CALLS)

    async def write_one(bank: Bank) -> None:
        async with limit:
            if bank.is_conversation:
                await banks.observe(bank.id, bank.entries)
                await banks.settle(bank.id, bank.entries)
                return
            for start in range(0, len(bank.entries), BATCH):
                await banks.write(bank.id, bank.entries[start : start + BATCH])

    async with asyncio.TaskGroup() as tasks:
        for bank in data:
            tasks.create_task(write_one(bank))
    return time.perf_counter() - began


async def prepare(client: Hindsight, name: str, data: Sequence[Bank], keep: Path | None) -> Banks:
    """A set's banks: those kept from an earlier run, or freshly written."""
    kept = keep / f"banks-{name}.json" if keep else None
    if kept and kept.exists():
        return Banks(client, **json.loads(kept.read_text()))
    banks = Banks(client)
    took_s = await write_banks(banks, data)
    print(f"\n{name}: {sum(len(b.entries) for b in data)} entries written in {took_s:.0f} s", flush=True)
    if kept:
        kept.write_text(json.dumps({"run": banks.run, "ids": banks.ids}))
    return banks


async def ask(banks: Banks, data: Sequence[Bank], mode: str) -> tuple[Figures, list[float]]:
    """Ask every question, one after another; figures by question, and the milliseconds each took."""
    figures, took_ms = {}, []
    for bank in data:
        for question in bank.questions:
            began = time.perf_counter()
            turns = bank.is_conversation
            ranking = await banks.ask(bank.id, question.text, top_k=DEPTH, mode=mode, include_turns=turns)
            took_ms.append(1000 * (time.perf_counter() - began))
            figures[question.id] = measure(ranking, question.gold)
    return figures, took_ms


def show(name: str, systems: dict[str, Figures], took_ms: Sequence[float]) -> None:
    """Print a set's table and how hybrid stands against each other system."""
    print(f"\n{name} ({len(systems['hybrid'])} questions)")
    print(f"{'':10}" + "".join(f"{m:>9}" for m in SHOWN))
    for system, figures in systems.items():
        print(f"{system:10}" + "".join(f"{mean(figures, m):9.1f}" for m in SHOWN))
    metric = HEADLINE.get(name, "r@5")
    for system in ("bm25", "dense"):
        difference, low, high = compare(systems["hybrid"], systems[system], metric)
        print(f"{metric}: hybrid − {system} = {difference:+.1f} points, 95 % paired bootstrap [{low:+.1f}, {high:+.1f}]")
    took = sorted(took_ms)
    p50, p95 = took[len(took) // 2], took[int(0.95 * len(took))]
    print(f"recall p50 {p50:.1f} ms, p95 {p95:.1f} ms, one caller", flush=True)


async def evaluate(banks: Banks, name: str, data: Sequence[Bank]) -> None:
    """Ask a set through the services and print its table."""
    systems: dict[str, Figures] = {}
    systems["hybrid"], took_ms = await ask(banks, data, "hybrid")
    systems["dense"], _ = await ask(banks, data, "semantic")
    gold = {q.id: q.gold for b in data for q in b.questions}
    systems["bm25"] = {q: measure(ranking, gold[q]) for q, ranking in bm25_rankings(data, terms, weight)}
    show(name, systems, took_ms)


async def take_apart(bench: Bench, banks: Banks, name: str, data: Sequence[Bank]) -> None:
    """Print what a set shows of each part of recall."""
    asked = await bench.ask(banks, data)
    scale = Scale.of(bench.model)
    if name == "triples":
        await compare_triples(bench, data, asked)
    if name.startswith("standing"):
        show_standing(name, asked, scale)
    if any(q.day for b in data for q in b.questions):
        await show_recency(bench, banks, data)
    if name in SEVERAL_BANKS:
        await show_floor(bench, banks, data, asked)
    ablate(name, asked, scale, HEADLINE.get(name, "r@5"))


async def run(arguments: argparse.Namespace, names: Sequence[str]) -> None:
    """Measure every set named."""
    keep = arguments.keep
    options = {"HINDSIGHT_EMBED_THREADS": "2", "HINDSIGHT_TOOLSETS": TOOLSETS}
    async with running(options, keep=keep) as instance, instance.client(timeout_s=120.0) as client, bench_on(instance) as bench:
        for name in (name for name in names if name not in (RUNS_SET, SECOND_ATTEMPT)):
            data = load(name, arguments.shared)
            banks = await prepare(client, name, data, keep)
            if not arguments.only_ablation:
                await evaluate(banks, name, data)
            if arguments.ablation or arguments.only_ablation or name.startswith(("triples", "standing")):
                await take_apart(bench, banks, name, data)
        if arguments.shared and (not arguments.sets or RUNS_SET in arguments.sets):
            print("\n".join(["", RUNS_SET, *await measure_runs(client, arguments.shared)]), flush=True)
        if not arguments.sets or SECOND_ATTEMPT in arguments.sets:
            print("\n".join(["", SECOND_ATTEMPT, *await measure_second_attempts(instance, client)]), flush=True)
        if not arguments.sets:
            print("\n".join(["", "should_recall", *await measure_gate(client)]))
            print("\n".join(["", "triggers", *await measure_triggers(instance)]))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, help="a folder with retrieval_eval.py and data/")
    parser.add_argument(
        "--sets", nargs="+", help=f"of {', '.join((*SETS, *OWN_SETS, RUNS_SET, SECOND_ATTEMPT))}; default: all there are"
    )
    parser.add_argument("--keep", type=Path, help="a folder that keeps the written banks for the next run")
    parser.add_argument("--ablation", action="store_true", help="what each part is worth as well")
    parser.add_argument("--only-ablation", action="store_true", help="nothing else")
    arguments = parser.parse_args()
    names = arguments.sets or [*OWN_SETS, *(SETS if arguments.shared else ())]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    print(f"{datetime.now(UTC):%Y-%m-%d}, commit {commit or 'unknown'}, {platform.machine()}, Python {platform.python_version()}")
    asyncio.run(run(arguments, names))


if __name__ == "__main__":
    main()
