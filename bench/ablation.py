"""What each channel is worth: banks written once, every question measured once, ranked again with parts left out."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import asyncpg
import numpy as np
from adapter import Banks
from evaluation import DEPTH, Bank, Figures, Question, compare, mean, measure
from hindsight_local.trial import Instance
from hindsight_recall.lifecycle import age_weight
from hindsight_recall.ranking import Importance, Limits, Measured, Weights, rank
from hindsight_recall.recalling import Query, Recaller
from hindsight_recall.scoring import Scale
from hindsight_recall.stages import Stages
from hindsight_runtime.embedder import Embedder, Model, open_embedder
from hindsight_store.pool import open_pool
from hindsight_store.reader import find_tenant, reading
from hindsight_store.records import Selection

DAY = timedelta(days=1)
MIDDLING = 0.5  # the importance of a memory that says nothing of it
FLOORS = (0.2, 0.25, 0.3, 0.35, 0.4)
RRF_K = 60  # Cormack, Clarke & Büttcher, SIGIR 2009
RUNS = ("content", "trigger", "lexical", "relation", "temporal")
CHANNELS = ("content", "trigger", "lexical", "relation", "temporal", "standing")
FEATURES_OF = {
    "lexical": ("lexical", "coverage"),
    "relation": ("hop", "relation"),
    "temporal": ("time",),
}
SINGLE_FEATURES = ("dense", "lexical", "coverage", "near", "speaker", "user", "time", "question", "hop")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, with everything that was measured for it."""

    question: Question
    measured: Sequence[Measured]
    ids: Mapping[str, Sequence[str]]  # what is measured -> the entries it stands for


class Bench:
    """Recall in this process, over the database of a running hindsight: the service's own code and nothing else."""

    def __init__(self, pool: asyncpg.Pool, embedder: Embedder, model: Model, tenant_id: int) -> None:
        self.embedder = embedder
        self.model = model
        self._recaller = Recaller(pool, embedder, model, clock=lambda: datetime.now(UTC))
        self._pool = pool
        self._tenant_id = tenant_id

    async def ask(self, banks: Banks, data: Sequence[Bank], *, strangers: int = 0, on_its_day: bool = False) -> list[Asked]:
        """Measure every question of a set: asked of its own bank, or of the one so many places further on; now, or as of the
        end of the day it belongs to."""
        asked = []
        for place, bank in enumerate(data):
            async with reading(self._pool, self._tenant_id) as reader:
                bank_id = await reader.find_bank(self._tenant_id, banks.agent(bank.id))
            assert bank_id is not None
            for question in data[(place + strangers) % len(data)].questions:
                now = datetime.now(UTC)
                day = datetime.fromisoformat(question.day).replace(tzinfo=UTC) + DAY if on_its_day and question.day else None
                selection = Selection(now=now, holds_after=day or now, begun_by=day)
                query = Query(self._tenant_id, bank_id, question.text, "hybrid", selection, DEPTH)
                _, measured = await self._recaller.measure(replace(query, include_turns=bank.is_conversation), Stages())
                asked.append(Asked(question, measured, {m.id: banks.entries(bank.id, m.id, m.is_turn) for m in measured}))
        return asked


@asynccontextmanager
async def bench_on(instance: Instance) -> AsyncIterator[Bench]:
    """A bench on a running hindsight."""
    address = f"127.0.0.1:{instance.ports['embed']}"
    async with open_pool(instance.recall_dsn) as pool, open_embedder(address, instance.embed_token) as embedder:
        yield Bench(pool, embedder, await embedder.describe_model(), await find_tenant(pool, "default") or 0)


Ranking = Callable[[Sequence[Measured]], list[str]]


def variants(scale: Scale) -> dict[str, Ranking]:
    """Each way of ranking what was measured."""

    def ranked(measured: Sequence[Measured], weights: Weights) -> list[str]:
        return [place.measured.id for place in rank(measured, weights, Limits(DEPTH))[0]]

    found: dict[str, Ranking] = {"all": lambda m: ranked(m, Weights())}
    for channel in CHANNELS:
        found[f"without {channel}"] = lambda m, c=channel: ranked(without(m, c, scale), Weights())
    for feature in SINGLE_FEATURES:
        found[f"without feature {feature}"] = lambda m, f=feature: ranked(m, Weights().without(f))
    found["equal-weight RRF"] = reciprocal
    return found


def without(measured: Sequence[Measured], channel: str, scale: Scale) -> list[Measured]:
    """What would have been measured without a channel: what it alone found is gone, and so are its features."""
    left = []
    for m in measured:
        findings = tuple(f for f in m.findings if f.channel != channel)
        if not m.is_turn and not any(f.rank for f in findings):
            continue
        features = {name: value for name, value in m.features.items() if name not in FEATURES_OF.get(channel, ())}
        if channel in ("content", "trigger") and not m.is_turn:
            features.pop("dense", None)
            cosines = [f.score for f in findings if f.channel in ("content", "trigger")]
            features |= {"dense": scale.read(max(cosines))} if cosines else {}
        left.append(replace(m, features=features, findings=findings, standing="" if channel == "standing" else m.standing))
    return left


def reciprocal(measured: Sequence[Measured]) -> list[str]:
    """The channels' runs fused by reciprocal rank with equal weights."""
    scores = {m.id: sum(1 / (RRF_K + f.rank) for f in m.findings if f.rank and f.channel in RUNS) for m in measured}
    turns = [m for m in measured if m.is_turn]  # one channel finds them; its two runs are what it measures
    for feature in ("dense", "lexical"):
        run = sorted((m for m in turns if feature in m.features), key=lambda m: (-m.features[feature], m.id))
        for place, m in enumerate(run, start=1):
            scores[m.id] += 1 / (RRF_K + place)
    return sorted(scores, key=lambda i: (-scores[i], i))[:DEPTH]


def figures(asked: Sequence[Asked], ranking: Ranking) -> Figures:
    """A ranking's figures by question."""
    return {a.question.id: measure([e for i in ranking(a.measured) for e in a.ids[i]], a.question.gold) for a in asked}


def ablate(name: str, asked: Sequence[Asked], scale: Scale, metric: str) -> None:
    """Print what a set loses without each part; parts that change nothing are left out."""
    whole = figures(asked, variants(scale)["all"])
    print(f"\nablation of {name}, {metric} ({len(asked)} questions)\n{'all':28}{mean(whole, metric):7.1f}")
    for variant, ranking in variants(scale).items():
        part = figures(asked, ranking)
        if part != whole:
            difference, low, high = compare(part, whole, metric)
            print(f"{variant:28}{mean(part, metric):7.1f}{difference:+7.1f}  95 % [{low:+.1f}, {high:+.1f}]", flush=True)


async def show_floor(bench: Bench, banks: Banks, data: Sequence[Bank], asked: Sequence[Asked]) -> None:
    """Print what relevance floors keep: of the answers, and of what the questions of another bank find."""
    answers = [_best(a, a.question.gold) for a in asked]
    strangers = [_best(a, None) for a in await bench.ask(banks, data, strangers=1)]
    print("\nrelevance floor:   answers kept   other banks' questions that find something")
    for floor in FLOORS:
        kept, found = (100 * sum(s >= floor for s in group) / len(group) for group in (answers, strangers))
        print(f"{floor:15.2f}{kept:14.1f} %{found:14.1f} %")


def _best(asked: Asked, gold: frozenset[str] | None) -> float:
    """The highest similarity among the first ten, or among those of them that are gold."""
    places = rank(asked.measured, Weights(), Limits(10, wants_standing=False))[0]
    chosen = [p.similarity for p in places if gold is None or gold & set(asked.ids[p.measured.id])]
    return max(chosen, default=0.0)


async def show_recency(bench: Bench, banks: Banks, data: Sequence[Bank]) -> None:
    """Print what age takes off a score, and what it changes where every question is asked on its own day."""
    ages = {days: 0.3 * age_weight(timedelta(days=days)) * MIDDLING for days in (0, 1, 7, 30, 90, 365, 3650)}
    print("\nwhat a middling importance adds to a final score, by age in days: ", end="")
    print(", ".join(f"{days}: {part:.3f}" for days, part in ages.items()))
    asked = await bench.ask(banks, data, on_its_day=True)
    timeless = [replace(a, measured=[replace(m, importance=Importance(MIDDLING)) for m in a.measured]) for a in asked]
    ranking = variants(Scale.of(bench.model))["all"]
    aged, ageless = figures(asked, ranking), figures(timeless, ranking)
    for metric in ("hit@1", "all@5", "all@10"):
        difference, low, high = compare(aged, ageless, metric)
        both = f"with recency {mean(aged, metric):.1f}, without {mean(ageless, metric):.1f}"
        print(f"{metric}: {both}, difference {difference:+.1f}, 95 % [{low:+.1f}, {high:+.1f}]")


async def compare_triples(bench: Bench, data: Sequence[Bank], asked: Sequence[Asked]) -> None:
    """Print the triple against a plain vector of the value, by the question's type."""
    plain: Figures = {}
    for bank in data:
        rows = await bench.embedder.embed([e["value"] for e in bank.entries], "passage", model=bench.model)
        queries = await bench.embedder.embed([q.text for q in bank.questions], "query", model=bench.model)
        for question, cosines in zip(bank.questions, queries @ rows.T, strict=True):
            best = np.argsort(-cosines, kind="stable")
            plain[question.id] = measure([bank.entries[n]["id"] for n in best], question.gold)
    scale = Scale.of(bench.model)
    triple = figures(asked, variants(scale)["all"])
    no_trigger = figures(asked, variants(scale)["without trigger"])
    print("\ntriples, r@5 by type of question")
    for sort in sorted({a.question.type for a in asked}):
        ids = [a.question.id for a in asked if a.question.type == sort]
        ours, value, content = ({i: f[i] for i in ids} for f in (triple, plain, no_trigger))
        difference, low, high = compare(ours, value, "r@5")
        print(
            f"{sort:12}{len(ids):4} questions: triple {mean(ours, 'r@5'):5.1f}, without the trigger's vector "
            f"{mean(content, 'r@5'):5.1f}, vector of the value {mean(value, 'r@5'):5.1f}; "
            f"triple − value {difference:+.1f} [{low:+.1f}, {high:+.1f}]"
        )


def show_standing(name: str, asked: Sequence[Asked], scale: Scale) -> None:
    """Print how often a standing instruction is among the first ten, by its language and kind, with topic alone beside."""
    whole, topical = (figures(asked, variants(scale)[v]) for v in ("all", "without standing"))
    print(f"\n{name}: any standing instruction among the first ten")
    for sort in ("", *sorted({a.question.type for a in asked})):
        ids = [a.question.id for a in asked if sort in ("", a.question.type)]
        ours, topic = ({i: f[i] for i in ids} for f in (whole, topical))
        print(f"{sort or 'all':16}{len(ids):4} cases: {mean(ours, 'hit@10'):5.1f}, by topic alone {mean(topic, 'hit@10'):5.1f}")
