"""make up and make down where there is no engine, and the secrets they make."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TOOLS = ("bash", "cat", "chmod", "dirname", "env", "grep", "head", "base64", "mkdir", "mv", "sed", "tr")


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    """A folder with the commands of a plain system, Docker's not among them."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        (folder / tool).symlink_to(shutil.which(tool) or "/bin/false")
    return folder


def run(script: str, *arguments: str, path: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("COMPOSE", "DOCKER_HOST", "OVERLAYS")}
    environment = kept | ({"PATH": str(path)} if path else {}) | environment
    return subprocess.run([f"{ROOT}/tools/{script}", *arguments], env=environment, capture_output=True, text=True, check=False)


def put_command(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/usr/bin/env bash\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize("action", ["up", "down"])
def test_without_docker_the_message_names_it_and_the_way_without(bare_path: Path, tmp_path: Path, action: str):
    done = run("compose.sh", action, path=bare_path, HINDSIGHT_SECRETS=str(tmp_path / "secrets"))
    assert done.returncode == 1
    assert done.stderr.startswith(f"make {action}: Docker is not installed")
    assert "make run" in done.stderr
    assert not (tmp_path / "secrets").exists()


def test_docker_without_compose_is_told_apart(bare_path: Path):
    put_command(bare_path, "docker", "exit 1")
    done = run("compose.sh", "up", path=bare_path)
    assert (done.returncode, "Compose plugin" in done.stderr) == (1, True)


def test_an_engine_that_does_not_answer_is_told_with_its_words(bare_path: Path):
    put_command(bare_path, "docker-compose", "echo 'cannot connect to the engine' >&2; exit 1")
    done = run("compose.sh", "up", path=bare_path)
    assert (done.returncode, "engine does not answer" in done.stderr) == (1, True)
    assert "cannot connect to the engine" in done.stderr


def test_an_overlay_that_does_not_exist_is_named(bare_path: Path):
    put_command(bare_path, "docker-compose", "exit 0")
    done = run("compose.sh", "up", path=bare_path, OVERLAYS="gprc")
    assert (done.returncode, "no overlay gprc" in done.stderr) == (1, True)


def test_secrets_are_made_once_and_readable_by_their_owner_only(tmp_path: Path):
    folder = tmp_path / "secrets"
    contents = []
    for _ in range(2):
        assert run("compose-secrets.sh", HINDSIGHT_SECRETS=str(folder)).returncode == 0
        contents.append({file.name: file.read_text() for file in folder.iterdir()})
    assert contents[0] == contents[1]
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700
    drawn = dict(line.split("=", 1) for line in contents[0]["drawn.env"].split())
    assert len(set(drawn.values())) == len(drawn) == 8
    assert min(map(len, drawn.values())) >= 43  # 256 bits
    assert "OWNER" not in contents[0]["ingest.env"]
    assert drawn["OWNER_PASSWORD"] not in contents[0]["ingest.env"] + contents[0]["recall.env"]


def test_the_key_of_an_llm_is_the_operators_and_stays(tmp_path: Path):
    assert run("compose-secrets.sh", HINDSIGHT_SECRETS=str(tmp_path)).returncode == 0
    assert (tmp_path / "llm.env").read_text() == "HINDSIGHT_LLM_API_KEY=\n"
    (tmp_path / "llm.env").write_text("HINDSIGHT_LLM_API_KEY=sk-1\n")
    assert run("compose-secrets.sh", HINDSIGHT_SECRETS=str(tmp_path)).returncode == 0
    assert (tmp_path / "llm.env").read_text() == "HINDSIGHT_LLM_API_KEY=sk-1\n"


def test_an_interrupted_draw_is_completed_and_keeps_what_it_drew(tmp_path: Path):
    (tmp_path / "drawn.env").write_text("OWNER_PASSWORD=as-before\n")
    assert run("compose-secrets.sh", HINDSIGHT_SECRETS=str(tmp_path)).returncode == 0
    assert (tmp_path / "postgres.env").read_text() == "POSTGRES_PASSWORD=as-before\n"
    assert "OPERATOR_KEY=hs_" in (tmp_path / "drawn.env").read_text()
