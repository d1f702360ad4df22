"""hindsightctl key: keys are made, listed, rotated and revoked."""

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from hindsight_memory import Hindsight, Key, NewKey
from hindsight_runtime.identity import new_assertion_keys

from hindsight_ctl.terminal import AsJson, Tenant, console, day, print_json, run, show_table

commands = typer.Typer(no_args_is_help=True, help="API keys: create, list, rotate, revoke.")


@commands.command("create")
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
    key, secret = run(lambda client: client.create_key(new))
    _show_secret(key, secret, as_json)


@commands.command("list")
def list_(tenant: Tenant = "", as_json: AsJson = False) -> None:
    """List a tenant's keys, without their secrets."""

    async def collect(client: Hindsight) -> list[Key]:
        return [key async for key in client.list_keys(tenant=tenant)]

    keys = run(collect)
    if as_json:
        print_json([asdict(key) for key in keys])
        return
    rows = [
        (
            *(key.id, key.name, key.tenant, ", ".join(key.agent_ids) or "all", key.default_agent_id),
            *(", ".join(key.scopes) or "all", ", ".join(key.rights), ", ".join(key.sources)),
            *(day(key.expires_at), day(key.revoked_at)),
        )
        for key in keys
    ]
    columns = ("id", "name", "tenant", "agents", "default agent", "scopes", "rights", "sources", "expires", "revoked")
    show_table(columns, rows)


@commands.command("rotate")
def rotate(key_id: str, tenant: Tenant = "", as_json: AsJson = False) -> None:
    """Give a key a new secret and print it; the old one stops working within 5 seconds."""
    key, secret = run(lambda client: client.rotate_key(key_id, tenant=tenant))
    _show_secret(key, secret, as_json)


@commands.command("revoke")
def revoke(key_id: str, tenant: Tenant = "") -> None:
    """End a key; it stops working within 5 seconds."""
    run(lambda client: client.revoke_key(key_id, tenant=tenant))
    console.print(f"revoked {key_id}")


@commands.command("new-assertion-pair")
def new_assertion_pair() -> None:
    """Print a fresh key pair as settings: the private one for the edge, which vouches with it for callers that come with
    OAuth tokens, the public one for ingest and recall. Asks no server."""
    private, public = new_assertion_keys()
    print(f"HINDSIGHT_ASSERTION_PRIVATE_KEY={private}\nHINDSIGHT_ASSERTION_PUBLIC_KEY={public}")


def _show_secret(key: Key, secret: str, as_json: bool) -> None:
    if as_json:
        print_json({**asdict(key), "secret": secret})
    else:
        console.print(f"key {key.id} of tenant {key.tenant}", markup=False)
        console.print(f"secret (shown once): {secret}", markup=False, soft_wrap=True)
