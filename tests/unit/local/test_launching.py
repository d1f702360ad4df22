import asyncio
import stat
import sys
from pathlib import Path

import pytest
from hindsight_local import home as home_module
from hindsight_local import program as program_module
from hindsight_local import supervision
from hindsight_local.dsn import with_database, with_user
from hindsight_local.home import held_home
from hindsight_local.launcher import choose_ports
from hindsight_local.program import Program, Stop, run_once, trim_log
from hindsight_local.settings import LocalSettings
from hindsight_local.supervision import Launch, supervised
from hindsight_runtime.errors import StartFailed


def python(name: str, code: str, log: Path, **more) -> Program:
    return Program(name, (sys.executable, "-c", code), log, **more)


def test_dsn_of_a_role_keeps_hosts_and_options():
    dsn = "postgresql://own%40er:p%2Fw@db1:5432,db2:5433/memory?sslmode=require&user=x"
    assert with_user(dsn, "hindsight_recall", "a/b@c") == (
        "postgresql://hindsight_recall:a%2Fb%40c@db1:5432,db2:5433/memory?sslmode=require"
    )
    assert with_database("postgresql://u:p@h:1/a?x=1", "b") == "postgresql://u:p@h:1/b?x=1"


def test_home_is_held_by_one_and_keeps_its_secrets(tmp_path: Path):
    with held_home(tmp_path / "home") as home:
        home.keep_api_key("hs_x")
        kept = home.secrets
        with pytest.raises(StartFailed, match="HINDSIGHT_PORT_OFFSET"), held_home(tmp_path / "home"):
            pass
    with held_home(tmp_path / "home") as home:
        assert home.secrets == kept
    assert stat.S_IMODE((tmp_path / "home" / "secrets.json").stat().st_mode) == 0o600


def test_free_port_is_remembered(tmp_path: Path):
    with held_home(tmp_path / "home") as home:
        assert home.remembered_port("redis", ()) == home.remembered_port("redis", ())


def test_a_port_that_is_picked_is_none_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    ports = {"ingest_port": 41, "recall_port": 42, "embed_port": 43, "worker_port": 47, "edge_port": 44}
    settings = LocalSettings(home=tmp_path, port_offset=10_000, database_url="", redis_url="", **ports)
    offered = iter([10_041, 10_048, 10_044, 10_048, 10_049])
    monkeypatch.setattr(home_module, "free_port", lambda: next(offered))
    with held_home(tmp_path / "home") as home:
        chosen = choose_ports(settings, home)
    assert (chosen["postgres"], chosen["redis"]) == (10_048, 10_049)


def test_offset_moves_every_chosen_port(tmp_path: Path):
    ports = {"ingest_port": 41, "recall_port": 42, "embed_port": 43, "worker_port": 47, "edge_port": 44}
    settings = LocalSettings(
        home=tmp_path, port_offset=10_000, postgres_port=45, redis_port=46, database_url="", redis_url="", **ports
    )
    with held_home(tmp_path / "home") as home:
        chosen = choose_ports(settings, home)
    assert chosen == {
        **{
            "ingest": 10_041,
            "recall": 10_042,
            "embed": 10_043,
            "worker": 10_047,
            "edge": 10_044,
            "postgres": 10_045,
            "redis": 10_046,
        }
    }


def test_log_is_trimmed_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(program_module, "MAX_LOG_BYTES", 10)
    log = tmp_path / "a.log"
    log.write_text("0123456789abc")
    trim_log(log)
    assert (log.read_text(), (tmp_path / "a.log.1").read_text()) == ("", "89abc")


async def test_failed_one_shot_shows_its_last_lines(tmp_path: Path):
    with pytest.raises(StartFailed, match=r"exit code 3\)[\s\S]*no such table"):
        await run_once(python("migrate", "import sys; print('no such table'); sys.exit(3)", tmp_path / "log"), 30)


async def test_program_that_does_not_stay_is_given_up_and_the_others_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(supervision, "FIRST_PAUSE_S", 0.01)
    said: list[str] = []
    stays = python("stays", "import time; time.sleep(600)", tmp_path / "stays.log")
    fails = python("fails", "import sys; sys.exit('cannot work')", tmp_path / "fails.log", probe=never_ready)
    with held_home(tmp_path / "home") as home:
        launch = Launch(home, Stop(), said.append)
        with pytest.raises(ExceptionGroup) as caught:
            async with asyncio.timeout(30), supervised([stays, fails], launch, within_s=30):
                raise AssertionError("it is never ready")
    [error] = caught.value.exceptions
    assert isinstance(error, StartFailed)
    assert "5 times in a minute: giving up" in str(error)
    assert "cannot work" in str(error)
    assert len([line for line in said if line.startswith("fails ended (exit code 1); starting it again")]) == 4


async def never_ready() -> None:
    raise ConnectionError("nobody there")


async def test_program_that_ignores_sigterm_is_killed_in_a_hurry(tmp_path: Path):
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"
    log = tmp_path / "log"

    async def is_deaf() -> None:
        if "deaf" not in log.read_text():
            raise ConnectionError

    with held_home(tmp_path / "home") as home:
        launch = Launch(home, Stop(), lambda _: None)
        async with asyncio.timeout(15), supervised([python("deaf", code, log, probe=is_deaf)], launch, within_s=10):
            launch.stop.hurry.set()
