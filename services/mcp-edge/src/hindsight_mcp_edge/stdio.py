"""MCP over the process's own pipes: one message a line, nothing but messages on standard output."""

import asyncio
import os
import threading
from contextlib import suppress
from typing import BinaryIO

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from hindsight_mcp_edge.calls import Calls
from hindsight_mcp_edge.decoding import mend

READ_AHEAD = 64  # lines
CHUNK_BYTES = 2**16


async def serve_stdio(server: Server, calls: Calls, *, stop: asyncio.Event, grace_s: float) -> None:
    """Serve until standard input ends or `stop` is set; what was asked by then is answered."""
    wire = os.dup(1)
    os.dup2(2, 1)  # whatever else prints, prints to standard error
    inbound, to_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbound, from_server = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with inbound:
            await _read(inbound, outbound.clone(), _read_lines(), stop)
            await calls.wait_idle(grace_s)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(read())
        tasks.create_task(_write(from_server, wire))
        await server.run(to_server, outbound, server.create_initialization_options())


async def _read(
    inbound: MemoryObjectSendStream[SessionMessage | Exception],
    answers: MemoryObjectSendStream[SessionMessage],
    lines: "asyncio.Queue[bytes]",
    stop: asyncio.Event,
) -> None:
    stopped = asyncio.ensure_future(stop.wait())
    async with answers:
        while True:
            taken = asyncio.ensure_future(lines.get())
            await asyncio.wait({stopped, taken}, return_when=asyncio.FIRST_COMPLETED)
            if not taken.done() or not (line := taken.result()):
                taken.cancel()
                stopped.cancel()
                return
            if not line.strip():
                continue
            try:
                message = types.jsonrpc_message_adapter.validate_json(mend(line), by_name=False)
            except ValidationError:
                error = types.ErrorData(code=types.PARSE_ERROR, message="the line is not one JSON-RPC message in UTF-8")
                await answers.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=error)))
            else:
                await inbound.send(SessionMessage(message))


def _read_lines() -> "asyncio.Queue[bytes]":
    """The lines of standard input, then an empty one. Read by a daemon thread, which no exit waits for."""
    loop, lines = asyncio.get_running_loop(), asyncio.Queue[bytes](READ_AHEAD)

    def put(line: bytes) -> None:
        asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()

    def read() -> None:  # without sys.stdin, whose lock a daemon thread must not hold when the process ends
        rest = b""
        with suppress(RuntimeError):  # the loop is closed: nobody wants the line
            while chunk := _read_chunk():
                *whole, rest = (rest + chunk).split(b"\n") if b"\n" in chunk else (rest + chunk,)
                for line in whole:
                    put(line + b"\n")
            for line in (rest, b"") if rest else (b"",):
                put(line)

    threading.Thread(target=read, name="stdin", daemon=True).start()
    return lines


def _read_chunk() -> bytes:
    try:
        return os.read(0, CHUNK_BYTES)
    except OSError:  # there is no standard input
        return b""


async def _write(messages: MemoryObjectReceiveStream[SessionMessage], wire: int) -> None:
    with suppress(BrokenPipeError), os.fdopen(wire, "wb") as pipe:  # the client is gone
        async with messages:
            async for message in messages:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await asyncio.to_thread(_put, pipe, line.encode() + b"\n")


def _put(pipe: BinaryIO, line: bytes) -> None:
    pipe.write(line)
    pipe.flush()
