"""One map over clips, on the processes of this machine.

A pool of our own rather than ``ProcessPoolExecutor``: that one cannot tell which item a dead worker held,
and when one worker dies it ends all of them, with the work they had in hand. Here every worker has its own
pipe and holds one item at a time. So a death costs exactly that item; nothing is queued that nobody works
on; and a worker whose parent is gone sees its pipe close and leaves.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import pickle
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Generic, TypeVar

from keypose.batch.processes import how_it_ended, interrupt_held_back
from keypose.batch.worker import Failure, Outcome, attempt, failure_of, serve
from keypose.errors import KeyposeError, OptionError

__all__ = ["Failure", "Outcome", "default_jobs", "map_clips"]

Item = TypeVar("Item")
Result = TypeVar("Result")

CLIPS_PER_WORKER = 4  # a worker takes about as long to start as so many ordinary clips take to read
STOP_S = 2.0  # a worker that was told to stop has this long to clean up
FAILED_STARTS = 3  # in a row, before the whole map is given up

_SPAWN = multiprocessing.get_context("spawn")


def default_jobs(clips: int) -> int:
    """How many workers are worth starting: one for each core, fewer for a few clips."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, clips // CLIPS_PER_WORKER))


def map_clips(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    jobs: int,
    *,
    on_start: Callable[[int], None] | None = None,
) -> Generator[Outcome[Result]]:
    """``function`` of every item, in ``jobs`` processes; outcomes come as they are completed.

    ``Outcome.index`` is the item's place in ``items``, which are drawn only as they are needed. An item
    that fails, or whose worker dies, has an outcome that says so; the others go on. ``on_start`` is told the
    index of each item as work on it begins. With one job, or one item, all happens in this process; where the
    system gives fewer processes or open files than ``jobs`` need, as many as it gives do the work.

    Function and items must be picklable, so the function stands at the top of an importable module. To
    stop early, close the iterator (``contextlib.closing``): no worker outlives it.
    """
    if jobs < 1:
        raise OptionError(f"{jobs} jobs, expected at least 1")
    numbered = enumerate(items)
    first = list(itertools.islice(numbered, 2))
    queue = itertools.chain(first, numbered)
    if jobs == 1 or len(first) < 2:
        return _map_here(function, queue, on_start)
    return _Pool(function, queue, jobs, on_start).outcomes()


def _map_here(
    function: Callable[[Item], Result],
    queue: Iterable[tuple[int, Item]],
    on_start: Callable[[int], None] | None,
) -> Generator[Outcome[Result]]:
    for index, item in queue:
        if on_start:
            on_start(index)
        yield attempt(function, index, item)


@dataclass(eq=False)
class _Worker:
    """A process, our end of its pipe, and the index of the item that it holds."""

    process: SpawnProcess
    pipe: Connection[Any, Any]
    ready: bool = False
    holds: int | None = None
    since: float = 0.0


@dataclass(eq=False)
class _Pool(Generic[Item, Result]):
    function: Callable[[Item], Result]
    queue: Iterator[tuple[int, Item]]
    jobs: int
    on_start: Callable[[int], None] | None
    workers: list[_Worker] = field(default_factory=list)
    drawn: list[tuple[int, Item]] = field(default_factory=list)  # for workers that wait or are starting
    failed_starts: int = 0

    def outcomes(self) -> Generator[Outcome[Result]]:
        try:
            while True:
                while len(self.workers) < self.jobs and self._more(waiting=self._idle_or_starting()):
                    try:
                        self.workers.append(self._start())
                    except OSError:
                        self._make_do()
                if self.workers:
                    yield from self._next_outcomes()
                elif self.drawn:  # not one worker can be had
                    yield from _map_here(self.function, itertools.chain(self.drawn, self.queue), self.on_start)
                    return
                else:
                    return
        finally:
            _stop(self.workers)

    def _idle_or_starting(self) -> int:
        return sum(worker.holds is None for worker in self.workers)

    def _more(self, *, waiting: int) -> bool:
        """Whether there are more items than the workers that wait for one."""
        while len(self.drawn) <= waiting:
            following = next(self.queue, None)
            if following is None:
                return False
            self.drawn.append(following)
        return True

    def _make_do(self) -> None:
        """Goes on with the workers that there are: this machine gives no more processes or open files.

        The newest has to go where others remain, so that this process can still open a file of its own.
        """
        if len(self.workers) > 1 and self.workers[-1].holds is None:
            self._let_go(self.workers[-1])
        self.jobs = len(self.workers)

    def _start(self) -> _Worker:
        ours, theirs = _SPAWN.Pipe()
        process = _SPAWN.Process(target=serve, args=(theirs, self.function), name="keypose-worker", daemon=True)
        try:
            with interrupt_held_back():
                process.start()
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            ours.close()
            raise OptionError(f"{self.function!r} cannot be sent to other processes ({error}), "
                              f"expected a function at the top of a module") from None  # fmt: skip
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        return _Worker(process, ours)

    def _next_outcomes(self) -> Iterator[Outcome[Result]]:
        """Waits until some workers have something to say, and gives those that can the next item."""
        speaking = wait([worker.pipe for worker in self.workers])
        for worker in [w for w in self.workers if w.pipe in speaking]:
            try:
                message = worker.pipe.recv_bytes()
            except (EOFError, OSError):
                outcome = self._bury(worker)
            else:
                outcome = self._completed(worker, message)
                worker.ready, worker.holds, self.failed_starts = True, None, 0
                yield from self._feed(worker)
            if outcome is not None:
                yield outcome

    def _completed(self, worker: _Worker, message: bytes) -> Outcome[Result] | None:
        """What a worker sent: that it is ready (nothing to tell), or an outcome."""
        if worker.holds is None:
            return None
        try:
            outcome: Outcome[Result] = pickle.loads(message)
        except Exception as error:  # whatever a result's own unpickling may raise
            outcome = Outcome(worker.holds, failure=failure_of(error))
        return replace(outcome, index=worker.holds)

    def _feed(self, worker: _Worker) -> Iterator[Outcome[Result]]:
        """Gives a worker the next item, or lets it go; items that cannot be sent have failed."""
        while self._more(waiting=0):
            index, item = self.drawn.pop(0)
            if self.on_start:
                self.on_start(index)
            try:
                message = pickle.dumps(item)
            except Exception as error:  # whatever an item's own pickling may raise
                yield Outcome(index, failure=failure_of(error))
                continue
            worker.holds, worker.since = index, time.perf_counter()
            with suppress(OSError):  # it just died: the next wait() sees its pipe closed
                worker.pipe.send_bytes(message)
            return
        self._let_go(worker)

    def _let_go(self, worker: _Worker) -> None:
        """Parts with a worker that leaves by itself; one that closed its pipe and stays is ended."""
        worker.pipe.close()
        worker.process.join(STOP_S)
        worker.process.kill()
        worker.process.join()
        self.workers.remove(worker)

    def _bury(self, worker: _Worker) -> Outcome[Result] | None:
        """Removes a worker that died; its item, if it held one, has failed."""
        self._let_go(worker)
        how = how_it_ended(worker.process.exitcode)
        if worker.holds is None:
            self.failed_starts += not worker.ready
            if self.failed_starts >= FAILED_STARTS:
                raise KeyposeError(
                    f"worker processes cannot start ({how}); a script that uses several jobs must "
                    f"begin its work under: if __name__ == '__main__':"
                )
            return None
        seconds = time.perf_counter() - worker.since
        return Outcome(worker.holds, failure=Failure("crash", f"the process that worked on it {how}"), seconds=seconds)


def _stop(workers: list[_Worker]) -> None:
    """Ends all workers: asks them first, so that they remove what they have half done."""
    try:
        for worker in workers:
            worker.process.terminate()
        deadline = time.monotonic() + STOP_S
        for worker in workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))
    finally:  # also when Ctrl-C comes a second time
        for worker in workers:
            worker.process.kill()
            worker.process.join()
            worker.pipe.close()
        workers.clear()
