"""Proof that hindsight works: a memory in Chinese and one in English are written, recalled and deleted."""

import time

import grpc
from hindsight.v1 import admin_pb2, admin_pb2_grpc, ingest_pb2, ingest_pb2_grpc, memory_pb2, recall_pb2, recall_pb2_grpc
from hindsight_runtime.channels import open_channel
from hindsight_runtime.errors import StartFailed

AGENT = "hindsight-self-check"
TENANT = "default"
TIMEOUT_S = 30.0
MEMORIES = {  # what is written -> what is asked
    ("favourite drink", "Ada drinks oolong tea every morning."): "What does Ada like to drink?",
    ("居住城市", "小林去年搬到了成都。"): "小林住在哪个城市？",
}


async def ensure_api_key(ingest_address: str, operator_key: str, api_key: str) -> str:
    """The API key for the tenant and the agent "default": the one given if the server knows it, else a new one."""
    async with open_channel(ingest_address) as channel:
        admin = admin_pb2_grpc.AdminServiceStub(channel)
        try:
            if api_key:
                try:
                    request = admin_pb2.DescribeCallerRequest()
                    await admin.DescribeCaller(request, metadata=_bearer(api_key), timeout=TIMEOUT_S)
                    return api_key
                except grpc.aio.AioRpcError as error:
                    if error.code() is not grpc.StatusCode.UNAUTHENTICATED:
                        raise
            request = admin_pb2.CreateKeyRequest(tenant=TENANT, name="default", default_agent_id="default")
            answer = await admin.CreateKey(request, metadata=_bearer(operator_key), timeout=TIMEOUT_S)
        except grpc.aio.AioRpcError as error:
            raise StartFailed(f"making the API key failed: {_why(error)}") from None
    return answer.secret


async def self_check(ingest_address: str, recall_address: str, api_key: str) -> float:
    """Write, recall and delete; the seconds it took.

    Raises:
        StartFailed: something was refused, or what was written was not found.
    """
    began = time.monotonic()
    async with open_channel(ingest_address) as to_ingest, open_channel(recall_address) as to_recall:
        ingest = ingest_pb2_grpc.IngestServiceStub(to_ingest)
        recall = recall_pb2_grpc.RecallServiceStub(to_recall)
        try:
            for (key, value), question in MEMORIES.items():
                await _check_memory(ingest, recall, api_key, (key, value, question))
        except grpc.aio.AioRpcError as error:
            raise StartFailed(f"self-check failed: {_why(error)}") from None
    return time.monotonic() - began


async def _check_memory(
    ingest: ingest_pb2_grpc.IngestServiceStub,
    recall: recall_pb2_grpc.RecallServiceStub,
    api_key: str,
    example: tuple[str, str, str],
) -> None:
    key, value, question = example
    options = {"metadata": _bearer(api_key), "timeout": TIMEOUT_S}
    memory = memory_pb2.NewMemory(key=key, value=value, tags=["self-check"])
    written = await ingest.Write(ingest_pb2.WriteRequest(agent_id=AGENT, memory=memory), **options)
    memory_id = written.result.memory_id
    if not memory_id:
        raise StartFailed(f"self-check failed: the write was refused: {written.result.detail}")
    answer = await recall.Recall(recall_pb2.RecallRequest(agent_id=AGENT, query=question), **options)
    await ingest.Forget(ingest_pb2.ForgetRequest(agent_id=AGENT, memory_id=memory_id), **options)
    if memory_id not in {hit.memory.id for hit in answer.hits}:
        raise StartFailed(f"self-check failed: what was written was not recalled by {question!r}")


def _bearer(key: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {key}"),)


def _why(error: grpc.aio.AioRpcError) -> str:
    return f"{error.code().name}: {error.details()}"
