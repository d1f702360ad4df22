"""Jobs, audit lines, sources, withdrawals and erasures, from and to messages."""

from dataclasses import asdict
from datetime import UTC

from hindsight.v1 import admin_pb2, erasure_pb2

from hindsight_memory.types.upkeep import AuditLine, ErasureReceipt, Job, MemorySource, Withdrawal
from hindsight_memory.wire.fields import fill, moment, short

_ERASURE_MOMENTS = ("asked_at", "removed_at", "vacuumed_at", "caches_cleared_at")


def to_job(j: admin_pb2.Job) -> Job:
    """A job."""
    return Job(
        id=j.id,
        kind=j.kind,
        agent_id=j.agent_id,
        state=short("JOB_STATE", j.state, admin_pb2.JobState),
        attempts=j.attempts,
        error=j.error,
        created_at=j.created_at.ToDatetime(tzinfo=UTC),
        run_after=j.run_after.ToDatetime(tzinfo=UTC),
    )


def to_audit_line(line: admin_pb2.AuditLine) -> AuditLine:
    """A line of the audit log."""
    told = (line.agent_id, line.principal, line.action, line.subject, line.outcome)
    return AuditLine(line.id, line.at.ToDatetime(tzinfo=UTC), *told)


def from_memory_source(source: MemorySource) -> admin_pb2.MemorySource:
    """Where memories come from, as a message."""
    return fill(admin_pb2.MemorySource(), asdict(source))


def to_withdrawal(w: admin_pb2.Withdrawal) -> Withdrawal:
    """A withdrawal."""
    counts = (w.withdrawn, w.rolled_back, w.turns)
    return Withdrawal(w.id, w.kind, w.source, moment(w, "at"), w.principal, moment(w, "reinstated_at"), *counts)


def to_erasure_receipt(r: erasure_pb2.ErasureReceipt) -> ErasureReceipt:
    """The proof of an erasure."""
    moments = {name: moment(r, name) for name in _ERASURE_MOMENTS}
    texts = {name: getattr(r, name) for name in ("id", "kind", "name_hash", "is_rewritten", "ids_digest", "signature")}
    return ErasureReceipt(**moments, **texts, counts=dict(r.counts))


def from_erasure_receipt(receipt: ErasureReceipt) -> erasure_pb2.ErasureReceipt:
    """The proof of an erasure, as a message."""
    message = fill(erasure_pb2.ErasureReceipt(), {k: v for k, v in asdict(receipt).items() if k != "counts"})
    message.counts.update(receipt.counts)
    return message
