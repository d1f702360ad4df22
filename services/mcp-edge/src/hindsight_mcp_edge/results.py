"""What the client returns as the structured content of tools, and the schemas of it."""

from datetime import datetime
from typing import Any

from hindsight_memory import Answer, Context, DeskEntry, Hit, Memory, Source, Turn, WriteResult

from hindsight_mcp_edge import texts

DIGITS = 4

_TEXT, _NUMBER, _INTEGER, _FLAG = ({"type": kind} for kind in ("string", "number", "integer", "boolean"))
_TEXTS = {"type": "array", "items": _TEXT}


def _object(properties: dict[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [name for name in properties if name not in optional]}


_ADJUSTMENT = _object({"field": _TEXT, "asked": _NUMBER, "stored": _NUMBER})
WRITTEN = _object(
    {
        "outcome": {**_TEXT, "description": "created, updated, superseded, conflict, quarantined, working or rejected"},
        "id": _TEXT,
        "revision": _INTEGER,
        "adjustments": {"type": "array", "items": _ADJUSTMENT, "description": "what was lowered to what the source may claim"},
        "reason": _TEXT,
        "field": _TEXT,
        "detail": _TEXT,
        "superseded_ids": {**_TEXTS, "description": "the older statements it took the place of"},
        "superseded_by_id": {**_TEXT, "description": "the later statement that had already taken its place"},
    },
    optional=("reason", "field", "detail", "superseded_ids", "superseded_by_id"),
)
FLAGS = {
    **_TEXTS,
    "description": "why to read it with care: contradicts_context; odd_one_out: better sources say otherwise; unverified: it "
    "matters, and others than the user say so; under_review",
}
OWNER = {**_TEXT, "description": "whose memory it is, where another agent has shared it"}
_HIT = _object(
    {
        **dict.fromkeys(("id", "key", "query", "value"), _TEXT),
        **dict.fromkeys(("importance", "confidence", "similarity", "final_score"), _NUMBER),
        **{"kind": _TEXT, "scope": _TEXT, "tags": _TEXTS, "source": _TEXT, "valid_from": _TEXT, "created_at": _TEXT},
        "revision": _INTEGER,
        "is_core": _FLAG,
        "valid_to": {**_TEXT, "description": "until when it held; absent: it still holds"},
        "reason": {**_TEXT, "description": "topic; standing: holds whatever is asked; history: an older statement"},
        "why": {**_TEXT, "description": "the channels that found it, and what its similarity is made of"},
        "flags": FLAGS,
        "agent_id": OWNER,
    },
    optional=("valid_to", "flags", "agent_id"),
)
FOUND = _object(
    {
        "memories": {"type": "array", "items": _HIT},
        "count": _INTEGER,
        "more": {**_FLAG, "description": "tag mode: there are more than top_k"},
        "degraded": _FLAG,
        "missing_channels": _TEXTS,
        "receipt_id": {**_TEXT, "description": "explains this answer later; empty in tag mode"},
        "withheld": {**_INTEGER, "description": "how many memories the guard kept out, since the context contradicts them"},
        "hint": _TEXT,
    },
    optional=("hint", "withheld"),
)
_CANDIDATE = _object({"turn": _INTEGER, **dict.fromkeys(("trigger", "rule", "kind", "key", "value", "timing"), _TEXT)})
OBSERVED = _object(
    {
        "first_turn": {**_INTEGER, "description": "the number of the first turn in its session, from 0"},
        "added": {**_INTEGER, "description": "how many turns are new"},
        "candidates": {
            "type": "array",
            "items": _CANDIDATE,
            "description": "what is worth keeping; timing: now, round (when the round closes), desk (for this task only)",
        },
    }
)
REPORTED = _object({"receipt_id": {**_TEXT, "description": "whose account holds the report now"}, "outcome": _TEXT})
ENDED = _object(
    {
        "task_id": {**_TEXT, "description": "the session's last task; empty: it had none"},
        "looks_back": {**_FLAG, "description": "whether it is looked back on now"},
        "hint": _TEXT,
    }
)
_EXPERIENCE = _object(
    {
        **dict.fromkeys(("id", "goal", "outcome", "scenario_summary"), _TEXT),
        **dict.fromkeys(("key_steps", "pitfalls", "reusable_knowledge"), _TEXTS),
        "text": {**_TEXT, "description": "the whole experience"},
        "tags": _TEXTS,
        **dict.fromkeys(("confidence", "similarity", "final_score"), _NUMBER),
        "created_at": _TEXT,
        "why": _TEXT,
        "flags": FLAGS,
        "agent_id": OWNER,
    },
    optional=("flags", "agent_id"),
)
EXPERIENCES = _object(
    {
        "experiences": {"type": "array", "items": _EXPERIENCE},
        "count": _INTEGER,
        "more": {**_FLAG, "description": "tag mode: there are more than limit"},
        "degraded": _FLAG,
        "receipt_id": _TEXT,
        "withheld": _INTEGER,
        "hint": _TEXT,
    },
    optional=("hint", "withheld"),
)
REMEMBERED = _object(
    {**WRITTEN["properties"], "key": _TEXT, "query": _TEXT}, optional=tuple(set(WRITTEN["properties"]) - set(WRITTEN["required"]))
)
_AT_HAND = _object(  # a memory, or an entry of a desk
    {**_HIT["properties"], "kind": {**_TEXT, "description": "of an entry of a desk: desk"}, "expires_at": _TEXT},
    optional=("valid_to", "flags", "agent_id", "revision", "is_core", "expires_at"),
)
RECALLED = _object(
    {
        **FOUND["properties"],
        "memories": {"type": "array", "items": _AT_HAND},
        "from_desk": {**_FLAG, "description": "the desk and what was written or recalled a moment ago gave all of it"},
    },
    optional=("hint", "withheld", "more"),
)
FORGOTTEN_KEY = _object(
    {
        "outcome": {**_TEXT, "description": "forgotten, or declined by the user"},
        "count": {**_INTEGER, "description": "memories, and the entry of the desk"},
        "memory_ids": _TEXTS,
        "degraded": {**_FLAG, "description": "the desk did not answer"},
        "hint": _TEXT,
    },
    optional=("degraded", "hint"),
)
_ENTRY = _object(
    {
        **dict.fromkeys(("id", "key", "query", "value"), _TEXT),
        **{"importance": _NUMBER, "confidence": _NUMBER, "source": _TEXT, "tokens": _INTEGER},
        "is_pinned": _FLAG,
        "is_task_state": {**_FLAG, "description": "it is cleared when the task at hand ends"},
        "put_at": _TEXT,
        "expires_at": {**_TEXT, "description": "until when it stays unless it is used; absent: it is pinned"},
    },
    optional=("expires_at",),
)
_TOKENS = {"used_tokens": _INTEGER, "budget_tokens": _INTEGER}
PLACED = _object(
    {"entry": _ENTRY, "evicted_keys": {**_TEXTS, "description": "what had to leave the desk for it"}, **_TOKENS},
)
ENTRIES = _object(
    {"entries": {"type": "array", "items": _ENTRY}, "count": _INTEGER, **_TOKENS, "hint": _TEXT}, optional=(*_TOKENS, "hint")
)
PINNED = _object({"entry": _ENTRY})
_SECTION = {**_TEXT, "description": "desk, core, memory or turn"}
CONTEXT = _object(
    {
        "text": {**_TEXT, "description": "ready to stand in a prompt; empty: nothing is known"},
        "items": {
            "type": "array",
            "items": _object(
                {"citation": _TEXT, "id": _TEXT, "key": _TEXT, "section": _SECTION, "flags": FLAGS}, optional=("key", "flags")
            ),
            "description": "what the text cites, in its order",
        },
        "left_out": {
            "type": "array",
            "items": _object(
                {
                    "id": _TEXT,
                    "section": _SECTION,
                    "reason": {**_TEXT, "description": "budget, duplicate, withheld or irrelevant"},
                    "key": {**_TEXT, "description": "desk_get shows a desk's entry by it"},
                    "tokens": _INTEGER,
                    "duplicate_of": _TEXT,
                },
                optional=("key", "tokens", "duplicate_of"),
            ),
        },
        "tokens": _INTEGER,
        "budget_tokens": _INTEGER,
        "degraded": _FLAG,
        "missing_channels": _TEXTS,
        "receipt_id": {**_TEXT, "description": "explains the recall later; empty without a query"},
        "hint": _TEXT,
    },
    optional=("hint",),
)
FORGOTTEN = _object(
    {
        "outcome": {**_TEXT, "description": "forgotten, or declined by the user"},
        "mode": _TEXT,
        "count": _INTEGER,
        "memory_ids": _TEXTS,
    }
)


def from_written(result: WriteResult) -> dict[str, Any]:
    """What became of a memory."""
    written = {
        "outcome": result.outcome,
        "id": result.memory_id,
        "revision": result.revision,
        "adjustments": [{"field": a.field, "asked": a.asked, "stored": a.stored} for a in result.adjustments],
    }
    if result.superseded_ids:
        written["superseded_ids"] = list(result.superseded_ids)
    optional = ("reason", "field", "detail", "superseded_by_id")
    return written | {name: text for name in optional if (text := getattr(result, name))}


def from_answer(answer: Answer) -> dict[str, Any]:
    """The hits with their reasons."""
    found: dict[str, Any] = {
        "memories": [_from_hit(hit) | owner_of(answer, hit) for hit in answer.hits],
        "count": len(answer.hits),
        "more": bool(answer.next_page_token),
        "degraded": bool(answer.missing_channels),
        "missing_channels": list(answer.missing_channels),
        "receipt_id": answer.receipt_id,
    }
    hints = [texts.DEGRADED] * bool(answer.missing_channels) + [texts.NOTHING_FOUND] * (not answer.hits)
    return found | from_guard(answer, hints)


def from_recalled(answer: Answer) -> dict[str, Any]:
    """The hits with their reasons, memories and entries of desks alike."""
    hits = [hit for hit in answer.hits if not isinstance(hit.subject, Turn)]
    found: dict[str, Any] = {
        "memories": [_from_any(hit) | owner_of(answer, hit) for hit in hits],
        "count": len(hits),
        "from_desk": answer.is_from_working,
        "degraded": bool(answer.missing_channels),
        "missing_channels": list(answer.missing_channels),
        "receipt_id": answer.receipt_id,
    }
    hints = [texts.DEGRADED] * bool(answer.missing_channels) + [texts.NOTHING_RECALLED] * (not hits)
    return found | from_guard(answer, hints)


def from_context(context: Context) -> dict[str, Any]:
    """A context, with what it cites and what is not in it."""
    hints = [texts.DEGRADED] * bool(context.missing_channels) + [texts.NO_CONTEXT] * (not context.text)
    hints += [texts.FLAGGED] * any(item.hit.flags for item in context.items)
    return {
        "text": context.text,
        "items": [
            {
                "citation": item.citation,
                "id": _id_of(item.hit),
                **_key_of(item.hit),
                "section": item.section,
                **flags_of(item.hit),
            }
            for item in context.items
        ],
        "left_out": [
            {"id": one.id, "section": one.section, "reason": one.reason}
            | {name: value for name in ("key", "tokens", "duplicate_of") if (value := getattr(one, name))}
            for one in context.left_out
        ],
        "tokens": context.tokens,
        "budget_tokens": context.budget_tokens,
        "degraded": bool(context.missing_channels),
        "missing_channels": list(context.missing_channels),
        "receipt_id": context.receipt_id,
        **({"hint": " ".join(hints)} if hints else {}),
    }


def _id_of(hit: Hit) -> str:
    subject = hit.subject
    return f"{subject.session_id}:{subject.turn}" if isinstance(subject, Turn) else subject.id


def _key_of(hit: Hit) -> dict[str, Any]:
    subject = hit.subject
    return {} if isinstance(subject, Turn) else {"key": subject.key}


def from_entry(entry: DeskEntry) -> dict[str, Any]:
    """An entry of a desk."""
    return {
        **{name: getattr(entry, name) for name in ("id", "key", "query", "value", "tokens", "is_pinned", "is_task_state")},
        "importance": round(entry.importance, DIGITS),
        "confidence": round(entry.confidence, DIGITS),
        "source": from_source(entry.source),
        "put_at": to_text(entry.put_at),
        **({"expires_at": to_text(entry.expires_at)} if entry.expires_at else {}),
    }


def from_guard(answer: Answer, hints: list[str]) -> dict[str, Any]:
    """What the guard on recall did, and what to make of it, behind other hints."""
    hints = hints + [texts.FLAGGED] * any(hit.flags for hit in answer.hits)
    kept_out = {"withheld": len(answer.withheld)} if answer.withheld else {}
    return kept_out | ({"hint": " ".join(hints)} if hints else {})


def flags_of(hit: Hit) -> dict[str, Any]:
    """A hit's flags, where it has some."""
    return {"flags": list(hit.flags)} if hit.flags else {}


def owner_of(answer: Answer, hit: Hit) -> dict[str, Any]:
    """Whose memory a hit is, where it is another agent's."""
    owner = answer.owner_of(hit)
    return {"agent_id": owner} if owner else {}


def _from_hit(hit: Hit) -> dict[str, Any]:
    memory = hit.memory
    return _content(memory) | ({"valid_to": to_text(memory.valid_to)} if memory.valid_to else {}) | _place(hit)


def _from_any(hit: Hit) -> dict[str, Any]:
    entry = hit.subject
    if not isinstance(entry, DeskEntry):
        return _from_hit(hit)
    put_at = to_text(entry.put_at)
    names = ("id", "key", "query", "value", "importance", "confidence", "source")
    shown = {name: value for name, value in from_entry(entry).items() if name in (*names, "expires_at")}
    return shown | {"kind": "desk", "scope": entry.scope, "tags": [], "valid_from": put_at, "created_at": put_at} | _place(hit)


def _place(hit: Hit) -> dict[str, Any]:
    return {
        "reason": hit.reason,
        "similarity": round(hit.similarity, DIGITS),
        "final_score": round(hit.final_score, DIGITS),
        "why": explain(hit),
        **flags_of(hit),
    }


def from_memory(memory: Memory) -> dict[str, Any]:
    """A whole memory."""
    moments = {
        name: to_text(moment)
        for name in ("valid_to", "known_from", "expires_at", "last_hit_at")
        if (moment := getattr(memory, name)) is not None
    }
    return {
        **_content(memory),
        "agent_id": memory.agent_id,
        "status": memory.status,
        "metadata": dict(memory.metadata),
        "hit_count": memory.hit_count,
        "derived_from": list(memory.derived_from),
        **moments,
    }


def _content(memory: Memory) -> dict[str, Any]:
    return {
        **{name: getattr(memory, name) for name in ("id", "key", "query", "value")},
        "importance": round(memory.importance, DIGITS),
        "confidence": round(memory.confidence, DIGITS),
        "kind": memory.kind,
        "scope": memory.scope,
        "tags": list(memory.tags),
        "source": from_source(memory.source),
        "valid_from": to_text(memory.valid_from),
        "created_at": to_text(memory.created_at),
        "revision": memory.revision,
        "is_core": memory.is_core,
    }


def explain(hit: Hit) -> str:
    """Why a hit is where it is, in one line."""
    found = [
        f"{f.channel} rank {f.rank} (score {f.score:.3g})" if f.rank else f"{f.channel} below its list (score {f.score:.3g})"
        for f in hit.findings
    ]
    summands = [f"{c.feature} {c.value:.3g} x {c.weight:.3g}" for c in hit.contributions]
    made_of = f" = {' + '.join(summands)}" if summands else ""
    return (
        f"found by {', '.join(found) or 'the filter'}; similarity {hit.similarity:.3g}{made_of}; "
        f"importance now {hit.effective_importance:.3g}"
    )


def from_source(source: Source) -> str:
    """A source in its text form: "user session:abc turn:7"."""
    parts = (source.kind, source.session_id and f"session:{source.session_id}", source.turn is not None and f"turn:{source.turn}")
    return " ".join(part for part in parts if part)


def to_text(moment: datetime) -> str:
    """A moment in RFC 3339."""
    return moment.isoformat().replace("+00:00", "Z")
