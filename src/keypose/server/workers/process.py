"""One worker process, seen from the server, and the messages between both.

Large results stay on disk and are sent from there, as a client may read them slowly.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import struct
import sys
import tempfile
import weakref
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from keypose.batch.pool import describe_exit
from keypose.errors import KeyposeError, format_count
from keypose.server.error_responses import WorkerError
from keypose.server.schema import ErrorDetails
from keypose.server.temp_dirs import make_private_dir

CLIP_TASKS, UPLOAD_TASKS = "keypose.server.workers.clip_worker", "keypose.server.workers.upload_worker"
SEARCH_TASKS = "keypose.server.workers.search_worker"
START_S = 60.0  # until a worker is ready
EXIT_S = 1.0  # until it has ended, once its output is closed
CLEAR_S = 0.1  # until its folder is removed again: its children may still write there for a moment
MAX_CLEARS = 10
READ_BUFFER_BYTES = 1 << 20
# Each worker runs one task at a time: more threads would only compete with other workers.
_SINGLE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

_LARGE_BYTES = 1 << 20
_M_MMAP_THRESHOLD = -3  # of glibc's malloc.h

_LENGTHS = struct.Struct("<IQ")
MAX_HEADER_BYTES = 64 << 20
MAX_BODY_BYTES = 4 << 30
STORED_BYTES = 4 << 20  # of a result, from which on it is written to a file
CHUNK_BYTES = 256 << 10  # of such a result, in memory at a time
Header = dict[str, Any]

_open_sizes: dict[int, int] = {}  # of results on disk, by id of the stored body


@dataclass(frozen=True)
class WorkerConfig:
    """Library, tasks and limits of a worker."""

    library: str
    task_module: str  # has a dictionary TASKS, and optionally prepare(), which runs before the first task
    memory_bytes: int
    niceness: int = 0
    max_unpacked_bytes: int | None = None  # of an upload; None: default
    temp_dir: str | None = None  # parent of a folder for temporary files; None: the system default

    def to_header(self) -> Header:
        """Return the header of the first message."""
        return dict(vars(self))


class StoredBody:
    """A result in a temporary file, which is gone when this is closed or garbage."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self.size = os.fstat(self._file.fileno()).st_size
        _open_sizes[id(self)] = self.size
        self.close = weakref.finalize(self, _close, self._file, path, id(self))
        if os.name == "posix":  # others cannot remove an open file
            path.unlink()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the content, then close the file."""
        try:
            while chunk := await asyncio.to_thread(self._file.read, CHUNK_BYTES):
                yield chunk
        finally:
            self.close()


def _close(file: BinaryIO, path: Path, key: int) -> None:
    file.close()
    path.unlink(missing_ok=True)
    del _open_sizes[key]


def total_stored_bytes() -> int:
    """Return the size of all results on disk that were not sent yet."""
    return sum(_open_sizes.values())


def store_body(folder: Path, body: bytes) -> Path:
    """Write a result to a new file in ``folder``."""
    descriptor, name = tempfile.mkstemp(prefix="result-", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(body)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(name)


class Worker:
    """A process that is ready for tasks."""

    def __init__(self, process: Process, temp_dir: Path | None = None) -> None:
        self._process = process
        self._temp_dir = temp_dir  # of its own, for temporary files

    @classmethod
    async def start(cls, config: WorkerConfig) -> Worker:
        """Start a worker in a new session: Ctrl-C does not reach it, and it can be killed with its children."""
        temp_dir: Path | None = None
        try:
            temp_dir = None if config.temp_dir is None else _make_temp_dir(Path(config.temp_dir))
            environment = {**_SINGLE_THREAD, **os.environ, **({} if temp_dir is None else {"TMPDIR": str(temp_dir)})}
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", "keypose.server.workers.worker",
                stdin=PIPE, stdout=PIPE, limit=READ_BUFFER_BYTES, start_new_session=True, env=environment,
            )  # fmt: skip
        except OSError as error:
            await _remove_dir(temp_dir)
            raise WorkerError(f"a worker process cannot be started ({error.strerror})") from None
        worker = cls(process, temp_dir)
        try:
            async with asyncio.timeout(START_S):
                reply, _ = await worker.request(config.to_header())
                if "error" in reply:
                    details = ErrorDetails.model_validate(reply["error"])
                    problem = f"a worker process cannot open the library ({details.problem})"
                    raise WorkerError(problem, code=details.code) from KeyposeError(str(reply["message"]))
        except TimeoutError:
            await worker.stop()
            raise WorkerError("a worker process does not start") from None
        except BaseException:
            await worker.stop()
            raise
        return worker

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.returncode is None

    async def request(self, header: Header) -> tuple[Header, bytes | StoredBody]:
        """Send a message and return the reply; WorkerError if the process ends before."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if self._temp_dir is not None:
            with contextlib.suppress(OSError):  # the task reports it, if it matters
                make_private_dir(self._temp_dir)
        try:
            self._process.stdin.write(pack_header(header))
            await self._process.stdin.drain()
            reply, body = await read_async(self._process.stdout)
            return reply, body if "file" not in reply else self._open_result(str(reply["file"]))
        except (OSError, EOFError, WireError):
            with contextlib.suppress(TimeoutError):  # to get its exit code
                async with asyncio.timeout(EXIT_S):
                    await self._process.wait()
            self._kill()
            await self.stop()
            exit_code = self._process.returncode
            raise WorkerError(f"the worker process {describe_exit(exit_code)}", value=exit_code) from None

    def _open_result(self, name: str) -> StoredBody:
        if self._temp_dir is None or Path(name).name != name:
            raise WireError("a result outside of the folder of the worker")
        return StoredBody(self._temp_dir / name)

    async def stop(self) -> None:
        """Kill the process and remove its temporary files; it has ended when this returns."""
        if self.is_alive:
            self._kill()
        await self._process.wait()
        self._process._transport.close()  # type: ignore[attr-defined]  # closes its pipes: asyncio has no other way
        await _remove_dir(self._temp_dir)

    def _kill(self) -> None:
        """Kill the process and its children. Not for one that ended long ago: its id may have been reused."""
        with contextlib.suppress(
            ProcessLookupError, PermissionError
        ):  # macOS raises the latter for a process that has ended
            if hasattr(os, "killpg"):
                os.killpg(self.pid, signal.SIGKILL)
            else:  # Windows
                self._process.kill()


def _make_temp_dir(parent: Path) -> Path:
    make_private_dir(parent)
    return Path(tempfile.mkdtemp(prefix="worker-", dir=parent))


async def _remove_dir(path: Path | None) -> None:
    """Remove the temporary files of a worker that has ended."""
    for _ in range(MAX_CLEARS):
        if path is None or not path.exists():
            return
        await asyncio.to_thread(shutil.rmtree, path, ignore_errors=True)
        if path.exists():
            await asyncio.sleep(CLEAR_S)


class WireError(Exception):
    """Invalid message."""


def pack_header(header: Header, body: bytes = b"") -> bytes:
    """Return lengths and header of a message; the body follows."""
    text = json.dumps(header, separators=(",", ":")).encode()
    return _LENGTHS.pack(len(text), len(body)) + text


def write(stream: BinaryIO, header: Header, body: bytes = b"") -> None:
    """Send a message and flush."""
    stream.write(pack_header(header, body))
    stream.write(body)
    stream.flush()


def read(stream: BinaryIO) -> tuple[Header, bytes]:
    """Return the next message; EOFError at the end of the stream."""
    text, body = _parse_lengths(_read_exactly(stream, _LENGTHS.size))
    return _parse_header(_read_exactly(stream, text)), _read_exactly(stream, body)


async def read_async(stream: asyncio.StreamReader) -> tuple[Header, bytes]:
    """Return the next message without blocking the event loop."""
    text, body = _parse_lengths(await stream.readexactly(_LENGTHS.size))
    return _parse_header(await stream.readexactly(text)), await stream.readexactly(body)


def _read_exactly(stream: BinaryIO, count: int) -> bytes:
    data = stream.read(count)
    if len(data) < count:
        raise EOFError
    return data


def _parse_lengths(lengths: bytes) -> tuple[int, int]:
    text, body = _LENGTHS.unpack(lengths)
    if text > MAX_HEADER_BYTES or body > MAX_BODY_BYTES:
        raise WireError(f"a message of {text} and {format_count(body, 'byte')}")
    return text, body


def _parse_header(text: bytes) -> Header:
    try:
        header = json.loads(text)
    except ValueError:
        raise WireError("a message whose head is no JSON") from None
    if not isinstance(header, dict):
        raise WireError("a message whose head is no object")
    return header


def release_large_blocks() -> None:
    """Make free() return blocks of 1 MiB and more to the system.

    By default glibc raises that threshold to the largest block freed so far: then a few small blocks between large
    ones keep all of them allocated.
    """
    with contextlib.suppress(ImportError, OSError, AttributeError, TypeError):  # other systems have no such call
        import ctypes

        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
