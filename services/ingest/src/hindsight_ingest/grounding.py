"""Whether what an LLM says rests on what it was shown."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from hindsight_store.words import terms

LEAST_SHARE = 0.5  # of a text's terms
_NUMBER = re.compile(r"\d+(?:[.:]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


@dataclass(frozen=True, slots=True)
class Ground:
    """The terms and numbers of some texts."""

    terms: frozenset[str]
    numbers: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """What these texts hold."""
        joined = "\n".join(texts)
        return cls(frozenset(terms(joined)), find_numbers(joined))

    def holds(self, text: str) -> bool:
        """Whether at least half of a text's terms, and all of its numbers, are here; false of a text without terms."""
        said = terms(text).keys()
        return len(said & self.terms) >= max(1, LEAST_SHARE * len(said)) and find_numbers(text) <= self.numbers


def find_numbers(text: str) -> frozenset[str]:
    """The numbers of a text, alike however they are written: 1,200 is 1200."""
    return frozenset(_NUMBER.findall(_THOUSANDS.sub("", unicodedata.normalize("NFKC", text))))
