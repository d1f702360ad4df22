"""The launcher with stand-ins for the services: run_stand_ins.py FOLDER, which gets each one's environment."""

import asyncio
import sys
import time
from dataclasses import replace
from pathlib import Path

from hindsight_local.launcher import Run, launch
from hindsight_local.settings import LocalSettings
from hindsight_local.table import MIGRATE, SERVICES, Service, Table
from hindsight_runtime.settings import load

STAND_IN = str(Path(__file__).with_name("stand_in.py"))


def stand_in(service: Service, kind: str, folder: str) -> Service:
    return replace(service, command=(sys.executable, STAND_IN, kind, service.name, folder))


if __name__ == "__main__":
    kept = sys.argv[1]
    services = tuple(stand_in(service, service.health, kept) for service in SERVICES)
    table = Table(stand_in(MIGRATE, "once", kept), services)
    run = Run(load(LocalSettings), table=table, check=False, idle_s=0.2)
    sys.exit(asyncio.run(launch(run, time.monotonic())))
