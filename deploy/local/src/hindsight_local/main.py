"""Command line: hindsight-local run [--check]."""

import argparse
import asyncio
import sys
import time

import psutil
from hindsight_runtime.errors import StartFailed
from hindsight_runtime.settings import load

from hindsight_local.launcher import Run, launch
from hindsight_local.settings import LocalSettings


def main() -> None:
    """Run hindsight on this machine until Ctrl-C or SIGTERM."""
    age_s = min(max(time.time() - psutil.Process().create_time(), 0.0), 10.0)  # loading the interpreter and the imports
    began = time.monotonic() - age_s
    parser = argparse.ArgumentParser(prog="hindsight-local", description="Run all of hindsight on one machine.")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="start, prove it with a self-check, and stay until Ctrl-C")
    run.add_argument("--check", "--once", action="store_true", help="stop after the self-check")
    arguments = parser.parse_args()
    try:
        settings = load(LocalSettings)
    except StartFailed as error:
        sys.exit(f"hindsight-local: {error}")
    try:
        sys.exit(asyncio.run(launch(Run(settings, is_check_only=arguments.check), began)))
    except KeyboardInterrupt:  # before anything was started
        sys.exit(0)


if __name__ == "__main__":
    main()
