"""Evaluation sets, retrieval metrics and the paired bootstrap that a quality figure needs."""

import importlib.util
import json
import math
import random
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DEPTH = 50  # how many memories are asked for
RESAMPLES = 2000
SAMPLE = Path(__file__).with_name("sample.jsonl")
OWN = Path(__file__).with_name("sets")
OWN_SETS = ("sample", "triples", "standing", "standing-heldout")
FILLING = 120  # facts of other cases around one case of standing instructions
SETS = ("madial-zh", "madial-en", "lme-lite", "locomo-dev", "cmrc-sent", "drcd-sent", "tau-exp")
CONVERSATIONS = {"locomo-dev", "cmrc-sent", "drcd-sent"}  # entries follow one another in their session: they are observed


@dataclass(frozen=True, slots=True)
class Question:
    """A query and the ids that answer it."""

    id: str
    text: str
    gold: frozenset[str]
    type: str = ""  # what sort of question it is, where a set tells
    day: str = ""  # on which it is asked, where a set tells: ISO 8601


@dataclass(frozen=True, slots=True)
class Bank:
    """One agent's entries (id, text, session, timestamp, speaker) and what is asked of them."""

    id: str
    entries: Sequence[Mapping[str, Any]]
    questions: Sequence[Question] = field(default=())
    is_conversation: bool = False  # entries are turns to observe, not memories to write


def load_sample() -> list[Bank]:
    """The small set of our own, in both languages, written for this repository."""
    banks: dict[str, tuple[list[Any], list[Question]]] = {}
    for line in SAMPLE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        entries, questions = banks.setdefault(row["bank"], ([], []))
        if "query" in row:
            questions.append(Question(row["id"], row["query"], frozenset(row["gold"])))
        else:
            entries.append({"session": None, "timestamp": None, "speaker": "user", **row})
    return [Bank(name, entries, questions) for name, (entries, questions) in banks.items()]


def load_triples() -> list[Bank]:
    """Memories with key, trigger and value; questions about the situation or about the value."""
    entries: dict[str, list[Any]] = {}
    questions: dict[str, list[Question]] = {}
    for row in _rows("triples.jsonl"):
        if "qid" in row:
            asked = Question(row["qid"], row["text"], frozenset(row["gold"]), row["type"])
            questions.setdefault(row["bank"], []).append(asked)
        else:
            entries.setdefault(row["bank"], []).append(row)
    return [Bank(name, found, questions[name]) for name, found in entries.items()]


def load_standing(name: str) -> list[Bank]:
    """Each case among the facts of other cases in its language, all in its scope, so that topic alone has much to offer."""
    cases = _rows(name)
    facts = {lang: [m for c in cases if c["lang"] == lang for m in _ordinary(c)] for lang in ("en", "zh")}
    banks = []
    for number, case in enumerate(cases):
        scope = case["memories"][0]["scope"]
        own = [{**m, "id": f"{case['id']}-{place}"} for place, m in enumerate(case["memories"])]
        others = [m for m in facts[case["lang"]] if m not in case["memories"]]
        chosen = random.Random(number).sample(others, min(FILLING, len(others)))  # seeded: every run asks the same
        filling = [{**m, "id": f"{case['id']}-x{place}", "scope": scope} for place, m in enumerate(chosen)]
        gold = [own[place] for place in case["gold"]]
        kinds = "/".join(sorted({m["kind"] for m in gold}))
        asked = Question(case["id"], case["query"], frozenset(m["id"] for m in gold), f"{case['lang']} {kinds}")
        banks.append(Bank(case["id"], own + filling, [asked]))
    return banks


def _ordinary(case: Mapping[str, Any]) -> list[Any]:
    return [m for place, m in enumerate(case["memories"]) if place not in case["gold"]]


def _rows(name: str) -> list[Any]:
    return [json.loads(line) for line in (OWN / name).read_text(encoding="utf-8").splitlines()]


def load(name: str, shared: Path | None) -> list[Bank]:
    """A set by its name."""
    own = {
        "sample": load_sample,
        "triples": load_triples,
        "standing": lambda: load_standing("standing.jsonl"),
        "standing-heldout": lambda: load_standing("standing_heldout.jsonl"),
    }
    return own[name]() if name in own else load_shared(shared or Path(), name)


def load_shared(folder: Path, name: str) -> list[Bank]:
    """A set beside the scorer retrieval_eval.py in a folder; it is read with the scorer's own loader."""
    spec = importlib.util.spec_from_file_location("retrieval_eval", folder / "retrieval_eval.py")
    assert spec
    assert spec.loader
    scorer = importlib.util.module_from_spec(spec)
    sys.modules["retrieval_eval"] = scorer
    spec.loader.exec_module(scorer)
    banks = scorer.load(name, Namespace(data=str(folder / "data")))
    return [
        Bank(
            b.id,
            b.items,
            [Question(q.qid, q.text, frozenset(q.gold), day=q.now or "") for q in b.queries if q.gold],
            name in CONVERSATIONS,
        )
        for b in banks
    ]


def measure(ranking: Sequence[str], gold: frozenset[str]) -> dict[str, float]:
    """hit@k, r@k, all@k for k = 1, 5, 10 and nDCG@10 of one ranking, each 0 to 1."""
    figures = {}
    for k in (1, 5, 10):
        found = len(gold & set(ranking[:k]))
        figures |= {f"hit@{k}": float(found > 0), f"r@{k}": found / len(gold), f"all@{k}": float(found == len(gold))}
    gain = sum(1 / math.log2(place + 2) for place, i in enumerate(ranking[:10]) if i in gold)
    figures["ndcg@10"] = gain / sum(1 / math.log2(place + 2) for place in range(min(10, len(gold))))
    return figures


Figures = dict[str, dict[str, float]]  # question id -> metric -> value


def mean(figures: Figures, metric: str) -> float:
    """The mean of a metric over questions, in points."""
    return 100 * sum(f[metric] for f in figures.values()) / len(figures)


def compare(ours: Figures, theirs: Figures, metric: str) -> tuple[float, float, float]:
    """The mean difference in points and the bounds of its 95 % paired bootstrap interval; seeded."""
    differences = [100 * (ours[q][metric] - theirs[q][metric]) for q in sorted(ours)]
    rng = random.Random(0)
    means = sorted(sum(rng.choices(differences, k=len(differences))) / len(differences) for _ in range(RESAMPLES))
    return sum(differences) / len(differences), means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES)]


def bm25_rankings(
    banks: Sequence[Bank], terms: Callable[[str], Mapping[str, int]], weight: Callable[[str], float]
) -> Iterator[tuple[str, list[str]]]:
    """The baseline: BM25 over whole banks in memory, with hindsight's own terms; question id and ranking."""
    for bank in banks:
        texts = {e["id"]: terms(entry_text(e)) for e in bank.entries}
        lengths = {i: sum(weight(t) * n for t, n in counts.items()) for i, counts in texts.items()}
        average = sum(lengths.values()) / max(1, len(lengths)) or 1
        frequency: dict[str, int] = {}
        for counts in texts.values():
            for term in counts:
                frequency[term] = frequency.get(term, 0) + 1
        for question in bank.questions:
            wanted = {t: n * weight(t) for t, n in terms(question.text).items() if t in frequency}
            scores = {}
            for i, counts in texts.items():
                norm = 1.2 * (0.25 + 0.75 * lengths[i] / average)
                score = sum(
                    w
                    * math.log(1 + (len(texts) - frequency[t] + 0.5) / (frequency[t] + 0.5))
                    * counts[t]
                    * 2.2
                    / (counts[t] + norm)
                    for t, w in wanted.items()
                    if t in counts
                )
                if score > 0:
                    scores[i] = score
            yield question.id, sorted(scores, key=lambda i: (-scores[i], i))[:DEPTH]


def entry_text(entry: Mapping[str, Any]) -> str:
    """An entry's text with its speaker, where that is a name."""
    if "value" in entry:
        return "\n".join(entry[part] for part in ("key", "query", "value") if entry.get(part))
    is_named = entry["speaker"] not in ("user", "assistant", "doc")
    return f"{entry['speaker']}: {entry['text']}" if is_named else entry["text"]
