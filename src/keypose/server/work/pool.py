"""Requests for workers: those about one clip go to the same one, which has its motion in memory, or its neighbour."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from keypose.server.failing import TaskError, TooMuchAsked, WorkerError
from keypose.server.schema.base import Problem
from keypose.server.work.desk import Answer
from keypose.server.work.process import How, Worker
from keypose.server.work.wire import Head

logger = logging.getLogger("keypose.server")

PATIENCE_S = 0.25  # a request waits so long for the worker that knows its clip; then any other may take it
RESTART_S, LONGEST_RESTART_S = 1.0, 30.0  # between two starts that fail, longer each time
MOST_WAITING = 128
ROOM_S = 5.0  # a request waits so long while there is no room for its answer
LOOK_S = 0.05  # between two looks whether there is


@dataclass(eq=False)
class _Job:
    task: str
    home: int  # the place of the worker that knows the clip
    told: dict[str, Any]
    time_s: float
    answer: asyncio.Future[Answer]
    since: float = field(default_factory=time.monotonic)


class Workers:
    """``n`` processes, each with at most ``time_s`` seconds for a task and ``memory_bytes`` of memory.

    One that takes longer, or dies, is ended and replaced, and its request answers WorkerError. A request that nobody
    waits for any more is dropped from the queue; where it is worked on, it has ``grace_s`` to finish.
    """

    def __init__(
        self,
        how: How,
        n: int,
        *,
        time_s: float,
        grace_s: float = 5.0,
        most_waiting: int = MOST_WAITING,
        patience_s: float = PATIENCE_S,
        has_room: Callable[[], bool] = lambda: True,
    ) -> None:
        self.how = how
        self.n = n
        self.time_s = time_s
        self.grace_s = grace_s
        self.most_waiting = most_waiting
        self.patience_s = patience_s  # 0: all know as much about every clip
        self.has_room = has_room  # for another answer
        self._waiting: list[_Job] = []
        self._news = asyncio.Event()
        self._places: list[asyncio.Task[None]] = []
        self._workers: dict[int, Worker] = {}

    async def start(self) -> None:
        """Begins to start the processes; requests may come at once."""
        self._places = [asyncio.create_task(self._keep(place), name=f"worker {place}") for place in range(self.n)]

    async def stop(self) -> None:
        """Ends all processes; they are gone when this returns."""
        for place in self._places:
            place.cancel()
        await asyncio.gather(*self._places, return_exceptions=True)
        for job in self._waiting:
            job.answer.cancel()
        self._waiting.clear()

    @property
    def pids(self) -> tuple[int, ...]:
        """Of the processes that are there now."""
        return tuple(worker.pid for worker in self._workers.values() if worker.is_alive)

    async def run(
        self, task: str, clip_hash: str, told: dict[str, Any], time_s: float | None = None, *, aside: bool = False
    ) -> Answer:
        """The answer of a task about a clip; one that takes long goes ``aside``, so that quick ones need not wait."""
        if len(self._waiting) >= self.most_waiting:
            raise TooMuchAsked(f"{len(self._waiting)} requests are waiting already")
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        home = (int(clip_hash[:8], 16) + aside) % self.n
        job = _Job(task, home, told, self.time_s if time_s is None else time_s, future)
        self._waiting.append(job)
        self._news.set()
        try:
            return await future
        finally:
            if job in self._waiting:
                self._waiting.remove(job)

    async def _keep(self, place: int) -> None:
        """One place among the workers: there is always a process, or soon a new one."""
        worker: Worker | None = None
        pause_s = RESTART_S
        try:
            while True:
                try:
                    if worker is not None and not worker.is_alive:
                        await worker.end()
                        worker = None
                    if worker is None:
                        self._workers[place] = worker = await Worker.start(self.how)
                        pause_s = RESTART_S
                except WorkerError as error:
                    await self._fail_all(place, error, pause_s)
                    pause_s = min(2 * pause_s, LONGEST_RESTART_S)
                    continue
                job = await self._next(place)
                if worker.is_alive:
                    await self._do(worker, job)
                else:  # it died while it had nothing to do
                    self._waiting.insert(0, job)
        finally:
            if worker is not None:
                await worker.end()

    async def _fail_all(self, place: int, error: WorkerError, for_s: float) -> None:
        """No process can be had: whoever waits for one meanwhile is told."""
        logger.error("%s", error)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(for_s):
                while True:
                    _settle(await self._next(place), error)

    async def _next(self, place: int) -> _Job:
        """The next request for a place: of its own clips, or one that has waited too long for another."""
        while True:
            now = time.monotonic()
            for job in self._waiting:
                if job.home == place or now - job.since >= self.patience_s:
                    self._waiting.remove(job)
                    return job
            self._news.clear()
            left_s = min((job.since + self.patience_s - now for job in self._waiting), default=None)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left_s):
                    await self._news.wait()

    async def _is_room(self, job: _Job) -> bool:
        """Whether its answer can be held until somebody has read it; waited for, but not for long."""
        while not self.has_room():
            if time.monotonic() - job.since > ROOM_S or job.answer.done():
                _settle(job, TooMuchAsked("too many answers have not been read yet"))
                return False
            await asyncio.sleep(LOOK_S)
        return True

    async def _do(self, worker: Worker, job: _Job) -> None:
        try:
            if await self._is_room(job):
                await self._ask(worker, job)
        except asyncio.CancelledError:  # the server stops
            _settle(job, WorkerError("the server is stopping"))
            raise

    async def _ask(self, worker: Worker, job: _Job) -> None:
        asked = asyncio.create_task(worker.ask({"task": job.task, "told": job.told}))
        try:
            either: set[asyncio.Future[Any]] = {asked, job.answer}
            await asyncio.wait(either, timeout=job.time_s, return_when=asyncio.FIRST_COMPLETED)
            if job.answer.done() and not asked.done():  # nobody waits for it any more
                await asyncio.wait({asked}, timeout=self.grace_s)
            if asked.done():
                _settle(job, _heard(asked))
            else:
                await worker.end()
                _settle(job, WorkerError(f"it took longer than {job.time_s:g} s and was ended"))
        finally:
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)


def _heard(asked: asyncio.Task[tuple[Head, bytes]]) -> Answer | Exception:
    try:
        head, body = asked.result()
        if "error" not in head:
            return Answer(body, str(head["media_type"]), dict(head["headers"]))
        problem = Problem.model_validate(head["error"])
        if head.get("bug"):
            logger.error("a worker failed:\n%s", head["bug"])
        return TaskError(problem)
    except WorkerError as error:
        return error


def _settle(job: _Job, outcome: Answer | Exception) -> None:
    if job.answer.done():
        return
    if isinstance(outcome, Exception):
        job.answer.set_exception(outcome)
    else:
        job.answer.set_result(outcome)
