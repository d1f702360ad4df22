"""Every RPC under random and hostile requests: it answers in time, with a status that says what to do."""

import asyncio
import os
import random
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pool
from google.protobuf.descriptor import Descriptor, MethodDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from hindsight.v1 import (
    admin_pb2,
    desk_pb2,
    embedding_pb2,
    erasure_pb2,
    ingest_pb2,
    recall_pb2,
    receipt_pb2,
    record_pb2,
    review_pb2,
    session_pb2,
    sharing_pb2,
)
from hindsight_memory import NewKey, NewMemory

from tests.fuzz.hostile import Forge

CASES = int(os.environ.get("FUZZ_CASES", "10000"))
SEED = os.environ.get("FUZZ_SEED", "hindsight")
AT_ONCE = 16
DEADLINES_S = (10.0,) * 200 + (0.001, 0.01)
LATE_S = 1.0
PLAUSIBLE = 120  # requests that may well be right, of which at least one must be
SHOWN = 8  # failures in a report
MAX_QUOTE = 100
MAX_MESSAGE = 1000
CODE = re.compile(r'Traceback|File "|\b[A-Z][a-z]\w*(Error|Exception)\b|asyncpg|site-packages|0x[0-9a-f]{8}')
FILES = (
    ingest_pb2,
    review_pb2,
    admin_pb2,
    erasure_pb2,
    recall_pb2,
    receipt_pb2,
    embedding_pb2,
    record_pb2,
    session_pb2,
    sharing_pb2,
    desk_pb2,
)
METHODS = {m.full_name: m for f in FILES for s in f.DESCRIPTOR.services_by_name.values() for m in s.methods}
ADDRESSES = {
    **dict.fromkeys(("IngestService", "ReviewService", "SessionService", "SharingService", "DeskService"), "ingest"),
    **dict.fromkeys(("AdminService", "ErasureService", "RecordService"), "ingest"),
    **{"RecallService": "recall", "ReceiptService": "recall", "EmbeddingService": "embed"},
}
Metadata = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Target:
    """A served method and who may call it."""

    method: MethodDescriptor
    channel: grpc.aio.Channel
    callers: Sequence[Metadata]
    forge: Forge

    @property
    def path(self) -> str:
        """The method as HTTP/2 has it."""
        return f"/{self.method.containing_service.full_name}/{self.method.name}"

    async def call(self, raw: bytes, metadata: Metadata, timeout_s: float) -> status_pb2.Status:
        """The status of a call; OK is a status too."""
        invoke = self.channel.unary_unary(self.path)
        try:
            await invoke(raw, metadata=metadata, timeout=timeout_s)
        except grpc.aio.AioRpcError as error:
            trailing: dict[str, Any] = dict(error.trailing_metadata() or ())
            status = status_pb2.Status.FromString(trailing.get("grpc-status-details-bin", b""))
            status.code, status.message = error.code().value[0], error.details() or ""
            return status
        return status_pb2.Status()


@dataclass(slots=True)
class Report:
    """What came of the cases."""

    codes: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def line(self, name: str) -> str:
        """The row of the table."""
        slow = sorted(self.seconds)[int(len(self.seconds) * 0.99)] * 1000
        codes = " ".join(f"{code}={count}" for code, count in sorted(self.codes.items()))
        return f"{name:<48}{len(self.seconds):>7}  p99 {slow:>7.1f} ms  {codes}"


@pytest.fixture
async def make_target(services, embed_address, embed_token) -> AsyncIterator[Callable[..., Any]]:
    """Makes a target of a method, with memories and keys there to be found."""
    writer = await services.connect(NewKey(tenant="acme", default_agent_id="ada", agent_ids=["ada", "bob"]))
    secrets = [services.database.operator_key]
    limits: list[dict[str, Any]] = [
        {},
        {"scopes": ["user:*"]},
        {"scopes": ["user:42"], "sources": ["inference"]},
        {"rights": ["read", "write", "admin"]},
        {"rights": ["read"]},
    ]
    for limited in limits:
        _, secret = await services.operator.create_key(NewKey(tenant="acme", default_agent_id="ada", **limited))
        secrets.insert(0, secret)
    spare, _ = await services.operator.create_key(NewKey(tenant="acme"))
    async with writer:
        memories = [
            NewMemory("drink", "Ada likes green tea.", scope="user:42"),
            NewMemory("订单状态", "订单17已发货", query="到了吗"),
        ]
        await writer.write_batch(memories, agent_id="bob")
        known = [spare.id] + [r.memory_id for r in await writer.write_batch(memories)]
        known.append((await writer.recall("tea")).receipt_id)
    addresses = {"ingest": services.ingest_address, "recall": services.recall_address, "embed": embed_address}
    channels = {name: grpc.aio.insecure_channel(address) for name, address in addresses.items()}

    def make(method: MethodDescriptor) -> Target:
        name = ADDRESSES[method.containing_service.name]
        keys = {
            **dict.fromkeys(("AdminService", "ErasureService"), secrets[-1:]),
            "EmbeddingService": [embed_token],
            "RecordService": [services.record_token],
        }.get(method.containing_service.name, secrets[1:-1])
        callers = [(("authorization", f"Bearer {key}"),) for key in keys]
        return Target(method, channels[name], callers, Forge(known))

    yield make
    for channel in channels.values():
        await channel.close()


def test_every_served_rpc_is_fuzzed():
    served = {s.full_name for f in _files() for s in f.services_by_name.values()}
    assert served == {m.containing_service.full_name for m in METHODS.values()}
    assert {m.containing_service.name for m in METHODS.values()} == set(ADDRESSES)


def _files() -> Iterator[Any]:
    pool = descriptor_pool.Default()
    for name in (
        "memory",
        "ingest",
        "recall",
        "admin",
        "embedding",
        "receipt",
        "erasure",
        "record",
        "session",
        "error_reason",
        "desk",
        "review",
        "sharing",
    ):
        try:
            yield pool.FindFileByName(f"hindsight/v1/{name}.proto")
        except KeyError:
            continue


@pytest.mark.parametrize("name", METHODS)
async def test_no_request_breaks_an_rpc(name, make_target, capsys):
    target, report = make_target(METHODS[name]), Report()
    numbers = iter(range(CASES))

    async def work() -> None:
        for number in numbers:
            if len(report.failures) < SHOWN:
                await _try_one(target, number, report)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(AT_ONCE):
            tasks.create_task(work())
    with capsys.disabled():
        print("\n" + report.line(name), end="")
    assert not report.failures, "\n".join(report.failures)
    await _check_alive(target)


async def _try_one(target: Target, number: int, report: Report) -> None:
    rng = random.Random(f"{SEED}/{target.path}/{number}")
    raw = target.forge.request(rng, target.method.input_type)
    metadata = rng.choice(target.callers) if rng.random() < 0.98 else _odd_metadata(rng)
    deadline_s = rng.choice(DEADLINES_S)
    started = time.perf_counter()
    status = await target.call(raw, metadata, deadline_s)
    took_s = time.perf_counter() - started
    code = grpc.StatusCode(next(c.value for c in grpc.StatusCode if c.value[0] == status.code)).name
    report.codes[code] += 1
    report.seconds.append(took_s)
    wrong = list(_find_wrong(target.method.input_type, raw, code, status))
    if took_s > deadline_s + LATE_S:
        wrong.append(f"took {took_s:.1f} s of {deadline_s} s")
    if wrong:
        report.failures.append(f"case {number}: {code} {status.message[:300]!r}: {'; '.join(wrong)}; request {raw[:200].hex()}")


def _find_wrong(descriptor: Descriptor, raw: bytes, code: str, status: status_pb2.Status) -> Iterator[str]:
    details = _details(status)
    if code in ("UNKNOWN", "INTERNAL", "UNIMPLEMENTED", "DATA_LOSS"):
        yield "a code that says nothing"
    request = _decode(descriptor, raw)
    if code == "INVALID_ARGUMENT":
        is_undecodable = details["ErrorInfo"].reason == "UNDECODABLE"
        if is_undecodable != (request is None):
            yield "UNDECODABLE for a message" if is_undecodable else "bytes that are no message were read"
        violations = details["BadRequest"].field_violations
        if not is_undecodable and not violations:
            yield "no field is named"
        yield from (f"no such field: {v.field[:100]}" for v in violations if not is_field(descriptor, v.field))
    if code in ("RESOURCE_EXHAUSTED", "UNAVAILABLE") and not details["RetryInfo"].HasField("retry_delay"):
        yield "no RetryInfo"
    texts = [status.message, *(t for v in details["BadRequest"].field_violations for t in (v.field, v.description))]
    if code not in ("OK", "DEADLINE_EXCEEDED", "CANCELLED") and details["ErrorInfo"].domain != "hindsight":
        yield "no ErrorInfo"
    if any(CODE.search(t) for t in texts) or max(map(len, texts)) > MAX_MESSAGE:
        yield "tells of the code, or is very long"
    if request is not None and any(_quotes(t, long) for long in _long_texts(request) for t in texts):
        yield "quotes the request"


def is_field(descriptor: Descriptor, path: str) -> bool:
    """Whether a path such as memories[3].metadata.a names a field of a message type; inside a Struct anything does."""
    current: Descriptor | None = descriptor
    for part in path.split("."):
        if current is None:
            return False
        if current.full_name == "google.protobuf.Struct":
            return True
        match = re.fullmatch(r"(\w+)(\[\d+\])?", part)
        found = current.fields_by_name.get(match[1]) if match else None
        if match is None or found is None or (match[2] and not found.is_repeated):
            return False
        current = found.message_type
    return True


def _details(status: status_pb2.Status) -> dict[str, Any]:
    details = {
        kind.DESCRIPTOR.name: kind()
        for kind in (error_details_pb2.ErrorInfo, error_details_pb2.BadRequest, error_details_pb2.RetryInfo)
    }
    for packed in status.details:
        packed.Unpack(details[packed.type_url.rpartition(".")[2]])
    return details


def _decode(descriptor: Descriptor, raw: bytes) -> Message | None:
    try:
        return GetMessageClass(descriptor).FromString(raw)
    except (DecodeError, UnicodeDecodeError, ValueError):
        return None


def _long_texts(message: Message) -> Iterator[str]:
    """The texts of a request that are too long to be quoted."""
    for descriptor, value in message.ListFields():
        if descriptor.message_type and descriptor.message_type.GetOptions().map_entry:
            values = [*value, *(value[name] for name in value)]
        else:
            values = value if descriptor.is_repeated else [value]
        for one in values:
            if isinstance(one, Message):
                yield from _long_texts(one)
            elif isinstance(one, str) and len(one) > MAX_QUOTE:
                yield one


def _quotes(told: str, long: str) -> bool:
    return any(told[i : i + MAX_QUOTE] in long for i in range(len(told) - MAX_QUOTE + 1))


def _odd_metadata(rng: random.Random) -> Metadata:
    token = rng.choice(
        ("", "x", "hs_", "hs_" + "x" * 43, "hs_" + "y" * 6000, "a.b.c", "eyJhbGciOiJub25lIn0.e30.", "W1tb" * 1200 + ".e30.e30")
    )
    scheme = rng.choice(("Bearer ", "bearer ", "Basic ", "", "Bearer   "))
    return rng.choice(((), (("authorization", scheme + token),), (("tenant", "acme"), ("x-tenant-id", "1"))))


async def _check_alive(target: Target) -> None:
    health: Any = health_pb2_grpc.HealthStub(target.channel)
    answer = await health.Check(health_pb2.HealthCheckRequest(), timeout=5)
    assert answer.status == health_pb2.HealthCheckResponse.SERVING
    rng, codes = random.Random(SEED), set()
    for number in range(PLAUSIBLE):
        raw = target.forge.plausible(rng, target.method.input_type).SerializeToString()
        codes.add((await target.call(raw, target.callers[number % len(target.callers)], 10)).code)
    assert codes & {0, grpc.StatusCode.NOT_FOUND.value[0], grpc.StatusCode.ABORTED.value[0]}
