"""Reasons, statuses and the client's errors say the same."""

import grpc
import pytest
from hindsight.v1 import error_reason_pb2
from hindsight_memory.errors import to_error
from hindsight_runtime import errors
from hindsight_runtime.boundary import STATUS_BYTES, STATUS_DETAILS, to_status
from hindsight_runtime.errors import FieldViolation, HindsightError, InvalidField

FROM_THE_CLIENT = {"CANCELLED"}  # told by the client's side of gRPC; no server sends it
FAMILY = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, HindsightError)]
ERRORS = [
    HindsightError("internal error"),
    InvalidField("memory.key", "required"),
    errors.Undecodable("not a message"),
    errors.BatchRejected("nothing was written", violations=[FieldViolation(f"memories[{n}].key", "required") for n in (0, 7)]),
    errors.Unauthenticated(),
    errors.PermissionDenied("not this scope"),
    errors.NotFound("no such memory"),
    errors.AlreadyExists("there already"),
    errors.RequestIdReused("used"),
    errors.RevisionMismatch("changed"),
    errors.Overloaded("full", retry_after_s=1.5),
    errors.DependencyUnavailable("停了", retry_after_s=2.0),
    errors.ModelMismatch("other model"),
    errors.NotConfigured("not set up"),
    errors.InstructionNotAllowed("an order"),
    errors.DisguisedText("hidden"),
    errors.DeskFull("pinned"),
    errors.DeadlineExceeded("late"),
    errors.Unimplemented(),
]


def received(error: HindsightError) -> grpc.aio.AioRpcError:
    """The error as a client's call raises it."""
    status = to_status(error)
    trailing = grpc.aio.Metadata((STATUS_DETAILS, status.SerializeToString()))
    code = grpc.StatusCode[error.code]
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), trailing, details=status.message)


def test_every_reason_is_an_error_of_the_family_and_every_error_has_a_reason():
    names = {n.removeprefix("ERROR_REASON_") for n in error_reason_pb2.ErrorReason.keys()}  # noqa: SIM118 - not a mapping
    assert names - {"UNSPECIFIED"} == {c.reason for c in FAMILY} | FROM_THE_CLIENT
    assert len({c.reason for c in FAMILY}) == len(FAMILY)
    assert {type(e) for e in ERRORS} == set(FAMILY)


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: e.reason)
def test_an_error_reaches_the_client_whole(error):
    seen = to_error(received(error))
    assert (seen.code, seen.reason, seen.message) == (error.code, error.reason, error.message)
    assert seen.fields == {v.field: v.remedy for v in error.violations}
    assert seen.retry_after_s == error.retry_after_s


def test_what_is_worth_repeating_says_when():
    assert {e.code for e in ERRORS if e.retry_after_s is not None} == {"RESOURCE_EXHAUSTED", "UNAVAILABLE"}


def test_many_violations_are_cut_to_what_a_peer_accepts():
    violations = [FieldViolation(f"memories[{n}].tags", "字" * 100) for n in range(256)]
    status = to_status(errors.BatchRejected("x" * 10_000, violations=violations))
    assert status.ByteSize() < STATUS_BYTES + 1024
    fields = list(to_error(received(errors.BatchRejected("x", violations=violations))).fields)
    assert fields == [v.field for v in violations[: len(fields)]]
    assert fields


def test_an_error_without_details_is_still_an_error():
    bare = grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, grpc.aio.Metadata(), grpc.aio.Metadata(), details="connection lost")
    seen = to_error(bare)
    assert (seen.code, seen.reason, seen.fields, seen.retry_after_s) == ("UNAVAILABLE", "UNAVAILABLE", {}, None)
