"""A real server in a process of its own, and what tests do to it."""

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
CLOCK_S = 1.2  # for headers, and between pieces of bodies
STOP_S = 10.0
UPLOAD_BYTES = 6 << 20  # as the server of most tests has it
UPLOADS_AT_ONCE = 4


@dataclass(frozen=True)
class Live:
    """A server that runs."""

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
        """A browser that came in by the token, and says where its requests come from."""
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
        """The workers."""
        found = Path(f"/proc/{self.pid}/task").glob("*/children")
        return {int(each) for path in found for each in path.read_text().split()}


@contextmanager
def started(log: Path, library: Path, **settings: Any) -> Iterator[Live]:
    """A server; in the end it leaves at once, with all its workers, and nothing that nobody expected in its log."""
    told = {"library": str(library), "clock_s": CLOCK_S, "most_connections": 512, **settings}
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, str(START), json.dumps(told)],
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
            live = Live(**json.loads(line), log=log)
            yield live
            workers = live.children()
        finally:
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            try:
                code = process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
    assert code == 0 and time.monotonic() - began < STOP_S
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
    """Not merely waiting for somebody to notice that it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def until(true: Any, within_s: float = 10.0) -> None:
    """Waits until something is so."""
    end = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
