"""The embedding service as its callers meet it: a real gRPC server on a unix socket, the packaged model."""

import asyncio
import subprocess
import sys
import threading
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import pairwise

import grpc
import numpy as np
import pytest
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from hindsight.v1 import embedding_pb2, embedding_pb2_grpc
from hindsight_embedding import main
from hindsight_embedding.batching import Batcher
from hindsight_embedding.build_model import build
from hindsight_embedding.cache import EmbeddingCache
from hindsight_embedding.cross_encoder import CrossEncoder
from hindsight_embedding.embedder import Embedder
from hindsight_embedding.fake_model import FakeModel
from hindsight_embedding.onnx_model import OnnxModel
from hindsight_embedding.packaged import provide_model
from hindsight_embedding.reranking import Reranker
from hindsight_embedding.servicer import SERVICE_NAME, EmbeddingServicer
from hindsight_embedding.settings import EmbedSettings
from hindsight_runtime.channels import open_channel
from hindsight_runtime.identity import ServiceTokenAuthenticator
from hindsight_runtime.serving import Service, serving

from tests.cross_encoder import build_cross_encoder

TOKEN = "the shared token"
TIMEOUT_S = 20
QUERY, PASSAGE = embedding_pb2.ROLE_QUERY, embedding_pb2.ROLE_PASSAGE
ENGLISH = [
    "The user prefers dark mode and short answers.",
    "Order 17 was shipped on Monday; the status of order 18 is open.",
    "query_db failed: unknown column uid; user_id worked.",
]
CHINESE = ["用户喜欢深色模式，讨厌电话。", "订单十七周一已经发货。", "项目阿波罗进入测试阶段。"]


class Caller:
    """A service that calls the embedding service."""

    def __init__(self, channel, reranker=None):
        self.reranker = reranker
        self.stub = embedding_pb2_grpc.EmbeddingServiceStub(channel)
        self.health = health_pb2_grpc.HealthStub(channel)

    async def embed(self, *texts, role=PASSAGE, token=TOKEN):
        request = embedding_pb2.EmbedRequest(texts=texts, role=role)
        metadata = (("authorization", f"Bearer {token}"),)
        answer = await self.stub.Embed(request, metadata=metadata, timeout=TIMEOUT_S)
        return np.frombuffer(answer.embeddings, "<f4").reshape(len(texts), answer.model.dimension)

    async def rerank(self, query, *texts):
        request = embedding_pb2.RerankRequest(query=query, texts=texts)
        metadata = (("authorization", f"Bearer {TOKEN}"),)
        return list((await self.stub.Rerank(request, metadata=metadata, timeout=TIMEOUT_S)).relevances)


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    provide_model(folder)
    return folder


@pytest.fixture(scope="module")
async def caller(model_dir, tmp_path_factory):
    """The service as its main module opens it."""
    settings = EmbedSettings.model_validate({"embed_token": TOKEN, "model_dir": model_dir, "port": 0})
    address = f"unix:{tmp_path_factory.mktemp('socket')}/embed"
    async with AsyncExitStack() as stack:
        service = await main.open_service(stack, settings)
        await stack.enter_async_context(serving(service, address, max_calls=100, grace_s=1))
        yield Caller(await stack.enter_async_context(open_channel(address)))


@asynccontextmanager
async def serve(model, tmp_path, *, queue_tokens=100_000, cross_encoder=None):
    """The service around any models."""
    address = f"unix:{tmp_path}/embed"
    async with AsyncExitStack() as stack:
        batcher = await stack.enter_async_context(Batcher(model, threads=1, queue_tokens=queue_tokens))
        reranker = Reranker(cross_encoder, queue_tokens=queue_tokens) if cross_encoder else None
        if reranker:
            await stack.enter_async_context(reranker)
        servicer = EmbeddingServicer(Embedder(batcher, EmbeddingCache(100)), model, reranker)

        def register(server):
            embedding_pb2_grpc.add_EmbeddingServiceServicer_to_server(servicer, server)

        service = Service(ServiceTokenAuthenticator(TOKEN), register, [SERVICE_NAME], {"model": batcher.check})
        await stack.enter_async_context(serving(service, address, max_calls=100, grace_s=1))
        yield Caller(await stack.enter_async_context(open_channel(address)), reranker)


def details(error):
    """The code of an error, its ErrorInfo, and the other details by type."""
    metadata = dict(error.trailing_metadata())
    status = status_pb2.Status.FromString(metadata["grpc-status-details-bin"])
    found = {}
    for any_detail in status.details:
        for kind in (error_details_pb2.ErrorInfo, error_details_pb2.BadRequest, error_details_pb2.RetryInfo):
            if any_detail.type_url.endswith(f"/{kind.DESCRIPTOR.full_name}"):
                found[kind] = kind()
                any_detail.Unpack(found[kind])
    return found


async def test_model_is_described(caller):
    metadata = (("authorization", f"Bearer {TOKEN}"),)
    answer = await caller.stub.DescribeModel(embedding_pb2.DescribeModelRequest(), metadata=metadata)
    model = answer.model
    assert (model.id, model.revision) == ("intfloat/multilingual-e5-small", "1571fc982750-int8-1")
    assert (model.dimension, model.window_tokens) == (384, 512)
    assert (model.cosine_floor, model.cosine_span, model.duplicate_cosine) == (0.74, 0.18, 0.95)


async def test_embeddings_are_unit_rows_in_the_order_of_the_texts(caller):
    together = await caller.embed(*ENGLISH, *CHINESE)
    again = await caller.embed(*reversed(ENGLISH))
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(6), abs=1e-5)
    assert (again[::-1] == together[:3]).all()


async def test_embedding_does_not_depend_on_what_it_is_batched_with(caller, model_dir):
    model = OnnxModel(provide_model(model_dir))
    texts = [f"{text} Number {n}. " * (1 + n % 7) for n in range(20) for text in (ENGLISH[n % 3], CHINESE[n % 3])]
    together = await caller.embed(*texts)
    alone = np.concatenate([model.forward([f"passage: {text}"]) for text in texts])
    assert together == pytest.approx(alone, abs=1e-4)


async def test_integer_arithmetic_stays_close_to_the_exact_model(caller, model_dir):
    build(model_dir / "exact", exact=True)
    exact = OnnxModel(model_dir / "exact").forward([f"passage: {text}" for text in ENGLISH + CHINESE])
    served = await caller.embed(*ENGLISH, *CHINESE)
    assert ((exact * served).sum(axis=1) >= 0.998).all()


async def test_question_finds_its_answer_across_languages(caller):
    questions = ["Which display theme does the user like?", "订单十七到哪一步了？", "In which phase is project Apollo?"]
    similarity = await caller.embed(*questions, role=QUERY) @ (await caller.embed(*CHINESE)).T
    assert similarity.argmax(axis=1).tolist() == [0, 1, 2]
    english = (
        await caller.embed("订单十八现在是什么状态？", "查询数据库时哪个列名是对的？", role=QUERY)
        @ (await caller.embed(*ENGLISH)).T
    )
    assert english.argmax(axis=1).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("start", "end", "question"),
    [
        ("The quarterly report lists figures of the sales department. ", "My cat Mimi eats fish only.", "cat food"),
        ("季度报告列出了销售部门的各项数字。", "我的猫咪咪只吃鱼。", "猫吃什么"),
    ],
    ids=["en", "zh"],
)
async def test_end_of_a_text_of_10000_characters_matters(caller, start, end, question):
    body = start * (8_000 // len(start)) + end * (2_000 // len(end))
    asked = await caller.embed(question, role=QUERY)
    plain, extended = await caller.embed(start * 20, body)
    assert asked[0] @ extended > asked[0] @ plain


async def test_health_answers_during_a_forward_pass(caller):
    texts = [f"{n} " + "tokens that keep the model busy for a while " * 40 for n in range(6)]
    async with asyncio.TaskGroup() as tasks:
        busy = tasks.create_task(caller.embed(*texts))
        for _ in range(20):
            answer = await caller.health.Check(health_pb2.HealthCheckRequest(), timeout=1)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        assert not busy.done()


async def test_full_queue_answers_with_a_retry_hint(tmp_path):
    gate, begun, loop = threading.Event(), asyncio.Event(), asyncio.get_running_loop()

    class SlowModel(FakeModel):
        def forward(self, windows):
            loop.call_soon_threadsafe(begun.set)
            assert gate.wait(TIMEOUT_S)
            return super().forward(windows)

    async with serve(SlowModel(), tmp_path, queue_tokens=50) as caller, asyncio.TaskGroup() as tasks:
        tasks.create_task(caller.embed("w " * 25))
        async with asyncio.timeout(TIMEOUT_S):
            await begun.wait()
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await caller.embed("v " * 60)
        gate.set()
    found = details(refused.value)
    assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert found[error_details_pb2.ErrorInfo].reason == "OVERLOADED"
    assert found[error_details_pb2.RetryInfo].retry_delay.ToMilliseconds() >= 100


async def test_failure_of_the_model_is_internal_and_tells_nothing(tmp_path):
    class BrokenModel(FakeModel):
        def forward(self, windows):
            raise ZeroDivisionError("secret")

    async with serve(BrokenModel(), tmp_path) as caller:
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await caller.embed("tea")
    assert failed.value.code() == grpc.StatusCode.INTERNAL
    assert "secret" not in (failed.value.details() or "")


@pytest.mark.parametrize(
    ("texts", "role", "field"),
    [
        ([], PASSAGE, "texts"),
        (["a"] * 513, PASSAGE, "texts"),
        (["a", ""], PASSAGE, "texts[1]"),
        (["a", "b", "c", " \n\u3000"], QUERY, "texts[3]"),
        (["a" * 65_537], PASSAGE, "texts[0]"),
        (["好" * 21_846], PASSAGE, "texts[0]"),
        (["a"], embedding_pb2.ROLE_UNSPECIFIED, "role"),
        (["a"], 7, "role"),
        (["a" * 65_536 + str(n) for n in range(9)], PASSAGE, "texts[0]"),
        ([f"{n}" + "a" * 65_000 for n in range(9)], PASSAGE, "texts"),
    ],
)
async def test_bad_input_names_the_field(caller, texts, role, field):
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await caller.embed(*texts, role=role)
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    violations = details(refused.value)[error_details_pb2.BadRequest].field_violations
    assert [violation.field for violation in violations] == [field]


async def test_text_of_exactly_the_limit_is_embedded(caller):
    (row,) = await caller.embed("tea" + " " * (65_536 - 7) + "milk")
    assert np.linalg.norm(row) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("token", ["another", ""])
async def test_wrong_token_is_unauthenticated(caller, token):
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await caller.embed("tea", token=token)
    assert refused.value.code() == grpc.StatusCode.UNAUTHENTICATED


async def test_withdrawn_call_leaves_others_alone(caller):
    long = ["x" * 10 + " some words that take a while" * 50 + str(n) for n in range(20)]
    async with asyncio.TaskGroup() as tasks:
        gone = tasks.create_task(caller.embed(*long))
        stays = tasks.create_task(caller.embed("still here", long[0]))
        await asyncio.sleep(0)
        gone.cancel()
    assert stays.result().shape == (2, 384)


class GatedCrossEncoder(CrossEncoder):
    """Says when a pass has begun, counts passes, and finishes them when it is told to."""

    def __init__(self, folder):
        self.gate, self.begun, self.passes = threading.Semaphore(1), None, 0  # one pass proves the model at its start
        super().__init__(folder)
        self.begun, self.loop, self.passes = asyncio.Semaphore(0), asyncio.get_running_loop(), 0

    def relevances(self, pairs):
        self.passes += 1
        if self.begun:
            self.loop.call_soon_threadsafe(self.begun.release)
        assert self.gate.acquire(timeout=TIMEOUT_S)
        return super().relevances(pairs)


@pytest.fixture
async def cross_encoder(tmp_path):
    encoder = GatedCrossEncoder(build_cross_encoder(tmp_path / "overlap", ("tea", "tram"), window=512))
    yield encoder
    encoder.gate.release(1000)


async def begin(tasks, caller, cross_encoder, *texts):
    """A call whose first pass has begun."""
    task = tasks.create_task(caller.rerank("tea", *texts))
    async with asyncio.timeout(TIMEOUT_S):
        await cross_encoder.begun.acquire()
    return task


async def test_health_and_embed_answer_during_a_reranking_pass(tmp_path, cross_encoder):
    async with serve(FakeModel(), tmp_path, cross_encoder=cross_encoder) as caller, asyncio.TaskGroup() as tasks:
        busy = await begin(tasks, caller, cross_encoder, "tea", "tram")
        check = caller.health.Check  # pyright: ignore[reportAttributeAccessIssue] - made at run time
        assert (await check(health_pb2.HealthCheckRequest(), timeout=1)).status == health_pb2.HealthCheckResponse.SERVING
        assert (await caller.embed("tea")).shape == (1, 64)
        assert not busy.done()
        cross_encoder.gate.release()
    assert busy.result() == pytest.approx([0.2689, 0.0474], abs=1e-3)


async def test_full_reranking_queue_answers_with_a_retry_hint_and_empties_again(tmp_path, cross_encoder):
    async with serve(FakeModel(), tmp_path, queue_tokens=60, cross_encoder=cross_encoder) as caller:
        async with asyncio.TaskGroup() as tasks:
            await begin(tasks, caller, cross_encoder, "a lone call is never too large " * 20)
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await caller.rerank("tea", "tram")
            cross_encoder.gate.release(2)
        assert len(await caller.rerank("tea", "tram")) == 1
    found = details(refused.value)
    assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert found[error_details_pb2.ErrorInfo].reason == "OVERLOADED"
    assert found[error_details_pb2.RetryInfo].retry_delay.ToMilliseconds() >= 100


async def test_callers_take_turns_and_a_withdrawn_call_ends_after_its_pass(tmp_path, cross_encoder):
    async with serve(FakeModel(), tmp_path, cross_encoder=cross_encoder) as caller:
        async with asyncio.TaskGroup() as tasks:
            long = await begin(tasks, caller, cross_encoder, *(f"{n} " + "word " * 500 for n in range(40)))
            assert caller.reranker
            first = caller.reranker._waiting_tokens
            short = tasks.create_task(caller.rerank("tea", "tea"))
            async with asyncio.timeout(TIMEOUT_S):
                while caller.reranker._waiting_tokens == first:  # noqa: ASYNC110 - a queue tells nobody its length
                    await asyncio.sleep(0)
            cross_encoder.gate.release(3)
            await short
            assert not long.done()
            long.cancel()
            cross_encoder.gate.release(100)
        await caller.rerank("tea", "tea")
    assert cross_encoder.passes < 8  # of more than ten


async def test_with_no_reranking_model_named_rerank_says_how_to_name_one(caller):
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await caller.rerank("tea", "green tea")
    assert refused.value.code() == grpc.StatusCode.FAILED_PRECONDITION
    assert details(refused.value)[error_details_pb2.ErrorInfo].reason == "NOT_CONFIGURED"
    assert "HINDSIGHT_RERANK_MODEL" in (refused.value.details() or "")
    metadata = (("authorization", f"Bearer {TOKEN}"),)
    answer = await caller.stub.DescribeModel(embedding_pb2.DescribeModelRequest(), metadata=metadata)
    assert (answer.rerank_model_id, answer.rerank_model_revision) == ("", "")


@pytest.mark.parametrize(
    ("query", "texts", "field"),
    [
        ("", ["a"], "query"),
        (" \n", ["a"], "query"),
        ("好" * 21_846, ["a"], "query"),
        ("q", [], "texts"),
        ("q", ["a"] * 101, "texts"),
        ("q", ["a", "\u3000"], "texts[1]"),
        ("q", ["a" * 65_537], "texts[0]"),
    ],
)
async def test_bad_input_to_rerank_names_the_field(caller, query, texts, field):
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await caller.rerank(query, *texts)
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert [v.field for v in details(refused.value)[error_details_pb2.BadRequest].field_violations] == [field]


async def test_a_hundred_texts_of_the_largest_size_are_judged(tmp_path):
    cross_encoder = CrossEncoder(build_cross_encoder(tmp_path / "overlap", ("tea",)))
    async with serve(FakeModel(), tmp_path, cross_encoder=cross_encoder) as caller:
        relevances = await caller.rerank("tea " * 16_000, *(["tea " + "x" * 65_000] * 100))
    assert len(relevances) == 100
    assert all(0 <= relevance <= 1 for relevance in relevances)


def test_default_path_loads_neither_torch_nor_onnx_nor_a_store(model_dir):
    program = (
        "import sys, asyncio\n"
        "from hindsight_embedding import main\n"
        "from hindsight_embedding.loading import load_model\n"
        "from hindsight_embedding.settings import EmbedSettings\n"
        f"model = asyncio.run(load_model(EmbedSettings(auth='off', model_dir={str(model_dir)!r})))\n"
        "model.forward(['query: tea'])\n"
        "print(*sorted({'torch', 'onnx', 'openai', 'hindsight_store', 'asyncpg'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == ""


def test_start_without_a_token_is_one_clear_line():
    program = "from hindsight_embedding.main import main; main()"
    environment = {"PATH": "", "HINDSIGHT_EMBED_PORT": "56090"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 1
    assert "HINDSIGHT_EMBED_TOKEN" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_start_with_a_model_that_is_not_there_is_one_clear_line():
    program = "from hindsight_embedding.main import main; main()"
    environment = {"HINDSIGHT_EMBED_TOKEN": "t", "EMBEDDING_MODEL": "nobody/nothing", "HINDSIGHT_EMBED_PORT": "56091"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 1
    assert "HF_HUB_OFFLINE=0" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_paraphrase_is_nearer_than_the_same_subject_than_the_same_language_than_anything(model_dir):
    model = OnnxModel(provide_model(model_dir))
    rows = model.forward(
        [
            "passage: 用户喜欢深色模式。",
            "passage: 用户喜欢深色的界面模式。",
            "passage: 用户喜欢安静的咖啡馆。",
            "passage: The train to Porto leaves at nine.",
        ]
    )
    cosines = [float(rows[0] @ row) for row in rows]
    assert all(nearer > farther for nearer, farther in pairwise(cosines))
