"""Relations that follow from what memories say, where they are switched on: shared entities, and preferences that pair up."""

from collections.abc import Collection, Sequence
from datetime import datetime
from difflib import SequenceMatcher

from hindsight_language.lexicon import ANTONYMS, ANTONYMS_ZH
from hindsight_store.reader import Rarity, search_text
from hindsight_store.records import Memory, Relation, Selection
from hindsight_store.words import names, terms
from hindsight_store.writer import Writer

SORTS = ("entities", "preferences")
NAMES, MOST_SHARING = 3, 10  # a name that more memories hold is a topic, not an entity
NEIGHBOURS = 5
SHARE = 0.5  # of what the followed names say
PREFERENCES = 64
ALIKE = 0.6  # of the characters, once likes, dislikes and the opposites are taken out
LIKES = frozenset({"like", "love", "enjoy", "prefer", "adore", "want"})
DISLIKES = frozenset({"dislik", "hate", "detest", "loath", "avoid"})
LIKES_ZH, DISLIKES_ZH = ("喜欢", "偏好", "偏爱", "爱用", "爱"), ("不喜欢", "讨厌", "反感", "不爱", "厌恶")
OPPOSITES = frozenset(
    frozenset(pair) for pair in (*ANTONYMS, ("dark", "bright"), ("quiet", "loud"), ("quiet", "noisi"), ("hot", "cold"))
)
OPPOSITES_ZH = (*ANTONYMS_ZH, ("暗色", "亮色"), ("深色", "亮色"), ("安静", "吵闹"), ("冷", "热"))


async def find_kin(
    writer: Writer, bank_id: int, fresh: Sequence[Memory], sorts: Collection[str], now: datetime
) -> list[Relation]:
    """The relations of new memories to others of their scope: `same_entity`, weighted by what they share, and `supports`."""
    found: list[Relation] = []
    for memory in fresh:
        among = Selection(now=now, holds_after=now, scopes=(memory.scope,))
        if "entities" in sorts:
            says = names(search_text(memory.key, memory.trigger, memory.value)[:4000])
            rarity = Rarity(NAMES, MOST_SHARING)
            shared = await writer.hop(bank_id, among, says, rarity=rarity, limit=NEIGHBOURS + 1) if says else []
            near = [f for f in shared if f.memory_id != memory.memory_id and f.score >= SHARE]
            found += [Relation(memory.memory_id, "same_entity", f.memory_id, f.score) for f in near]
        if "preferences" in sorts and memory.standing == "preference":
            ids = await writer.standing(bank_id, among, limit=PREFERENCES)
            others = await writer.current(bank_id, [i for i in ids if i != memory.memory_id])
            pairs = [i for i, other in sorted(others.items()) if are_a_pair(memory.value, other.value)]
            found += [Relation(memory.memory_id, "supports", i) for i in pairs[:NEIGHBOURS]]
    return found


def are_a_pair(one: str, other: str) -> bool:
    """Whether one likes what is the opposite of what the other dislikes: likes dark mode / dislikes bright mode."""
    return _pair_words(one, other) or _pair_words(other, one) or _pair_characters(one, other) or _pair_characters(other, one)


def _pair_words(likes: str, dislikes: str) -> bool:
    a, b = set(terms(likes)), set(terms(dislikes))
    if not (a & LIKES and b & DISLIKES) or a & DISLIKES or b & LIKES:
        return False
    a, b = a - LIKES, b - DISLIKES
    left, right = a - b, b - a
    return bool(a & b) and len(left) == len(right) == 1 and frozenset((*left, *right)) in OPPOSITES


def _pair_characters(likes: str, dislikes: str) -> bool:
    disliked = next((word for word in DISLIKES_ZH if word in dislikes), "")
    liked = next((word for word in LIKES_ZH if word in likes), "")
    if not disliked or not liked or any(word in likes for word in DISLIKES_ZH):
        return False
    a, b = likes.replace(liked, "", 1), dislikes.replace(disliked, "", 1)
    for pair in OPPOSITES_ZH:
        for x, y in (pair, pair[::-1]):
            if x in a and y in b and SequenceMatcher(None, a.replace(x, "", 1), b.replace(y, "", 1)).ratio() >= ALIKE:
                return True
    return False
