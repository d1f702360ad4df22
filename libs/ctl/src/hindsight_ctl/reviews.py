"""hindsightctl review: what the guard holds back."""

from dataclasses import asdict
from typing import Annotated

import typer
from hindsight_memory import Hindsight, Review

from hindsight_ctl.terminal import AGENTS_KEY, Agent, AsJson, console, print_json, run, show_table

commands = typer.Typer(no_args_is_help=True, help="What the guard holds back: list it, let it in, keep it out.")


@commands.command("list")
def list_reviews(
    reason: Annotated[str, typer.Option(help="Only those with this reason, such as instruction_not_allowed.")] = "",
    agent: Agent = "",
    as_json: AsJson = False,
) -> None:
    """List what waits for a person's word, newest first, with the text and what in it spoke against it."""

    async def collect(client: Hindsight) -> list[Review]:
        return [review async for review in client.list_reviews(reason, agent_id=agent)]

    reviews = run(collect, needs=AGENTS_KEY)
    if as_json:
        print_json([asdict(review) for review in reviews])
        return
    rows = [
        (
            *(r.memory.id, r.memory.status, r.reason, ", ".join(r.signs), str(r.copies), r.principal),
            *(r.memory.scope, r.memory.key, r.memory.query, r.memory.value),
        )
        for r in reviews
    ]
    columns = ("id", "status", "reason", "signs", "copies", "written by", "scope", "key", "trigger", "value")
    show_table(columns, rows, is_long=True)


@commands.command("approve")
def approve(
    memory_id: str,
    key: Annotated[str | None, typer.Option(help="Let it in under another key.")] = None,
    query: Annotated[str | None, typer.Option(help="Let it in with another trigger.")] = None,
    value: Annotated[str | None, typer.Option(help="Let it in with other content.")] = None,
    agent: Agent = "",
) -> None:
    """Let a memory in, as it is or with other words; from then on it is recalled."""
    given = {"key": key, "query": query, "value": value}
    edits = {name: text for name, text in given.items() if text is not None}
    result = run(lambda client: client.approve(memory_id, edits, agent_id=agent), needs=AGENTS_KEY)
    console.print(f"{result.outcome} {result.memory_id} {result.detail}".rstrip(), markup=False, soft_wrap=True)


@commands.command("reject")
def reject(memory_id: str, agent: Agent = "") -> None:
    """Keep a memory out: it is deleted."""
    run(lambda client: client.reject(memory_id, agent_id=agent), needs=AGENTS_KEY)
    console.print(f"rejected {memory_id}")
