"""Tasks that succeed, fail, crash, hang or use much memory."""

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
from keypose.server.workers.worker_context import TaskResult, WorkerContext


def echo(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    return TaskResult(json.dumps({"pid": os.getpid(), **payload}).encode(), headers={"X-Echo": "yes"})


def motion(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    first, second = context.motion(payload["clip"]), context.motion(payload["clip"])
    summary = {"frames": first.n_frames, "name": first.name, "same": first is second}
    return TaskResult(json.dumps(summary).encode())


def large(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    return TaskResult(bytes(payload["bytes"]), "application/octet-stream")


def sleep(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    time.sleep(payload["s"])
    return echo(context, payload)


def crash(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    ctypes.string_at(0)
    return echo(context, payload)


def exit(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    os._exit(3)


def grow(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    return TaskResult(bytes(np.ones(payload["bytes"], np.uint8)[:1]))


def print_noise(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    print("what a library prints is no answer")
    os.write(1, b"nor this\n")
    return echo(context, payload)


def start(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    """Leave a temporary file and start a process that outlives the task."""
    Path(tempfile.mkdtemp(), "large").write_bytes(bytes(1000))
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    Path(payload["pid"]).write_text(str(child.pid))
    return TASKS[payload["then"]](context, payload)


def measure_fragmentation(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    """Return the growth of memory in MB after freeing large blocks between small ones."""
    for _ in range(3):
        _ = b"x" * (30 << 20)
    before, large, small = _resident(), [], []
    for _ in range(20):
        large.append(b"x" * (10 << 20))
        small.append(b"x" * 100_000)
    large.clear()
    return TaskResult(json.dumps({"growth_mb": (_resident() - before) >> 20, "n_small": len(small)}).encode())


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def fail(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    raise {
        "format": FormatError("walk.bvh", "5 channels", line=41),
        "library_damaged": FormatError("/secret/folder/clips.db", "the database is damaged"),
        "limit": LimitError("walk.bvh", "too many joints"),
        "missing_extra": MissingExtra("reading USD needs", "pip install 'keypose[usd]'"),
        "option": OptionError(option="keys", value=0, expected="more"),
        "joint": UnknownJoint("hed", ["head"]),
        "bug": ZeroDivisionError("/secret/folder"),
    }[payload["code"]]


TASKS = {
    each.__name__: each
    for each in (echo, motion, large, sleep, crash, exit, grow, print_noise, start, measure_fragmentation, fail)
}
