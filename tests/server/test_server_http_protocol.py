"""Slow, endless or numerous clients are disconnected and do not block others."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from pathlib import Path

import httpx
import pytest

from support.live_server import MAX_UPLOAD_BYTES, TIMEOUT_S, LiveServer, start_server, until

N_SLOW_CLIENTS = 200
MAX_DELAY_S = TIMEOUT_S + 6.0  # on a busy machine


def _head(live: LiveServer, line: str, **headers: str) -> bytes:
    fields = {"Host": live.host, "Authorization": f"Bearer {live.token}", **headers}
    return (line + " HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items())).encode()


def _read_all(connection: socket.socket) -> bytes:
    """Return everything that the server sends until it closes."""
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while chunk := connection.recv(1 << 16):
            received += chunk
    return received


@pytest.mark.parametrize("prefix", [b"", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "])
def test_headers_have_a_deadline(live: LiveServer, prefix: bytes) -> None:
    with live.connection() as connection:
        start_time = time.monotonic()
        connection.sendall(prefix)
        assert _read_all(connection) == b""
        assert TIMEOUT_S * 0.9 < time.monotonic() - start_time < MAX_DELAY_S


def test_dripping_headers_have_a_deadline(live: LiveServer) -> None:
    start_time = time.monotonic()
    with live.connection() as connection, contextlib.suppress(BrokenPipeError, ConnectionResetError):
        connection.sendall(_head(live, "GET /api/library"))
        connection.settimeout(0.2)
        while time.monotonic() - start_time < 2 * MAX_DELAY_S:
            connection.sendall(b"X-A: b\r\n")
            with contextlib.suppress(TimeoutError):
                if connection.recv(100) == b"":
                    break
    assert TIMEOUT_S * 0.9 < time.monotonic() - start_time < MAX_DELAY_S


def test_next_request_has_a_deadline(live: LiveServer) -> None:
    with live.connection() as connection:
        connection.sendall(_head(live, "GET /api/clips?limit=0") + b"\r\n")
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET / HT")
        start_time = time.monotonic()
        while connection.recv(1 << 16):
            pass
        assert time.monotonic() - start_time < MAX_DELAY_S


def test_slow_clients_do_not_block_others(live: LiveServer) -> None:
    """Half of them never finish their headers, half never their bodies; others are served at once."""
    upload = _head(live, "POST /api/search", **{"Content-Type": "application/json", "Content-Length": "1000"})
    with contextlib.ExitStack() as stack, live.program() as other:
        slow = [stack.enter_context(live.connection()) for _ in range(N_SLOW_CLIENTS)]
        for index, connection in enumerate(slow):
            connection.sendall(upload + b"\r\n{" if index % 2 else b"GET / HTTP/1.1\r\nX: ")
        elapsed = []
        for _ in range(20):
            start_time = time.monotonic()
            assert other.get("/api/clips").status_code == 200
            elapsed.append(time.monotonic() - start_time)
        assert sorted(elapsed)[-2] < 1.0
        responses = [_read_all(connection) for connection in slow]
    assert all(response == b"" for response in responses[::2])
    assert all(response.startswith(b"HTTP/1.1 408") for response in responses[1::2])


def test_stalled_body(live: LiveServer) -> None:
    for path in ("/api/search", "/api/uploads?name=slow.bvh"):
        with live.connection() as connection:
            start_time = time.monotonic()
            fields = {"Content-Type": "application/json", "Content-Length": "5000"}
            connection.sendall(_head(live, f"POST {path}", **fields) + b"\r\n" + b"HIERARCHY")
            received = _read_all(connection)
            assert received.startswith(b"HTTP/1.1 408") and b"connection: close" in received.lower()
            assert b"too slowly" in received and time.monotonic() - start_time < MAX_DELAY_S


def test_dripping_body(live: LiveServer) -> None:
    """A byte now and then avoids the idle timeout, but not the minimum rate."""
    start_time = time.monotonic()
    received = b""
    with live.connection() as connection, contextlib.suppress(BrokenPipeError, ConnectionResetError):
        connection.sendall(_head(live, "POST /api/uploads?name=a.bvh", **{"Content-Length": "100000"}) + b"\r\n")
        connection.settimeout(0.1)
        while time.monotonic() - start_time < 2 * MAX_DELAY_S and not received:
            connection.sendall(b"H")
            with contextlib.suppress(TimeoutError):
                received = connection.recv(1 << 16)
    assert received.startswith(b"HTTP/1.1 408") and time.monotonic() - start_time < MAX_DELAY_S


@pytest.mark.parametrize("n_fast_bytes", [0, 1_000_000])
def test_slow_upload(live: LiveServer, n_fast_bytes: int) -> None:
    """More than the minimum rate of other bodies is too little: it would occupy a place of an upload for an hour.

    A fast start makes no difference.
    """
    start_time = time.monotonic()
    received = b""
    with live.connection() as connection, contextlib.suppress(BrokenPipeError, ConnectionResetError):
        connection.sendall(_head(live, "POST /api/uploads?name=a.bvh", **{"Content-Length": "2000000"}) + b"\r\n")
        connection.sendall(bytes(n_fast_bytes))
        connection.settimeout(0.1)
        while time.monotonic() - start_time < 2 * MAX_DELAY_S and not received:
            connection.sendall(bytes(400))  # 4 kB/s at most
            with contextlib.suppress(TimeoutError):
                received = connection.recv(1 << 16)
    assert received.startswith(b"HTTP/1.1 408") and time.monotonic() - start_time < MAX_DELAY_S


def test_unread_body(live: LiveServer) -> None:
    """The response is sent at once, and the rest of the body does not keep the connection open."""
    start_time = time.monotonic()
    with live.connection() as connection, contextlib.suppress(BrokenPipeError, ConnectionResetError):
        connection.sendall(_head(live, "GET /api/clips?limit=0", **{"Content-Length": "100000"}) + b"\r\nx")
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200")
        connection.settimeout(0.1)
        while time.monotonic() - start_time < 2 * MAX_DELAY_S:
            connection.sendall(b"x")
            with contextlib.suppress(TimeoutError):
                if connection.recv(100) == b"":
                    break
    assert time.monotonic() - start_time < MAX_DELAY_S


@pytest.mark.parametrize("path", ["/api/search", "/api/uploads?name=big.bvh"])
def test_large_content_length(live: LiveServer, path: str) -> None:
    with live.connection() as connection:
        fields = {"Content-Type": "application/json", "Content-Length": str(1 << 40)}
        connection.sendall(_head(live, f"POST {path}", **fields) + b"\r\n{")
        received = _read_all(connection)
        assert (
            received.startswith(b"HTTP/1.1 413") and b'"error"' in received and b"connection: close" in received.lower()
        )


@pytest.mark.parametrize("path", ["/api/search", "/api/uploads?name=endless.bvh"])
def test_endless_body(live: LiveServer, path: str) -> None:
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    sent = 0
    with live.connection() as connection:
        fields = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
        connection.sendall(_head(live, f"POST {path}", **fields) + b"\r\n")
        responses: list[bytes] = []
        listener = threading.Thread(target=lambda: responses.append(connection.recv(1 << 16)))
        listener.start()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while sent < 1 << 30 and listener.is_alive():
                connection.sendall(chunk)
                sent += len(chunk)
        listener.join()
    assert responses[0].startswith(b"HTTP/1.1 413") and sent < 64 * MAX_UPLOAD_BYTES


@pytest.mark.parametrize("flood", ["X-Many: 1\r\n" * 10_000, "X-Long: " + "x" * 100_000 + "\r\n"])
def test_too_many_headers(live: LiveServer, flood: str) -> None:
    with live.connection() as connection:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(_head(live, "GET /api/library") + flood.encode() + b"\r\n")
        received = _read_all(connection)
    assert received == b"" or received.startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    ("method", "kib", "status"), [("GET", 15, b"200"), ("GET", 17, b"431"), ("GET", 31, b"431"), ("HEAD", 31, b"431")]
)
def test_long_headers_at_once(live: LiveServer, method: str, kib: int, status: bytes) -> None:
    with live.connection() as connection:
        fields = {"Connection": "close", "X-Long": "x" * (kib << 10)}
        connection.sendall(_head(live, f"{method} /api/library", **fields) + b"\r\n")
        assert _read_all(connection).split()[1] == status


def test_long_headers_after_another_request(live: LiveServer) -> None:
    with live.connection() as connection:
        long = _head(live, "GET /api/library", **{"X-Long": "x" * (40 << 10)}) + b"\r\n"
        connection.sendall(_head(live, "GET /api/library") + b"\r\n" + long)
        received = _read_all(connection)
    assert received.count(b"HTTP/1.1 200") == 1 and received.count(b"HTTP/1.1 4") == 1


@pytest.mark.parametrize("bytes_", [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", b"GET /\r\n\r\n", b"\r\n\r\n\r\n\0\0\0"])
def test_invalid_http(live: LiveServer, bytes_: bytes) -> None:
    with live.connection() as connection:
        connection.sendall(bytes_ + b"\r\n\r\n")
        assert b" 200 " not in _read_all(connection)


def test_connection_limit(library_template: Path, tmp_path: Path) -> None:
    settings = {"max_connections": 8, "workers": 1, "upload_workers": 1}
    with (
        start_server(tmp_path / "log", library_template / "clips.db", **settings) as live,
        contextlib.ExitStack() as stack,
    ):
        for _ in range(8):
            stack.enter_context(live.connection())
        with live.connection() as extra:
            assert _read_all(extra).startswith(b"HTTP/1.1 503")
        until(lambda: _is_responsive(live))  # the eight are disconnected, as they send nothing


def _is_responsive(live: LiveServer) -> bool:
    """Whether the server accepts another connection."""
    with contextlib.suppress(httpx.TransportError), live.program() as program:
        return program.get("/api/clips").status_code == 200
    return False
