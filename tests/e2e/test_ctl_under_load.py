"""hindsightctl gets through while its tenant is over its rate: a flood is what an operator ends."""

import asyncio
import os
import sys
from pathlib import Path

import grpc
from google.protobuf.any_pb2 import Any as Packed
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2
from hindsight.v1 import admin_pb2, admin_pb2_grpc

CTL = Path(sys.executable).with_name("hindsightctl")


class Flooded(admin_pb2_grpc.AdminServiceServicer):
    """Refuses as many calls as it is told to, then answers."""

    def __init__(self, refusals: int) -> None:
        self.left = refusals

    async def RevokeKey(self, request, context):  # pyright: ignore[reportIncompatibleMethodOverride]  # noqa: N802
        if self.left:
            self.left -= 1
            hint = Packed()
            hint.Pack(error_details_pb2.RetryInfo(retry_delay=Duration(nanos=1_000_000)))
            code, message = grpc.StatusCode.RESOURCE_EXHAUSTED, "the tenant is over its calls a second"
            status = status_pb2.Status(code=code.value[0], message=message, details=[hint])
            await context.abort(code, message, (("grpc-status-details-bin", status.SerializeToString()),))
        return admin_pb2.RevokeKeyResponse()


async def revoke(refusals: int, folder: Path) -> tuple[int, str]:
    server = grpc.aio.server()
    admin_pb2_grpc.add_AdminServiceServicer_to_server(Flooded(refusals), server)
    server.add_insecure_port(f"unix:{folder}/s")
    await server.start()
    environment = {**os.environ, "HINDSIGHT_API_KEY": "hs_a", "HINDSIGHT_INGEST_ADDRESS": f"unix:{folder}/s"}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(CTL, "key", "revoke", "k", env=environment, stdout=pipe, stderr=pipe)
    _, errors = await asyncio.wait_for(process.communicate(), timeout=60)
    await server.stop(0)
    return process.returncode or 0, errors.decode()


async def test_a_key_is_revoked_though_its_tenant_is_over_its_rate(tmp_path: Path):
    assert await revoke(3, tmp_path) == (0, "")


async def test_a_flood_that_does_not_end_is_told_with_when_to_try_again(tmp_path: Path):
    code, errors = await revoke(1000, tmp_path)
    assert (code, "try again in 0.001 s" in errors) == (1, True)
