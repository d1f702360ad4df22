"""What a session came to, in its own words: an extract, no LLM."""

from collections.abc import Sequence
from dataclasses import dataclass

from hindsight_store.turns import Turn

from hindsight_ingest import speech
from hindsight_ingest.wording import Language


@dataclass(frozen=True, slots=True)
class Summary:
    """A session in short."""

    topic: str
    text: str
    language: Language


def sum_up(turns: Sequence[Turn]) -> Summary | None:
    """The extract of a session, or None where nothing happened in it that is worth a summary."""
    said = [text for _, text in speech.user_texts(turns)]
    goal = speech.find_goal(said)
    if not goal or len(turns) < 4:
        return None
    return Summary(goal, "\n".join(said)[:1200], speech.tell_language(said))
