"""Which memories a statement looks at: a selection as SQL, and its arguments."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from hindsight_store.records import Selection
from hindsight_store.withdrawals import HELD

# The revisions that were current at a moment of record time; NULL: those that are current now. What is deleted or held back
# by now is gone from every moment, and so is what a withdrawn source made of a memory that others wrote.
KNOWN = f"""(({{0}}::timestamptz IS NULL AND m.known_to IS NULL)
        OR ({{0}}::timestamptz IS NOT NULL AND m.known_from <= {{0}} AND (m.known_to IS NULL OR m.known_to > {{0}}) AND NOT {HELD}
            AND NOT EXISTS (SELECT FROM memories AS latest WHERE latest.bank_id = $1 AND latest.memory_id = m.memory_id
                AND latest.known_to IS NULL AND latest.status IN ('deleted', 'pending_review'))))"""

# $1 bank, $2 … $20 the selection. With plan_cache_mode = force_custom_plan what is NULL folds away.
SELECTED = f"""m.bank_id = $1 AND m.status = ANY ($2) AND (m.expires_at IS NULL OR m.expires_at > $3)
    AND ($17::timestamptz IS NULL OR m.valid_to IS NULL OR m.valid_to > $17)
    AND ($18::timestamptz IS NULL OR m.valid_from <= $18) AND {KNOWN.format("$19")}
    AND ($4::text[] IS NULL OR m.scope = ANY ($4)) AND ($20::text IS NULL OR starts_with(m.scope, $20))
    AND ($5::text IS NULL OR m.key = $5) AND ($6::text IS NULL OR m.key LIKE $6)
    AND ($7::text[] IS NULL OR m.kind = ANY ($7))
    AND ($8::text[] IS NULL OR m.tags && $8) AND ($9::text[] IS NULL OR m.tags @> $9)
    AND m.importance >= $10 AND m.confidence >= $11
    AND ($12::timestamptz IS NULL OR m.valid_from >= $12) AND ($13::timestamptz IS NULL OR m.valid_from < $13)
    AND ($14::timestamptz IS NULL OR m.created_at >= $14) AND ($15::timestamptz IS NULL OR m.created_at < $15)
    AND ($16::jsonb IS NULL OR m.metadata @> $16)"""

MIN_ID = UUID(int=0)


def to_arguments(bank_id: int, s: Selection) -> tuple[Any, ...]:
    """$1 to $20 of a statement with SELECTED."""
    prefix = s.key.endswith("*")
    pattern = s.key[:-1].replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    return (
        bank_id,
        s.statuses,
        s.now,
        s.scopes,
        s.key if s.key and not prefix else None,
        pattern if prefix else None,
        s.kinds or None,
        s.any_tags or None,
        s.all_tags or None,
        s.min_importance,
        s.min_confidence,
        s.valid_since,
        s.valid_until,
        s.created_since,
        s.created_until,
        s.metadata or None,
        s.holds_after,
        s.begun_by,
        s.known_at,
        s.scope_prefix or None,
    )


def split_scopes(scopes: Sequence[str] | None) -> tuple[list[str] | None, list[str] | None]:
    """Scopes as exact ones and beginnings of others; None: all."""
    if scopes is None:
        return None, None
    return [s for s in scopes if not s.endswith("*")], [s[:-1] for s in scopes if s.endswith("*")]
