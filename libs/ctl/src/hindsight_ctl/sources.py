"""hindsightctl source: what came from a hostile source is withdrawn and reinstated."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated

import typer
from hindsight_memory import Hindsight, MemorySource, Withdrawal

from hindsight_ctl.terminal import AsJson, day, errors, print_json, run, show_table, utc

commands = typer.Typer(no_args_is_help=True, help="Hostile sources: withdraw what came from one, take that back.")


@commands.command("revoke")
def revoke_source(
    key: Annotated[str, typer.Option(help="The source is a key, given by its id.")] = "",
    session: Annotated[str, typer.Option(help="The source is a session.")] = "",
    tool: Annotated[str, typer.Option(help="The source is a tool.")] = "",
    memory: Annotated[str, typer.Option(help="The source is a memory, given by its id.")] = "",
    agent: Annotated[str, typer.Option(help="Only of this agent; default: of all.")] = "",
    since: Annotated[datetime | None, typer.Option(help="Only what was written at or after this moment (UTC).")] = None,
    until: Annotated[datetime | None, typer.Option(help="Only what was written before this moment (UTC).")] = None,
) -> None:
    """Withdraw everything written from a source and derived from that. Its key goes on working: revoke that as well."""
    if sum(map(bool, (key, session, tool, memory))) != 1:
        errors.print("hindsightctl: name one of --key, --session, --tool and --memory")
        raise typer.Exit(2)
    source = MemorySource(key, session, tool, memory, utc(since), utc(until))
    w = run(lambda client: client.revoke_source(source, agent_id=agent))
    print(f"withdrawal {w.id or '-'}: {w.withdrawn} withdrawn, {w.rolled_back} rolled back, {w.turns} turns withheld")
    if not w.id:
        errors.print(
            "hindsightctl: nothing that is there comes from this source; is it written as in audit list?", soft_wrap=True
        )


@commands.command("reinstate")
def reinstate(withdrawal_id: str) -> None:
    """Take a withdrawal back."""
    reinstated, left = run(lambda client: client.reinstate(withdrawal_id))
    print(f"{reinstated} reinstated, {left} left as they are")


@commands.command("list")
def list_withdrawals(as_json: AsJson = False) -> None:
    """List what was withdrawn, newest first."""

    async def collect(client: Hindsight) -> list[Withdrawal]:
        return [withdrawal async for withdrawal in client.list_withdrawals()]

    found = run(collect)
    if as_json:
        print_json([asdict(withdrawal) for withdrawal in found])
        return
    rows = [
        (w.id, w.kind, w.source, day(w.at), day(w.reinstated_at), str(w.withdrawn), str(w.rolled_back), str(w.turns))
        for w in found
    ]
    show_table(("id", "kind", "source", "at", "reinstated", "withdrawn", "rolled back", "turns"), rows)
