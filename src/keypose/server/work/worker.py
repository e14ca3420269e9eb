"""The life of a worker: it answers tasks from its input until that closes, which is when the server is gone.

The first message says how it is to work. ``python -m keypose.server.work.worker`` starts one; only the server does.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import threading
import traceback
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO

from keypose.server.memory import give_back_large
from keypose.server.work import wire
from keypose.server.work.wire import Head


def main() -> None:
    """Runs one worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us
    told, said = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    how, _ = wire.read(told)
    tasks: SimpleQueue[Head] = SimpleQueue()
    threading.Thread(target=_listen, args=(told, tasks), daemon=True).start()
    try:
        desk, tasks_of = _set_up(how)
    except Exception:
        traceback.print_exc()
        os._exit(1)
    give_back_large()
    wire.write(said, {"ready": os.getpid()})
    if hasattr(tasks_of, "prepare"):
        tasks_of.prepare(desk)
    while True:
        _answer(said, desk, tasks_of.TASKS, tasks.get())


def _listen(told: BinaryIO, tasks: SimpleQueue[Head]) -> None:
    """In a thread of its own, so that a worker that is busy leaves at once when the server has gone."""
    with contextlib.suppress(EOFError, OSError, wire.WireError):
        while True:
            tasks.put(wire.read(told)[0])
    _leave()


def _leave() -> None:
    """Ends this process with all that it started, where it leads a group of its own, as the server sees to it."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def _set_up(how: Head) -> tuple[Any, Any]:
    if how["niceness"]:
        _be_nice(how["niceness"])
    from keypose.formats import Limits
    from keypose.library.library import Library
    from keypose.server.work.desk import Desk

    tasks_of = importlib.import_module(how["tasks"])
    limits = Limits() if how["unpacked_bytes"] is None else Limits(bytes=how["unpacked_bytes"])
    desk = Desk(Library(how["library"], create=False, limits=limits), limits)
    _limit_memory(how["memory_bytes"])
    return desk, tasks_of


def _be_nice(niceness: int) -> None:
    """Lets others go first. Linux may share its cores between sessions first, and a worker has one of its own."""
    if hasattr(os, "nice"):
        os.nice(niceness)
    with contextlib.suppress(OSError):  # no such thing here
        Path("/proc/self/autogroup").write_text(str(niceness))


def _limit_memory(most_bytes: int) -> None:
    """More than this is refused: MemoryError. Windows has no such limit for one process."""
    with contextlib.suppress(ImportError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        within = most_bytes if most == resource.RLIM_INFINITY else min(most_bytes, most)
        resource.setrlimit(resource.RLIMIT_AS, (within, most))


def _answer(said: BinaryIO, desk: Any, table: Any, told: Head) -> None:
    from keypose.server.failing import problem_of

    try:
        answer = table[told["task"]](desk, told["told"])
        head = {"media_type": answer.media_type, "headers": dict(answer.headers)}
        wire.write(said, head, answer.body)
        desk.trim()
        return
    except BrokenPipeError:
        os._exit(0)
    except MemoryError as error:
        desk.clear()
        failure = problem_of(error)
        bug = ""
    except Exception as error:
        failure = problem_of(error)
        bug = traceback.format_exc() if failure.kind in ("Unexpected", "FileError") else ""
    wire.write(said, {"error": failure.model_dump(), "bug": bug})


if __name__ == "__main__":
    main()
