"""A health check for containers: `python -m hindsight_runtime.probe 50052`, or an http:// address; exit code 0 if healthy.

It imports as little as it can, since it is started every few seconds.
"""

import sys
import urllib.error
import urllib.request

TIMEOUT_S = 3.0
HEALTH = "/grpc.health.v1.Health/Check"
SERVING = b"\x08\x01"  # HealthCheckResponse with status = SERVING, the protocol's only form of it


def probe_grpc(port: str) -> str:
    """What is wrong with the gRPC service at a port of this machine; empty where it serves."""
    import grpc  # only where it is used

    with grpc.insecure_channel(f"127.0.0.1:{port}", options=(("grpc.enable_http_proxy", 0),)) as channel:
        try:
            answer = channel.unary_unary(HEALTH)(b"", timeout=TIMEOUT_S)
        except grpc.RpcError as error:
            code = error.code()  # pyright: ignore[reportAttributeAccessIssue] - a call's error has one
            return f"{code.name}: {error.details()}"  # pyright: ignore[reportAttributeAccessIssue]
    return "" if answer == SERVING else "not serving"


def probe_http(address: str) -> str:
    """What is wrong with an HTTP address; empty where it answers 200."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(address, timeout=TIMEOUT_S) as answer:
            return "" if answer.status == 200 else f"answers {answer.status}"
    except urllib.error.HTTPError as error:
        return f"answers {error.code}: {error.read(1000).decode(errors='replace')}"
    except (OSError, ValueError) as error:
        return str(error)


def main(target: str) -> int:
    """Probe, say what is wrong on standard error; the exit code."""
    problem = probe_http(target) if target.startswith("http://") else probe_grpc(target)
    if problem:
        print(f"{target}: {problem}", file=sys.stderr)  # noqa: T201 - Docker shows it
    return int(bool(problem))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
