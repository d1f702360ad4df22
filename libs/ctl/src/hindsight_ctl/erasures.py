"""hindsightctl erase: what is removed for good, and the receipts of it."""

import asyncio
import json
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

import typer
from hindsight_memory import Erasure, ErasureReceipt, Hindsight, MemorySource

from hindsight_ctl.terminal import Tenant, errors, print_json, run

WAIT_S = 0.5

commands = typer.Typer(invoke_without_command=True, help="Remove a memory, a scope or a source for good, with a receipt.")


@commands.callback()
def erase(
    context: typer.Context,
    memory: Annotated[str, typer.Option(help="A memory, by its id, with what was derived from it.")] = "",
    scope: Annotated[str, typer.Option(help="A scope, such as user:42, with what was derived from it.")] = "",
    source: Annotated[str, typer.Option(help="A source: key:ID, session:NAME or tool:NAME.")] = "",
    agent: Annotated[str, typer.Option(help="Only of this agent; default: of all.")] = "",
    rewrite: Annotated[bool, typer.Option("--rewrite", help="Also write the tables anew; locks each meanwhile.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do it. Without this it is only counted.")] = False,
    tenant: Tenant = "",
) -> None:
    """Count what would be erased, or with --yes erase it and print the receipt. It cannot be undone."""
    if context.invoked_subcommand:
        return
    if sum(map(bool, (memory, scope, source))) != 1:
        errors.print("hindsightctl: name one of --memory, --scope and --source")
        raise typer.Exit(2)
    named = MemorySource(memory_id=memory) if memory else _read_source(source) if source else None

    what: Any = {"scope": scope, "source": named, "agent_id": agent, "tenant": tenant}
    erasure = run(lambda client: client.erase(**what, dry_run=not yes, rewrite=rewrite))

    async def wait(client: Hindsight) -> Erasure:
        while (found := await client.get_erasure(erasure.id, tenant=tenant)).receipt is None:  # noqa: ASYNC110 - the worker is elsewhere
            await asyncio.sleep(WAIT_S)
        return found

    if yes and not erasure.receipt:
        erasure = run(wait)
    print_json(asdict(erasure.receipt) if erasure.receipt else {"would be removed": erasure.counts, "do it with": "--yes"})


@commands.command("verify")
def verify_erasure(
    receipt: Annotated[typer.FileText, typer.Argument(help="A file with the receipt, as it was printed; - reads it.")],
    tenant: Tenant = "",
) -> None:
    """Tell whether a receipt is genuine and nothing that it names is there any more; fails if not."""
    try:
        told = dict(json.load(receipt))
        moments = {name: datetime.fromisoformat(told[name]) if told[name] else None for name in told if name.endswith("_at")}
        read = ErasureReceipt(**{**told, **moments})
    except (ValueError, TypeError):
        errors.print("hindsightctl: that is no receipt")
        raise typer.Exit(2) from None
    is_authentic, is_gone = run(lambda client: client.verify_erasure(read, tenant=tenant))
    print("genuine; nothing of it is left" if is_gone else "genuine, but something is left" if is_authentic else "not genuine")
    if not is_gone:
        raise typer.Exit(1)


def _read_source(text: str) -> MemorySource:
    kind, _, name = text.partition(":")
    sources = {
        "key": MemorySource(principal=name),
        "session": MemorySource(session_id=name),
        "tool": MemorySource(tool=name),
    }
    if kind not in sources or not name:
        errors.print("hindsightctl: write the source as key:ID, session:NAME or tool:NAME")
        raise typer.Exit(2)
    return sources[kind]
