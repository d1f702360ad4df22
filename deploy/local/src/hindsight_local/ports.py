"""Ports: which are free, and who holds one that is not."""

import socket

import psutil

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """A port nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return probe.getsockname()[1]


def is_free(port: int) -> bool:
    """Whether one could listen on the port on loopback."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a closed connection's port is free
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def holder(port: int) -> str:
    """Who listens on the port, in words; empty where the system does not tell."""
    try:
        for connection in psutil.net_connections("tcp"):
            is_there = connection.status == psutil.CONN_LISTEN and tuple(connection.laddr)[1:] == (port,)
            if is_there and connection.pid:
                return f"{psutil.Process(connection.pid).name()}, process {connection.pid}"
    except (psutil.Error, OSError):
        pass
    return ""
