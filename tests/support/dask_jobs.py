"""Jobs for the workers of a cluster, which import this module."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path


def square(n: int) -> int:
    if n < 0:
        raise ValueError(f"{n}, expected no negative number")
    return n * n


def die_the_first_time(folder: str) -> int:
    """Return the number of tries, this one included; the first one kills its worker."""
    Path(folder, str(os.getpid())).touch()
    n_tries = len(list(Path(folder).iterdir()))
    if n_tries == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return n_tries


def die(_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def unpicklable(_: object) -> object:
    return threading.Lock()
