"""Main loop of a worker: it runs tasks from its input until that closes, when the server has ended.

The first message is its configuration. The server starts it by ``python -m keypose.server.workers.worker``.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import signal
import sys
import threading
import traceback
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO

from keypose.errors import KeyposeError
from keypose.server.workers import process
from keypose.server.workers.process import STORED_BYTES, Header, store_body


def main() -> None:
    """Run a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which kills its workers
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of libraries must not mix with replies
    config, _ = process.read(requests)
    queue: SimpleQueue[Header] = SimpleQueue()
    threading.Thread(target=_read_requests, args=(requests, queue), daemon=True).start()
    try:
        context, task_module = _set_up(config)
    except KeyposeError as error:
        from keypose.server.error_responses import error_details

        process.write(replies, {"error": error_details(error).model_dump(), "message": str(error)})
        os._exit(1)
    except Exception:
        traceback.print_exc()
        os._exit(1)
    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)  # lost connections are reported as errors of tasks
    process.release_large_blocks()
    process.write(replies, {"ready": os.getpid()})
    if hasattr(task_module, "prepare"):
        task_module.prepare(context)
    temp_dir = None if config["temp_dir"] is None else Path(os.environ["TMPDIR"])  # of this worker
    while True:
        _run_task(replies, context, task_module.TASKS, queue.get(), temp_dir)


def _read_requests(requests: BinaryIO, queue: SimpleQueue[Header]) -> None:
    """Queue requests, in a thread: a busy worker exits at once when the server has ended."""
    with contextlib.suppress(EOFError, OSError, process.WireError):
        while True:
            queue.put(process.read(requests)[0])
    _exit()


def _exit() -> None:
    """Kill this process and its children, if it leads a process group, as one started by the server does."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def _set_up(config: Header) -> tuple[Any, Any]:
    if config["niceness"]:
        _lower_priority(config["niceness"])
    from keypose.formats import Limits
    from keypose.library.library import Library
    from keypose.server.workers.worker_context import WorkerContext

    task_module = importlib.import_module(config["task_module"])
    limits = Limits() if config["max_unpacked_bytes"] is None else Limits(bytes=config["max_unpacked_bytes"])
    context = WorkerContext(Library(config["library"], create=False, limits=limits), limits)
    _limit_memory(config["memory_bytes"])
    return context, task_module


def _lower_priority(niceness: int) -> None:
    """Lower the CPU priority, also of the session: Linux may schedule by session, and each worker has its own."""
    if hasattr(os, "nice"):
        os.nice(niceness)
    with contextlib.suppress(OSError):  # no autogroups on this system
        Path("/proc/self/autogroup").write_text(str(niceness))


def _limit_memory(max_bytes: int) -> None:
    """Limit the address space: beyond it, MemoryError. Windows has no such limit."""
    with contextlib.suppress(ImportError):
        import resource

        _, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
        soft_limit = max_bytes if hard_limit == resource.RLIM_INFINITY else min(max_bytes, hard_limit)
        resource.setrlimit(resource.RLIMIT_AS, (soft_limit, hard_limit))


def _run_task(replies: BinaryIO, context: Any, tasks: Any, request: Header, temp_dir: Path | None) -> None:
    from keypose.server.error_responses import error_details

    try:
        result = tasks[request["task"]](context, request["payload"])
        header = {"media_type": result.media_type, "headers": dict(result.headers)}
        if temp_dir is None or result.size < STORED_BYTES:
            process.write(replies, header, result.body)
        else:
            process.write(replies, header | {"file": _store(temp_dir, result.body)})
        context.trim()
        return
    except BrokenPipeError:
        os._exit(0)
    except MemoryError as error:
        context.clear()
        details, message, trace = error_details(error), "", ""
    except Exception as error:
        details, message = error_details(error), str(error)
        trace = traceback.format_exc() if details.code in ("internal", "file") else ""
    process.write(replies, {"error": details.model_dump(), "message": message, "traceback": trace})


def _store(temp_dir: Path, body: bytes) -> str:
    """Write a large result to a file and return its name."""
    from keypose.server.error_responses import DiskFull

    try:
        return store_body(temp_dir, body).name
    except OSError as error:
        raise DiskFull(str(error)) from None


if __name__ == "__main__":
    main()
