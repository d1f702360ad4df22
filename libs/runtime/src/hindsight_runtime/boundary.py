"""The outermost layer of every call: decoding, identity, admission, deadline, and errors as statuses."""

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import structlog
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2

from hindsight_runtime.errors import (
    DeadlineExceeded,
    DependencyUnavailable,
    HindsightError,
    InvalidField,
    Overloaded,
    Undecodable,
)
from hindsight_runtime.identity import Authenticator, set_caller

DOMAIN = "hindsight"
DEFAULT_DEADLINE_S = 30.0
MAX_REQUEST_BYTES = 15 * 2**20  # the largest batch within the field limits is smaller
WIRE_LIMIT_BYTES = 16 * 2**20  # above MAX_REQUEST_BYTES, so that we answer and not grpc
TENANT_SHARE = 0.5  # of the calls in flight, at most, for one tenant
OPEN_PREFIXES = ("/grpc.health.", "/grpc.reflection.")
STATUS_DETAILS = "grpc-status-details-bin"

log = structlog.get_logger()


def to_status(error: HindsightError, incident: str = "") -> status_pb2.Status:
    """The error as google.rpc.Status: one ErrorInfo, BadRequest for fields, RetryInfo where a repeat is worth it."""
    info = error_details_pb2.ErrorInfo(domain=DOMAIN, reason=error.reason)
    if incident:
        info.metadata["incident"] = incident
    status = status_pb2.Status(code=_code(error).value[0], message=error.message)
    status.details.add().Pack(info)
    if error.violations:
        fields = [error_details_pb2.BadRequest.FieldViolation(field=v.field, description=v.remedy) for v in error.violations]
        status.details.add().Pack(error_details_pb2.BadRequest(field_violations=fields))
    if error.retry_after_s is not None:
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromMilliseconds(int(error.retry_after_s * 1000))
        status.details.add().Pack(retry)
    return status


def _code(error: HindsightError) -> grpc.StatusCode:
    return grpc.StatusCode[error.code]


class Boundary(grpc.aio.ServerInterceptor):
    """Answers every call of this server with a message or with a status that says what to do; never UNKNOWN."""

    def __init__(self, authenticator: Authenticator, *, max_calls: int, time_limit_s: float = DEFAULT_DEADLINE_S):
        self.authenticator = authenticator
        self.max_calls = max_calls
        self.time_limit_s = time_limit_s
        self.in_flight: Counter[int] = Counter()
        self.idle = asyncio.Event()
        self.idle.set()

    async def intercept_service(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[grpc.RpcMethodHandler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """Wrap the method's handler, which then receives and returns bytes."""
        handler: Any = await continuation(handler_call_details)
        method = str(handler_call_details.method)
        if handler is None or method.startswith(OPEN_PREFIXES) or handler.unary_unary is None:
            return handler

        async def answer(raw: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
            return await self._answer(method, handler, raw, context)

        return grpc.unary_unary_rpc_method_handler(answer)  # pyright: ignore[reportArgumentType]

    async def _answer(self, method: str, handler: Any, raw: bytes, context: Any) -> bytes:
        incident = ""
        began = time.monotonic()
        try:
            answer = await self._call(handler, raw, context)
            log.debug("answered call", method=method, took_ms=round((time.monotonic() - began) * 1000, 1))
            return answer
        except HindsightError as caught:
            error = caught
        except TimeoutError:
            error = DeadlineExceeded("the deadline passed before an answer was ready; allow more time")
        except ConnectionError:
            error = DependencyUnavailable("a dependency closed the connection; try again")
        except asyncio.CancelledError:
            if context.cancelled() or context.done():
                raise
            error = DependencyUnavailable("the call was interrupted; try again")
        except Exception as failure:
            incident = secrets.token_hex(6)
            log.error("call failed", method=method, incident=incident, exc_info=failure)
            error = HindsightError(f"internal error, incident {incident}; the operator finds it in the log")
        context.set_code(_code(error))
        context.set_details(error.message)
        context.set_trailing_metadata(((STATUS_DETAILS, to_status(error, incident).SerializeToString()),))
        return b""

    async def _call(self, handler: Any, raw: bytes, context: Any) -> bytes:
        remaining_s = context.time_remaining()
        limit_s = self.time_limit_s if remaining_s is None else min(remaining_s, self.time_limit_s)
        async with asyncio.timeout(limit_s):
            metadata = {k: v for k, v in context.invocation_metadata() or () if isinstance(v, str)}
            principal = await self.authenticator.authenticate(metadata)
            set_caller(principal)
            self._admit(principal.tenant_id)
            try:
                response: Message = await handler.unary_unary(_decode(handler, raw), context)
                return response.SerializeToString()
            finally:
                self._release(principal.tenant_id)

    def _admit(self, tenant_id: int) -> None:
        if self.in_flight.total() >= self.max_calls:
            raise Overloaded("the service is at its limit of calls in flight; try again")
        if tenant_id and self.in_flight[tenant_id] >= max(1, self.max_calls * TENANT_SHARE):
            raise Overloaded("the tenant is at its limit of calls in flight; try again")
        self.in_flight[tenant_id] += 1
        self.idle.clear()

    def _release(self, tenant_id: int) -> None:
        self.in_flight[tenant_id] -= 1
        if not self.in_flight[tenant_id]:
            del self.in_flight[tenant_id]
        if not self.in_flight:
            self.idle.set()


def _decode(handler: Any, raw: bytes) -> Message:
    if len(raw) > MAX_REQUEST_BYTES:
        raise InvalidField("request", f"at most {MAX_REQUEST_BYTES // 2**20} MiB a request; split it")
    try:
        return handler.request_deserializer(raw)
    except (DecodeError, UnicodeDecodeError, RecursionError, ValueError):
        raise Undecodable(
            "the request's bytes are not a valid message: check the protos, that text is UTF-8 and that nesting is "
            "at most 32 deep"
        ) from None
