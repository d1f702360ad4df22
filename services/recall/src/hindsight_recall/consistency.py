"""The guard on recall: what contradicts the present, or better sources, or cannot be relied on, is flagged or withheld."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hindsight_language.claims import differ_in_number, find_matters
from hindsight_language.conflicts import ACCOUNTS, Statement, contradicts
from hindsight_language.disguise import unmask
from hindsight_language.duplicates import sense
from hindsight_language.present import contradicts_present
from hindsight_runtime.identity import AGENT_SCOPE
from hindsight_store.desks import Entry
from hindsight_store.records import Kept, Memory
from hindsight_store.turns import Turn

CONTRADICTS, ODD, UNVERIFIED, REVIEW = "contradicts_context", "odd_one_out", "unverified", "under_review"
OWN_WORD = 1.0  # the trust of what the user says; everything below it is weaker
MOST_COMPARED = 20  # hits, the best, that are compared with each other
READ_CHARS = 2000  # of a text, for what it claims


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a memory is to be read with care, or is kept out of the answer."""

    flag: str
    is_withheld: bool = False


def doubt(memories: Sequence[Memory], said: Sequence[str]) -> dict[str, Doubt]:
    """What speaks against some memories, best first, by id; said are the turns at hand, newest last.

    The present wins: what contradicts it is withheld where its source is weaker than the user's word, else flagged. What a
    weaker source says is flagged where a better one contradicts it, and where it matters and no better one confirms it;
    unless another source says the same as well.
    """
    found: dict[str, Doubt] = {}
    for place, memory in enumerate(memories):
        name, is_weak = str(memory.memory_id), memory.trust < OWN_WORD and memory.source != "import"
        if said and contradicts_present(_statement(memory), said):
            found[name] = Doubt(CONTRADICTS, is_withheld=is_weak)
        elif is_weak and place < MOST_COMPARED and _is_odd(memory, memories[:MOST_COMPARED]):
            found[name] = Doubt(ODD)
        elif is_weak and _matters(memory.value) and not _is_confirmed(memory, memories):
            found[name] = Doubt(UNVERIFIED)
    return found


def flags_of(subject: Kept | Turn | Entry, doubts: Mapping[str, Doubt]) -> tuple[str, ...]:
    """Why a hit is to be read with care: what speaks against it now, and that it waits for a person's word."""
    if isinstance(subject, Turn):
        return (UNVERIFIED,) if subject.role != "user" and _matters(f"{subject.content}\n{subject.result}") else ()
    if isinstance(subject, Entry):
        return (UNVERIFIED,) if subject.source != "user" and _matters(subject.value) else ()
    found = doubts.get(str(subject.memory.memory_id))
    return (*((found.flag,) if found else ()), *((REVIEW,) if subject.use.is_doubted else ()))


def _matters(text: str) -> bool:
    reading = unmask(text[:READ_CHARS])
    return bool(reading.disguises or find_matters(reading.plain))


def _is_odd(memory: Memory, others: Sequence[Memory]) -> bool:
    """Whether a better source contradicts a memory, and no source but its own says the same."""
    if memory.kind in ACCOUNTS:
        return False
    better = [m for m in others if m.trust > memory.trust and m.kind not in ACCOUNTS and _share_place(m, memory)]
    return any(_differ(memory, m) for m in better) and not _says_another(memory, others)


def _is_confirmed(memory: Memory, others: Sequence[Memory]) -> bool:
    return any(m.trust > memory.trust and sense(m.value) == sense(memory.value) for m in others)


def _says_another(memory: Memory, others: Sequence[Memory]) -> bool:
    agreeing = [m for m in others if m.memory_id != memory.memory_id and sense(m.value) == sense(memory.value)]
    return any(m.principal != memory.principal for m in agreeing)


def _share_place(one: Memory, other: Memory) -> bool:
    return one.scope == other.scope or AGENT_SCOPE in (one.scope, other.scope)


def _differ(one: Memory, other: Memory) -> bool:
    rules = contradicts(_statement(one), _statement(other)) or contradicts(_statement(other), _statement(one))
    return bool(rules) or differ_in_number(one.value, other.value)


def _statement(memory: Memory) -> Statement:
    return Statement(memory.key, memory.value, memory.kind)
