"""The health check that containers run."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import grpc
import pytest
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from hindsight_runtime.probe import main


@contextmanager
def serving(status: int) -> Iterator[str]:
    """The port of a gRPC server of that health."""
    server = grpc.server(futures.ThreadPoolExecutor(2))
    servicer = health.HealthServicer()
    servicer.set("", status)
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield str(port)
    server.stop(0).wait()


@pytest.mark.parametrize(
    ("status", "code"), [(health_pb2.HealthCheckResponse.SERVING, 0), (health_pb2.HealthCheckResponse.NOT_SERVING, 1)]
)
def test_a_grpc_service_is_healthy_while_it_serves(status: int, code: int):
    with serving(status) as port:
        assert main(port) == code


@pytest.mark.parametrize("target", ["{port}", "http://127.0.0.1:{port}/health"])
def test_nobody_there_is_not_healthy(target: str, capsys: pytest.CaptureFixture[str]):
    with serving(health_pb2.HealthCheckResponse.SERVING) as port:
        pass
    assert main(target.format(port=port)) == 1
    assert port in capsys.readouterr().err


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_an_http_service_is_healthy_if_it_answers_200(status: int, code: int, monkeypatch: pytest.MonkeyPatch):
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # is not on the way
    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.handle_request).start()
        assert main(f"http://127.0.0.1:{server.server_port}/health") == code


def test_it_is_a_command():
    with serving(health_pb2.HealthCheckResponse.SERVING) as port:
        assert subprocess.run([sys.executable, "-m", "hindsight_runtime.probe", port], check=False).returncode == 0
