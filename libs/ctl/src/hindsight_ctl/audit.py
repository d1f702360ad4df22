"""hindsightctl audit: the audit log."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated

import typer
from hindsight_memory import AuditFilter, AuditLine, Hindsight

from hindsight_ctl.terminal import AsJson, Tenant, day, print_json, run, show_table, utc

commands = typer.Typer(no_args_is_help=True, help="The audit log: who changed what.")


@commands.command("list")
def list_audit(
    agent: Annotated[str, typer.Option(help="Only of this agent.")] = "",
    principal: Annotated[str, typer.Option(help="Only by this key, given by its id.")] = "",
    action: Annotated[str, typer.Option(help="Only this act, such as write, forget or revoke_key.")] = "",
    since: Annotated[datetime | None, typer.Option(help="Only at or after this moment (UTC).")] = None,
    until: Annotated[datetime | None, typer.Option(help="Only before this moment (UTC).")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many lines at most.")] = 100,
    tenant: Tenant = "",
    as_json: AsJson = False,
) -> None:
    """List a tenant's audit log, newest first."""
    wanted = AuditFilter(agent, principal, action, utc(since), utc(until))

    async def collect(client: Hindsight) -> list[AuditLine]:
        lines: list[AuditLine] = []
        async for line in client.list_audit(wanted, tenant=tenant):
            lines.append(line)
            if len(lines) == limit:
                break
        return lines

    lines = run(collect)
    if as_json:
        print_json([asdict(line) for line in lines])
        return
    rows = [(day(a.at), a.agent_id, a.principal, a.action, a.subject, a.outcome) for a in lines]
    show_table(("at", "agent", "key", "action", "subject", "outcome"), rows)
