"""``keypose serve`` in a separate process."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

STOP_S = 15.0


@dataclass(frozen=True)
class ServerInfo:
    """Address and process of a running server."""

    url: str  # with the token
    origin: str
    token: str
    library: Path
    pid: int


@contextmanager
def run_server(library: Path) -> Iterator[ServerInfo]:
    """Run ``keypose serve`` for a library."""
    command = [sys.executable, "-m", "keypose", "serve", "--library", str(library), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            text = ""
            while not text.endswith("}\n"):
                line = process.stdout.readline()
                assert line, f"the server ended: {process.wait()}"
                text += line
            info = json.loads(text)
            yield ServerInfo(info["url"], info["url"].partition("/?")[0], info["token"], library, process.pid)
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
