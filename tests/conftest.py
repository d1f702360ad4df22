"""Real servers for tests: one PostgreSQL and one Valkey a session, a database of its own for every test."""

import asyncio
import contextlib
import os
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg
import psutil
import pytest
from hindsight_embedding.settings import EmbedSettings
from hindsight_ingest.settings import IngestSettings
from hindsight_local.dsn import with_database, with_user
from hindsight_local.postgres import running_postgres
from hindsight_local.valkey import running_valkey
from hindsight_memory import Hindsight, NewKey
from hindsight_recall.settings import RecallSettings
from hindsight_runtime.embedder import open_embedder
from hindsight_runtime.identity import hash_secret, new_assertion_keys, new_secret
from hindsight_runtime.serving import serving
from hindsight_store import jobs, sessions
from hindsight_store.erasures import ERASE
from hindsight_store.pool import open_pool
from pydantic import SecretStr
from redis.asyncio import Redis

FOLDER_PREFIX = "hindsight-test-"
TEMPLATE = "hindsight_template"
ROLE_PASSWORDS = {role: secrets.token_urlsafe(12) for role in ("ingest", "recall", "maintenance")}
OPERATOR_KEY = new_secret()
EMBED_TOKEN = secrets.token_urlsafe(12)
RECORD_TOKEN = secrets.token_urlsafe(12)
ASSERTION_PRIVATE_KEY, ASSERTION_PUBLIC_KEY = new_assertion_keys()
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}  # tests survive no power cut


@dataclass(frozen=True, slots=True)
class Database:
    """A migrated database, with a DSN for its owner and one for each role."""

    owner: str
    ingest: str
    recall: str
    maintenance: str
    operator_key: str


@dataclass(frozen=True, slots=True)
class Services:
    """Running ingest and recall services, and a client with the operator's key."""

    ingest_address: str
    recall_address: str
    database: Database
    operator: Hindsight
    assertion_private_key: str  # the edge's, which the services believe
    assertion_public_key: str
    embed_address: str
    embed_token: str
    record_token: str  # by which ingest believes the recall service

    async def connect(self, key: NewKey) -> Hindsight:
        """A client with a new key."""
        _, secret = await self.operator.create_key(key)
        return self.with_key(secret)

    def with_key(self, api_key: str) -> Hindsight:
        """A client with this key."""
        return Hindsight(api_key=api_key, ingest_address=self.ingest_address, recall_address=self.recall_address)


def model_dir() -> Path:
    """Where the packaged model is built once for all test runs of this checkout."""
    return Path(__file__).parent.parent / ".cache" / "models"


@pytest.fixture(scope="session")
def server_folder() -> Iterator[Path]:
    """A folder another user can reach (pytest's own are closed to others); those of killed runs are removed."""
    for old in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        with contextlib.suppress(ValueError):
            if not psutil.pid_exists(int(old.name.split("-")[2])):
                shutil.rmtree(old, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER_PREFIX}{os.getpid()}-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
async def postgres(server_folder: Path) -> AsyncIterator[str]:
    """The owner's DSN of a PostgreSQL that lives as long as the session."""
    async with running_postgres(server_folder / "postgres", options=FAST, shared_root=server_folder / "shared") as server:
        yield server.dsn


async def make_template(dsn: str) -> None:
    """Make the migrated database that every test's database is a copy of; `dsn` is the owner's, to the template."""
    from hindsight_store.migrate import migrate  # needed by the tests that ask for a database only

    passwords = {f"hindsight_{role}": password for role, password in ROLE_PASSWORDS.items()}
    await migrate(dsn, passwords, hash_secret(OPERATOR_KEY))


@pytest.fixture(scope="session")
async def template(postgres: str) -> str:
    """The name of the migrated template database, made when the first test needs it."""
    await _execute(postgres, f'CREATE DATABASE "{TEMPLATE}"')
    await make_template(with_database(postgres, TEMPLATE))
    return TEMPLATE


@pytest.fixture
async def database(postgres: str, template: str) -> AsyncIterator[Database]:
    """A migrated database of the test's own."""
    name = f"test_{secrets.token_hex(6)}"
    await _execute(postgres, f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    owner = with_database(postgres, name)
    roles = {role: with_user(owner, f"hindsight_{role}", password) for role, password in ROLE_PASSWORDS.items()}
    yield Database(owner, **roles, operator_key=OPERATOR_KEY)
    await _execute(postgres, f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(scope="session")
async def valkey_server(server_folder: Path) -> AsyncIterator[str]:
    """The URL of a Valkey that lives as long as the session."""
    async with running_valkey(server_folder / "valkey", password=secrets.token_urlsafe(12)) as server:
        yield server.url


@pytest.fixture
async def valkey(valkey_server: str) -> str:
    """The URL of an empty Valkey."""
    async with Redis.from_url(valkey_server) as client:
        await client.flushall()
    return valkey_server


async def _execute(dsn: str, statement: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


@pytest.fixture(scope="session")
def embed_token() -> str:
    """What callers of the embed service send."""
    return EMBED_TOKEN


@pytest.fixture(scope="session")
async def embed_address(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The address of the real embed service with the packaged model, for the whole session."""
    from hindsight_embedding import main as embed

    settings = EmbedSettings(port=0, embed_token=SecretStr(EMBED_TOKEN), model_dir=model_dir())
    async with AsyncExitStack() as stack:
        service = await embed.open_service(stack, settings)
        address = f"unix:{socket_folder(tmp_path_factory)}/embed"
        await stack.enter_async_context(serving(service, address, max_calls=512, grace_s=1))
        yield address


@pytest.fixture
async def services(
    database: Database, embed_address: str, valkey: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Services]:
    """Real ingest and recall services over a database of the test's own."""
    from hindsight_ingest import main as ingest
    from hindsight_recall import main as recall

    folder = socket_folder(tmp_path_factory)
    common: dict[str, Any] = {"port": 0, "embed_address": embed_address, "embed_token": EMBED_TOKEN, "redis_url": valkey}
    common |= {"assertion_public_key": ASSERTION_PUBLIC_KEY, "record_token": SecretStr(RECORD_TOKEN)}
    report_to: Any = {"ingest_address": f"unix:{folder}/ingest"}
    async with AsyncExitStack() as stack:
        opened = {
            "ingest": await ingest.open_service(stack, IngestSettings(database_url=database.ingest, **common)),
            "recall": await recall.open_service(stack, RecallSettings(database_url=database.recall, **common, **report_to)),
        }
        for name, service in opened.items():
            await stack.enter_async_context(serving(service, f"unix:{folder}/{name}", max_calls=512, grace_s=1))
        async with Hindsight(api_key=OPERATOR_KEY, ingest_address=f"unix:{folder}/ingest") as operator:
            yield Services(
                f"unix:{folder}/ingest",
                f"unix:{folder}/recall",
                database,
                operator,
                ASSERTION_PRIVATE_KEY,
                ASSERTION_PUBLIC_KEY,
                embed_address,
                EMBED_TOKEN,
                RECORD_TOKEN,
            )


@pytest.fixture
def llm_settings() -> dict[str, Any]:
    """The worker's settings of an LLM; a test that has one overrides this."""
    return {}


@pytest.fixture
async def worker(
    services: Services, embed_address: str, embed_token: str, llm_settings: dict[str, Any], valkey: str
) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """A running worker; the value waits until nothing is queued any more."""
    from hindsight_ingest.eraser import Eraser, RedisCache
    from hindsight_ingest.errands import Errands, open_errands
    from hindsight_ingest.llm import open_llm
    from hindsight_ingest.rounds import SETTLE
    from hindsight_ingest.settings import WorkerSettings
    from hindsight_ingest.worker import Worker, assemble, find_generation
    from hindsight_store.desks import open_desks

    database = services.database
    settings = WorkerSettings(port=1, database_url=database.ingest, maintenance_database_url=database.maintenance, **llm_settings)
    async with AsyncExitStack() as stack:
        queue = await stack.enter_async_context(open_pool(settings.maintenance_database_url))
        pool = await stack.enter_async_context(open_pool(settings.database_url))
        embedder = await stack.enter_async_context(open_embedder(embed_address, embed_token))
        model = await embedder.describe_model()
        llm = await stack.enter_async_context(open_llm(pool, settings.llm, clock=lambda: datetime.now(UTC)))
        desks = await stack.enter_async_context(open_desks(valkey))
        errands = await stack.enter_async_context(open_errands(Errands(desks, len, clock=lambda: datetime.now(UTC))))
        work = assemble(pool, embedder, model, await find_generation(pool, model), settings, errands, llm)
        redis = await stack.enter_async_context(Redis.from_url(valkey))
        work[ERASE] = Eraser(queue, RedisCache(redis), clock=lambda: datetime.now(UTC)).erase
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        working = tasks.create_task(Worker(queue, work).work())
        stack.callback(working.cancel)

        async def drained() -> None:
            async with asyncio.timeout(60):
                await sessions.enqueue_due(queue, SETTLE, datetime.now(UTC), limit=100)
                while await jobs.backlog(queue):  # noqa: ASYNC110 - the queue is a table, there is no event
                    await asyncio.sleep(0.05)

        yield drained


@pytest.fixture
async def client(services: Services) -> AsyncIterator[Hindsight]:
    """A client with a key of the tenant "acme" that may do everything but manage keys, for the agent "ada"."""
    async with await services.connect(NewKey(tenant="acme", default_agent_id="ada")) as connected:
        yield connected


def socket_folder(factory: pytest.TempPathFactory) -> Path:
    """A fresh folder whose path is short enough for a unix socket."""
    return factory.mktemp("s")
