"""hindsightctl share, unshare and grants: what agents open to each other."""

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from hindsight_memory import Grant, Hindsight, NewGrant

from hindsight_ctl.terminal import AGENTS_KEY, Agent, AsJson, console, day, print_json, run, show_table

commands = typer.Typer()


@commands.command("share")
def share(
    grantee: Annotated[str, typer.Argument(help="The agent that may see them.")],
    scope: Annotated[str, typer.Argument(help="Of which scope: user:42, user:* for all that begin so, * for all.")],
    key_prefix: Annotated[str, typer.Option(help="Only memories whose key begins so.")] = "",
    write: Annotated[bool, typer.Option("--write", help="It may also write, update and forget them.")] = False,
    days: Annotated[int | None, typer.Option(min=1, max=36500, help="Days until it ends by itself; default: never.")] = None,
    agent: Agent = "",
) -> None:
    """Open memories of an agent to another agent of the tenant, and print the grant's id."""
    expires_at = datetime.now(UTC) + timedelta(days=days) if days else None
    new = NewGrant(grantee, scope, key_prefix, "write" if write else "read", expires_at)
    print(run(lambda client: client.share(new, agent_id=agent), needs=AGENTS_KEY).id)


@commands.command("unshare")
def unshare(grant_id: str, agent: Agent = "") -> None:
    """End a grant, at once. Others that open the same go on: see grants."""
    run(lambda client: client.unshare(grant_id, agent_id=agent), needs=AGENTS_KEY)
    console.print(f"ended {grant_id}")


@commands.command("grants")
def list_grants(
    all_: Annotated[bool, typer.Option("--all", help="Also those that have ended.")] = False,
    agent: Agent = "",
    as_json: AsJson = False,
) -> None:
    """List what an agent has opened to others and others to it, newest first."""

    async def collect(client: Hindsight) -> list[Grant]:
        return [grant async for grant in client.list_grants(include_ended=all_, agent_id=agent)]

    grants = run(collect, needs=AGENTS_KEY)
    if as_json:
        print_json([asdict(grant) for grant in grants])
        return
    rows = [
        (g.id, g.agent_id, g.grantee_agent_id, g.scope, g.key_prefix, g.access, day(g.expires_at), day(g.revoked_at))
        for g in grants
    ]
    show_table(("id", "owner", "opened to", "scope", "keys", "access", "expires", "ended"), rows)
