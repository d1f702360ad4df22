"""hindsightctl: the operator's command line. Talks to the public gRPC interface only."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer
from hindsight_memory import (
    AuditFilter,
    AuditLine,
    Erasure,
    ErasureReceipt,
    Grant,
    Hindsight,
    HindsightError,
    Job,
    Key,
    MemorySource,
    NewGrant,
    NewKey,
    Review,
    Withdrawal,
)
from hindsight_runtime.identity import new_assertion_keys
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
JOBS_AT_ONCE = 256
WAIT_S = 0.5

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
key_commands = typer.Typer(no_args_is_help=True, help="API keys: create, list, rotate, revoke.")
app.add_typer(key_commands, name="key")
job_commands = typer.Typer(no_args_is_help=True, help="Follow-up work: list it, see its dead letters, requeue them.")
app.add_typer(job_commands, name="jobs")
audit_commands = typer.Typer(no_args_is_help=True, help="The audit log: who changed what.")
app.add_typer(audit_commands, name="audit")
source_commands = typer.Typer(no_args_is_help=True, help="Hostile sources: withdraw what came from one, take that back.")
app.add_typer(source_commands, name="source")
erase_commands = typer.Typer(invoke_without_command=True, help="Remove a memory, a scope or a source for good, with a receipt.")
app.add_typer(erase_commands, name="erase")
review_commands = typer.Typer(no_args_is_help=True, help="What the guard holds back: list it, let it in, keep it out.")
app.add_typer(review_commands, name="review")
console = Console()
errors = Console(stderr=True)


@app.callback()
def about() -> None:
    """Operate hindsight. HINDSIGHT_API_KEY holds a key with the admin or operator right; review, share, unshare and grants
    need read and write as well, which the operator's key has not. HINDSIGHT_INGEST_ADDRESS and
    HINDSIGHT_RECALL_ADDRESS say where the services are (default 127.0.0.1:50051 and 127.0.0.1:50052)."""


@key_commands.command("create")
def create(
    name: Annotated[str, typer.Argument(help="What people call the key.")],
    tenant: Tenant = "",
    agent: Annotated[list[str] | None, typer.Option(help="An agent it may use; repeat for several; default: all.")] = None,
    default_agent: Annotated[str, typer.Option(help="The agent meant where a call names none.")] = "",
    scope: Annotated[list[str] | None, typer.Option(help="A scope it is limited to, such as user:42 or user:*.")] = None,
    right: Annotated[
        list[str] | None, typer.Option(help="read, write, admin, operator or instruct; default: read and write.")
    ] = None,
    source: Annotated[
        list[str] | None, typer.Option(help="A source it may claim: user, tool, inference, retrospective, import.")
    ] = None,
    days: Annotated[int | None, typer.Option(min=1, max=36500, help="Days until it expires; default: never.")] = None,
    as_json: AsJson = False,
) -> None:
    """Make a key and print its secret, which is shown this once."""
    expires_at = datetime.now(UTC) + timedelta(days=days) if days else None
    new = NewKey(
        tenant=tenant,
        name=name,
        agent_ids=agent or (),
        default_agent_id=default_agent,
        scopes=scope or (),
        rights=right or (),  # pyright: ignore[reportArgumentType] - checked by the client
        sources=source or (),  # pyright: ignore[reportArgumentType]
        expires_at=expires_at,
    )
    key, secret = _run(lambda client: client.create_key(new))
    _show_secret(key, secret, as_json)


@key_commands.command("list")
def list_(tenant: Tenant = "", as_json: AsJson = False) -> None:
    """List a tenant's keys, without their secrets."""

    async def collect(client: Hindsight) -> list[Key]:
        return [key async for key in client.list_keys(tenant=tenant)]

    keys = _run(collect)
    if as_json:
        _print_json([asdict(key) for key in keys])
        return
    rows = [
        (
            *(key.id, key.name, key.tenant, ", ".join(key.agent_ids) or "all", key.default_agent_id),
            *(", ".join(key.scopes) or "all", ", ".join(key.rights), ", ".join(key.sources)),
            *(_day(key.expires_at), _day(key.revoked_at)),
        )
        for key in keys
    ]
    columns = ("id", "name", "tenant", "agents", "default agent", "scopes", "rights", "sources", "expires", "revoked")
    _show_table(columns, rows)


@key_commands.command("rotate")
def rotate(key_id: str, tenant: Tenant = "", as_json: AsJson = False) -> None:
    """Give a key a new secret and print it; the old one stops working within 5 seconds."""
    key, secret = _run(lambda client: client.rotate_key(key_id, tenant=tenant))
    _show_secret(key, secret, as_json)


@key_commands.command("revoke")
def revoke(key_id: str, tenant: Tenant = "") -> None:
    """End a key; it stops working within 5 seconds."""
    _run(lambda client: client.revoke_key(key_id, tenant=tenant))
    console.print(f"revoked {key_id}")


@key_commands.command("new-assertion-pair")
def new_assertion_pair() -> None:
    """Print a fresh key pair as settings: the private one for the edge, which vouches with it for callers that come with
    OAuth tokens, the public one for ingest and recall. Asks no server."""
    private, public = new_assertion_keys()
    print(f"HINDSIGHT_ASSERTION_PRIVATE_KEY={private}\nHINDSIGHT_ASSERTION_PUBLIC_KEY={public}")


@job_commands.command("list")
def list_jobs(
    state: Annotated[str, typer.Option(help="queued, running or dead; dead letters are dead; default: any.")] = "",
    tenant: Tenant = "",
    as_json: AsJson = False,
) -> None:
    """List a tenant's jobs, oldest first. A dead letter failed at every try."""

    async def collect(client: Hindsight) -> list[Job]:
        return [job async for job in client.list_jobs(state, tenant=tenant)]

    jobs = _run(collect)
    if as_json:
        _print_json([asdict(job) for job in jobs])
        return
    rows = [(j.id, j.kind, j.agent_id, j.state, str(j.attempts), j.error, _day(j.created_at), _day(j.run_after)) for j in jobs]
    _show_table(("id", "kind", "agent", "state", "attempts", "error", "queued", "tried next"), rows)


@job_commands.command("requeue")
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

    requeued = _run(requeue)
    for job_id in requeued:
        print(job_id)
    if left := len(job_ids or ()) - len(requeued):
        errors.print(f"hindsightctl: {left} of them are no dead letters of this tenant")
        raise typer.Exit(1)


@app.command("share")
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
    print(_run(lambda client: client.share(new, agent_id=agent), needs=AGENTS_KEY).id)


@app.command("unshare")
def unshare(grant_id: str, agent: Agent = "") -> None:
    """End a grant, at once. Others that open the same go on: see grants."""
    _run(lambda client: client.unshare(grant_id, agent_id=agent), needs=AGENTS_KEY)
    console.print(f"ended {grant_id}")


@app.command("grants")
def list_grants(
    all_: Annotated[bool, typer.Option("--all", help="Also those that have ended.")] = False,
    agent: Agent = "",
    as_json: AsJson = False,
) -> None:
    """List what an agent has opened to others and others to it, newest first."""

    async def collect(client: Hindsight) -> list[Grant]:
        return [grant async for grant in client.list_grants(include_ended=all_, agent_id=agent)]

    grants = _run(collect, needs=AGENTS_KEY)
    if as_json:
        _print_json([asdict(grant) for grant in grants])
        return
    rows = [
        (g.id, g.agent_id, g.grantee_agent_id, g.scope, g.key_prefix, g.access, _day(g.expires_at), _day(g.revoked_at))
        for g in grants
    ]
    _show_table(("id", "owner", "opened to", "scope", "keys", "access", "expires", "ended"), rows)


@audit_commands.command("list")
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
    wanted = AuditFilter(agent, principal, action, _utc(since), _utc(until))

    async def collect(client: Hindsight) -> list[AuditLine]:
        lines: list[AuditLine] = []
        async for line in client.list_audit(wanted, tenant=tenant):
            lines.append(line)
            if len(lines) == limit:
                break
        return lines

    lines = _run(collect)
    if as_json:
        _print_json([asdict(line) for line in lines])
        return
    rows = [(_day(a.at), a.agent_id, a.principal, a.action, a.subject, a.outcome) for a in lines]
    _show_table(("at", "agent", "key", "action", "subject", "outcome"), rows)


@source_commands.command("revoke")
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
    source = MemorySource(key, session, tool, memory, _utc(since), _utc(until))
    w = _run(lambda client: client.revoke_source(source, agent_id=agent))
    print(f"withdrawal {w.id or '-'}: {w.withdrawn} withdrawn, {w.rolled_back} rolled back, {w.turns} turns withheld")
    if not w.id:
        errors.print(
            "hindsightctl: nothing that is there comes from this source; is it written as in audit list?", soft_wrap=True
        )


@source_commands.command("reinstate")
def reinstate(withdrawal_id: str) -> None:
    """Take a withdrawal back."""
    reinstated, left = _run(lambda client: client.reinstate(withdrawal_id))
    print(f"{reinstated} reinstated, {left} left as they are")


@source_commands.command("list")
def list_withdrawals(as_json: AsJson = False) -> None:
    """List what was withdrawn, newest first."""

    async def collect(client: Hindsight) -> list[Withdrawal]:
        return [withdrawal async for withdrawal in client.list_withdrawals()]

    found = _run(collect)
    if as_json:
        _print_json([asdict(withdrawal) for withdrawal in found])
        return
    rows = [
        (w.id, w.kind, w.source, _day(w.at), _day(w.reinstated_at), str(w.withdrawn), str(w.rolled_back), str(w.turns))
        for w in found
    ]
    _show_table(("id", "kind", "source", "at", "reinstated", "withdrawn", "rolled back", "turns"), rows)


@erase_commands.callback()
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
    erasure = _run(lambda client: client.erase(**what, dry_run=not yes, rewrite=rewrite))

    async def wait(client: Hindsight) -> Erasure:
        while (found := await client.get_erasure(erasure.id, tenant=tenant)).receipt is None:  # noqa: ASYNC110 - the worker is elsewhere
            await asyncio.sleep(WAIT_S)
        return found

    if yes and not erasure.receipt:
        erasure = _run(wait)
    _print_json(asdict(erasure.receipt) if erasure.receipt else {"would be removed": erasure.counts, "do it with": "--yes"})


@erase_commands.command("verify")
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
    is_authentic, is_gone = _run(lambda client: client.verify_erasure(read, tenant=tenant))
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


def _utc(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment else None


@review_commands.command("list")
def list_reviews(
    reason: Annotated[str, typer.Option(help="Only those with this reason, such as instruction_not_allowed.")] = "",
    agent: Agent = "",
    as_json: AsJson = False,
) -> None:
    """List what waits for a person's word, newest first, with the text and what in it spoke against it."""

    async def collect(client: Hindsight) -> list[Review]:
        return [review async for review in client.list_reviews(reason, agent_id=agent)]

    reviews = _run(collect, needs=AGENTS_KEY)
    if as_json:
        _print_json([asdict(review) for review in reviews])
        return
    rows = [
        (
            *(r.memory.id, r.memory.status, r.reason, ", ".join(r.signs), str(r.copies), r.principal),
            *(r.memory.scope, r.memory.key, r.memory.query, r.memory.value),
        )
        for r in reviews
    ]
    columns = ("id", "status", "reason", "signs", "copies", "written by", "scope", "key", "trigger", "value")
    _show_table(columns, rows, is_long=True)


@review_commands.command("approve")
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
    result = _run(lambda client: client.approve(memory_id, edits, agent_id=agent), needs=AGENTS_KEY)
    console.print(f"{result.outcome} {result.memory_id} {result.detail}".rstrip(), markup=False, soft_wrap=True)


@review_commands.command("reject")
def reject(memory_id: str, agent: Agent = "") -> None:
    """Keep a memory out: it is deleted."""
    _run(lambda client: client.reject(memory_id, agent_id=agent), needs=AGENTS_KEY)
    console.print(f"rejected {memory_id}")


def _show_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, is_long: bool = False) -> None:
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


def _plain(text: str) -> str:
    """A text in one line that shows what it hides: what others wrote must not steer the terminal of who judges it."""
    return "".join(c if c.isprintable() or c == "\u3000" else c.encode("unicode_escape").decode() for c in text)


def _run(act: Callable[[Hindsight], Awaitable[Any]], *, needs: str = "") -> Any:
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
        if needs and error.code == "PERMISSION_DENIED":
            told.append(f"a key for this is made by {needs}")
        errors.print(f"hindsightctl: {'; '.join(told)}", markup=False, soft_wrap=True)
        raise typer.Exit(1) from None


def _show_secret(key: Key, secret: str, as_json: bool) -> None:
    if as_json:
        _print_json({**asdict(key), "secret": secret})
    else:
        console.print(f"key {key.id} of tenant {key.tenant}", markup=False)
        console.print(f"secret (shown once): {secret}", markup=False, soft_wrap=True)


def _print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def _day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else ""


def main() -> None:
    """Command line."""
    app()
