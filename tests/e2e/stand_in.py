"""A stand-in for a hindsight service: answers health on its port and writes down its environment."""

import json
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc


class Healthy(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()


def main(kind: str, name: str, folder: str) -> None:
    (Path(folder) / f"{name}.json").write_text(json.dumps(dict(os.environ)))
    print(f"stand-in {name} begins", flush=True)
    if kind == "once":
        return
    if kind == "failing":
        sys.exit(f"{name} cannot work")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    port = int(os.environ[f"HINDSIGHT_{name.upper()}_PORT"])
    if kind == "http":
        HTTPServer(("127.0.0.1", port), Healthy).serve_forever()
    server = grpc.server(ThreadPoolExecutor(2))
    servicer = health.HealthServicer()
    servicer.set("", health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    main(*sys.argv[1:])
