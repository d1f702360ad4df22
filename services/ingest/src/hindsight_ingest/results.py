"""What became of a memory, on the wire."""

from hindsight.v1 import ingest_pb2

from hindsight_ingest.pipeline import Result


def to_message(result: Result) -> ingest_pb2.WriteResult:
    """A result as a message."""
    return ingest_pb2.WriteResult(
        outcome=f"OUTCOME_{result.outcome.upper()}",
        memory_id=str(result.memory_id) if result.memory_id else "",
        revision=result.revision,
        reason=f"ERROR_REASON_{result.reason}" if result.reason else None,
        field=result.field,
        detail=result.detail,
        adjustments=[ingest_pb2.Adjustment(field=a.field, asked=a.asked, stored=a.stored) for a in result.adjustments],
        superseded_ids=map(str, result.superseded),
        superseded_by_id=str(result.superseded_by) if result.superseded_by else "",
    )
