"""The worker process: does the follow-up work that other calls have queued."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

import asyncpg
import grpc
import redis.asyncio as redis
import structlog
from hindsight_language.tokens import token_counter
from hindsight_runtime.embedder import Embedder, Model, open_embedder
from hindsight_runtime.errors import DependencyUnavailable, HindsightError, Overloaded
from hindsight_runtime.identity import NoAuthentication, Principal
from hindsight_runtime.serving import Service, run, wait_for
from hindsight_runtime.settings import load
from hindsight_store import jobs, receipts, sessions
from hindsight_store.desks import open_desks
from hindsight_store.erasures import ERASE
from hindsight_store.pool import StoreUnavailable, open_pool, ping
from hindsight_store.reader import active_generation
from hindsight_store.records import Generation
from hindsight_store.schema import verify_schema
from hindsight_store.turns import Turn, search_text
from hindsight_store.writer import writing

from hindsight_ingest.changes import Changes
from hindsight_ingest.closing import Closer
from hindsight_ingest.eraser import Eraser, RedisCache
from hindsight_ingest.errands import Errands, open_errands
from hindsight_ingest.guard import TextGuard
from hindsight_ingest.keeping import Keeper
from hindsight_ingest.listener import Listener
from hindsight_ingest.llm import Llm, open_llm
from hindsight_ingest.looking_back import LookBack
from hindsight_ingest.observing import EMBED_TURNS, TURN_CHARS
from hindsight_ingest.pipeline import Pipeline
from hindsight_ingest.rounds import KEEP, LOOK_BACK, SETTLE, SUM_UP, Rounds
from hindsight_ingest.settings import ListeningSettings, WorkerSettings

NICENESS = 10  # who waits for an answer comes first
LEASED = 4  # jobs at once
IDLE_S = 0.25
SILENCE_S, SILENT = 1.0, 200  # how often silence is looked for, and in how many sessions at once
SWEEP_S = 3600.0
AGAIN = timedelta(seconds=2)  # where a dependency is away

log = structlog.get_logger()
Work = Callable[[jobs.Job], Awaitable[None]]


class Worker:
    """Leases jobs and does them until it is cancelled."""

    def __init__(self, queue: asyncpg.Pool, work: Mapping[str, Work]) -> None:
        self._queue = queue
        self._work = work

    async def work(self) -> None:
        """Do what is due, over and over."""
        while True:
            try:
                due = await jobs.lease_due(self._queue, limit=LEASED)
            except (StoreUnavailable, TimeoutError):
                due = []
            if not due:
                await asyncio.sleep(IDLE_S)
                continue
            async with asyncio.TaskGroup() as tasks:
                for job in due:
                    tasks.create_task(self._do(job))

    async def _do(self, job: jobs.Job) -> None:
        try:
            try:
                # An erasure renews its lease: it takes as long as the tables are large.
                async with asyncio.timeout(None if job.kind == ERASE else jobs.LEASE.total_seconds() * 0.9):
                    await self._work[job.kind](job)
            except (DependencyUnavailable, Overloaded) as away:
                log.info("job waits", kind=job.kind, job=str(job.job_id), why=away.message)
                await jobs.release(self._queue, job, AGAIN)
            except (HindsightError, TimeoutError, LookupError, ValueError, asyncpg.PostgresError) as error:
                log.warning("job failed", kind=job.kind, job=str(job.job_id), attempt=job.attempts, why=type(error).__name__)
                await jobs.fail(self._queue, job, type(error).__name__)
            except StoreUnavailable:
                raise
            except Exception as failure:  # the boundary of a job: a defect costs its job, not every tenant's worker
                log.error("job failed", kind=job.kind, job=str(job.job_id), attempt=job.attempts, exc_info=failure)
                await jobs.fail(self._queue, job, type(failure).__name__)
        except (StoreUnavailable, TimeoutError):
            log.info("job left to its lease", job=str(job.job_id))


class TurnEmbedder:
    """Embeds observed turns, each alone and with the one before it."""

    def __init__(self, pool: asyncpg.Pool, embedder: Embedder, model: Model) -> None:
        self._pool = pool
        self._embedder = embedder
        self._model = model

    async def embed(self, job: jobs.Job) -> None:
        """Embed the turns of one job."""
        session_id, first, end = job.payload["session_id"], job.payload["first"], job.payload["end"]
        async with writing(self._pool, job.tenant_id) as writer:
            turns = await writer.turns.between(job.bank_id, session_id, max(0, first - 1), end)
        fresh = [t for t in turns if t.turn >= first]
        before = {t.turn + 1: t for t in turns}
        alone = [_text(t) for t in fresh]
        joint = [f"{_text(before[t.turn])}\n{_text(t)}" if t.turn in before else _text(t) for t in fresh]
        rows = await self._embedder.embed([*alone, *joint], "passage", model=self._model)
        try:
            generation = await find_generation(self._pool, self._model)
        except ConnectionError as error:
            raise DependencyUnavailable(str(error)) from None
        async with writing(self._pool, job.tenant_id) as writer:
            if not await writer.complete(job):
                return
            ids = [t.id for t in fresh]
            for channel, part in (("turn", rows[: len(ids)]), ("window", rows[len(ids) :])):
                embedded = list(zip(ids, part, strict=True))
                await writer.turns.insert_embeddings(job.bank_id, generation.generation, channel, embedded)


async def watch_silence(queue: asyncpg.Pool, clock: Callable[[], datetime]) -> None:
    """Queue what silence means in sessions, until it is cancelled."""
    while True:
        try:
            found = await sessions.enqueue_due(queue, SETTLE, clock(), limit=SILENT)
        except (StoreUnavailable, TimeoutError):
            found = 0
        if found < SILENT:
            await asyncio.sleep(SILENCE_S)


async def sweep(queue: asyncpg.Pool, turns_kept: timedelta, clock: Callable[[], datetime]) -> None:
    """Remove what is kept for a time only, every hour, until it is cancelled."""
    while True:
        try:
            await receipts.remove_old(queue, clock())
            turns, ended = await sessions.remove_old(queue, clock() - turns_kept)
            log.info("swept", turns=turns, sessions=ended)
        except (StoreUnavailable, TimeoutError):
            log.info("sweep waits", why="postgresql")
        await asyncio.sleep(SWEEP_S)


async def find_generation(pool: asyncpg.Pool, model: Model) -> Generation:
    """The active generation, of this model.

    Raises:
        ConnectionError: there is none yet, or it is another model's.
    """
    generation = await active_generation(pool)
    if generation is None or (generation.model_id, generation.model_revision) != (model.id, model.revision):
        raise ConnectionError("the active generation is of another model, or not there yet")
    return generation


def _now() -> datetime:
    return datetime.now(UTC)


def _text(turn: Turn) -> str:
    return search_text(turn)[:TURN_CHARS]


def assemble(  # noqa: PLR0913 - one for each thing that work needs
    pool: asyncpg.Pool,
    embedder: Embedder,
    model: Model,
    generation: Generation,
    settings: ListeningSettings,
    errands: Errands,
    llm: Llm | None = None,
) -> dict[str, Work]:
    """What the worker can do, by kind of job."""
    rounds = Rounds(settings.rules, settings.silence, clock=_now)
    pipeline = Pipeline(pool, embedder, model, generation, guard=TextGuard(model.id), clock=_now, kin=settings.kin)
    changes = Changes(pool, pipeline)
    closer = Closer(pool, pipeline, changes, rounds, errands, clock=_now)
    return {
        EMBED_TURNS: TurnEmbedder(pool, embedder, model).embed,
        KEEP: Keeper(pool, pipeline, Listener(embedder, model), clock=_now, llm=llm).keep,
        LOOK_BACK: LookBack(pool, pipeline, changes, clock=_now, llm=llm).look_back,
        SETTLE: closer.settle,
        SUM_UP: closer.sum_up,
    }


async def open_service(stack: AsyncExitStack, settings: WorkerSettings) -> Service:
    """Wait for what the worker needs, then let it work; its server answers health only."""
    queue = await wait_for("postgresql", lambda: stack.enter_async_context(open_pool(settings.maintenance_database_url)))
    pool = await wait_for("postgresql", lambda: stack.enter_async_context(open_pool(settings.database_url)))
    await wait_for("schema", lambda: verify_schema(pool))
    embedder = await stack.enter_async_context(open_embedder(settings.embed_address, settings.embed_token))
    model = await wait_for("embed", embedder.describe_model)
    generation = await wait_for("generation", lambda: find_generation(pool, model))
    llm = await stack.enter_async_context(open_llm(pool, settings.llm, clock=_now))
    cache, desks = None, None
    if settings.redis_url:
        desks = await stack.enter_async_context(open_desks(settings.redis_url))
        client = redis.from_url(settings.redis_url, socket_timeout=10, socket_connect_timeout=2)
        stack.push_async_callback(client.aclose)
        cache = RedisCache(client)
    # The worker clears desks and lays nothing out, so nothing is counted, and no tokenizer's table is kept.
    errands = await stack.enter_async_context(open_errands(Errands(desks, token_counter("other"), clock=_now)))
    work = assemble(pool, embedder, model, generation, settings, errands, llm)
    work[ERASE] = Eraser(queue, cache, clock=_now).erase
    worker = Worker(queue, work)
    tasks = await stack.enter_async_context(asyncio.TaskGroup())
    for one in (worker.work(), watch_silence(queue, _now), sweep(queue, timedelta(days=settings.turns_kept_days), _now)):
        stack.callback(tasks.create_task(one).cancel)

    def register(server: grpc.aio.Server) -> None:
        """Nothing but health."""

    nobody = NoAuthentication(Principal(0, "", "nobody"))
    return Service(nobody, register, (), {"postgresql": lambda: ping(queue), "embed": embedder.ping})


def main() -> None:
    """Command line: hindsight-worker."""
    os.nice(NICENESS)
    settings = load(WorkerSettings)
    run("worker", settings, lambda stack: open_service(stack, settings))
