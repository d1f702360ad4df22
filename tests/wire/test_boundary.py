"""What a caller gets when a handler misbehaves or a request cannot be read."""

import asyncio
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2
from hindsight.v1 import embedding_pb2
from hindsight_memory import HindsightError as ClientError
from hindsight_memory.errors import to_error
from hindsight_runtime import errors
from hindsight_runtime.boundary import MAX_REQUEST_BYTES, Boundary
from hindsight_runtime.identity import NoAuthentication, Principal

METHOD = "/hindsight.v1.EmbeddingService/Embed"
REQUEST = embedding_pb2.EmbedRequest(texts=["x"]).SerializeToString()


class Panic(BaseException):
    """What a compiled extension raises when it panics: no Exception."""


async def answer(request, context):
    return embedding_pb2.EmbedResponse(embeddings=b"ok")


def raising(error):
    async def fail(request, context):
        raise error

    return fail


async def fail_in_group(error):
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(raising(error)(None, None))


@asynccontextmanager
async def calling(handler, folder, **options):
    """A channel to a server whose one method is the handler; behind the boundary."""
    kinds = {"request_deserializer": embedding_pb2.EmbedRequest.FromString}
    kind = options.pop("kind", grpc.unary_unary_rpc_method_handler)
    boundary = Boundary(NoAuthentication(Principal(1, "acme", "k")), **{"max_calls": 8, **options})
    server = grpc.aio.server(interceptors=[boundary], options=[("grpc.max_receive_message_length", 2 * MAX_REQUEST_BYTES)])
    methods = {"Embed": kind(handler, response_serializer=embedding_pb2.EmbedResponse.SerializeToString, **kinds)}
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("hindsight.v1.EmbeddingService", methods)])
    server.add_insecure_port(f"unix:{folder}/s")
    await server.start()
    async with grpc.aio.insecure_channel(f"unix:{folder}/s") as channel:
        yield channel
    await server.stop(0)


async def failure(channel, raw=REQUEST, method=METHOD) -> tuple[grpc.aio.AioRpcError, status_pb2.Status]:
    with pytest.raises(grpc.aio.AioRpcError) as refusal:
        await channel.unary_unary(method)(raw, timeout=5)
    trailing: dict[str, Any] = dict(refusal.value.trailing_metadata() or ())
    return refusal.value, status_pb2.Status.FromString(trailing.get("grpc-status-details-bin", b""))


async def client_error(channel, **call) -> ClientError:
    return to_error((await failure(channel, **call))[0])


@pytest.mark.parametrize("error", [RuntimeError("the password is x"), Panic("the password is x"), KeyError("x")])
async def test_a_handlers_exception_is_internal_with_an_incident_and_no_detail(error, tmp_path):
    async with calling(raising(error), tmp_path) as channel:
        refusal, status = await failure(channel)
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    assert (refusal.code(), info.domain, info.reason) == (grpc.StatusCode.INTERNAL, "hindsight", "INTERNAL")
    assert info.metadata["incident"] in (refusal.details() or "")
    assert "password" not in refusal.debug_error_string() + str(status)


async def test_a_cancelled_handler_answers_unavailable(tmp_path):
    async with calling(raising(asyncio.CancelledError()), tmp_path) as channel:
        error = await client_error(channel)
    assert (error.code, error.reason, error.retry_after_s) == ("UNAVAILABLE", "DEPENDENCY_UNAVAILABLE", 1.0)


@pytest.mark.parametrize(
    ("raised", "code", "reason"),
    [
        (errors.ModelMismatch("another model"), "FAILED_PRECONDITION", "MODEL_MISMATCH"),
        (ConnectionError("gone"), "UNAVAILABLE", "DEPENDENCY_UNAVAILABLE"),
        (TimeoutError(), "DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED"),
        (RuntimeError("boom"), "INTERNAL", "INTERNAL"),
    ],
)
async def test_what_fails_in_a_task_group_is_told_like_what_fails_outside(raised, code, reason, tmp_path):
    async def handler(request, context):
        await fail_in_group(raised)

    async with calling(handler, tmp_path) as channel:
        error = await client_error(channel)
    assert (error.code, error.reason) == (code, reason)


async def test_an_unknown_method_is_unimplemented(tmp_path):
    async with calling(answer, tmp_path) as channel:
        for method in ("/hindsight.v1.EmbeddingService/Nothing", "/nothing/At", "/x"):
            error = await client_error(channel, method=method)
            assert (error.code, error.reason) == ("UNIMPLEMENTED", "UNIMPLEMENTED")


async def test_a_streaming_method_is_not_served_around_the_boundary(tmp_path):
    async def stream(request, context):
        yield embedding_pb2.EmbedResponse(embeddings=b"for anybody")

    async with calling(stream, tmp_path, kind=grpc.unary_stream_rpc_method_handler) as channel:
        error = await client_error(channel)
    assert error.code == "UNIMPLEMENTED"


@pytest.mark.parametrize("raw", [b"\xff", b"\x0a\x03\xed\xa0\x80", b"\x0a\xff\xff\xff\xff\x0f", b"\x0a" + b"\x80" * 11])
async def test_bytes_that_are_no_message_are_undecodable(raw, tmp_path):
    async with calling(answer, tmp_path) as channel:
        error = await client_error(channel, raw=raw)
    assert (error.code, error.reason, error.fields) == ("INVALID_ARGUMENT", "UNDECODABLE", {})


async def test_a_request_over_the_limit_is_an_invalid_argument(tmp_path):
    async with calling(answer, tmp_path) as channel:
        error = await client_error(channel, raw=bytes(MAX_REQUEST_BYTES + 1))
    assert (error.code, error.reason, error.fields) == ("INVALID_ARGUMENT", "UNDECODABLE", {})


async def test_an_error_with_many_long_violations_reaches_the_caller(tmp_path):
    violations = [errors.FieldViolation(f"memories[{i}].metadata.{'字' * 64}", "remove the NUL character") for i in range(256)]
    async with calling(raising(errors.BatchRejected("号" * 3000, violations=violations)), tmp_path) as channel:
        error = await client_error(channel)
    assert (error.code, error.reason) == ("INVALID_ARGUMENT", "BATCH_REJECTED")
    assert next(iter(error.fields)) == violations[0].field


@pytest.mark.parametrize("deadline_s", [0.001, 0.05])
async def test_a_deadline_is_kept_by_the_server_too(deadline_s, tmp_path):
    left = asyncio.Event()

    async def wait(request, context):
        try:
            await asyncio.Event().wait()
        finally:
            left.set()

    async with calling(wait, tmp_path) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as refusal:
            await channel.unary_unary(METHOD)(REQUEST, timeout=deadline_s)
        assert refusal.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        if deadline_s > 0.01:
            async with asyncio.timeout(2):
                await left.wait()
