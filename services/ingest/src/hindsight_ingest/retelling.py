"""An experience told anew by an LLM: what rules found in the trace, in words that see its sense."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, Self

from hindsight_store.turns import Turn
from pydantic import BaseModel, Field, StringConstraints, TypeAdapter, model_validator

from hindsight_ingest.candidate import CEILINGS
from hindsight_ingest.grounding import Ground
from hindsight_ingest.llm import Llm, label_rules
from hindsight_ingest.prompting import quote_ends, to_prompt
from hindsight_ingest.retrospecting import (
    LISTS,
    MAX_KNOWLEDGE,
    MAX_PITFALLS,
    MAX_STEPS,
    OUTCOMES,
    SCENARIO_CHARS,
    TEXT_CHARS,
    Experience,
)
from hindsight_ingest.speech import GOAL_CHARS
from hindsight_ingest.wording import clip

DECIDED_CHARS = 200
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=TEXT_CHARS, pattern=r"^[^\x00]*$")]


class Told(BaseModel):
    """The answer. Where nothing is worth remembering the rest is left out."""

    worth_remembering: bool
    goal: str = Field(default="", max_length=GOAL_CHARS, pattern=r"^[^\x00]*$")
    outcome: Literal["success", "partial", "failure", ""] = ""
    decided_by: str = Field(default="", max_length=DECIDED_CHARS, pattern=r"^[^\x00]*$")
    key_steps: list[Line] = Field(default=[], max_length=MAX_STEPS)
    pitfalls: list[Line] = Field(default=[], max_length=MAX_PITFALLS)
    reusable_knowledge: list[Line] = Field(default=[], max_length=MAX_KNOWLEDGE)
    scenario_summary: str = Field(default="", max_length=SCENARIO_CHARS, pattern=r"^[^\x00]*$")

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.worth_remembering and not (self.goal.strip() and self.outcome and self.scenario_summary.strip()):
            raise ValueError("goal, outcome and scenario_summary are required where something is worth remembering")
        return self


ANSWER = TypeAdapter(Told)


@dataclass(frozen=True, slots=True)
class Retelling:
    """Who looked back, and the experience; None where the LLM finds nothing worth keeping."""

    label: str
    experience: Experience | None


async def retell(llm: Llm, tenant_id: int, turns: Sequence[Turn], experience: Experience, told: tuple[str, str]) -> Retelling:
    """What an LLM makes of a task that rules found worth an experience; theirs, where it fails.

    `told` is the client's word: its outcome stands, and a task with a note is never forgotten.
    """
    outcome, note = told
    material = quote_ends(turns)
    prompt = to_prompt("retrospect", experience.language, material)
    opinion = await llm.ask(tenant_id, llm.endpoint.retrospect_model, prompt, ANSWER)
    if opinion.answer is None:
        return Retelling(opinion.label, experience)
    if not opinion.answer.worth_remembering:
        return Retelling(opinion.label, experience if note.strip() else None)
    merged = merge(experience, opinion.answer, Ground.of((*material.shown, note)))
    if merged is None:
        return Retelling(label_rules("invalid answer"), experience)
    return Retelling(opinion.label, replace(merged, outcome=OUTCOMES.get(outcome.strip().lower(), merged.outcome)))


def merge(experience: Experience, told: Told, ground: Ground) -> Experience | None:
    """An experience with what an LLM tells and the trace bears out; None where that is nothing. Tags stay those of rules.

    Where nothing of a part is borne out, the part found by rules stays.
    """
    lists = {name: tuple(clip(t, TEXT_CHARS) for t in getattr(told, name) if ground.holds(t)) for name in LISTS}
    if not any(lists.values()):
        return None
    return replace(
        experience,
        **{name: texts or getattr(experience, name) for name, texts in lists.items()},
        goal=clip(told.goal, GOAL_CHARS) if ground.holds(told.goal) else experience.goal,
        outcome=told.outcome or experience.outcome,
        decided_by=clip(told.decided_by, DECIDED_CHARS) if ground.holds(told.decided_by) else "",
        scenario_summary=clip(told.scenario_summary, SCENARIO_CHARS)
        if ground.holds(told.scenario_summary)
        else experience.scenario_summary,
        confidence=CEILINGS["retrospective"],
    )
