"""Prints what the configured model costs and how its cosines lie: python -m hindsight_embedding.measure."""

import asyncio
import resource
import statistics
import sys
import time
from collections.abc import Iterator

import numpy as np
from hindsight_runtime.errors import StartFailed
from hindsight_runtime.settings import load

from hindsight_embedding.loading import load_model
from hindsight_embedding.model import EmbeddingModel, Embeddings
from hindsight_embedding.settings import EmbedSettings

# Each row: a memory, the same in other words, another statement on the same subject, a question it answers.
STATEMENTS = [
    ("The user prefers dark mode.", "The user likes dark mode better.", "The user dislikes bright mode.",
     "Which display mode does the user like?"),
    ("Order 17 has shipped.", "Order 17 was shipped.", "Order 18 has shipped.", "Has order 17 left yet?"),
    ("Ada lives in Turin.", "Ada's home is in Turin.", "Ada moved to Lisbon last week.", "Where does Ada live?"),
    ("Deploys need a second approval.", "A second approval is needed for deploys.",
     "Deploys happen on Tuesdays only.", "What does a deploy need?"),
    ("query_db fails with uid, user_id works.", "query_db: use user_id, uid fails.",
     "query_db times out after 30 seconds.", "Which column does query_db want?"),
    ("The invoice address is Rua Augusta 5.", "Invoices go to Rua Augusta 5.", "Invoices are sent by e-mail.",
     "Where do invoices go?"),
    ("用户喜欢深色模式。", "用户更喜欢深色模式。", "用户不喜欢浅色模式。", "用户喜欢哪种显示模式？"),
    ("订单十七已经发货。", "十七号订单已发货。", "订单十八已经发货。", "订单十七发出了吗？"),
    ("李雷住在杭州。", "李雷家在杭州。", "李雷上周搬到了成都。", "李雷住在哪里？"),
    ("上线需要第二个人批准。", "上线前必须有另一个人批准。", "只在周二上线。", "上线需要什么？"),
    ("项目阿波罗进入测试阶段。", "阿波罗项目已进入测试阶段。", "项目阿波罗的负责人是韩梅梅。",
     "阿波罗项目到哪个阶段了？"),
    ("发票寄到文三路五号。", "发票的邮寄地址是文三路五号。", "发票用电子邮件发送。", "发票寄到哪里？"),
]  # fmt: skip
LENGTHS = (8, 32, 128, 500)
REPEATS = 10


def main() -> None:
    """Measure the model that the settings name."""
    try:
        model = asyncio.run(load_model(load(EmbedSettings)))
    except StartFailed as error:
        sys.exit(f"measure: {error}")
    for line in (*_costs(model), *_cosines(model)):
        sys.stdout.write(line + "\n")


def _costs(model: EmbeddingModel) -> Iterator[str]:
    yield f"{model.identity.id} {model.identity.revision}, {model.identity.dimension} dimensions"
    for length in LENGTHS:
        text = model.prefixes.passage + "and so on " * (length // 3)
        model.forward([text])
        times = []
        for _ in range(REPEATS):
            started = time.perf_counter()
            model.forward([text])
            times.append(time.perf_counter() - started)
        tokens = model.count_tokens(text) + model.special_tokens
        yield f"one text of {tokens} tokens: {1000 * statistics.median(times):.1f} ms"
    texts = [model.prefixes.passage + row[0] for row in STATEMENTS] * 8
    started = time.perf_counter()
    for start in range(0, len(texts), 24):
        model.forward(texts[start : start + 24])
    yield f"short memories, 24 a pass: {len(texts) / (time.perf_counter() - started):.0f} texts/s"
    yield f"resident memory at its peak: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB"


def _cosines(model: EmbeddingModel) -> Iterator[str]:
    def embed(column: int, prefix: str) -> Embeddings:
        return model.forward([prefix + row[column] for row in STATEMENTS])

    memories, same, subject = (embed(column, model.prefixes.passage) for column in range(3))
    questions = embed(3, model.prefixes.query)
    others = ~np.eye(len(STATEMENTS), dtype=bool)
    yield _spread("memory, the same in other words", (memories * same).sum(axis=1))
    yield _spread("memory, another on its subject", (memories * subject).sum(axis=1))
    yield _spread("memory, any other", (memories @ memories.T)[others])
    yield _spread("question, its answer", (questions * memories).sum(axis=1))
    yield _spread("question, any other memory", (questions @ memories.T)[others])


def _spread(name: str, cosines: Embeddings) -> str:
    low, middle, high = np.quantile(cosines, [0.1, 0.5, 0.9])
    return f"{name}: median {middle:.3f}, 10-90 % {low:.3f}-{high:.3f}, {cosines.min():.3f} to {cosines.max():.3f}"


if __name__ == "__main__":
    main()
