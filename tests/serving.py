"""``keypose serve`` in a process of its own, as a person starts it."""

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
class Served:
    """A server that runs."""

    url: str  # with the token: what a person opens first
    origin: str
    token: str
    library: Path
    pid: int


@contextmanager
def serving(library: Path) -> Iterator[Served]:
    """``keypose serve`` of a library, in a process of its own."""
    command = [sys.executable, "-m", "keypose", "serve", "--library", str(library), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            text = ""
            while not text.endswith("}\n"):
                line = process.stdout.readline()
                assert line, f"the server ended: {process.wait()}"
                text += line
            said = json.loads(text)
            yield Served(said["url"], said["url"].partition("/?")[0], said["token"], library, process.pid)
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
