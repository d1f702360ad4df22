"""The recall process."""

from contextlib import AsyncExitStack
from datetime import UTC, datetime

import asyncpg
import grpc
from hindsight.v1 import recall_pb2_grpc, receipt_pb2_grpc
from hindsight_language.tokens import token_counter
from hindsight_runtime.embedder import open_embedder
from hindsight_runtime.identity import Authenticator, KeyAuthenticator, NoAuthentication, Principal
from hindsight_runtime.serving import Probe, Service, run, wait_for
from hindsight_runtime.settings import load
from hindsight_store.desks import open_desks
from hindsight_store.pool import open_pool, ping
from hindsight_store.reader import DEFAULT_TENANT, find_key, find_tenant
from hindsight_store.schema import verify_schema

from hindsight_recall.explaining import ReceiptServicer
from hindsight_recall.gate import load_gate
from hindsight_recall.judging import Judge
from hindsight_recall.recalling import Recaller
from hindsight_recall.recorder import open_recorder
from hindsight_recall.servicer import RecallServicer
from hindsight_recall.settings import RecallSettings


async def open_service(stack: AsyncExitStack, settings: RecallSettings) -> Service:
    """Wait for what recall needs, then put it together."""
    pool = await wait_for("postgresql", lambda: stack.enter_async_context(open_pool(settings.database_url)))
    await wait_for("schema", lambda: verify_schema(pool))
    embedder = await stack.enter_async_context(open_embedder(settings.embed_address, settings.embed_token))
    model = await wait_for("embed", embedder.describe_model)
    desks = await stack.enter_async_context(open_desks(settings.redis_url)) if settings.redis_url else None
    recaller = Recaller(pool, embedder, model, clock=_now, desks=desks)
    count = token_counter(settings.model_family)
    recorder = None
    if settings.ingest_address:
        token = settings.record_token.get_secret_value()
        recorder = await stack.enter_async_context(open_recorder(settings.ingest_address, token))
    judge = Judge(load_gate(), embedder, model)
    probes: dict[str, Probe] = {"postgresql": lambda: ping(pool), "embed": embedder.ping}
    if desks:
        probes["redis"] = desks.ping

    def register(server: grpc.aio.Server) -> None:
        recall_pb2_grpc.add_RecallServiceServicer_to_server(RecallServicer(pool, recaller, judge, recorder, count), server)
        receipt_pb2_grpc.add_ReceiptServiceServicer_to_server(ReceiptServicer(pool, recaller), server)

    names = ("hindsight.v1.RecallService", "hindsight.v1.ReceiptService")
    return Service(await _authenticator(pool, settings), register, names, probes, recorder.deny if recorder else None)


async def _authenticator(pool: asyncpg.Pool, settings: RecallSettings) -> Authenticator:
    if settings.auth == "off":
        return NoAuthentication(Principal.of_anyone(await find_tenant(pool, DEFAULT_TENANT) or 0, DEFAULT_TENANT))
    return KeyAuthenticator(
        lambda secret_hash: find_key(pool, secret_hash), lambda name: find_tenant(pool, name), settings.assertion_public_key
    )


def _now() -> datetime:
    return datetime.now(UTC)


def main() -> None:
    """Command line: hindsight-recall."""
    settings = load(RecallSettings)
    run("recall", settings, lambda stack: open_service(stack, settings))
