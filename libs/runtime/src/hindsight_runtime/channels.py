"""Channels to other services: every replica gets its share, a lost connection is noticed."""

import json

import grpc

from hindsight_runtime.boundary import WIRE_LIMIT_BYTES

SERVICE_CONFIG = {
    "loadBalancingConfig": [{"round_robin": {}}],
    "methodConfig": [
        {
            "name": [{}],
            "retryPolicy": {
                "maxAttempts": 3,
                "initialBackoff": "0.05s",
                "maxBackoff": "0.5s",
                "backoffMultiplier": 2,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }
    ],
}


def open_channel(address: str) -> grpc.aio.Channel:
    """A channel to "host:port", spread over all addresses behind the name; UNAVAILABLE is retried."""
    target = address if ":" in address.split("/")[0] and address.startswith(("unix:", "dns:")) else f"dns:///{address}"
    return grpc.aio.insecure_channel(
        target,
        options=(
            ("grpc.service_config", json.dumps(SERVICE_CONFIG)),
            ("grpc.max_receive_message_length", 4 * WIRE_LIMIT_BYTES),
            ("grpc.max_send_message_length", WIRE_LIMIT_BYTES),
            ("grpc.keepalive_time_ms", 60_000),
            ("grpc.enable_http_proxy", 0),  # a proxy for the web is not on the way to a service
            ("grpc.dns_min_time_between_resolutions_ms", 2_000),
            ("grpc.max_reconnect_backoff_ms", 1_000),
            ("grpc.initial_reconnect_backoff_ms", 100),
        ),
    )
