"""Limits of connections and of memory for unread responses."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from keypose.server import http_protocol
from keypose.server.http_protocol import MAX_CONNECTIONS_PER_ADDRESS, TimedHttpProtocol, has_buffer_space
from keypose.server.serve import open_socket
from support import event_loop


class FakeTransport(asyncio.Transport):
    """A transport without a peer."""

    def __init__(self, address: str) -> None:
        super().__init__({"peername": (address, 1), "sockname": ("10.0.0.1", 8600)})
        self.sent, self.unread, self.closed = b"", 0, False

    def write(self, data: Any) -> None:
        self.sent += data

    def get_write_buffer_size(self) -> int:
        return self.unread

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True


async def _app(scope: Any, receive: Any, send: Any) -> None:
    """Not called."""


def connect(state: ServerState, address: str = "10.0.0.7") -> tuple[TimedHttpProtocol, FakeTransport]:
    config = uvicorn.Config(_app, http=TimedHttpProtocol, ws="none", lifespan="off", log_config=None)
    protocol, transport = TimedHttpProtocol(config, state, {}), FakeTransport(address)
    protocol.connection_made(transport)
    return protocol, transport


def test_socket_has_no_delay() -> None:
    """Otherwise the kernel delays the body by 40 ms, until the headers are acknowledged."""

    async def run() -> None:
        no_delay: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def on_connection(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            no_delay.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with open_socket("127.0.0.1", 0, try_next_ports=False) as sock:
            port = sock.getsockname()[1]
            async with await asyncio.start_server(on_connection, sock=sock):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                assert await no_delay == 1
                writer.close()
                await writer.wait_closed()

    event_loop.run(run())


def test_connection_limit_per_address() -> None:
    async def run() -> None:
        state = ServerState()
        transports = [connect(state)[1] for _ in range(MAX_CONNECTIONS_PER_ADDRESS + 2)]
        assert [transport.closed for transport in transports] == [False] * MAX_CONNECTIONS_PER_ADDRESS + [True] * 2
        assert transports[-1].sent.startswith(b"HTTP/1.1 503")
        assert not connect(state, "10.0.0.8")[1].closed
        for address in ("127.0.0.1", "::1", "::ffff:127.0.0.1"):  # loopback: tunnels
            assert not any(connect(ServerState(), address)[1].closed for _ in range(MAX_CONNECTIONS_PER_ADDRESS + 2))
        for each in tuple(state.connections):
            each.connection_lost(None)  # type: ignore[union-attr]

    event_loop.run(run())


def test_buffer_space(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "MAX_UNREAD_BYTES", 1000)

    async def run() -> None:
        (first_protocol, first_transport), (second_protocol, second_transport) = (
            connect(ServerState()),
            connect(ServerState()),
        )
        first_transport.unread = second_transport.unread = 600
        first_protocol.pause_writing()
        assert has_buffer_space()
        second_protocol.pause_writing()
        assert not has_buffer_space()
        second_protocol.resume_writing()
        assert has_buffer_space()
        second_protocol.pause_writing()
        first_protocol.connection_lost(None)
        assert has_buffer_space()
        second_protocol.connection_lost(None)
        assert not http_protocol._unread

    event_loop.run(run())
