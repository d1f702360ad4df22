"""Every task is looked back on exactly once and no observed turn is lost, whichever program is killed in the middle of it.

FAULT_ROUNDS (default 30) rounds; each observes sessions, ends their tasks, and kills one program with SIGKILL at a
seeded moment (FAULT_SEED), mostly the worker.
"""

import asyncio
import os
import random
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import psutil
import pytest
from hindsight_local.trial import Instance, running
from hindsight_memory import Filter, Hindsight, Session, Turn

from tests.faults.test_kills import insist

ROUNDS = int(os.environ.get("FAULT_ROUNDS", "30"))
SEED = int(os.environ.get("FAULT_SEED", "4471"))
SESSIONS = 12
APART_S = 14.0  # the launcher gives up on a program that dies five times in a minute
DRAIN_S = 240
VICTIMS = ("worker", "worker", "worker", "ingest", "embed", "postgres")
TABLES = (
    "orders",
    "invoices",
    "tickets",
    "shipments",
    "payments",
    "refunds",
    "returns",
    "quotes",
    "leads",
    "visits",
    "stocks",
    "claims",
)


@pytest.fixture(scope="module")
async def instance() -> AsyncIterator[Instance]:
    """A whole hindsight, as make run starts it."""
    async with running() as started:
        yield started


@pytest.fixture
async def queue(instance: Instance) -> AsyncIterator[asyncpg.Pool]:
    """The database as the maintenance role sees it; connections come back after PostgreSQL was killed."""
    async with asyncpg.create_pool(instance.maintenance_dsn, min_size=0, max_size=2) as pool:
        yield pool


def turns_of(number: int) -> list[Turn]:
    """A task with an error that was resolved, and a wish; another one for every number."""
    table, customer = TABLES[number % len(TABLES)], 1000 + number
    wish = f"From now on always send me the {table} report of customer {customer} as PDF."
    return [
        Turn("user", f"Count the {table} of customer {customer} in the {table} table. {wish}"),
        Turn("tool_call", tool=f"{table}_query", arguments={"uid": customer, "table": table}),
        Turn("tool_result", tool=f"{table}_query", result='{"error": "unknown column uid"}', is_error=True),
        Turn("tool_call", tool=f"{table}_query", arguments={"user_id": customer, "table": table}),
        Turn("tool_result", tool=f"{table}_query", result='{"count": 12}'),
        Turn("assistant", f"Customer {customer} has 12 {table}."),
    ]


async def converse(client: Hindsight, agent_id: str, number: int, interruptions: Counter[str]) -> None:
    """One session, turn by turn, and the client's word that its task is over; every call is repeated until it is answered."""
    session_id = f"session {number}"
    for place, turn in enumerate(turns_of(number)):
        request_id = f"{number}-{place}"
        await insist(lambda t=turn, r=request_id: client.observe(session_id, [t], agent_id=agent_id, request_id=r), interruptions)
    identity = {"agent_id": agent_id, "request_id": f"{number}-end"}
    await insist(lambda: client.complete_task(session_id, **identity), interruptions)


async def try_sql(queue: asyncpg.Pool, statement: str) -> Any:
    """The value of a statement; None while PostgreSQL is away."""
    try:
        return await queue.fetchval(statement)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError):
        return None


async def drain(queue: asyncpg.Pool) -> None:
    """Wait until no job is left. Leases of killed workers run out at once, so that nobody waits a minute for each."""
    async with asyncio.timeout(DRAIN_S):
        while await try_sql(queue, "SELECT count(*) FROM jobs WHERE state <> 'dead'") != 0:  # noqa: ASYNC110 - it is a table
            await asyncio.sleep(0.2)


async def hurry(queue: asyncpg.Pool) -> None:
    """Let leases run out and waiting jobs be due."""
    await try_sql(queue, "UPDATE jobs SET leased_until = now() - interval '1 second', run_after = now() WHERE state <> 'dead'")


async def kill(instance: Instance, victim: str) -> None:
    """Kill a program, once it is back from the kill before."""
    async with asyncio.timeout(DRAIN_S):
        while True:
            try:
                instance.process(victim).kill()
                return
            except psutil.NoSuchProcess:
                await asyncio.sleep(0.1)


async def kill_soon(instance: Instance, queue: asyncpg.Pool, victim: str, rng: random.Random) -> None:
    await asyncio.sleep(rng.uniform(0.02, 2.5))
    await kill(instance, victim)
    await hurry(queue)


async def run_round(instance: Instance, client: Hindsight, queue: asyncpg.Pool, number: int, rng: random.Random) -> None:
    agent_id, victim, interruptions = f"round-{number}", VICTIMS[number % len(VICTIMS)], Counter[str]()
    mine = range(number * SESSIONS, (number + 1) * SESSIONS)
    next_round = asyncio.create_task(asyncio.sleep(APART_S))
    async with asyncio.TaskGroup() as talks:
        talks.create_task(kill_soon(instance, queue, victim, rng))
        for one in mine:
            talks.create_task(converse(client, agent_id, one, interruptions))
    await hurry(queue)
    await drain(queue)
    await check(client, agent_id, mine, interruptions)
    await next_round
    print(f"round {number}: killed {victim}; {SESSIONS} tasks, one experience each; {dict(interruptions)}")


async def check(client: Hindsight, agent_id: str, numbers: range, interruptions: Counter[str]) -> None:
    """Each task has one experience, each session all its turns, each wish is kept once."""
    sessions: list[Session] = [
        await insist(lambda n=n: client.get_session(f"session {n}", agent_id=agent_id), interruptions) for n in numbers
    ]
    tasks = [task for session in sessions for task in session.tasks]
    assert [(s.turns, len(s.tasks)) for s in sessions] == [(6, 1)] * SESSIONS
    assert {task.state for task in tasks} == {"remembered"}
    experiences = await _list(client, agent_id, "experience")
    assert sorted(task.experience_id for task in tasks) == sorted(m.id for m in experiences)
    assert all("`user_id`" in m.value for m in experiences)
    wishes = await _list(client, agent_id, "preference")
    assert len(wishes) == SESSIONS


async def _list(client: Hindsight, agent_id: str, kind: Any) -> list[Any]:
    return [m async for m in client.list(Filter(kinds=(kind,)), agent_id=agent_id)]


async def test_each_task_gives_exactly_one_experience(
    instance: Instance, queue: asyncpg.Pool, capsys: pytest.CaptureFixture[str]
):
    rng = random.Random(SEED)
    async with instance.client() as client:
        for number in range(ROUNDS):
            with capsys.disabled():
                await run_round(instance, client, queue, number, rng)


async def test_a_poison_job_ends_among_the_dead_letters_and_blocks_nothing(instance: Instance, queue: asyncpg.Pool):
    async with instance.client() as client, client_of_operator(instance) as operator:
        interruptions = Counter[str]()
        await converse(client, "poisoned", 1, interruptions)
        await drain(queue)
        [task] = (await client.get_session("session 1", agent_id="poisoned")).tasks
        await queue.execute(
            """INSERT INTO jobs (bank_id, job_id, tenant_id, kind, payload, state)
            SELECT bank_id, gen_random_uuid(), tenant_id, 'look_back', '{"task_id": "poison"}', 'queued'
            FROM tasks WHERE task_id = $1""",
            task.id,
        )
        async with asyncio.timeout(60):
            while not (dead := [job async for job in operator.list_jobs("dead", tenant="default")]):
                await hurry(queue)
                await converse(client, "beside", 1, interruptions)
        assert [(job.kind, job.agent_id, job.attempts, job.error) for job in dead] == [("look_back", "poisoned", 5, "ValueError")]
        await queue.execute(
            "UPDATE jobs SET payload = jsonb_build_object('task_id', $1::text, 'look', 1) WHERE state = 'dead'", task.id
        )
        assert await operator.requeue_jobs([dead[0].id], tenant="default") == [dead[0].id]
        await drain(queue)
        assert [job async for job in operator.list_jobs(tenant="default")] == []
        assert len(await _list(client, "poisoned", "experience")) == 1


def client_of_operator(instance: Instance) -> Hindsight:
    """A client with the operator's key."""
    ingest, recall = (f"127.0.0.1:{instance.ports[name]}" for name in ("ingest", "recall"))
    return Hindsight(api_key=instance.operator_key, ingest_address=ingest, recall_address=recall)
