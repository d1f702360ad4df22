"""hindsightctl desk: what a session, or a user, has at hand."""

from dataclasses import asdict
from typing import Annotated

import typer

from hindsight_ctl.terminal import AGENTS_KEY, Agent, AsJson, day, errors, print_json, run, show_table

commands = typer.Typer(no_args_is_help=True, help="Desks: what a session, or a user, has at hand.")

Scope = Annotated[str, typer.Argument(help="Whose desk: session:abc or user:42.")]


@commands.command("show")
def show_desk(scope: Scope, agent: Agent = "", as_json: AsJson = False) -> None:
    """Show a desk: pinned entries first, then the newest."""
    desk = run(lambda client: client.list_entries(scope, agent_id=agent), needs=AGENTS_KEY)
    if as_json:
        print_json(asdict(desk))
        return
    rows = [
        (e.key, e.value, "pinned" if e.is_pinned else day(e.expires_at), str(e.tokens), f"{e.confidence:g}", str(e.uses))
        for e in desk.entries
    ]
    show_table(("key", "value", "until", "tokens", "confidence", "uses"), rows, is_long=True)
    errors.print(f"{desk.used_tokens} of {desk.budget_tokens} tokens, {desk.pinned_tokens} of them pinned")


@commands.command("clear")
def clear_desk(
    scope: Scope,
    key: Annotated[str, typer.Option(help="This entry alone, also if it is pinned.")] = "",
    task: Annotated[bool, typer.Option("--task", help="Only what matters for the task at hand.")] = False,
    agent: Agent = "",
) -> None:
    """Clear a desk or a part of it. Memories stay as they are."""
    cleared = run(lambda client: client.clear_desk(scope, key, only_task_state=task, agent_id=agent), needs=AGENTS_KEY)
    print(f"{cleared} cleared")
