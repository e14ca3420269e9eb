"""Functions that worker processes run in the tests, in a module because workers import it by name."""

from __future__ import annotations

import os
import signal
import sys
import time
import warnings
from pathlib import Path

from keypose.errors import (
    FileError,
    FormatError,
    FormatWarning,
    KeyposeError,
    LimitError,
    MissingExtra,
    ModelError,
    OptionError,
    UnknownJoint,
)

ERRORS: dict[str, KeyposeError] = {
    "FileError": FileError("a.bvh: no such file"),
    "FormatError": FormatError("a.bvh", "5 channels, expected 3 or 6", line=41),
    "LimitError": LimitError("a.bvh", "too many", byte=12),
    "MissingExtra": MissingExtra("reading USD needs", "pip install 'keypose[usd]'"),
    "ModelError": ModelError("no joints"),
    "OptionError": OptionError("gaps='x'"),
    "UnknownJoint": UnknownJoint("hipz", ("hips", "chest")),
}


class Unpicklable:
    """An object that cannot be pickled."""

    def __reduce__(self) -> tuple[object, ...]:
        raise RuntimeError("stays here")


class FailsOnUnpickle:
    """An object that can be pickled but not unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return int, ("not a number",)


def square(n: int) -> int:
    return n * n


def process_id(n: int) -> int:
    return os.getpid()


def fail_by_name(name: str) -> str:
    raise ERRORS[name]


def misbehave(item: str | int) -> object:
    """Fail in the way that ``item`` names; return it if it is a number."""
    match item:
        case "exit":
            os._exit(3)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "sys.exit":
            sys.exit(4)
        case "bug":
            return 1 / 0
        case "memory":
            raise MemoryError
        case "unpicklable":
            return Unpicklable()
        case "poison":
            return FailsOnUnpickle()
        case "warn":
            warnings.warn(FormatWarning("repaired", path="a.bvh", line=3))
        case "print":
            print("this must not reach the standard output of the parent")
    return item


def sleep_with_cleanup(folder: str) -> None:
    """Create a ``.running`` file, sleep, and create a ``.tidied`` file when unwound."""
    marker = Path(folder, str(os.getpid()))
    marker.with_suffix(".running").touch()
    try:
        time.sleep(60)
    finally:
        marker.with_suffix(".tidied").touch()


def sleep_ignoring_sigterm(folder: str) -> None:
    """Create a ``.running`` file and sleep, ignoring SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Path(folder, str(os.getpid())).with_suffix(".running").touch()
    time.sleep(60)
