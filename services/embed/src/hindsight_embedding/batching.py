"""Texts of concurrent callers become forward passes of bounded size, on threads of their own."""

import asyncio
import itertools
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self, TypeVar

import numpy as np
from hindsight_runtime.errors import DependencyUnavailable, InvalidField, Overloaded
from numpy.typing import NDArray

from hindsight_embedding.model import EmbeddingModel, Embeddings, PassBounds, Role
from hindsight_embedding.windows import Window, pool, split

T = TypeVar("T")

BYTES_PER_TOKEN = 4  # UTF-8 of English and of Chinese alike: an estimate until the text is tokenised
LOOK_AHEAD = 256  # windows among which a pass looks for lengths like its first one's
READ_CHARS = 65_536  # tokenised in one go: a withdrawn call stops there
FIRST_TOKENS_PER_S = 4_000.0  # one thread, multilingual-e5-small; measured from the first pass on
RETRY_AFTER_S = (0.1, 30.0)


@dataclass(eq=False, slots=True)
class Work:
    """One text on its way to an embedding, for all callers that wait for it."""

    key: bytes
    text: str
    lane: "Lane"
    embedding: asyncio.Future[NDArray[np.float32]]
    tokens: int  # what it holds of the lane's budget: estimated until tokenised
    callers: int = 0
    windows: list[Window] = field(default_factory=list)
    embedded: dict[int, NDArray[np.float32]] = field(default_factory=dict)  # by number of the window


Piece = tuple[Work, int]  # a window of a text, by its number


@dataclass(slots=True)
class Lane:
    """What waits in one role: a budget of its own, and every other turn, so that a bulk write never blocks a recall."""

    role: Role
    tokens: int = 0
    unread: deque[Work] = field(default_factory=deque)
    pieces: OrderedDict[Piece, None] = field(default_factory=OrderedDict)


class Batcher:
    """Embeds texts; a text that several callers ask for at once is embedded once.

    A call that is withdrawn leaves the queue with everything nobody else waits for. When a forward pass fails, the
    callers with a text in it get the exception, and nobody else.
    """

    def __init__(self, model: EmbeddingModel, *, threads: int, queue_tokens: int) -> None:
        self.model, self.threads, self.queue_tokens = model, threads, queue_tokens
        self._lanes = {role: Lane(role) for role in Role}
        self._works: dict[bytes, Work] = {}
        self._unread, self._ready = asyncio.Event(), asyncio.Event()
        self._tokens_per_s = FIRST_TOKENS_PER_S * threads
        self._is_open = False

    async def __aenter__(self) -> Self:
        self._passing = ThreadPoolExecutor(self.threads, "forward")
        self._reading = ThreadPoolExecutor(1, "tokenise")
        self._tasks = await asyncio.TaskGroup().__aenter__()
        turns = itertools.cycle(Role)
        self._loops = [self._tasks.create_task(self._read(itertools.cycle(Role)))]
        self._loops += [self._tasks.create_task(self._embed(turns)) for _ in range(self.threads)]
        self._is_open = True
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._close()
        for loop in self._loops:
            loop.cancel()
        await self._tasks.__aexit__(None, None, None)
        for threads in (self._reading, self._passing):
            await asyncio.to_thread(threads.shutdown)

    async def check(self) -> None:
        """Raise DependencyUnavailable unless texts are being embedded."""
        if not self._is_open:
            raise DependencyUnavailable("the embedding service is stopping; try again")

    async def embed(self, texts: Mapping[bytes, str], role: Role) -> dict[bytes, NDArray[np.float32]]:
        """Embed texts, each under the key that stands for it and its role.

        Raises:
            InvalidField: the texts are more than the queue ever holds.
            Overloaded: the queue is full; retry after the hinted delay.
            DependencyUnavailable: the batcher is closed.
        """
        await self.check()
        works = self._join(texts, role)
        try:
            waiting = {work.embedding for work in works}
            while waiting:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_EXCEPTION)
                for embedding in done:
                    embedding.result()  # raises what its forward pass raised
            return {work.key: work.embedding.result() for work in works}
        finally:
            for work in works:
                work.callers -= 1
                if not work.callers and not work.embedding.done():
                    work.embedding.cancel()
                    self._forget(work)

    def _join(self, texts: Mapping[bytes, str], role: Role) -> list[Work]:
        """One work for each text, queued unless it already is."""
        lane, loop = self._lanes[role], asyncio.get_running_loop()
        added = {
            key: Work(key, text, lane, loop.create_future(), 1 + len(text.encode()) // BYTES_PER_TOKEN)
            for key, text in texts.items()
            if key not in self._works
        }
        self._admit(lane, sum(work.tokens for work in added.values()))
        self._works |= added
        lane.unread.extend(added.values())
        self._unread.set()
        works = [self._works[key] for key in texts]
        for work in works:
            work.callers += 1
        return works

    def _admit(self, lane: Lane, tokens: int) -> None:
        if tokens > self.queue_tokens:
            kib = self.queue_tokens * BYTES_PER_TOKEN // 1024
            raise InvalidField("texts", f"about {tokens} tokens at once; send at most {kib} KiB of text in a request")
        excess = lane.tokens + tokens - self.queue_tokens
        if excess > 0:
            least, most = RETRY_AFTER_S
            after_s = min(most, max(least, excess / self._tokens_per_s))
            raise Overloaded("the embedding queue is full; try again", retry_after_s=after_s)
        lane.tokens += tokens

    async def _read(self, turns: Iterator[Role]) -> None:
        """Tokenise what comes in, roles in turn, into windows that forward passes can take."""
        try:
            while True:
                await self._unread.wait()
                works = next(filter(None, map(self._take_unread, self._in_turn(turns))), None)
                if works is None:
                    self._unread.clear()
                    continue
                texts, role = [work.text for work in works], works[0].lane.role
                reading = _start(self._reading, _split_all, texts, role, self.model)
                if error := await _failure(reading):
                    self._fail(works, error)
                    continue
                for work, windows in zip(works, reading.result(), strict=True):
                    self._queue(work, windows)
        finally:
            self._close()

    async def _embed(self, turns: Iterator[Role]) -> None:
        """Run one forward pass after the other, roles in turn."""
        try:
            while True:
                await self._ready.wait()
                batch = next(filter(None, map(self._take_batch, self._in_turn(turns))), None)
                if batch is None:
                    self._ready.clear()
                    continue
                windows = [work.windows[number] for work, number in batch]
                started = time.perf_counter()
                forward = _start(self._passing, _forward, windows, self.model)
                if error := await _failure(forward):
                    self._fail([work for work, _ in batch], error)
                    continue
                self._measure(sum(window.tokens for window in windows), time.perf_counter() - started)
                for (work, number), embedding in zip(batch, forward.result(), strict=True):
                    self._finish(work, number, embedding)
        finally:
            self._close()

    def _in_turn(self, turns: Iterator[Role]) -> list[Lane]:
        first = next(turns)
        return sorted(self._lanes.values(), key=lambda lane: lane.role is not first)

    def _take_unread(self, lane: Lane) -> list[Work]:
        works: list[Work] = []
        chars = 0
        while lane.unread and chars < READ_CHARS:
            work = lane.unread.popleft()
            if not work.embedding.done():
                works.append(work)
                chars += len(work.text)
        return works

    def _take_batch(self, lane: Lane) -> list[Piece]:
        ahead = list(itertools.islice(lane.pieces, LOOK_AHEAD))
        chosen = compose([work.windows[number].tokens for work, number in ahead], self.model)
        batch = [ahead[number] for number in chosen]
        for piece in batch:
            del lane.pieces[piece]
        return batch

    def _queue(self, work: Work, windows: list[Window]) -> None:
        if work.embedding.done():
            return
        tokens = sum(window.tokens for window in windows)
        work.lane.tokens += tokens - work.tokens
        work.tokens, work.windows = tokens, windows
        work.lane.pieces.update(((work, number), None) for number in range(len(windows)))
        self._ready.set()

    def _finish(self, work: Work, number: int, embedding: NDArray[np.float32]) -> None:
        if work.embedding.done():
            return
        work.embedded[number] = embedding
        if len(work.embedded) == len(work.windows):
            rows = [work.embedded[n] for n in range(len(work.windows))]
            work.embedding.set_result(pool(rows, [window.weight for window in work.windows]))
            self._forget(work)

    def _fail(self, works: Sequence[Work], error: BaseException) -> None:
        for work in works:
            if not work.embedding.done():
                work.embedding.set_exception(error)
                work.embedding.exception()  # marks it as seen: its callers may have left
                self._forget(work)

    def _forget(self, work: Work) -> None:
        """Take a work that is done off the queue."""
        self._works.pop(work.key, None)
        work.lane.tokens -= work.tokens
        for number in range(len(work.windows)):
            work.lane.pieces.pop((work, number), None)

    def _measure(self, tokens: int, seconds: float) -> None:
        self._tokens_per_s += 0.1 * (self.threads * tokens / max(seconds, 1e-6) - self._tokens_per_s)

    def _close(self) -> None:
        self._is_open = False
        self._fail(list(self._works.values()), DependencyUnavailable("the embedding service is stopping; try again"))


def compose(lengths: Sequence[int], model: PassBounds) -> list[int]:
    """Which windows make the next forward pass, by index: the first, and those most like it in length.

    The pass stays within the model's token budget (the first always fits). Where rows are padded to the longest,
    none is padded to more than twice its length: a second pass costs less than that.
    """
    chosen: list[int] = []
    longest, shortest, total = 0, 2**31, 0
    for index in sorted(range(len(lengths)), key=lambda i: abs(lengths[i] - lengths[0])):
        longest, shortest = max(longest, lengths[index]), min(shortest, lengths[index])
        total += lengths[index]
        cost = longest * (len(chosen) + 1) if model.is_padded else total
        if chosen and (cost > model.pass_tokens or (model.is_padded and longest > 2 * shortest)):
            break
        chosen.append(index)
    return chosen


def _split_all(texts: Sequence[str], role: Role, model: EmbeddingModel) -> list[list[Window]]:
    return [split(text, role, model) for text in texts]


def _forward(windows: Sequence[Window], model: EmbeddingModel) -> Embeddings:
    embeddings = model.forward([window.text for window in windows])
    expected = (len(windows), model.identity.dimension)
    if embeddings.shape != expected:
        raise ValueError(f"the model gave embeddings of shape {embeddings.shape} instead of {expected}")
    return embeddings


def _start(threads: ThreadPoolExecutor, call: Callable[..., T], *arguments: object) -> asyncio.Future[T]:
    return asyncio.get_running_loop().run_in_executor(threads, call, *arguments)


async def _failure(future: asyncio.Future[T]) -> BaseException | None:
    await asyncio.wait({future})
    return future.exception()
