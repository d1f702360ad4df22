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

Tenant = Annotated[str, typer.Option(help="The tenant; default: the key's own. Another one needs the operator's right.")]
Agent = Annotated[str, typer.Option(help="The agent; default: the key's default agent.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]

console = Console()
errors = Console(stderr=True)


def run(act: Callable[[Hindsight], Awaitable[Any]]) -> Any:
    """What an act with a client of the environment's key answers; a refusal is printed and ends the command."""

    async def connected() -> Any:
        async with Hindsight.from_environment() as client:
            return await act(client)

    try:
        return asyncio.run(connected())
    except HindsightError as error:
        errors.print(f"hindsightctl: {error.message}", markup=False, soft_wrap=True)
        raise typer.Exit(1) from None


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table for people; tab-separated lines for everything else."""
    if not console.is_terminal:
        for row in (columns, *rows):
            print("\t".join(row))
        return
    table = Table()
    for column in columns:
        table.add_column(column, no_wrap=column in ("id", "name"), overflow="fold")
    for row in rows:
        table.add_row(*row)
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
