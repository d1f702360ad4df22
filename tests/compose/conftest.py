"""The deployment under test."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # tests are no packages

from deployment import PROJECT, Deployment, free_port


@pytest.fixture(scope="session")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Everything, started from nothing, and removed with its volumes at the end."""
    if not os.environ.get("HINDSIGHT_COMPOSE_TEST"):
        pytest.skip("make compose-test runs this with an engine")
    secrets = tmp_path_factory.mktemp("secrets")
    environment = os.environ | {
        "COMPOSE_PROJECT_NAME": PROJECT,
        "HINDSIGHT_SECRETS": str(secrets),
        "HINDSIGHT_EDGE_PORT": str(free_port()),
        "HINDSIGHT_INGEST_PORT": str(free_port()),
        "HINDSIGHT_RECALL_PORT": str(free_port()),
        "HINDSIGHT_LOG_LEVEL": "debug",  # a line for each call, by which replicas are counted
        "HINDSIGHT_MAX_CONNECTION_AGE_S": "5",
    }
    deployed = Deployment(dict(environment), secrets)
    deployed.make("down", "--volumes")
    try:
        yield deployed
    finally:
        with contextlib.suppress(AssertionError):
            deployed.make("down", "--volumes")
