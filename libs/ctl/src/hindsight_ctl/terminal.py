"""What every command shares: its options, the call to the services, and how answers are shown."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from hindsight_memory import Hindsight, HindsightError
from rich.console import Console
from rich.table import Table
from rich.text import Text

Tenant = Annotated[str, typer.Option(help="The tenant; default: the key's own. Another one needs the operator's right.")]
Agent = Annotated[str, typer.Option(help="The agent; default: the key's default agent.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]

AGENTS_KEY = "hindsightctl key create NAME --right read --right write --right admin --default-agent AGENT"
REMEDIES = {
    "UNAUTHENTICATED": "put a key with the admin or operator right into HINDSIGHT_API_KEY",
    "UNAVAILABLE": "look at HINDSIGHT_INGEST_ADDRESS and HINDSIGHT_RECALL_ADDRESS, and whether the services run",
}
FIELD_REMEDIES = {"agent_id": "give --agent", "api_key": "look at HINDSIGHT_API_KEY"}
TRIES = 6  # of a call that is refused for its tenant's rate: a flood is what an operator ends

console = Console()
errors = Console(stderr=True)


def run(act: Callable[[Hindsight], Awaitable[Any]], *, needs: str = "") -> Any:
    """Carry out an act, or say in one line why not; one that is over the tenant's rate is begun anew."""

    async def connected() -> Any:
        async with Hindsight.from_environment() as client:
            for _ in range(TRIES - 1):
                try:
                    return await act(client)
                except HindsightError as error:
                    if error.code != "RESOURCE_EXHAUSTED" or error.retry_after_s is None:
                        raise
                    await asyncio.sleep(error.retry_after_s)
            return await act(client)

    try:
        return asyncio.run(connected())
    except HindsightError as error:
        told = [error.message, *(FIELD_REMEDIES[name] for name in error.fields if name in FIELD_REMEDIES)]
        if error.code in REMEDIES:
            told.append(REMEDIES[error.code])
        if error.retry_after_s is not None:
            told.append(f"try again in {error.retry_after_s:g} s")
        if needs and error.code == "PERMISSION_DENIED" and not error.fields:  # a refused field says what to do itself
            told.append(f"a key for this is made by {needs}")
        errors.print(f"hindsightctl: {'; '.join(told)}", markup=False, soft_wrap=True)
        raise typer.Exit(1) from None


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, is_long: bool = False) -> None:
    """A table for people, or a line a cell where cells are long; tab-separated lines for everything else."""
    if not console.is_terminal:
        for row in (columns, *rows):
            print("\t".join(map(_plain, row)))
        return
    if is_long:
        for row in rows:
            told = (f"{column}: {_plain(cell)}" for column, cell in zip(columns, row, strict=True) if cell)
            console.print(*told, "", sep="\n", markup=False, highlight=False, soft_wrap=True)
        return
    table = Table()
    for column in columns:
        table.add_column(column, no_wrap=column in ("id", "name"), overflow="fold")
    for row in rows:
        table.add_row(*(Text(_plain(cell)) for cell in row))
    console.print(table)


def print_json(value: Any) -> None:
    """Print a value for programs."""
    print(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def day(moment: datetime | None) -> str:
    """A moment as people read it; empty where there is none."""
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else ""


def utc(moment: datetime | None) -> datetime | None:
    """A moment as it was typed, taken for UTC."""
    return moment.replace(tzinfo=UTC) if moment else None


def _plain(text: str) -> str:
    """A text in one line that shows what it hides: what others wrote must not steer the terminal of who judges it."""
    return "".join(c if c.isprintable() or c == "\u3000" else c.encode("unicode_escape").decode() for c in text)
