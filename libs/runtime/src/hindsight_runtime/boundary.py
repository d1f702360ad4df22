"""The outermost layer of every call: decoding, identity, admission, deadline, and errors as statuses."""

import asyncio
import hashlib
import re
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import grpc
import structlog
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2

from hindsight_runtime.attempts import Attempts, peer_address
from hindsight_runtime.errors import (
    DeadlineExceeded,
    DependencyUnavailable,
    HindsightError,
    Overloaded,
    PermissionDenied,
    Unauthenticated,
    Undecodable,
    Unimplemented,
)
from hindsight_runtime.identity import Authenticator, Principal, caller, is_key, set_caller
from hindsight_runtime.limits import Limits, Shares, weigh

DOMAIN = "hindsight"
DEFAULT_DEADLINE_S = 30.0  # of a call that names none
MAX_DEADLINE_S = 120.0  # of a call that names one: a large batch takes its time to embed
MAX_REQUEST_BYTES = 15 * 2**20  # the largest batch within the field limits is smaller
WIRE_LIMIT_BYTES = 16 * 2**20  # above MAX_REQUEST_BYTES, so that we answer and not grpc
TENANT_SHARE = 0.5  # of the calls in flight, at most, for one tenant
OPEN_PREFIXES = ("/grpc.health.", "/grpc.reflection.")
STATUS_DETAILS = "grpc-status-details-bin"
STATUS_BYTES = 4096  # trailing metadata above 8 KiB may be dropped by a peer, which then reports overload instead
MESSAGE_CHARS = 300
SUBJECT_CHARS = 256
NAMING = ("tenant", "key_id", "agent_id", "scope", "memory_id")  # fields that say what a refused call was about
IDS = ("key_id", "memory_id")  # of these, ours; the others are names that clients choose
UUID_TEXT = re.compile(r"[0-9a-fA-F-]{32,36}")
WRONG_KEYS = 100  # of an address in a minute; the edge, which lets 20 of each client through, comes from one for all of them
UNKNOWN_TENANT = -1  # of calls whose credential is still being checked

log = structlog.get_logger()


def to_status(error: HindsightError, incident: str = "") -> status_pb2.Status:
    """The error as google.rpc.Status: one ErrorInfo, BadRequest for fields, RetryInfo where a repeat is worth it."""
    info = error_details_pb2.ErrorInfo(domain=DOMAIN, reason=error.reason)
    if incident:
        info.metadata["incident"] = incident
    status = status_pb2.Status(code=_code(error).value[0], message=error.message[:MESSAGE_CHARS])
    status.details.add().Pack(info)
    if error.violations:
        status.details.add().Pack(_bad_request(error))
    if error.retry_after_s is not None:
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromMilliseconds(int(error.retry_after_s * 1000))
        status.details.add().Pack(retry)
    return status


def _bad_request(error: HindsightError) -> error_details_pb2.BadRequest:
    """The violations, the first ones where all of them are too large to be sent."""
    request = error_details_pb2.BadRequest()
    for v in error.violations:
        violation = error_details_pb2.BadRequest.FieldViolation(field=v.field, description=v.remedy)
        if request.field_violations and request.ByteSize() + violation.ByteSize() > STATUS_BYTES:
            break
        request.field_violations.append(violation)
    return request


def _known(failure: BaseException) -> HindsightError | None:
    """The error that tells the caller of a failure; None where it is our fault."""
    if isinstance(failure, HindsightError):
        return failure
    if isinstance(failure, BaseExceptionGroup):  # of a task group
        errors = [_known(part) for part in failure.exceptions]
        return None if None in errors else errors[0]
    if isinstance(failure, TimeoutError):
        return DeadlineExceeded("the deadline passed before an answer was ready; allow more time")
    if isinstance(failure, ConnectionError):
        return DependencyUnavailable("a dependency closed the connection; try again")
    return None


def _code(error: HindsightError) -> grpc.StatusCode:
    return grpc.StatusCode[error.code]


@dataclass(frozen=True, slots=True)
class Denial:
    """A call that was refused although its credential is valid."""

    tenant_id: int
    principal: str
    action: str  # the RPC's name
    subject: str  # what it was about: lines of name=value


class Boundary(grpc.aio.ServerInterceptor):
    """Answers every call of this server with a message or with a status that says what to do; never UNKNOWN."""

    def __init__(
        self,
        authenticator: Authenticator,
        *,
        max_calls: int,
        time_limit_s: float = DEFAULT_DEADLINE_S,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        on_denied: Callable[[Denial], None] | None = None,
    ):
        self.on_denied = on_denied
        self.authenticator = authenticator
        self.shares = Shares(limits)
        self.max_calls = max_calls
        self.time_limit_s = time_limit_s
        self.in_flight: Counter[int] = Counter()
        self.attempts = Attempts(WRONG_KEYS)

    async def intercept_service(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[grpc.RpcMethodHandler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """Wrap the method's handler, which then receives and returns bytes.

        A method that does not exist, or streams, is unimplemented: nothing is served around the boundary.
        """
        handler: Any = await continuation(handler_call_details)
        method = str(handler_call_details.method)
        if method.startswith(OPEN_PREFIXES):
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
        except asyncio.CancelledError:
            if context.cancelled() or context.done():
                raise
            error = DependencyUnavailable("the call was interrupted; try again")
        except (GeneratorExit, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as failure:  # the panic of a compiled extension is no Exception
            known = _known(failure)
            if known is None:
                incident = secrets.token_hex(6)
                log.error("call failed", method=method, incident=incident, exc_info=failure)
            if isinstance(known, PermissionDenied) and self.on_denied and caller().tenant_id:
                self.on_denied(_to_denial(method, _decode(handler, raw)))
            error = known or HindsightError(f"internal error, incident {incident}; the operator finds it in the log")
        context.set_code(_code(error))
        status = to_status(error, incident)
        context.set_details(status.message)
        context.set_trailing_metadata(((STATUS_DETAILS, status.SerializeToString()),))
        return b""

    async def _call(self, handler: Any, raw: bytes, context: Any) -> bytes:
        if handler is None or handler.unary_unary is None:
            raise Unimplemented
        remaining_s = context.time_remaining()
        limit_s = self.time_limit_s if remaining_s is None else min(remaining_s, MAX_DEADLINE_S)
        async with asyncio.timeout(limit_s):
            metadata = {k: v for k, v in context.invocation_metadata() or () if isinstance(v, str)}
            with self._admitted(UNKNOWN_TENANT):
                principal = await self._authenticate(metadata, context.peer())
            set_caller(principal)
            with self._admitted(principal.tenant_id):
                request = _decode(handler, raw)
                if not principal.tenant_id:  # one of our own services
                    return (await handler.unary_unary(request, context)).SerializeToString()
                self.shares.spend(principal.tenant_id, weigh(request))
                async with self.shares.turn(principal.tenant_id):
                    return (await handler.unary_unary(request, context)).SerializeToString()

    async def _authenticate(self, metadata: Mapping[str, str], peer: str) -> Principal:
        """The caller; an API key that nobody has seen valid is not looked up for an address that sent too many wrong ones."""
        sent = metadata.get("authorization", "")
        address, credential = peer_address(peer), hashlib.sha256(sent.encode()).digest()
        barred_s = self.attempts.barred_s(address, credential)
        if barred_s and is_key(metadata):
            raise _barred(barred_s)
        try:
            principal = await self.authenticator.authenticate(metadata)
        except Unauthenticated:
            if sent:
                self.attempts.fail(address)
            if sent and barred_s:
                raise _barred(barred_s) from None
            raise
        if is_key(metadata):
            self.attempts.succeed(credential)
        return principal

    @contextmanager
    def _admitted(self, tenant_id: int) -> Iterator[None]:
        """Count a call of a tenant inside the block; refuse it where there are too many. Tenant 0 are our own services."""
        if self.in_flight.total() >= self.max_calls:
            raise Overloaded("the service is at its limit of calls in flight; try again")
        if tenant_id and self.in_flight[tenant_id] >= max(1, self.max_calls * TENANT_SHARE):
            raise Overloaded("the tenant is at its limit of calls in flight; try again")
        self.in_flight[tenant_id] += 1
        try:
            yield
        finally:
            self.in_flight[tenant_id] -= 1
            if not self.in_flight[tenant_id]:
                del self.in_flight[tenant_id]


def _to_denial(method: str, request: Message) -> Denial:
    principal = caller()
    parts = [request, *(value for field, value in request.ListFields() if field.message_type and not field.is_repeated)]
    named = {name: getattr(part, name, "") for name in NAMING for part in parts if getattr(part, name, "")}
    told = {name: "".join(c for c in value if c.isprintable()) for name, value in named.items()}
    # Nothing has looked at the ids of a refused call yet, and the log is no place for other texts.
    subject = "\n".join(f"{name}={value}" for name, value in told.items() if name not in IDS or UUID_TEXT.fullmatch(value))
    subject = subject[:SUBJECT_CHARS]
    return Denial(principal.tenant_id, principal.key_id, method.rpartition("/")[2], subject)


def _barred(barred_s: float) -> Overloaded:
    return Overloaded("too many wrong keys came from this address; try again later", retry_after_s=barred_s)


def _decode(handler: Any, raw: bytes) -> Message:
    if len(raw) > MAX_REQUEST_BYTES:
        raise Undecodable(f"at most {MAX_REQUEST_BYTES // 2**20} MiB a request; split it")
    try:
        return handler.request_deserializer(raw)
    except (DecodeError, UnicodeDecodeError, RecursionError, ValueError):
        raise Undecodable(
            "the request's bytes are not a valid message: check the protos, that text is UTF-8 and that nesting is "
            "at most 32 deep"
        ) from None
