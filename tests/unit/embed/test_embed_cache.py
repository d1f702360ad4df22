"""The cache of embeddings: by content and role, bounded, oldest first."""

import numpy as np
from hindsight_embedding.batching import Batcher
from hindsight_embedding.cache import EmbeddingCache, content_key
from hindsight_embedding.embedder import Embedder
from hindsight_embedding.fake_model import FakeModel
from hindsight_embedding.model import Role

ROW = np.ones(2, np.float32)


class CountingModel(FakeModel):
    def __init__(self):
        super().__init__()
        self.texts = []

    def forward(self, windows):
        self.texts += windows
        return super().forward(windows)


def test_role_and_text_make_the_key():
    keys = {content_key(t, r) for t in ("a", "b") for r in Role}
    assert len(keys) == 4


def test_least_recently_used_is_forgotten_first():
    cache = EmbeddingCache(2)
    cache.keep(b"a", ROW)
    cache.keep(b"b", ROW)
    cache.find(b"a")
    cache.keep(b"c", ROW)
    assert [cache.find(k) is not None for k in (b"a", b"b", b"c")] == [True, False, True]


def test_cache_of_no_entries_keeps_nothing():
    cache = EmbeddingCache(0)
    cache.keep(b"a", ROW)
    assert len(cache) == 0


def test_kept_embedding_does_not_hold_its_batch_in_memory():
    cache = EmbeddingCache(1)
    cache.keep(b"a", np.ones((512, 2), np.float32)[3])
    kept = cache.find(b"a")
    assert kept is not None
    assert kept.base is None


async def test_same_text_is_computed_once_in_a_request_and_across_requests():
    model = CountingModel()
    async with Batcher(model, threads=1, queue_tokens=1000) as batcher:
        embedder = Embedder(batcher, EmbeddingCache(10))
        first = await embedder.embed(["tea", "milk", "tea"], Role.QUERY)
        again = await embedder.embed(["milk"], Role.QUERY)
    assert sorted(model.texts) == ["ask: milk", "ask: tea"]
    assert (first[0] == first[2]).all()
    assert (again[0] == first[1]).all()


async def test_same_text_in_another_role_is_another_embedding():
    model = CountingModel()
    async with Batcher(model, threads=1, queue_tokens=1000) as batcher:
        embedder = Embedder(batcher, EmbeddingCache(10))
        await embedder.embed(["tea"], Role.QUERY)
        await embedder.embed(["tea"], Role.PASSAGE)
    assert model.texts == ["ask: tea", "say: tea"]
