"""Proof that hindsight works: a memory in Chinese and one in English are written, recalled and deleted."""

import time

from hindsight_memory import Hindsight, HindsightError, NewKey, NewMemory
from hindsight_runtime.errors import StartFailed

AGENT = "hindsight-self-check"
MEMORIES = {  # what is asked -> what was written before
    "What does Ada like to drink?": NewMemory("favourite drink", "Ada drinks oolong tea every morning."),
    "小林住在哪个城市？": NewMemory("居住城市", "小林去年搬到了成都。"),
}


async def ensure_api_key(ingest_address: str, operator_key: str, api_key: str) -> str:
    """The API key for the tenant and the agent "default": the one given if the server knows it, else a new one.

    Raises:
        StartFailed: the server refused to make one.
    """
    try:
        if api_key and await _is_known(ingest_address, api_key):
            return api_key
        async with Hindsight(api_key=operator_key, ingest_address=ingest_address) as hindsight:
            wanted = NewKey(tenant="default", name="default", default_agent_id="default")
            _, secret = await hindsight.create_key(wanted)
            return secret
    except HindsightError as error:
        raise StartFailed(f"making the API key failed: {_why(error)}") from None


async def _is_known(ingest_address: str, api_key: str) -> bool:
    async with Hindsight(api_key=api_key, ingest_address=ingest_address) as hindsight:
        try:
            await hindsight.describe_caller()
        except HindsightError as error:
            if error.code != "UNAUTHENTICATED":
                raise
            return False
    return True


async def self_check(ingest_address: str, recall_address: str, api_key: str) -> float:
    """Write, recall and delete; the seconds it took.

    Raises:
        StartFailed: something was refused, or what was written was not found.
    """
    began = time.monotonic()
    connection = Hindsight(api_key=api_key, agent_id=AGENT, ingest_address=ingest_address, recall_address=recall_address)
    try:
        async with connection as hindsight:
            for question, memory in MEMORIES.items():
                await _check_memory(hindsight, question, memory)
    except HindsightError as error:
        raise StartFailed(f"self-check failed: {_why(error)}") from None
    return time.monotonic() - began


async def _check_memory(hindsight: Hindsight, question: str, memory: NewMemory) -> None:
    written = await hindsight.write(memory)
    if not written.memory_id:
        raise StartFailed(f"self-check failed: the write was refused: {written.reason}: {written.detail}")
    try:
        answer = await hindsight.recall(question)
    finally:
        await hindsight.forget(memory_id=written.memory_id)
    if written.memory_id not in {hit.memory.id for hit in answer.hits}:
        raise StartFailed(f"self-check failed: what was written was not recalled by {question!r}")


def _why(error: HindsightError) -> str:
    return f"{error.code} ({error.reason}): {error.message}"
