"""A gRPC server's life: waiting for dependencies, health, reflection, signals, draining."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import grpc
import structlog
import uvloop
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1._async import HealthServicer
from grpc_reflection.v1alpha import reflection

from hindsight_runtime.boundary import WIRE_LIMIT_BYTES, Boundary, Denial
from hindsight_runtime.errors import HindsightError, StartFailed
from hindsight_runtime.identity import Authenticator
from hindsight_runtime.limits import Limits
from hindsight_runtime.logs import configure_logs
from hindsight_runtime.settings import ServerSettings

WAIT_TRIES = 10
WAIT_PAUSE_S = 2.5
PROBE_PAUSE_S = 2.0
PROBE_TIMEOUT_S = 2.0
MAX_CONNECTION_AGE_S = 300.0  # connections are renewed, so that new replicas get their share
SERVER_OPTIONS = (
    ("grpc.max_receive_message_length", WIRE_LIMIT_BYTES),
    ("grpc.max_send_message_length", 4 * WIRE_LIMIT_BYTES),
    ("grpc.max_connection_age_grace_ms", 60_000),
    ("grpc.so_reuseport", 0),
    ("grpc.max_concurrent_streams", 256),  # of one connection: what is received before the caller is known stays bounded
)

log = structlog.get_logger()
Probe = Callable[[], Awaitable[None]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Service:
    """What a process serves once its dependencies are there."""

    authenticator: Authenticator
    register: Callable[[grpc.aio.Server], None]
    names: Sequence[str]  # full proto service names, for health and reflection
    probes: Mapping[str, Probe] = field(default_factory=dict)  # dependency -> raises when it does not answer
    on_denied: Callable[[Denial], None] | None = None  # is told of calls that were refused for want of a right


async def wait_for(dependency: str, probe: Callable[[], Awaitable[T]]) -> T:
    """Try a dependency ten times, 2.5 s apart, saying what is waited for; what the probe returns.

    Raises:
        StartFailed: it did not answer.
    """
    last = ""
    for attempt in range(1, WAIT_TRIES + 1):
        try:
            async with asyncio.timeout(PROBE_TIMEOUT_S * 5):
                return await probe()
        except (OSError, TimeoutError, HindsightError, grpc.RpcError) as error:
            last = str(error) or type(error).__name__
            log.info("waiting for dependency", dependency=dependency, attempt=attempt, of=WAIT_TRIES, why=last)
        if attempt < WAIT_TRIES:
            await asyncio.sleep(WAIT_PAUSE_S)
    raise StartFailed(f"{dependency} did not answer in {WAIT_TRIES} tries; last: {last}")


@asynccontextmanager
async def serving(
    service: Service,
    address: str,
    *,
    max_calls: int,
    grace_s: float,
    max_connection_age_s: float = MAX_CONNECTION_AGE_S,
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> AsyncIterator[int]:
    """Serve at an address ("host:port" or "unix:path") inside the block; yields the port. Calls in flight are finished."""
    boundary = Boundary(service.authenticator, max_calls=max_calls, limits=limits, on_denied=service.on_denied)
    options = (*SERVER_OPTIONS, ("grpc.max_connection_age_ms", int(max_connection_age_s * 1000)))
    server = grpc.aio.server(interceptors=[boundary], options=options)
    health = HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    service.register(server)
    reflection.enable_server_reflection(
        [*service.names, health_pb2.DESCRIPTOR.services_by_name["Health"].full_name, reflection.SERVICE_NAME], server
    )
    try:
        port = server.add_insecure_port(address)
    except RuntimeError as error:
        raise StartFailed(f"cannot listen on {address}: {error}; is the port taken?") from None
    await server.start()
    for name in ("", *service.names):
        await health.set(name, health_pb2.HealthCheckResponse.SERVING)
    async with asyncio.TaskGroup() as tasks:
        watch = tasks.create_task(_watch(health, service.probes))
        try:
            yield port
        finally:
            await health.enter_graceful_shutdown()
            watch.cancel()
            await server.stop(grace_s)


async def _watch(health: HealthServicer, probes: Mapping[str, Probe]) -> None:
    """Keep the health of "dependency.<name>" up to date."""
    while True:
        for name, probe in probes.items():
            state = health_pb2.HealthCheckResponse.SERVING
            try:
                async with asyncio.timeout(PROBE_TIMEOUT_S):
                    await probe()
            except (OSError, TimeoutError, HindsightError, grpc.RpcError):
                state = health_pb2.HealthCheckResponse.NOT_SERVING
            await health.set(f"dependency.{name}", state)
        task = asyncio.current_task()
        if task and task.cancelling():  # a client that connects may swallow a cancellation; the server would never stop
            return
        await asyncio.sleep(PROBE_PAUSE_S)


def run(name: str, settings: ServerSettings, open_service: Callable[[AsyncExitStack], Awaitable[Service]]) -> None:
    """Run a service until SIGTERM or SIGINT: exit code 0 after a drain, 1 with one clear line if it cannot start."""
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_run(name, settings, open_service))
    except StartFailed as error:
        sys.exit(f"hindsight-{name}: {error}")
    except BaseExceptionGroup as group:  # a task group wraps what leaves it
        failure = _start_failure(group)
        if failure is None:
            raise
        sys.exit(f"hindsight-{name}: {failure}")


def _start_failure(group: BaseExceptionGroup) -> StartFailed | None:
    """The StartFailed inside a group, if the group holds nothing else."""
    failures, others = group.split(StartFailed)
    if failures is None or others is not None:
        return None
    first: BaseException = failures
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first if isinstance(first, StartFailed) else None


async def _run(name: str, settings: ServerSettings, open_service: Callable[[AsyncExitStack], Awaitable[Service]]) -> None:
    configure_logs(name, settings.log_level)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as tasks:
        stopped = tasks.create_task(stop.wait())
        opened = tasks.create_task(_open(open_service, stack))
        await asyncio.wait({stopped, opened}, return_when=asyncio.FIRST_COMPLETED)
        if not opened.done():
            opened.cancel()
            return
        service = opened.result()
        if isinstance(service, StartFailed):
            stopped.cancel()
            raise service
        address = f"{settings.host}:{settings.port}"
        async with serving(
            service,
            address,
            max_calls=settings.max_calls,
            grace_s=settings.grace_s,
            max_connection_age_s=settings.max_connection_age_s,
            limits=settings.limits,
        ) as port:
            log.info("serving", host=settings.host, port=port)
            await stopped
            log.info("draining")
    log.info("stopped")


async def _open(open_service: Callable[[AsyncExitStack], Awaitable[Service]], stack: AsyncExitStack) -> Service | StartFailed:
    try:
        return await open_service(stack)
    except StartFailed as error:
        return error
