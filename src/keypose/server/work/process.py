"""One worker, seen from the server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from dataclasses import dataclass
from pathlib import Path

from keypose.batch.processes import how_it_ended
from keypose.server.failing import WorkerError
from keypose.server.own_folder import make_private
from keypose.server.work import wire
from keypose.server.work.wire import Head

CLIPS, UPLOADS = "keypose.server.work.tasks", "keypose.server.work.uploading"
SEARCHES = "keypose.server.work.finding"
START_S = 60.0  # a worker has this long until it is ready
END_S = 1.0  # and this long until it is gone, once it has closed its output
CLEAR_S = 0.1  # until its folder is looked at again: what it started may be writing there for a moment
CLEARS = 10
READ_AHEAD = 1 << 20  # bytes
# Clips are worked on one by one: more threads would only take the cores of others.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True)
class How:
    """How a worker works."""

    library: str
    tasks: str  # the module with their table, TASKS, and perhaps with ``prepare``, which comes before the first
    memory_bytes: int
    niceness: int = 0
    unpacked_bytes: int | None = None  # the most that a file may hold; None: as usual
    folder: str | None = None  # in which each gets one for temporary files; None: where everybody has theirs

    def head(self) -> Head:
        """As the first message."""
        return dict(vars(self))


class Worker:
    """A process that is ready for a task."""

    def __init__(self, process: Process, folder: Path | None = None) -> None:
        self._process = process
        self._folder = folder  # of its own, for temporary files

    @classmethod
    async def start(cls, how: How) -> Worker:
        """Starts one, in a session of its own: Ctrl-C is not for it, and it ends with all that it started."""
        folder: Path | None = None
        try:
            folder = None if how.folder is None else _folder_in(Path(how.folder))
            environment = {**_ONE_THREAD, **os.environ, **({} if folder is None else {"TMPDIR": str(folder)})}
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", "keypose.server.work.worker",
                stdin=PIPE, stdout=PIPE, limit=READ_AHEAD, start_new_session=True, env=environment,
            )  # fmt: skip
        except OSError as error:
            await _clear(folder)
            raise WorkerError(f"no process to work on it can be started ({error.strerror})") from None
        worker = cls(process, folder)
        try:
            async with asyncio.timeout(START_S):
                await worker.ask(how.head())
        except TimeoutError:
            await worker.end()
            raise WorkerError("the process that is to work on it does not start") from None
        except BaseException:
            await worker.end()
            raise
        return worker

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it can still be asked."""
        return self._process.returncode is None

    async def ask(self, head: Head) -> tuple[Head, bytes]:
        """Sends a message and waits for the answer; WorkerError where the process ends before."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if self._folder is not None:
            with contextlib.suppress(OSError):  # whoever needs it will say so
                make_private(self._folder)
        try:
            self._process.stdin.write(wire.packed(head))
            await self._process.stdin.drain()
            return await wire.read_later(self._process.stdout)
        except (OSError, EOFError, wire.WireError):
            with contextlib.suppress(TimeoutError):  # to know how it ended
                async with asyncio.timeout(END_S):
                    await self._process.wait()
            self._kill()
            await self.end()
            how = how_it_ended(self._process.returncode)
            raise WorkerError(f"the process that worked on it {how}") from None

    async def end(self) -> None:
        """Ends the process now, whatever it does; it is gone when this returns, and so are its temporary files."""
        if self.is_alive:
            self._kill()
        await self._process.wait()
        self._process._transport.close()  # type: ignore[attr-defined]  # its pipes: asyncio keeps no other way
        await _clear(self._folder)

    def _kill(self) -> None:
        """Ends it with all that it started. Not for one that died long ago: its number may be another's by now."""
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS says the latter of one that has ended
            if hasattr(os, "killpg"):
                os.killpg(self.pid, signal.SIGKILL)
            else:  # Windows
                self._process.kill()


def _folder_in(folder: Path) -> Path:
    make_private(folder)
    return Path(tempfile.mkdtemp(prefix="worker-", dir=folder))


async def _clear(folder: Path | None) -> None:
    """Removes the temporary files of a worker that has ended."""
    for _ in range(CLEARS):
        if folder is None or not folder.exists():
            return
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        if folder.exists():
            await asyncio.sleep(CLEAR_S)
