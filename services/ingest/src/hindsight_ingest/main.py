"""The ingest process."""

from contextlib import AsyncExitStack
from datetime import UTC, datetime

import asyncpg
import grpc
from hindsight.v1 import (
    admin_pb2_grpc,
    desk_pb2_grpc,
    erasure_pb2_grpc,
    ingest_pb2_grpc,
    record_pb2_grpc,
    review_pb2_grpc,
    session_pb2_grpc,
    sharing_pb2_grpc,
)
from hindsight_language.tokens import token_counter
from hindsight_runtime.embedder import open_embedder
from hindsight_runtime.errors import StartFailed
from hindsight_runtime.identity import Authenticator, KeyAuthenticator, NoAuthentication, Principal, RecallOrOthers
from hindsight_runtime.serving import Probe, Service, run, wait_for
from hindsight_runtime.settings import load
from hindsight_store.desks import open_desks
from hindsight_store.pool import open_pool, ping
from hindsight_store.reader import DEFAULT_TENANT, find_key, find_tenant
from hindsight_store.schema import verify_schema
from hindsight_store.stored import measure_stored
from hindsight_store.writer import ensure_generation

from hindsight_ingest.admin import AdminServicer
from hindsight_ingest.changes import Changes
from hindsight_ingest.denials import open_denials
from hindsight_ingest.desk import DeskServicer
from hindsight_ingest.desk_writing import DeskWriter
from hindsight_ingest.erasing import ErasureServicer
from hindsight_ingest.errands import Errands, open_errands
from hindsight_ingest.guard import TextGuard
from hindsight_ingest.listener import Listener
from hindsight_ingest.observing import Observer
from hindsight_ingest.pipeline import Pipeline
from hindsight_ingest.quota import Quota
from hindsight_ingest.recording import RecordServicer
from hindsight_ingest.relating import Relating
from hindsight_ingest.reporting import Reporting
from hindsight_ingest.reviewing import Reviewing, ReviewServicer
from hindsight_ingest.revoking import Revoking
from hindsight_ingest.rounds import Rounds
from hindsight_ingest.servicer import IngestServicer
from hindsight_ingest.sessions import SessionServicer
from hindsight_ingest.settings import IngestSettings
from hindsight_ingest.sharing import SharingServicer


async def open_service(stack: AsyncExitStack, settings: IngestSettings) -> Service:
    """Wait for what ingest needs, then put it together."""
    pool = await wait_for("postgresql", lambda: stack.enter_async_context(open_pool(settings.database_url)))
    await wait_for("schema", lambda: verify_schema(pool))
    embedder = await stack.enter_async_context(open_embedder(settings.embed_address, settings.embed_token))
    model = await wait_for("embed", embedder.describe_model)
    generation = await ensure_generation(
        pool, model.id, model.revision, dimension=model.dimension, window_tokens=model.window_tokens
    )
    if (generation.model_id, generation.model_revision) != (model.id, model.revision):
        raise StartFailed(
            f"the stored embeddings are of {generation.model_id} {generation.model_revision}, the embed service answers with "
            f"{model.id} {model.revision}; start it with the former"
        )
    guard = TextGuard(model.id)
    pipeline = Pipeline(pool, embedder, model, generation, guard=guard, clock=_now, kin=settings.kin)
    probes: dict[str, Probe] = {"postgresql": lambda: ping(pool), "embed": embedder.ping}
    count = token_counter(settings.model_family)
    desks = None
    if settings.redis_url:
        desks = await stack.enter_async_context(open_desks(settings.redis_url, budget_tokens=settings.desk_tokens))
        probes["redis"] = desks.ping
    errands = await stack.enter_async_context(open_errands(Errands(desks, count, clock=_now)))
    desk_writer = DeskWriter(desks, guard, count, clock=_now)
    denials = await stack.enter_async_context(open_denials(pool))
    observer = Observer(pool, Rounds(settings.rules, settings.silence, clock=_now), guard, errands, clock=_now)
    changes = Changes(pool, pipeline)
    quota = Quota(settings.tenant_mib, lambda tenant_id: measure_stored(pool, tenant_id))

    def register(server: grpc.aio.Server) -> None:
        ingest_pb2_grpc.add_IngestServiceServicer_to_server(
            IngestServicer(
                pool, pipeline, changes, Relating(pipeline), Reporting(pool, pipeline), observer, quota, desk_writer, errands
            ),
            server,
        )
        desk_pb2_grpc.add_DeskServiceServicer_to_server(DeskServicer(pool, desks, desk_writer, pipeline, quota), server)
        review_pb2_grpc.add_ReviewServiceServicer_to_server(ReviewServicer(Reviewing(pool, pipeline, changes)), server)
        session_pb2_grpc.add_SessionServiceServicer_to_server(SessionServicer(observer, Listener(embedder, model), desks), server)
        admin_pb2_grpc.add_AdminServiceServicer_to_server(AdminServicer(pool, Revoking(pool, errands, _now), _now), server)
        erasure_pb2_grpc.add_ErasureServiceServicer_to_server(ErasureServicer(pool, _now), server)
        record_pb2_grpc.add_RecordServiceServicer_to_server(RecordServicer(pool, errands), server)
        sharing_pb2_grpc.add_SharingServiceServicer_to_server(SharingServicer(pool, pipeline), server)

    names = (
        "hindsight.v1.IngestService",
        "hindsight.v1.SessionService",
        "hindsight.v1.DeskService",
        "hindsight.v1.ReviewService",
        "hindsight.v1.AdminService",
        "hindsight.v1.ErasureService",
        "hindsight.v1.RecordService",
        "hindsight.v1.SharingService",
    )
    return Service(await _authenticator(pool, settings), register, names, probes, denials.add)


async def _authenticator(pool: asyncpg.Pool, settings: IngestSettings) -> Authenticator:
    others: Authenticator = KeyAuthenticator(
        lambda secret_hash: find_key(pool, secret_hash), lambda name: find_tenant(pool, name), settings.assertion_public_key
    )
    if settings.auth == "off":
        others = NoAuthentication(Principal.of_anyone(await find_tenant(pool, DEFAULT_TENANT) or 0, DEFAULT_TENANT))
    return RecallOrOthers(settings.record_token.get_secret_value(), others)


def _now() -> datetime:
    return datetime.now(UTC)


def main() -> None:
    """Command line: hindsight-ingest."""
    settings = load(IngestSettings)
    run("ingest", settings, lambda stack: open_service(stack, settings))
