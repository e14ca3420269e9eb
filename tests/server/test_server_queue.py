"""Exports take turns, do not delay pages, end with their clients, and are sent from disk if they are large."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

import keypose as kp
from keypose.server.workers.process import STORED_BYTES
from support.live_server import LiveServer, start_server, until


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A library with a long and a short clip: their hashes, and the path of the library."""
    path = tmp_path_factory.mktemp("library") / "clips.db"
    with kp.Library(path) as library:
        long = library.add(kp.demo_motion(fps=600), name="long").hash
        short = library.add(kp.demo_motion(fps=30)[20:140], name="short").hash
    return {"path": str(path), "long": long, "short": short}


@pytest.fixture(scope="module")
def busy_server(clips: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    log = tmp_path_factory.mktemp("log") / "stderr"
    with start_server(log, Path(clips["path"]), timeout_s=20.0, workers=2, upload_workers=1, searchers=1) as server:
        yield server


def _start_report(live: LiveServer, clip: str) -> socket.socket:
    body = json.dumps({"format": ".report.html"}).encode()
    head = (
        f"POST /api/clips/{clip}/export HTTP/1.1\r\nHost: {live.host}\r\nAuthorization: Bearer {live.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    connection = live.connection()
    connection.sendall(head.encode() + body)
    return connection


def test_pages_do_not_wait_for_exports(busy_server: LiveServer, clips: dict[str, str]) -> None:
    connections = [_start_report(busy_server, clips["long"]) for _ in range(3)]
    with busy_server.program() as program:
        until(lambda: program.get("/api/queue").json() == {"running": 1, "waiting": 2}, 30.0)
        for path in (f"/api/clips/{clips['short']}", f"/api/clips/{clips['short']}/frames"):
            assert program.get(path).status_code == 200
        assert program.get("/api/queue").json() == {"running": 1, "waiting": 2}
        for connection in connections:
            connection.close()
        until(lambda: program.get("/api/queue").json() == {"running": 0, "waiting": 0}, 20.0)


def test_large_export(busy_server: LiveServer, clips: dict[str, str], tmp_path: Path) -> None:
    with kp.Library(clips["path"]) as library:
        kp.save(library.get(clips["long"]), tmp_path / "long.bvh")
    expected = (tmp_path / "long.bvh").read_bytes()
    assert len(expected) > STORED_BYTES
    with busy_server.program() as program:
        response = program.post(f"/api/clips/{clips['long']}/export", json={"format": ".bvh"}, timeout=120.0)
    assert response.content == expected and response.headers["content-length"] == str(len(expected))
    assert 'filename="long.bvh"' in response.headers["content-disposition"]
    assert list(busy_server.temporary.glob("keypose-uploads-*/*/result-*")) == []
