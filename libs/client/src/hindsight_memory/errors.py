"""What a call can fail with: one exception with the server's reason, fields and retry hint."""

from collections.abc import Mapping

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status


class HindsightError(Exception):
    """A call was refused or failed.

    Attributes: `code`, the gRPC status code's name; `reason`, a name from ErrorReason such as "INVALID_FIELD"; `fields`,
    the fields that were not accepted, each with its remedy; `retry_after_s`, when to try again, or None.
    """

    def __init__(self, message: str, *, code: str, reason: str, fields: Mapping[str, str], retry_after_s: float | None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.reason = reason
        self.fields = dict(fields)
        self.retry_after_s = retry_after_s


def to_error(error: grpc.RpcError) -> HindsightError:
    """A failed call as the exception users see."""
    assert isinstance(error, grpc.aio.AioRpcError)
    code = "UNAVAILABLE" if error.code() == grpc.StatusCode.CANCELLED else error.code().name  # by a server that stops
    reason, fields, retry_after_s = code, {}, None
    try:
        status = rpc_status.from_call(error)  # pyright: ignore[reportArgumentType]
    except ValueError:
        status = None
    for detail in status.details if status else ():
        info, request, retry = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
        if detail.Unpack(info):
            reason = info.reason
        elif detail.Unpack(request):
            fields = {v.field: v.description for v in request.field_violations}
        elif detail.Unpack(retry):
            retry_after_s = retry.retry_delay.ToMilliseconds() / 1000
    message = error.details() or code
    return HindsightError(message, code=code, reason=reason, fields=fields, retry_after_s=retry_after_s)
