"""Listening: what of a turn is worth keeping, and which rule says so. No LLM."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from hindsight_language.simplified import simplify
from hindsight_runtime.heads import CONSTANT, HAN, WORD, Grams, Head, Row, Stored, grams, load_weights, read_head
from hindsight_store.turns import Turn

from hindsight_ingest import speech, standing, tool_states
from hindsight_ingest.deriving import derive_key, derive_query, name_subject
from hindsight_ingest.listening_rules import FOR, agrees, find_rules, find_sure, has_affect, is_ruled_out
from hindsight_ingest.naming import RULE_NAMES, Name, find_names, guess_names

Timing = Literal["now", "round", "desk"]
TRIGGERS = ("preference", "state", "correction", "entity")
WEIGHTS = "listening.npz"
PASTED_CHARS = 2000  # a longer turn holds material; what is said of it stands in its first line
PASSAGE_CHARS = 300  # a longer turn is judged sentence by sentence
MAX_SENTENCES = 12
BEFORE_CHARS = 400  # of the end of the turn before
VALUE_CHARS, QUOTE_CHARS = 600, 160
SHORT_CHARS = {"en": 60, "zh": 24}  # a correction up to here is not understood without what it corrects
IMPORTANCE = {"preference": 0.7, "correction": 0.7, "state": 0.6, "entity": 0.5}
SAID, GUESSED, TOLD_BY_TOOL = 0.9, 0.6, 0.8  # confidence
_FENCE = re.compile(r"```.*?(?:```|\Z)|^[ \t]*>[^\n]*$", re.DOTALL | re.MULTILINE)
_NAMED_FIELD = re.compile(r"\"\w*(?:id|number|no|code|编号|单号)\"\s*:\s*\"?(?P<name>[\w-]{2,40})", re.IGNORECASE)
_QUOTED = re.compile(r"[“\"「『][^”\"」』\n]{12,}[”\"」』]")

# What the agent's turn does: corrected are its claims and acts, rarely its advice and its talk.
_ADVISES = re.compile(
    r"\b(?:suggest|recommend|could|would|try|likel|possibl|then)|建议|可以|试试|可能|记得|最好|那要?|需要?先", re.IGNORECASE
)
_CLAIMS = re.compile(
    (
        r"\b(?:i(?:'ve| have| will|'ll)|i \w+ed|i (?:put|set|wrote|took|sent)|your?\b.{0,30}\b(?:is|are|has|have|lives?)|"
        r"dear)\b|已|[您你]|我[把会用在给]"
    ),
    re.IGNORECASE,
)
_TALKS = re.compile(
    (
        r"\b(?:hello|hi|welcome|sorry|glad|happy|great|sure|done|corrected|changed|enjoy|good)\b|[好嗯哈]|抱歉|没关系|不客气|已[改换删]"
    ),
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement of a turn that is worth keeping. Texts are the turn's own words."""

    turn: int
    trigger: str  # preference, entity, state, correction
    rule: str
    kind: str  # of the memory it would become
    key: str
    query: str
    value: str
    tags: tuple[str, ...]
    importance: float
    confidence: float
    timing: Timing  # when it is kept: at once, when the round closes; or not: task state, for the desk
    name: str = ""  # of an entity
    is_instruction: bool = False  # to the agent; it waits for a person's word


@dataclass(frozen=True, slots=True)
class Heads:
    """For each trigger a head that reads a passage's embedding too, and one that does without. The weights are made by
    training/train_listening.py."""

    full: Mapping[str, Head]
    bare: Mapping[str, Head]
    common: frozenset[str]  # words that are no names
    model_id: str  # whose embeddings the full heads read
    training_sha256: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a turn that is judged as one, with what the rules see in it."""

    text: str  # as it was said
    plain: str  # as it is judged
    names: tuple[Name, ...]
    rules: Mapping[str, bool]
    signs: Row
    grams: Grams


@cache
def load_heads() -> Heads:
    """The packaged weights, read once."""
    return read_heads(load_weights("hindsight_ingest", WEIGHTS))


def read_heads(stored: Stored) -> Heads:
    """The heads of the arrays that training stores."""
    full, bare = ({name: read_head(stored, f"{name}_{sort}") for name in TRIGGERS} for sort in ("full", "bare"))
    common = frozenset(map(str, stored["common"]))
    return Heads(full, bare, common, str(stored["model_id"]), str(stored["training_sha256"]))


def listen(
    turn: Turn, before: Turn | None = None, heads: Heads | None = None, embeddings: Sequence[Row | None] | None = None
) -> list[Finding]:
    """What of a turn is worth keeping, given the turn before it. Whether an entity is new is for the caller to find out.

    With the embeddings of the turn's passages it hears better; None of one: it was not worth embedding.
    """
    if turn.role == "tool_result":
        return _listen_to_tool(turn)
    if turn.role != "user":
        return []
    heads = heads or load_heads()
    found: dict[tuple[str, str], Finding] = {}
    for number, passage in enumerate(read_passages(turn, before)):
        sure = _judge_sentences(turn.turn, passage, before)
        judged = _judge(turn.turn, passage, before, heads, embeddings[number] if embeddings else None)
        told = {one.trigger for one in sure}
        for one in (*sure, *(one for one in judged if one.trigger not in told and not (told and one.timing == "desk"))):
            found.setdefault((one.trigger, one.name or one.value), one)
    return list(found.values())


def own_words(turn: Turn) -> str:
    """What of a user's turn is his own: neither code nor quotations, and of what holds pasted material the first line."""
    own = _FENCE.sub(" ", turn.content).strip()
    if len(turn.content) > PASTED_CHARS:
        own = own.partition("\n")[0]
        own = own if len(own) <= PASSAGE_CHARS else ""
    return own


def read_passages(turn: Turn, before: Turn | None) -> list[Passage]:
    """What of a user's turn is judged: its own words, as a whole or, where it is long, by sentences."""
    own = own_words(turn)
    if not own or speech.is_closing(own):
        return []
    parts = [own] if len(own) <= PASSAGE_CHARS else speech.split_sentences(own)[:MAX_SENTENCES]
    return [read_passage(part[:PASSAGE_CHARS], before) for part in parts]


def read_passage(text: str, before: Turn | None) -> Passage:
    """A passage with its names and signs."""
    plain = simplify(unicodedata.normalize("NFKC", _QUOTED.sub('"…"', text)).replace("’", "'"))
    names = tuple(find_names(text, before.content if before else ""))
    rules = find_rules(plain)
    return Passage(text, plain, names, rules, signs(plain, names, rules, before), grams(plain))


def signs(plain: str, names: Sequence[Name], rules: Mapping[str, bool], before: Turn | None) -> Row:
    """A constant, the shape of a text, how it stands to the turn before, what names were found, and which rules fire."""
    words = WORD.findall(plain.lower())
    named = {name.rule for name in names}
    said = before.content[-BEFORE_CHARS:] if before and before.role == "assistant" else ""
    earlier = set(WORD.findall(simplify(said).lower()))
    shared = {word for word in words if word in earlier and (len(word) > 3 or not word.isascii())}
    digits = {word for word in words if any(c.isdigit() for c in word)}
    is_question = said.rstrip().endswith(("?", "？"))
    shape = (
        CONSTANT,
        float(HAN.search(plain) is not None),
        float(np.log1p(len(words)) / 4),
        float(len(words) <= 4),
        float(bool(said)),
        float(is_question),
        float(bool(said) and not is_question),
        float(bool(said) and not is_question and len(words) <= 12),
        float(len(shared) > 0),
        float(len(shared) > 2),
        float(bool(said) and not is_question and bool(digits - earlier) and any(c.isdigit() for c in said)),
        float(_ADVISES.search(said) is not None),
        float(_CLAIMS.search(said) is not None),
        float(_TALKS.search(said) is not None),
        float(0 < len(said) <= 12),
        float(bool(before) and not said),
        float(bool(names)),
        float(len(names) > 1),
    )
    return np.array([*shape, *(float(name in named) for name in RULE_NAMES), *map(float, rules.values())], np.float32)


def _judge(number: int, passage: Passage, before: Turn | None, heads: Heads, embedding: Row | None) -> list[Finding]:
    found: list[Finding] = []
    is_remembered = is_remember(passage)
    chosen = heads.bare if embedding is None else heads.full
    scores = {name: score(name, passage, chosen[name], embedding) for name in TRIGGERS}
    for trigger in ("correction", "preference", "state"):
        is_sure = trigger == "preference" and is_remembered
        if is_sure or scores[trigger] >= chosen[trigger].threshold:
            found.append(_compose(number, trigger, passage, before, is_remembered))
    if scores["entity"] >= chosen["entity"].threshold:
        names = passage.names or guess_names(passage.text, heads.common)
        found += [_introduce(number, name, passage) for name in names]
    if not found and passage.rules["progress"] and not passage.rules["closed_question"]:
        found.append(_compose(number, "state", passage, before, False, timing="desk"))
    return found


def _judge_sentences(number: int, passage: Passage, before: Turn | None) -> list[Finding]:
    """Of a passage of several sentences those that a rule is enough for, each by itself: a wish beside a request."""
    found: list[Finding] = []
    sentences = speech.split_sentences(passage.text)
    for sentence in sentences if len(sentences) > 1 else ():
        for trigger in ("correction", "preference", "state"):
            if find_sure(trigger, simplify(unicodedata.normalize("NFKC", sentence))):
                part = read_passage(sentence, before)
                if not is_ruled_out(trigger, part.plain, part.rules) and not passage.rules["material"]:
                    found.append(_compose(number, trigger, part, before, is_remember(part)))
    return found


def score(trigger: str, passage: Passage, head: Head, embedding: Row | None) -> float:
    """How likely a passage holds what a trigger waits for; 0 where a rule forbids it, 1 where one is enough. Without an
    embedding nothing is new but what the rules for names find."""
    if is_ruled_out(trigger, passage.plain, passage.rules) or (trigger == "entity" and embedding is None and not passage.names):
        return 0.0
    if find_sure(trigger, passage.plain):
        return 1.0
    if trigger == "correction" and agrees(passage.plain):
        return 0.0
    return head.weigh(passage.grams, passage.signs, embedding)


def is_remember(passage: Passage) -> bool:
    """Whether a passage asks to remember something that outlasts the moment."""
    fired = passage.rules
    return fired["remember"] and not (fired["asks_memory"] or fired["material"] or fired["hypothetical"])


def _compose(
    number: int, trigger: str, passage: Passage, before: Turn | None, is_remembered: bool, *, timing: Timing = "round"
) -> Finding:
    fired, language = passage.rules, speech.tell_language([passage.text])
    value = " ".join(passage.text.split())[:VALUE_CHARS]
    telling = next((name for name in FOR[trigger] if fired[name]), "model")
    kind, rule = trigger, find_sure(trigger, passage.plain) or telling
    name = passage.names[0].text if passage.names else ""
    if trigger == "preference" and is_remembered:
        kind, rule, timing = ("preference" if standing.mark("fact", passage.text) else "fact"), "remember", "now"
    elif trigger == "correction":
        value, timing = _with_corrected(value, before, language), "now"
    elif timing == "desk":
        rule = "progress"
    key_name = name if trigger in ("state", "correction") else ""
    importance = IMPORTANCE[trigger] + 0.1 * has_affect(passage.text) + 0.1 * (rule == "remember" or bool(key_name))
    return Finding(
        turn=number,
        trigger=trigger,
        rule=rule,
        kind=kind,
        key=derive_key(kind, passage.text, key_name),
        query=derive_query(kind, passage.text),
        value=value,
        tags=(trigger,),
        importance=0.4 if timing == "desk" else round(min(0.9, importance), 2),
        confidence=GUESSED if fired["uncertain"] else SAID,
        timing=timing,
    )


def _with_corrected(value: str, before: Turn | None, language: str) -> str:
    """A correction with what it corrects, where it is too short to be understood by itself."""
    if before is None or before.role != "assistant" or len(value) > SHORT_CHARS[language]:
        return value
    corrected = " ".join(before.content.split())
    corrected = corrected if len(corrected) <= QUOTE_CHARS else f"…{corrected[-QUOTE_CHARS:]}"
    return f"{value}（更正：“{corrected}”）" if language == "zh" else f'{value} (corrects: "{corrected}")'


def _introduce(number: int, name: Name, passage: Passage) -> Finding:
    rule = name.rule if name.rule in RULE_NAMES else "model"
    return Finding(
        turn=number,
        trigger="entity",
        rule=rule,
        kind="entity",
        key=derive_key("entity", passage.text, name_subject(name.text, name.type, speech.tell_language([passage.text]))),
        query=derive_query("entity", name.text, speech.tell_language([passage.text])),
        value=" ".join(passage.text.split())[:VALUE_CHARS],
        tags=("entity", name.type),
        importance=round(IMPORTANCE["entity"] + 0.1 * has_affect(passage.text), 2),
        confidence=GUESSED if passage.rules["uncertain"] else SAID,
        timing="round",
        name=name.text,
    )


def _listen_to_tool(turn: Turn) -> list[Finding]:
    state = None if turn.is_error else tool_states.find_state(turn.result or turn.content)
    if state is None:
        return []
    names = find_names(state.text)
    named = _NAMED_FIELD.search(turn.result)
    name = names[0].text if names else named["name"] if named else ""
    return [
        Finding(
            turn=turn.turn,
            trigger="state",
            rule=state.rule,
            kind="state",
            key=derive_key("state", state.text, name),
            query=derive_query("state", state.text),
            value=state.text,
            tags=("state",),
            importance=IMPORTANCE["state"],
            confidence=TOLD_BY_TOOL,
            timing="round",
        )
    ]
