"""What worker processes run in the tests: importable, because spawned processes import it by name."""

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
    "MissingExtra": MissingExtra("reading USD needs: pip install 'keypose[usd]'"),
    "ModelError": ModelError("no joints"),
    "OptionError": OptionError("gaps='x'"),
    "UnknownJoint": UnknownJoint("hipz", ("hips", "chest")),
}


class Unpicklable:
    """Cannot be sent."""

    def __reduce__(self) -> tuple[object, ...]:
        raise RuntimeError("stays here")


class PoisonOnArrival:
    """Can be sent but not received."""

    def __reduce__(self) -> tuple[object, ...]:
        return int, ("not a number",)


def square(n: int) -> int:
    return n * n


def process_id(n: int) -> int:
    return os.getpid()


def fail_by_name(name: str) -> str:
    raise ERRORS[name]


def misbehave(what: str | int) -> object:
    """Each kind of trouble that an item can make, by name; a number is fine."""
    match what:
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
            return PoisonOnArrival()
        case "warn":
            warnings.warn("a.bvh:3: repaired", FormatWarning)
        case "print":
            print("this must not reach the standard output of the parent")
    return what


def tidy_sleep(folder: str) -> None:
    """Says that it runs, sleeps, and leaves word when it was unwound."""
    own = Path(folder, str(os.getpid()))
    own.with_suffix(".running").touch()
    try:
        time.sleep(60)
    finally:
        own.with_suffix(".tidied").touch()


def stubborn_sleep(folder: str) -> None:
    """Cannot be asked to stop."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Path(folder, str(os.getpid())).with_suffix(".running").touch()
    time.sleep(60)
