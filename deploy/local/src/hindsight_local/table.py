"""The process table: which services there are, how to tell that each is ready, and what each is told."""

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from hindsight_local.dsn import with_user
from hindsight_local.home import Home
from hindsight_local.ports import LOOPBACK
from hindsight_local.program import Probe, Program
from hindsight_local.settings import passed_on

BIN = Path(sys.executable).parent


@dataclass(frozen=True, slots=True)
class Service:
    """One service: its command, and the names of what it is told."""

    name: str
    command: tuple[str, ...]
    health: Literal["grpc", "http"]
    told: tuple[str, ...]  # variables the launcher sets
    passed: tuple[str, ...] = ()  # variables it passes on where they are set
    role: str = ""  # its role in the database; empty: it has no DATABASE_URL


LISTENING = (
    "HINDSIGHT_TASK_BOUNDARIES",
    "HINDSIGHT_CHAIN_CALLS",
    "HINDSIGHT_ROUND_QUIET_S",
    "HINDSIGHT_TASK_IDLE_S",
    "HINDSIGHT_SESSION_IDLE_S",
    "HINDSIGHT_RELATE",
)
MIGRATE = Service(
    "migrate",
    (str(BIN / "hindsight-migrate"),),
    "grpc",
    (
        *("HINDSIGHT_INGEST_DB_PASSWORD", "HINDSIGHT_RECALL_DB_PASSWORD", "HINDSIGHT_MAINTENANCE_DB_PASSWORD"),
        "HINDSIGHT_OPERATOR_KEY",
    ),
)
EMBED = ("HINDSIGHT_EMBED_ADDRESS", "HINDSIGHT_EMBED_TOKEN")
SERVICES = (
    Service(
        "embed",
        (str(BIN / "hindsight-embed"),),
        "grpc",
        ("HINDSIGHT_EMBED_PORT", "HINDSIGHT_EMBED_TOKEN", "HINDSIGHT_MODEL_DIR"),
        (
            *("EMBEDDING_MODEL", "HINDSIGHT_EMBEDDING_MODEL", "HF_HOME", "HF_HUB_OFFLINE", "HINDSIGHT_RERANK_MODEL"),
            *(f"HINDSIGHT_EMBEDDING_{name}" for name in ("URL", "API_KEY", "WINDOW_TOKENS", "CALIBRATION")),
            *(f"HINDSIGHT_EMBED_{name}" for name in ("THREADS", "QUEUE_TOKENS", "CACHE_ENTRIES")),
        ),
    ),
    Service(
        "ingest",
        (str(BIN / "hindsight-ingest"),),
        "grpc",
        ("HINDSIGHT_INGEST_PORT", "REDIS_URL", "HINDSIGHT_RECORD_TOKEN", *EMBED),
        (*LISTENING, "HINDSIGHT_CONTEXT_WINDOW", "HINDSIGHT_MODEL_FAMILY"),
        role="hindsight_ingest",
    ),
    Service(
        "worker",
        (str(BIN / "hindsight-worker"),),
        "grpc",
        ("HINDSIGHT_WORKER_PORT", "HINDSIGHT_MAINTENANCE_DATABASE_URL", "REDIS_URL", *EMBED),
        (
            *LISTENING,
            "HINDSIGHT_TURNS_KEPT_DAYS",
            *(
                f"HINDSIGHT_LLM_{name}"
                for name in ("URL", "API_KEY", "MODEL", "RETROSPECT_MODEL", "TIMEOUT_S", "CALLS_A_DAY", "TOKENS_A_DAY")
            ),
        ),
        role="hindsight_ingest",
    ),
    Service(
        "recall",
        (str(BIN / "hindsight-recall"),),
        "grpc",
        ("HINDSIGHT_RECALL_PORT", "REDIS_URL", "HINDSIGHT_INGEST_ADDRESS", "HINDSIGHT_RECORD_TOKEN", *EMBED),
        ("HINDSIGHT_MODEL_FAMILY",),
        role="hindsight_recall",
    ),
    Service(
        "edge",
        (str(BIN / "hindsight-mcp-edge"),),
        "http",
        (
            *("HINDSIGHT_EDGE_PORT", "HINDSIGHT_INGEST_ADDRESS", "HINDSIGHT_RECALL_ADDRESS", "HINDSIGHT_EMBED_ADDRESS"),
            "HINDSIGHT_ASSERTION_PRIVATE_KEY",
        ),
        (
            *("HINDSIGHT_TOOLSETS", "HINDSIGHT_LOG_CONTENT", "HINDSIGHT_ALLOWED_HOSTS", "FORWARDED_ALLOW_IPS"),
            *("HINDSIGHT_OAUTH_ISSUER", "HINDSIGHT_OAUTH_AUDIENCE", "HINDSIGHT_OAUTH_JWKS_URL"),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Table:
    """What is run: once, before anything else, and for as long as the launcher runs."""

    migrate: Service = MIGRATE
    services: tuple[Service, ...] = SERVICES


@dataclass(frozen=True, slots=True)
class Site:
    """Where everything is: the data folder, the database's owner DSN, Redis, and the port of each service."""

    home: Home
    owner_dsn: str
    redis_url: str
    ports: Mapping[str, int]

    def address(self, name: str) -> str:
        """Where a service listens."""
        return f"{LOOPBACK}:{self.ports[name]}"


def migrate_program(service: Service, site: Site) -> Program:
    """The one-shot that brings the database up to date; the only one told the owner's DSN."""
    env = {**_environment(service, site), "DATABASE_URL": site.owner_dsn}
    return Program(service.name, service.command, site.home.log(service.name), env)


def service_program(service: Service, site: Site) -> Program:
    """A service with its environment and its probe."""
    address = site.address(service.name)
    probe = _http_probe(address) if service.health == "http" else _grpc_probe(address)
    env = {
        **_environment(service, site),
        "HINDSIGHT_HOST": LOOPBACK,
        "HINDSIGHT_ASSERTION_PUBLIC_KEY": site.home.secrets.assertion_public_key,
    }
    return Program(service.name, service.command, site.home.log(service.name), env, probe)


def _environment(service: Service, site: Site) -> dict[str, str]:
    secrets = site.home.secrets
    passwords = {"hindsight_ingest": secrets.ingest_password, "hindsight_recall": secrets.recall_password}
    known = {
        **{f"HINDSIGHT_{name.upper()}_PORT": str(port) for name, port in site.ports.items()},
        **{f"HINDSIGHT_{name.upper()}_ADDRESS": site.address(name) for name in site.ports},
        "REDIS_URL": site.redis_url,
        "HINDSIGHT_EMBED_TOKEN": secrets.embed_token,
        "HINDSIGHT_RECORD_TOKEN": secrets.record_token,
        "HINDSIGHT_MODEL_DIR": str(site.home.data("models")),
        "HINDSIGHT_INGEST_DB_PASSWORD": secrets.ingest_password,
        "HINDSIGHT_RECALL_DB_PASSWORD": secrets.recall_password,
        "HINDSIGHT_MAINTENANCE_DB_PASSWORD": secrets.maintenance_password,
        "HINDSIGHT_MAINTENANCE_DATABASE_URL": with_user(site.owner_dsn, "hindsight_maintenance", secrets.maintenance_password),
        "HINDSIGHT_OPERATOR_KEY": secrets.operator_key,
        "HINDSIGHT_ASSERTION_PRIVATE_KEY": secrets.assertion_private_key,
    }
    env = {**passed_on(service.passed), **{name: known[name] for name in service.told}, "PYTHONUNBUFFERED": "1"}
    if service.role:
        env["DATABASE_URL"] = with_user(site.owner_dsn, service.role, passwords[service.role])
    return env


def _grpc_probe(address: str) -> Probe:
    async def probe() -> None:
        async with grpc.aio.insecure_channel(address, options=(("grpc.enable_http_proxy", 0),)) as channel:
            check = health_pb2_grpc.HealthStub(channel).Check  # pyright: ignore[reportAttributeAccessIssue] - made at run time
            answer = await check(health_pb2.HealthCheckRequest(), timeout=3)
        if answer.status != health_pb2.HealthCheckResponse.SERVING:
            raise ConnectionError("it answers, but does not serve yet")

    return probe


def _http_probe(address: str) -> Probe:
    async def probe() -> None:
        host, _, port = address.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            writer.write(f"GET /health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n".encode())
            status = (await reader.readline()).decode().split(" ")[1:2]
        finally:
            writer.close()
        if status != ["200"]:
            raise ConnectionError(f"GET /health answers {status}")

    return probe
