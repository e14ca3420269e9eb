"""A real server in a separate process, and helpers for its tests."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

START = Path(__file__).with_name("start_server.py")
TIMEOUT_S = 1.2  # for headers, and between chunks of bodies
STOP_S = 10.0
MAX_UPLOAD_BYTES = 6 << 20  # of the shared server
MAX_UPLOADS = 4


@dataclass(frozen=True)
class LiveServer:
    """A running server."""

    origin: str
    token: str
    port: int
    pid: int
    log: Path

    @property
    def temporary(self) -> Path:
        return self.log.parent

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @contextmanager
    def client(self) -> Iterator[httpx.Client]:
        """Open a client with a session that sends its Origin, like a browser."""
        with self.stranger(headers={"Origin": self.origin}) as client:
            assert client.get("/", params={"token": self.token}).status_code == 303
            yield client

    def stranger(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.origin, timeout=30.0, trust_env=False, verify=False, **options)

    def program(self) -> httpx.Client:
        return self.stranger(headers={"Authorization": f"Bearer {self.token}"})

    def connection(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=30.0)

    def children(self) -> set[int]:
        """Return the process ids of the workers."""
        paths = Path(f"/proc/{self.pid}/task").glob("*/children")
        return {int(pid) for path in paths for pid in path.read_text().split()}


@contextmanager
def start_server(log: Path, library: Path, **settings: Any) -> Iterator[LiveServer]:
    """Start a server; at the end it must exit soon, with all workers, and without a traceback in its log."""
    settings_json = {"library": str(library), "timeout_s": TIMEOUT_S, "max_connections": 512, **settings}
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, str(START), json.dumps(settings_json)],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, "TMPDIR": str(log.parent)},
        )
    with process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, log.read_text()
            live = LiveServer(**json.loads(line), log=log)
            yield live
            workers = live.children()
        finally:
            process.send_signal(signal.SIGINT)
            start_time = time.monotonic()
            try:
                code = process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
    assert code == 0 and time.monotonic() - start_time < STOP_S
    assert workers and [pid for pid in workers if is_alive(pid)] == []
    assert list(log.parent.glob("keypose-*")) == []
    assert "Traceback" not in log.read_text(), log.read_text()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def runs(pid: int) -> bool:
    """Return whether the process runs and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def until(condition: Any, within_s: float = 10.0) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
