"""hindsightctl jobs: follow-up work and its dead letters."""

from dataclasses import asdict
from typing import Annotated

import typer
from hindsight_memory import Hindsight, Job

from hindsight_ctl.terminal import AsJson, Tenant, day, errors, print_json, run, show_table

JOBS_AT_ONCE = 256

commands = typer.Typer(no_args_is_help=True, help="Follow-up work: list it, see its dead letters, requeue them.")


@commands.command("list")
def list_jobs(
    state: Annotated[str, typer.Option(help="queued, running or dead; dead letters are dead; default: any.")] = "",
    tenant: Tenant = "",
    as_json: AsJson = False,
) -> None:
    """List a tenant's jobs, oldest first. A dead letter failed at every try."""

    async def collect(client: Hindsight) -> list[Job]:
        return [job async for job in client.list_jobs(state, tenant=tenant)]

    jobs = run(collect)
    if as_json:
        print_json([asdict(job) for job in jobs])
        return
    rows = [(j.id, j.kind, j.agent_id, j.state, str(j.attempts), j.error, day(j.created_at), day(j.run_after)) for j in jobs]
    show_table(("id", "kind", "agent", "state", "attempts", "error", "queued", "tried next"), rows)


@commands.command("requeue")
def requeue_jobs(
    job_ids: Annotated[list[str] | None, typer.Argument(help="Which dead letters.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="All of the tenant's dead letters.")] = False,
    tenant: Tenant = "",
) -> None:
    """Let dead letters be tried again, with all their tries."""
    if bool(job_ids) == all_:
        errors.print("hindsightctl: name the jobs, or give --all")
        raise typer.Exit(2)

    async def requeue(client: Hindsight) -> list[str]:
        wanted = job_ids or [job.id async for job in client.list_jobs("dead", tenant=tenant)]
        parts = [wanted[n : n + JOBS_AT_ONCE] for n in range(0, len(wanted), JOBS_AT_ONCE)]
        return [job_id for part in parts for job_id in await client.requeue_jobs(part, tenant=tenant)]

    requeued = run(requeue)
    for job_id in requeued:
        print(job_id)
    if left := len(job_ids or ()) - len(requeued):
        errors.print(f"hindsightctl: {left} of them are no dead letters of this tenant")
        raise typer.Exit(1)
