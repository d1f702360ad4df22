"""Contexts, from messages."""

from hindsight.v1 import recall_pb2

from hindsight_memory.types.contexts import Context, ContextItem, LeftOut
from hindsight_memory.wire.fields import short
from hindsight_memory.wire.memories import to_relation
from hindsight_memory.wire.recalls import to_channels, to_hit


def to_context(response: recall_pb2.RecallContextResponse) -> Context:
    """A context."""
    return Context(
        text=response.text,
        items=tuple(map(_to_item, response.items)),
        relations=tuple(map(to_relation, response.relations)),
        left_out=tuple(map(_to_left_out, response.left_out)),
        tokens=response.tokens,
        budget_tokens=response.budget_tokens,
        receipt_id=response.receipt_id,
        missing_channels=to_channels(response.missing_channels),
        is_partial=response.is_partial,
        is_degraded=response.is_degraded,
        agent_id=response.agent_id,
    )


def _to_item(i: recall_pb2.ContextItem) -> ContextItem:
    return ContextItem(short("SECTION", i.section, recall_pb2.Section), i.citation, to_hit(i.hit), i.line, i.tokens)


def _to_left_out(one: recall_pb2.LeftOut) -> LeftOut:
    reason = short("LEFT_OUT_REASON", one.reason, recall_pb2.LeftOutReason)
    return LeftOut(one.id, short("SECTION", one.section, recall_pb2.Section), reason, one.duplicate_of, one.key, one.tokens)
