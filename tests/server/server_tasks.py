"""Tasks of every kind that a worker may have to do with."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from keypose.errors import FormatError, LimitError, MissingExtra, OptionError, UnknownJoint
from keypose.server.work.desk import Answer, Desk


def say(desk: Desk, told: dict[str, Any]) -> Answer:
    return Answer(json.dumps({"pid": os.getpid(), **told}).encode(), headers={"X-Said": "yes"})


def motion(desk: Desk, told: dict[str, Any]) -> Answer:
    first, again = desk.motion(told["clip"]), desk.motion(told["clip"])
    facts = {"frames": first.n_frames, "name": first.name, "same": first is again}
    return Answer(json.dumps(facts).encode())


def large(desk: Desk, told: dict[str, Any]) -> Answer:
    return Answer(bytes(told["bytes"]), "application/octet-stream")


def sleep(desk: Desk, told: dict[str, Any]) -> Answer:
    time.sleep(told["s"])
    return say(desk, told)


def crash(desk: Desk, told: dict[str, Any]) -> Answer:
    ctypes.string_at(0)
    return say(desk, told)


def leave(desk: Desk, told: dict[str, Any]) -> Answer:
    os._exit(3)


def grow(desk: Desk, told: dict[str, Any]) -> Answer:
    return Answer(bytes(np.ones(told["bytes"], np.uint8)[:1]))


def chatter(desk: Desk, told: dict[str, Any]) -> Answer:
    print("what a library prints is no answer")
    os.write(1, b"nor this\n")
    return say(desk, told)


def start(desk: Desk, told: dict[str, Any]) -> Answer:
    """Leaves a file where temporary ones go, and starts a process that outlives it."""
    Path(tempfile.mkdtemp(), "large").write_bytes(bytes(1000))
    started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    Path(told["pid"]).write_text(str(started.pid))
    return TASKS[told["then"]](desk, told)


def cling(desk: Desk, told: dict[str, Any]) -> Answer:
    """How much more memory it has, in MB, after large things that lay between small ones are gone."""
    for _ in range(3):
        _ = b"x" * (30 << 20)
    before, large, small = _resident(), [], []
    for _ in range(20):
        large.append(b"x" * (10 << 20))
        small.append(b"x" * 100_000)
    large.clear()
    return Answer(json.dumps({"more": (_resident() - before) >> 20, "kept": len(small)}).encode())


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def fail(desk: Desk, told: dict[str, Any]) -> Answer:
    raise {
        "FormatError": FormatError("walk.bvh", "5 channels", line=41),
        "Damaged": FormatError("/secret/folder/clips.db", "the database is damaged"),
        "LimitError": LimitError("walk.bvh", "too many joints"),
        "MissingExtra": MissingExtra("reading USD needs: pip install 'keypose[usd]'"),
        "OptionError": OptionError("keys=0, expected more"),
        "UnknownJoint": UnknownJoint("hed", ["head"]),
        "bug": ZeroDivisionError("/secret/folder"),
    }[told["kind"]]


TASKS = {each.__name__: each for each in (say, motion, large, sleep, crash, leave, grow, chatter, start, cling, fail)}
