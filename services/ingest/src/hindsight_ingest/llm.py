"""An LLM behind an OpenAI-compatible endpoint: asked within a tenant's budget, its answers checked; where there is none, why."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

import asyncpg
import structlog
from hindsight_store.llm_use import Use, correct, reserve
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletionMessageParam

Why = Literal["over budget", "timeout", "rate limited", "unavailable", "refused", "invalid answer"]
RULES = "rules"
TRIES = 2
REST = timedelta(seconds=30)  # after a timeout or where the endpoint is away; jobs would wait in turn for nothing
RESTING: frozenset[Why] = frozenset(("timeout", "rate limited", "unavailable"))
UNSPENT: frozenset[Why] = frozenset(("rate limited", "unavailable", "refused"))  # the endpoint did no work
ANSWER_TOKENS = 1_000  # reserved for an answer
ANSWER_CHARS = 20_000  # of an answer; a longer one is cut, and so invalid
ERRORS = 8  # told of an invalid answer

_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)  # small models think aloud before they answer
_FENCED = re.compile(r"```\w*(.*)```", re.DOTALL)

log = structlog.get_logger()
A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the LLM is, its models, and what a tenant may spend there a day."""

    url: str
    api_key: str = field(repr=False)
    model: str
    retrospect_model: str
    timeout_s: float  # of a question, asked again included
    budget: Use


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is asked: the instructions, the material, and what is said of an invalid answer ("{errors}" are filled in)."""

    instructions: str
    material: str
    again: str


@dataclass(frozen=True, slots=True)
class Opinion(Generic[A]):
    """An LLM's answer; None where rules decide, and then the label says why."""

    label: str
    answer: A | None = None


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message


class _Usage(BaseModel):
    total_tokens: int = Field(ge=0)


class _Completion(BaseModel):
    """What is read of a completion; the library itself does not check what endpoints send."""

    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


class _NoAnswer(Exception):
    def __init__(self, why: Why) -> None:
        super().__init__(why)
        self.why: Why = why


class Llm:
    """Asks an endpoint. One for the life of a process."""

    def __init__(self, client: "AsyncOpenAI", pool: asyncpg.Pool, endpoint: Endpoint, *, clock: Callable[[], datetime]) -> None:
        self._client = client
        self._pool = pool
        self.endpoint = endpoint
        self.clock = clock
        self._rest: tuple[datetime, Why] | None = None  # until when nothing is asked, and for what reason

    async def ask(self, tenant_id: int, model: str, prompt: Prompt, shape: TypeAdapter[A]) -> Opinion[A]:
        """A model's answer in a shape. An invalid one is asked for once more; nothing else is tried again."""
        if self._rest and self.clock() < self._rest[0]:
            return Opinion(label_rules(self._rest[1]))
        deadline = asyncio.get_running_loop().time() + self.endpoint.timeout_s
        messages: list[ChatCompletionMessageParam] = [
            {"role": "system", "content": prompt.instructions},
            {"role": "user", "content": prompt.material},
        ]
        why: Why = "invalid answer"
        try:
            for _ in range(TRIES):
                text = await self._request(tenant_id, model, messages, deadline)
                try:
                    return Opinion(label_model(model), shape.validate_json(find_json(text)))
                except ValidationError as error:
                    again = prompt.again.replace("{errors}", _tell(error))
                messages.append({"role": "assistant", "content": text})
                messages.append({"role": "user", "content": again})
        except _NoAnswer as none:
            why = none.why
        if why in RESTING:
            self._rest = (self.clock() + REST, why)
        log.warning("llm gave no answer", model=model, why=why)
        return Opinion(label_rules(why))

    async def _request(self, tenant_id: int, model: str, messages: "list[ChatCompletionMessageParam]", deadline: float) -> str:
        """The text of one answer.

        Raises:
            _NoAnswer: there is none.
        """
        day = self.clock().date()
        reserved = ANSWER_TOKENS + sum(estimate_tokens(str(m.get("content"))) for m in messages)
        if not await reserve(self._pool, tenant_id, day, reserved, budget=self.endpoint.budget):
            raise _NoAnswer("over budget")
        try:
            content = await self._send(model, messages, deadline)
        except _NoAnswer as none:
            if none.why in UNSPENT:
                await correct(self._pool, tenant_id, day, Use(-1, -reserved))
            raise
        try:
            completion = _Completion.model_validate_json(content)
        except ValidationError:
            return ""
        if completion.usage:
            await correct(self._pool, tenant_id, day, Use(0, completion.usage.total_tokens - reserved))
        return (completion.choices[0].message.content or "")[:ANSWER_CHARS]

    async def _send(self, model: str, messages: "list[ChatCompletionMessageParam]", deadline: float) -> bytes:
        from openai import APIConnectionError, APIStatusError, APITimeoutError, InternalServerError, RateLimitError

        try:
            async with asyncio.timeout_at(deadline):
                # Neither temperature nor a limit of tokens: some models refuse the one, and endpoints name the other differently.
                raw = await self._client.chat.completions.with_raw_response.create(model=model, messages=messages)
                return raw.content
        except (TimeoutError, APITimeoutError):
            raise _NoAnswer("timeout") from None
        except RateLimitError:
            raise _NoAnswer("rate limited") from None
        except (APIConnectionError, InternalServerError):
            raise _NoAnswer("unavailable") from None
        except APIStatusError as error:
            # The message of a refusal may quote the key.
            log.warning("llm refuses; check HINDSIGHT_LLM_URL, _API_KEY and _MODEL", status=error.status_code)
            raise _NoAnswer("refused") from None


@asynccontextmanager
async def open_llm(pool: asyncpg.Pool, endpoint: Endpoint | None, *, clock: Callable[[], datetime]) -> AsyncIterator[Llm | None]:
    """The LLM of an endpoint; without one None, and the library is not even loaded."""
    if endpoint is None:
        yield None
        return
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    # A server on one's own machine takes no key, but the library insists on one. It repeats nothing: every call is counted.
    # It follows no redirects: turns go to the endpoint that was named, and nowhere else.
    key, http = endpoint.api_key or "none", DefaultAsyncHttpxClient(follow_redirects=False, timeout=endpoint.timeout_s)
    async with AsyncOpenAI(base_url=endpoint.url, api_key=key, max_retries=0, http_client=http) as client:
        yield Llm(client, pool, endpoint, clock=clock)


def label_model(model: str) -> str:
    """Who decided: a model."""
    return f"llm:{model}"


def label_rules(why: Why) -> str:
    """Who decided: rules, because the LLM did not."""
    return f"{RULES} (llm: {why})"


def find_json(answer: str) -> str:
    """The JSON of an answer: all of it, or what is in its fenced block."""
    text = _THOUGHT.sub("", answer, count=1).strip()
    fenced = None if text.startswith(("{", "[")) else _FENCED.search(text)
    return fenced[1].strip() if fenced else text


def estimate_tokens(text: str) -> int:
    """How many tokens a text has, rather too many: one for three ASCII characters, one for any other."""
    others = len(text) - len(text.encode("ascii", "ignore"))
    return (len(text) - others) // 3 + others + 1


def _tell(error: ValidationError) -> str:
    """What is wrong with an answer, without its text."""
    wrong = error.errors(include_url=False, include_input=False, include_context=False)[:ERRORS]
    return "\n".join(f"- {'.'.join(map(str, one['loc'])) or 'answer'}: {one['msg']}" for one in wrong)
