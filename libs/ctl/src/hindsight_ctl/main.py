"""hindsightctl: the operator's command line. Talks to the public gRPC interface only."""

import typer

from hindsight_ctl import audit, desks, erasures, jobs, keys, reviews, sharing, sources

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.add_typer(sharing.commands)
app.add_typer(keys.commands, name="key")
app.add_typer(desks.commands, name="desk")
app.add_typer(jobs.commands, name="jobs")
app.add_typer(audit.commands, name="audit")
app.add_typer(sources.commands, name="source")
app.add_typer(erasures.commands, name="erase")
app.add_typer(reviews.commands, name="review")


@app.callback()
def about() -> None:
    """Operate hindsight. HINDSIGHT_API_KEY holds a key with the admin or operator right; desk, review, share, unshare and
    grants need read and write as well, which the operator's key has not. HINDSIGHT_INGEST_ADDRESS and
    HINDSIGHT_RECALL_ADDRESS say where the services are (default 127.0.0.1:50051 and 127.0.0.1:50052)."""


def main() -> None:
    """Command line."""
    app()
