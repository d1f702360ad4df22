"""A context that is ready for a prompt: lines of desk, core memories, memories and turns, within a budget of tokens. Pure."""

import hashlib
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, tzinfo
from typing import Literal
from uuid import UUID

from hindsight_language.duplicates import sense
from hindsight_language.tokens import Count
from hindsight_store.desks import Entry
from hindsight_store.records import Kept, RelationSeen
from hindsight_store.turns import Turn

from hindsight_recall.episodic import turn_name
from hindsight_recall.periods import day_in
from hindsight_recall.ranking import Importance, Measured, Place
from hindsight_recall.recalling import Hit, Subject

Section = Literal["desk", "core", "memory", "turn"]
WhyLeftOut = Literal["budget", "duplicate", "withheld", "irrelevant"]
HEADINGS: Mapping[Section, str] = {
    "desk": "# Desk 手边",
    "core": "# Always 常备",
    "memory": "# Memories 记忆",
    "turn": "# Turns 对话",
}
RELATIONS_HEADING = "# Relations 关系"
# What is filled one after the other, each with its share of the budget as long as something stands behind it.
DESK_SHARE = 0.4
POOLS: Sequence[tuple[Collection[Section], float]] = ((("desk",), DESK_SHARE), (("core",), 0.3), (("memory", "turn"), 1.0))
CITED_CHARS = 6  # of the end of an id, or as many as it takes
ALIKE = 0.9  # of the words of two lines, none of which is a number or a negation, and they say the same
ALIKE_WORDS = 8  # of the shorter one; in fewer, each word says something of its own
WORDS_OF_TOKEN = 2  # no family of models has fewer tokens than half of the words
PIVOTS = frozenset("not,no,never,nor,without,but,except,不,没,没有,别,未,非,无,勿,莫,除了".split(","))  # noqa: SIM905 - shorter


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that could be in a context."""

    section: Section
    hit: Hit

    @property
    def name(self) -> str:
        """Its id."""
        return name_of(self.hit.subject)


@dataclass(frozen=True, slots=True)
class Item:
    """A line of a context."""

    offer: Offer
    citation: str
    line: str
    tokens: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that is not in a context, and why."""

    name: str
    section: Section
    reason: WhyLeftOut
    duplicate_of: str = ""
    key: str = ""  # of a memory or a desk's entry, where it was read
    tokens: int = 0  # it would have taken, where they were counted


@dataclass(frozen=True, slots=True)
class Context:
    """What came into a context, and what did not."""

    text: str = ""
    tokens: int = 0
    items: Sequence[Item] = ()
    relations: Sequence[RelationSeen] = ()
    left_out: Sequence[LeftOut] = ()


def compose(
    offers: Sequence[Offer], relations: Sequence[RelationSeen], *, budget_tokens: int, count: Count, zone: tzinfo = UTC
) -> Context:
    """Take what fits from the offers, which come as desk, core, and then by rank; what the desk's and the core's shares leave
    out comes in where there is room in the end. The text has a section after the other, and never more tokens than the budget;
    its days are the zone's.
    """
    unique, left_out = _drop_duplicates(offers)
    lines = _to_lines(unique, budget_tokens, count, zone)
    taken = _take(lines, budget_tokens, count)
    order = list(HEADINGS)
    items = sorted((line for line in lines if line.offer.name in taken), key=lambda one: order.index(one.offer.section))
    among = _among(relations, items)
    text = _to_text(items, among)
    if among and count(text) > budget_tokens:
        numbers = range(len(among))
        among = among[: max(0, bisect_right(numbers, budget_tokens, key=lambda n: count(_to_text(items, among[:n]))) - 1)]
        text = _to_text(items, among)
    while items and count(text) > budget_tokens:  # the sum of the lines is an estimate of the whole
        items = items[:-1]
        text = _to_text(items, among)
    inside = {item.offer.name for item in items}
    outside = [line for line in lines if line.offer.name not in inside]
    left_out += [_leave_out(line.offer, "budget", tokens=line.tokens) for line in outside]
    return Context(text, count(text), items, among, left_out)


def name_of(subject: Subject) -> str:
    """The id of a memory, a turn or a desk's entry."""
    if isinstance(subject, Kept):
        return str(subject.memory.memory_id)
    return turn_name(subject.id) if isinstance(subject, Turn) else subject.entry_id


def _leave_out(offer: Offer, reason: WhyLeftOut, *, duplicate_of: str = "", tokens: int = 0) -> LeftOut:
    return LeftOut(offer.name, offer.section, reason, duplicate_of, _key_of(offer.hit.subject), tokens)


def _key_of(subject: Subject) -> str:
    if isinstance(subject, Turn):
        return ""
    return subject.memory.key if isinstance(subject, Kept) else subject.key


def _text_of(subject: Subject) -> str:
    """What a subject says, without where and when."""
    if isinstance(subject, Kept):
        return subject.memory.value
    if isinstance(subject, Turn):
        return "\n".join(part for part in (subject.content, subject.result) if part)
    return subject.value


def _drop_duplicates(offers: Sequence[Offer]) -> tuple[list[Offer], list[LeftOut]]:
    """The offers without those that say what an earlier one says, or are it."""
    kept: dict[str, Offer] = {}
    said_by: dict[tuple[str, ...], str] = {}
    long: list[tuple[str, frozenset[str], str]] = []
    left_out: list[LeftOut] = []
    for offer in offers:
        if offer.name in kept:
            continue
        said = sense(_text_of(offer.hit.subject))
        words = frozenset(said)
        source = _source_of(offer.hit.subject)
        # Among words that are only nearly the same a weaker source may have changed the one that matters.
        near = (name for name, other, by in long if by in (source, "user") and _are_alike(words, other))
        twin = said_by.get(said) or next(near, "")
        if twin:
            left_out.append(_leave_out(offer, "duplicate", duplicate_of=twin))
            continue
        kept[offer.name] = offer
        said_by[said] = offer.name
        if len(words) >= ALIKE_WORDS:
            long.append((offer.name, words, source))
    return list(kept.values()), left_out


def _source_of(subject: Subject) -> str:
    if isinstance(subject, Turn):
        return "user" if subject.role == "user" else "tool"
    return subject.memory.source if isinstance(subject, Kept) else subject.source


def _are_alike(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether long enough statements have nearly the same words. Asked of every pair: what is cheap comes first."""
    shared, most = ALIKE * (len(a) + len(b)) / (1 + ALIKE), min(len(a), len(b))
    if most < ALIKE_WORDS or most < shared or len(a & b) < shared:
        return False
    return not any(word in PIVOTS or any(c.isdigit() for c in word) for word in a ^ b)


def _to_lines(offers: Sequence[Offer], budget_tokens: int, count: Count, zone: tzinfo) -> list[Item]:
    citations = _cite([offer.name for offer in offers])
    found = []
    for offer in offers:
        line = f"[{citations[offer.name]}] {_describe(offer.hit, zone)}"
        words = len(line.split())
        is_hopeless = words > WORDS_OF_TOKEN * budget_tokens  # counting is what costs
        tokens = max(budget_tokens + 1, words // WORDS_OF_TOKEN) if is_hopeless else count(line + "\n")
        found.append(Item(offer, citations[offer.name], line, tokens))
    return found


def _cite(names: Sequence[str]) -> dict[str, str]:
    """The end of each id, as long as it takes to tell them apart."""
    digits = {name: name.rpartition(":")[2].replace("-", "") if "#" not in name else _digest(name) for name in names}
    for chars in range(CITED_CHARS, 33):
        cited = {name: text[-chars:] for name, text in digits.items()}
        if len(set(cited.values())) == len(cited):
            return cited
    return digits


def _digest(name: str) -> str:
    return hashlib.blake2b(name.encode(), digest_size=16).hexdigest()


def _describe(hit: Hit, zone: tzinfo) -> str:
    """A line without its citation: what it says, of what and since when, and what speaks against it."""
    subject = hit.subject
    said = "\n  ".join(_text_of(subject).strip().splitlines())  # no line begins like another one, whatever breaks it
    notes = [flag.replace("_", " ") for flag in hit.flags]
    if isinstance(subject, Kept):
        memory = subject.memory
        key = memory.key if memory.key.lower() not in memory.value.lower() else ""
        notes = [*([key] if key else []), _day(memory.valid_from, zone), *notes]
    elif isinstance(subject, Turn):
        who = _on_one_line(subject.tool) or subject.role
        said, notes = f"{who}: {said}", [_day(subject.at, zone), *notes]
    elif subject.key.lower() not in subject.value.lower():
        notes = [subject.key, *notes]
    plain = _on_one_line("; ".join(notes))
    return f"{said} ({plain})" if plain else said


def _day(moment: datetime, zone: tzinfo) -> str:
    """The day in a zone; of the first moment of a day in UTC that day, which is how a bare date is given."""
    is_date = moment.astimezone(UTC).time() == time()
    return day_in(moment, UTC if is_date else zone).isoformat()


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _take(lines: Sequence[Item], budget_tokens: int, count: Count) -> Collection[str]:
    """The ids of what fits: at first each pool within its share, then what is left."""
    headings = {section: count(heading + "\n\n") for section, heading in HEADINGS.items()}
    taken: dict[str, Section] = {}
    spent = 0
    for is_second in (False, True):
        for sections, share in POOLS:
            pool = [line for line in lines if line.offer.section in sections]
            is_last = bool(pool) and pool[-1] is lines[-1]
            most, of_pool = budget_tokens * (1.0 if is_second or is_last else share), 0
            for line in pool:
                cost = line.tokens + (0 if line.offer.section in taken.values() else headings[line.offer.section])
                if line.offer.name in taken or spent + cost > budget_tokens or of_pool + cost > most:
                    continue
                taken[line.offer.name] = line.offer.section
                spent += cost
                of_pool += cost
    return taken


def _among(relations: Sequence[RelationSeen], items: Sequence[Item]) -> list[RelationSeen]:
    ids = {item.offer.hit.subject.memory.memory_id for item in items if isinstance(item.offer.hit.subject, Kept)}
    return [seen for seen in relations if seen.relation.from_id in ids and seen.relation.to_id in ids]


def _to_text(items: Sequence[Item], relations: Sequence[RelationSeen]) -> str:
    cited = {item.offer.name: item.citation for item in items}
    parts = []
    for section, heading in HEADINGS.items():
        lines = [item.line for item in items if item.offer.section == section]
        if lines:
            parts.append("\n".join((heading, *lines)))
    if relations:
        parts.append("\n".join((RELATIONS_HEADING, *(_relate(seen, cited) for seen in relations))))
    return "\n\n".join(parts)


def _relate(seen: RelationSeen, cited: Mapping[str, str]) -> str:
    relation = seen.relation
    return f"[{cited[str(relation.from_id)]}] {_on_one_line(relation.type)} [{cited[str(relation.to_id)]}]"


def withheld_of(withheld: Mapping[str, str]) -> list[LeftOut]:
    """What the guard kept out."""
    return [LeftOut(name, "memory", "withheld") for name in withheld]


def far_of(near_misses: Sequence[Place], offered: Collection[str]) -> list[LeftOut]:
    """What a recall found too far from the query, the nearest first."""
    far = [place.measured for place in near_misses if place.measured.id not in offered]
    return [LeftOut(one.id, "turn" if one.is_turn else "memory", "irrelevant") for one in far]


def memory_ids(offers: Sequence[Offer]) -> Iterator[UUID]:
    """The ids of the memories among some offers."""
    for offer in offers:
        if isinstance(offer.hit.subject, Kept):
            yield offer.hit.subject.memory.memory_id


def without_scores(subject: Kept | Entry) -> Hit:
    """Something that no query found, as a hit."""
    importance = subject.memory.importance if isinstance(subject, Kept) else subject.importance
    return Hit(subject, Place(Measured(name_of(subject), {}, Importance(importance)), (), 0.0, 0.0))
