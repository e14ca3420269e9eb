"""Map a function over clips in worker processes of this machine.

This is not a ``ProcessPoolExecutor``, which does not report the item of a dead worker and ends all workers, with their
items, when one dies. Here every worker has its own pipe and one item at a time. Therefore only the item of a dead
worker is lost, no item is queued before a worker is free, and a worker exits when its pipe is closed because the parent
has ended. Workers do not import the main module of their parent, as those of ``multiprocessing`` do: see
``_start_worker``.
"""

from __future__ import annotations

import atexit
import io
import itertools
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from multiprocessing import process, spawn
from multiprocessing.connection import Pipe, wait
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from keypose.batch.worker import Failure, Outcome, build_failure, run_item
from keypose.errors import KeyposeError, OptionError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from subprocess import Popen

__all__ = ["Failure", "Outcome", "default_jobs", "map_clips"]

Item = TypeVar("Item")
Result = TypeVar("Result")

CLIPS_PER_WORKER = 4  # starting a worker takes about as long as reading this many clips
STOP_S = 2.0  # time in which a worker may clean up before it is killed
MAX_FAILED_STARTS = 3  # in a row, before the map raises


def default_jobs(n_clips: int) -> int:
    """Return how many workers to start: one per core, fewer for few clips."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, n_clips // CLIPS_PER_WORKER))


def map_clips(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    jobs: int,
    *,
    on_start: Callable[[int], None] | None = None,
) -> Generator[Outcome[Result]]:
    """Yield the outcome of ``function`` for every item, computed in ``jobs`` processes, in order of completion.

    ``Outcome.index`` is the item's index in ``items``, which are consumed lazily. If an item fails or its worker dies,
    its outcome is a failure; the other items are processed. ``on_start`` is called with the index of each item before
    it is processed. One job or one item runs in this process. If the system allows fewer processes or open files than
    ``jobs`` need, the map uses fewer workers.

    Function and items must be picklable, and the function must be defined at the top level of a module that can be
    imported from ``sys.path``: a function of the main script raises an OptionError if it would run in other processes.
    To stop early, close the iterator (``contextlib.closing``); this ends all workers.
    """
    if jobs < 1:
        raise OptionError(option="jobs", value=jobs, expected="at least 1")
    numbered_items = enumerate(items)
    first_items = list(itertools.islice(numbered_items, 2))
    queue = itertools.chain(first_items, numbered_items)
    if jobs == 1 or len(first_items) < 2:
        return _map_in_process(function, queue, on_start)
    return _Pool(function, _pickle_function(function), queue, jobs, on_start).outcomes()


def _map_in_process(
    function: Callable[[Item], Result],
    queue: Iterable[tuple[int, Item]],
    on_start: Callable[[int], None] | None,
) -> Generator[Outcome[Result]]:
    for index, item in queue:
        if on_start:
            on_start(index)
        yield run_item(function, index, item)


def _pickle_function(function: Callable[..., Any]) -> bytes:
    try:
        return _pickle(function)
    except OptionError:
        raise
    except Exception as error:  # pickling may raise anything
        raise OptionError(
            f"{function!r} cannot be sent to other processes ({error})", expected="a function at the top of a module"
        ) from None


def _pickle(value: object) -> bytes:
    buffer = io.BytesIO()
    _Pickler(buffer).dump(value)
    return buffer.getvalue()


class _Pickler(pickle.Pickler):
    """Rejects objects that a worker cannot unpickle because it does not import the main script."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, type | FunctionType) and value.__module__ == "__main__":
            raise OptionError(
                f"{value.__qualname__} is defined in the main script, which worker processes do not import",
                expected="it in a module of its own, or jobs=1",
            )
        return NotImplemented


@dataclass(eq=False)
class _Worker:
    """A worker process, the parent's end of its pipe, and the index of its current item (None: idle or starting)."""

    process: Popen[bytes]
    pipe: Connection[Any, Any]
    is_ready: bool = False
    item_index: int | None = None
    started_at: float = 0.0


@dataclass(eq=False)
class _Pool(Generic[Item, Result]):
    function: Callable[[Item], Result]
    pickled_function: bytes
    queue: Iterator[tuple[int, Item]]
    n_workers: int
    on_start: Callable[[int], None] | None
    workers: list[_Worker] = field(default_factory=list)
    waiting_items: list[tuple[int, Item]] = field(default_factory=list)  # consumed from the queue, not yet sent
    n_failed_starts: int = 0

    def outcomes(self) -> Generator[Outcome[Result]]:
        atexit.register(self._stop)  # also if the iterator was not closed
        try:
            while True:
                while len(self.workers) < self.n_workers and self._has_more(n_waiting=self._count_idle()):
                    try:
                        # So that no worker is lost between its start and its entry in the list.
                        with block_interrupts():
                            self.workers.append(self._start_worker())
                    except OSError:
                        self._reduce_workers()
                        continue
                    with suppress(OSError):  # it died: the next wait() sees its pipe closed
                        self.workers[-1].pipe.send_bytes(self.pickled_function)
                if self.workers:
                    yield from self._next_outcomes()
                elif self.waiting_items:  # no worker can be started
                    yield from _map_in_process(
                        self.function, itertools.chain(self.waiting_items, self.queue), self.on_start
                    )
                    return
                else:
                    return
        finally:
            self._stop()
            atexit.unregister(self._stop)

    def _stop(self) -> None:
        """End all workers: terminate them first, so that they remove unfinished files, then kill them."""
        try:
            for worker in self.workers:
                worker.process.terminate()
            deadline = time.monotonic() + STOP_S
            for worker in self.workers:
                _wait_or_kill(worker, deadline)
        finally:  # also after a second Ctrl-C
            for worker in self.workers:
                worker.process.kill()
                worker.process.wait()
                worker.pipe.close()
            self.workers.clear()

    def _count_idle(self) -> int:
        return sum(worker.item_index is None for worker in self.workers)

    def _has_more(self, *, n_waiting: int) -> bool:
        """Return whether there are more items than ``n_waiting`` workers need."""
        while len(self.waiting_items) <= n_waiting:
            next_item = next(self.queue, None)
            if next_item is None:
                return False
            self.waiting_items.append(next_item)
        return True

    def _reduce_workers(self) -> None:
        """Continue with the existing workers, as the system allows no more processes or open files.

        The newest one is released if there are others, so that this process can still open files.
        """
        if len(self.workers) > 1 and self.workers[-1].item_index is None:
            self._release(self.workers[-1])
        self.n_workers = len(self.workers)

    def _start_worker(self) -> _Worker:
        """Start an interpreter that runs ``worker.main`` with the ``sys.path`` of this one."""
        import subprocess  # not at the top of the module, because workers import it and start no processes

        # "" means the folder in which Python was started, as for multiprocessing; the current folder may be another
        # one. Imports ignore anything but texts, such as a Path.
        folders = [folder for folder in sys.path if isinstance(folder, str)]
        path = [folder or process.ORIGINAL_DIR for folder in folders]  # type: ignore[attr-defined]
        parent_pipe, worker_pipe = Pipe()
        handle = worker_pipe.fileno()
        code = f"import sys; sys.path[:] = {path!a}; from keypose.batch.worker import main; main({handle})"
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]  # -O, -W, -X: as multiprocessing
        inherit: dict[str, Any]
        if sys.platform == "win32":
            os.set_handle_inheritable(handle, True)
            inherit = {"startupinfo": subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]})}
        else:
            inherit = {"pass_fds": (handle,)}
        command = [spawn.get_executable(), *flags, "-c", code]
        try:
            return _Worker(subprocess.Popen(command, stdin=subprocess.DEVNULL, **inherit), parent_pipe)
        except OSError:
            parent_pipe.close()
            raise
        finally:
            worker_pipe.close()

    def _next_outcomes(self) -> Iterator[Outcome[Result]]:
        """Wait for messages from workers, yield their outcomes and send them the next items."""
        readable_pipes = wait([worker.pipe for worker in self.workers])
        for worker in [w for w in self.workers if w.pipe in readable_pipes]:
            try:
                message = worker.pipe.recv_bytes()
            except (EOFError, OSError):
                outcome = self._remove_dead(worker)
            else:
                outcome = self._parse_message(worker, message)
                worker.is_ready, worker.item_index, self.n_failed_starts = True, None, 0
                yield from self._send_next(worker)
            if outcome is not None:
                yield outcome

    def _parse_message(self, worker: _Worker, message: bytes) -> Outcome[Result] | None:
        """Return the outcome that a worker sent; None if the message is only that it is ready."""
        if worker.item_index is None:
            return None
        try:
            outcome: Outcome[Result] = pickle.loads(message)
        except Exception as error:  # the unpickling of a result may raise anything
            outcome = Outcome(worker.item_index, failure=build_failure(error))
        return replace(outcome, index=worker.item_index)

    def _send_next(self, worker: _Worker) -> Iterator[Outcome[Result]]:
        """Send a worker the next item, or release it; yield a failure for each item that cannot be sent."""
        while self._has_more(n_waiting=0):
            index, item = self.waiting_items.pop(0)
            if self.on_start:
                self.on_start(index)
            try:
                message = _pickle(item)
            except Exception as error:  # the pickling of an item may raise anything
                yield Outcome(index, failure=build_failure(error))
                continue
            worker.item_index, worker.started_at = index, time.perf_counter()
            with suppress(OSError):  # it died: the next wait() sees its pipe closed
                worker.pipe.send_bytes(message)
            return
        self._release(worker)

    def _release(self, worker: _Worker) -> None:
        """Close a worker's pipe, which ends it, and kill it if it does not exit in time."""
        worker.pipe.close()
        _wait_or_kill(worker, time.monotonic() + STOP_S)
        self.workers.remove(worker)

    def _remove_dead(self, worker: _Worker) -> Outcome[Result] | None:
        """Remove a dead worker; return the failure of its item, if it had one."""
        self._release(worker)
        reason = describe_exit(worker.process.returncode)
        if worker.item_index is None:
            self.n_failed_starts += not worker.is_ready
            if self.n_failed_starts >= MAX_FAILED_STARTS:
                raise KeyposeError(
                    f"worker processes cannot start ({reason})", hint="see their error output", code="worker"
                )
            return None
        seconds = time.perf_counter() - worker.started_at
        return Outcome(
            worker.item_index, failure=Failure("crash", f"the process that worked on it {reason}"), seconds=seconds
        )


def _wait_or_kill(worker: _Worker, deadline: float) -> None:
    """Wait until a worker has ended; kill it at ``deadline`` (of ``time.monotonic``)."""
    from subprocess import TimeoutExpired

    try:
        worker.process.wait(max(0.0, deadline - time.monotonic()))
    except TimeoutExpired:
        worker.process.kill()
        worker.process.wait()


def describe_exit(exit_code: int | None) -> str:
    """Return how a process ended, from its exit code (negative: a signal)."""
    if exit_code is not None and exit_code < 0:
        try:
            name = signal.Signals(-exit_code).name
        except ValueError:
            name = f"signal {-exit_code}"
        memory = ", possibly out of memory" if name == "SIGKILL" else ""
        return f"was ended by {name}{memory}"
    return f"ended with exit code {exit_code}"


@contextmanager
def block_interrupts() -> Iterator[None]:
    """Block SIGINT, so that a starting process does not print a traceback on Ctrl-C, which is sent to the whole group.

    The new process inherits the blocked signal, and unblocks it once it has set its handler.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)
