"""Clients that are slow, endless or many keep nobody else from being served, and are sent away."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from pathlib import Path

import httpx
import pytest
from server_live import CLOCK_S, UPLOAD_BYTES, Live, started, until

SLOW = 200
LATE_S = CLOCK_S + 6.0  # on a machine that does other things too


def _head(live: Live, line: str, **headers: str) -> bytes:
    told = {"Host": live.host, "Authorization": f"Bearer {live.token}", **headers}
    return (line + " HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in told.items())).encode()


def _rest(connection: socket.socket) -> bytes:
    """All that is still said, until the server closes."""
    said = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(1 << 16):
            said += piece
    return said


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "])
def test_headers_have_a_deadline(live: Live, begun: bytes) -> None:
    with live.connection() as connection:
        began = time.monotonic()
        connection.sendall(begun)
        assert _rest(connection) == b""
        assert CLOCK_S * 0.9 < time.monotonic() - began < LATE_S


def test_headers_that_drip_have_the_same_deadline(live: Live) -> None:
    began = time.monotonic()
    with live.connection() as connection, contextlib.suppress(BrokenPipeError, ConnectionResetError):
        connection.sendall(_head(live, "GET /api/library"))
        connection.settimeout(0.2)
        while time.monotonic() - began < 2 * LATE_S:
            connection.sendall(b"X-A: b\r\n")
            with contextlib.suppress(TimeoutError):
                if connection.recv(100) == b"":
                    break
    assert CLOCK_S * 0.9 < time.monotonic() - began < LATE_S


def test_the_deadline_counts_for_the_next_request_too(live: Live) -> None:
    with live.connection() as connection:
        connection.sendall(_head(live, "GET /api/clips?limit=0") + b"\r\n")
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET / HT")
        began = time.monotonic()
        while connection.recv(1 << 16):
            pass
        assert time.monotonic() - began < LATE_S


def test_two_hundred_slow_clients_keep_nobody_waiting(live: Live) -> None:
    """Half of them never end their headers, half never their bodies; meanwhile others are served at once."""
    upload = _head(live, "POST /api/search", **{"Content-Type": "application/json", "Content-Length": "1000"})
    with contextlib.ExitStack() as open_, live.program() as other:
        slow = [open_.enter_context(live.connection()) for _ in range(SLOW)]
        for place, connection in enumerate(slow):
            connection.sendall(upload + b"\r\n{" if place % 2 else b"GET / HTTP/1.1\r\nX: ")
        took = []
        for _ in range(20):
            began = time.monotonic()
            assert other.get("/api/clips").status_code == 200
            took.append(time.monotonic() - began)
        assert sorted(took)[-2] < 1.0
        answers = [_rest(connection) for connection in slow]
    assert all(answer == b"" for answer in answers[::2])
    assert all(answer.startswith(b"HTTP/1.1 408") for answer in answers[1::2])


def test_a_body_that_stops_is_not_waited_for(live: Live) -> None:
    for path in ("/api/search", "/api/uploads?name=slow.bvh"):
        with live.connection() as connection:
            began = time.monotonic()
            told = {"Content-Type": "application/json", "Content-Length": "5000"}
            connection.sendall(_head(live, f"POST {path}", **told) + b"\r\n" + b"HIERARCHY")
            said = _rest(connection)
            assert said.startswith(b"HTTP/1.1 408") and b"connection: close" in said.lower()
            assert b"too slowly" in said and time.monotonic() - began < LATE_S


def test_a_body_that_drips_is_not_waited_for(live: Live) -> None:
    """A byte now and then is never idle, and yet too little."""
    began = time.monotonic()
    said = b""
    with live.connection() as connection, contextlib.suppress(BrokenPipeError, ConnectionResetError):
        connection.sendall(_head(live, "POST /api/uploads?name=a.bvh", **{"Content-Length": "100000"}) + b"\r\n")
        connection.settimeout(0.1)
        while time.monotonic() - began < 2 * LATE_S and not said:
            connection.sendall(b"H")
            with contextlib.suppress(TimeoutError):
                said = connection.recv(1 << 16)
    assert said.startswith(b"HTTP/1.1 408") and time.monotonic() - began < LATE_S


def test_a_body_that_nobody_reads_is_not_waited_for(live: Live) -> None:
    """The answer comes at once, and the rest of the request does not keep the connection."""
    began = time.monotonic()
    with live.connection() as connection, contextlib.suppress(BrokenPipeError, ConnectionResetError):
        connection.sendall(_head(live, "GET /api/clips?limit=0", **{"Content-Length": "100000"}) + b"\r\nx")
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200")
        connection.settimeout(0.1)
        while time.monotonic() - began < 2 * LATE_S:
            connection.sendall(b"x")
            with contextlib.suppress(TimeoutError):
                if connection.recv(100) == b"":
                    break
    assert time.monotonic() - began < LATE_S


@pytest.mark.parametrize("path", ["/api/search", "/api/uploads?name=big.bvh"])
def test_bodies_that_say_that_they_are_too_large_are_refused_unread(live: Live, path: str) -> None:
    with live.connection() as connection:
        told = {"Content-Type": "application/json", "Content-Length": str(1 << 40)}
        connection.sendall(_head(live, f"POST {path}", **told) + b"\r\n{")
        said = _rest(connection)
        assert said.startswith(b"HTTP/1.1 413") and b'"error"' in said and b"connection: close" in said.lower()


@pytest.mark.parametrize("path", ["/api/search", "/api/uploads?name=endless.bvh"])
def test_endless_bodies_are_cut_off(live: Live, path: str) -> None:
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    sent = 0
    with live.connection() as connection:
        told = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
        connection.sendall(_head(live, f"POST {path}", **told) + b"\r\n")
        heard: list[bytes] = []
        listener = threading.Thread(target=lambda: heard.append(connection.recv(1 << 16)))
        listener.start()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while sent < 1 << 30 and listener.is_alive():
                connection.sendall(chunk)
                sent += len(chunk)
        listener.join()
    assert heard[0].startswith(b"HTTP/1.1 413") and sent < 64 * UPLOAD_BYTES


@pytest.mark.parametrize("flood", ["X-Many: 1\r\n" * 10_000, "X-Long: " + "x" * 100_000 + "\r\n"])
def test_a_flood_of_headers_is_refused(live: Live, flood: str) -> None:
    with live.connection() as connection:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(_head(live, "GET /api/library") + flood.encode() + b"\r\n")
        said = _rest(connection)
    assert said == b"" or said.startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    ("method", "kib", "status"), [("GET", 15, b"200"), ("GET", 17, b"431"), ("GET", 31, b"431"), ("HEAD", 31, b"431")]
)
def test_headers_are_counted_though_they_come_at_once(live: Live, method: str, kib: int, status: bytes) -> None:
    with live.connection() as connection:
        told = {"Connection": "close", "X-Long": "x" * (kib << 10)}
        connection.sendall(_head(live, f"{method} /api/library", **told) + b"\r\n")
        assert _rest(connection).split()[1] == status


def test_headers_are_counted_behind_another_request(live: Live) -> None:
    with live.connection() as connection:
        long = _head(live, "GET /api/library", **{"X-Long": "x" * (40 << 10)}) + b"\r\n"
        connection.sendall(_head(live, "GET /api/library") + b"\r\n" + long)
        said = _rest(connection)
    assert said.count(b"HTTP/1.1 200") == 1 and said.count(b"HTTP/1.1 4") == 1


@pytest.mark.parametrize("bytes_", [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", b"GET /\r\n\r\n", b"\r\n\r\n\r\n\0\0\0"])
def test_what_is_no_http_is_sent_away(live: Live, bytes_: bytes) -> None:
    with live.connection() as connection:
        connection.sendall(bytes_ + b"\r\n\r\n")
        assert b" 200 " not in _rest(connection)


def test_there_are_only_so_many_connections(kept_library: Path, tmp_path: Path) -> None:
    few = {"most_connections": 8, "workers": 1, "upload_workers": 1}
    with started(tmp_path / "log", kept_library / "clips.db", **few) as live, contextlib.ExitStack() as open_:
        for _ in range(8):
            open_.enter_context(live.connection())
        with live.connection() as one_more:
            assert _rest(one_more).startswith(b"HTTP/1.1 503")
        until(lambda: _answers(live))  # the eight said nothing, so they are sent away


def _answers(live: Live) -> bool:
    """Whether there is room for one who asks."""
    with contextlib.suppress(httpx.TransportError), live.program() as program:
        return program.get("/api/clips").status_code == 200
    return False
