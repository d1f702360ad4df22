"""What an LLM finds worth keeping of a round in which rules found nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import structlog
from hindsight_store.turns import Turn, search_text
from hindsight_store.words import terms
from pydantic import BaseModel, Field, StringConstraints, TypeAdapter

from hindsight_ingest import speech
from hindsight_ingest.grounding import Ground
from hindsight_ingest.listening import Finding
from hindsight_ingest.llm import Llm
from hindsight_ingest.masking import mask
from hindsight_ingest.own_tools import leave_out_own
from hindsight_ingest.prompting import quote_newest, to_prompt

LONG = 3  # turns of a session that is no longer short
CONTEXT = 6  # turns before the round that help to understand it
LEAST_CONFIDENCE = 0.5  # SPEC A5
IMPORTANCE = 0.5
RULE = "llm"

log = structlog.get_logger()


class Statement(BaseModel):
    """One object of the answer."""

    key: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=128, pattern=r"^[^\x00]*$")]
    query: Annotated[str, StringConstraints(strip_whitespace=True, max_length=512, pattern=r"^[^\x00]*$")] = ""
    value: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000, pattern=r"^[^\x00]*$")]
    confidence: float = Field(ge=0, le=1, allow_inf_nan=False)
    type: Literal["fact", "instruction"]


ANSWER = TypeAdapter(Annotated[list[Statement], Field(max_length=8)])


@dataclass(frozen=True, slots=True)
class Judgement:
    """Who decided of a round, and what was found in it."""

    label: str
    found: tuple[tuple[Turn, Finding], ...] = ()


def is_ambiguous(turns: Sequence[Turn], first: int, end: int) -> bool:
    """Whether a round of a session of `end` turns is worth an LLM's judgement, given that no rule fired in it."""
    return end > LONG and any(t.role == "user" and t.turn >= first and speech.is_substantial(t.content) for t in turns)


async def judge(llm: Llm, tenant_id: int, turns: Sequence[Turn], first: int) -> Judgement:
    """What an LLM finds in the turns from a number on; the turns before it are context."""
    shown = leave_out_own(turns)
    material = quote_newest(shown, first)
    language = speech.tell_language([t.content for t in shown if t.role == "user"])
    opinion = await llm.ask(tenant_id, llm.endpoint.model, to_prompt("judge", language, material), ANSWER)
    if opinion.answer is None:
        return Judgement(opinion.label)
    ground = Ground.of(material.shown)
    sure = [
        one for one in opinion.answer if one.confidence >= LEAST_CONFIDENCE and ground.holds(one.value) and not _has_secret(one)
    ]
    found = [(turn, to_finding(one, turn)) for one in sure if (turn := find_origin(one.value, shown)).turn >= first]
    log.info(
        "round judged",
        stated=len(opinion.answer),
        instructions=sum(one.type == "instruction" for one in opinion.answer),  # they wait for review
        found=len(found),
    )
    return Judgement(opinion.label, tuple(found))


def find_origin(value: str, turns: Sequence[Turn]) -> Turn:
    """The turn that holds most of a statement's terms, the first of several."""
    said = terms(value).keys()
    return max(turns, key=lambda turn: len(said & terms(search_text(turn)).keys()))


def to_finding(one: Statement, turn: Turn) -> Finding:
    """A statement as what listening finds."""
    return Finding(
        turn=turn.turn,
        trigger="judgement",
        rule=RULE,
        kind="fact",
        key=one.key,
        query=one.query,
        value=one.value,
        tags=(),
        importance=IMPORTANCE,
        confidence=one.confidence,
        timing="round",
        is_instruction=one.type == "instruction",
    )


def _has_secret(one: Statement) -> bool:
    texts = (one.key, one.query, one.value)
    return any("[masked" in text or mask(text)[1] for text in texts)
