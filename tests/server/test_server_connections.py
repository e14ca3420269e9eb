"""What connections take from each other: places, and memory for what nobody reads."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import apart
import pytest
import uvicorn
from uvicorn.server import ServerState

from keypose.server import receiving
from keypose.server.receiving import MOST_OF_ONE, Receiving, has_room
from keypose.server.serving import listening


class Wire(asyncio.Transport):
    """The other end of nothing."""

    def __init__(self, address: str) -> None:
        super().__init__({"peername": (address, 1), "sockname": ("10.0.0.1", 8600)})
        self.said, self.unread, self.closed = b"", 0, False

    def write(self, data: Any) -> None:
        self.said += data

    def get_write_buffer_size(self) -> int:
        return self.unread

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True


async def _app(scope: Any, receive: Any, send: Any) -> None:
    """Nobody asks it."""


def connected(state: ServerState, address: str = "10.0.0.7") -> tuple[Receiving, Wire]:
    config = uvicorn.Config(_app, http=Receiving, ws="none", lifespan="off", log_config=None)
    made, wire = Receiving(config, state, {}), Wire(address)
    made.connection_made(wire)
    return made, wire


def test_small_pieces_are_sent_at_once() -> None:
    """Else the kernel waits 40 ms with the body until the other side has said that it has the head."""

    async def run() -> None:
        found: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def came(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            found.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with listening("127.0.0.1", 0, others=False) as on:
            port = on.getsockname()[1]
            async with await asyncio.start_server(came, sock=on):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                assert await found == 1
                writer.close()
                await writer.wait_closed()

    apart.run(run())


def test_one_machine_leaves_places_to_others() -> None:
    async def run() -> None:
        state = ServerState()
        wires = [connected(state)[1] for _ in range(MOST_OF_ONE + 2)]
        assert [wire.closed for wire in wires] == [False] * MOST_OF_ONE + [True] * 2
        assert wires[-1].said.startswith(b"HTTP/1.1 503")
        assert not connected(state, "10.0.0.8")[1].closed
        for address in ("127.0.0.1", "::1", "::ffff:127.0.0.1"):  # of tunnels, through which many come
            assert not any(connected(ServerState(), address)[1].closed for _ in range(MOST_OF_ONE + 2))
        for each in tuple(state.connections):
            each.connection_lost(None)  # type: ignore[union-attr]

    apart.run(run())


def test_what_nobody_reads_takes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "MOST_UNREAD_BYTES", 1000)

    async def run() -> None:
        (one, first), (other, second) = connected(ServerState()), connected(ServerState())
        first.unread = second.unread = 600
        one.pause_writing()
        assert has_room()
        other.pause_writing()
        assert not has_room()
        other.resume_writing()
        assert has_room()
        other.pause_writing()
        one.connection_lost(None)
        assert has_room()
        other.connection_lost(None)
        assert not receiving._unread

    apart.run(run())
