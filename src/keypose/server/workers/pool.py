"""Pool of workers: requests about one clip go to the same worker, which has its motion in memory, or its neighbour.

Light tasks never wait for heavy ones, as some workers stay free for them (``TaskWeight``). Waiting tasks take turns by
clip and kind: many exports of one clip delay those of another one by one at most.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from keypose.errors import KeyposeError
from keypose.server.error_responses import OUTAGE_CODES, TaskError, TooManyRequests, WorkerError
from keypose.server.schema import ErrorDetails
from keypose.server.workers.process import Header, StoredBody, Worker, WorkerConfig
from keypose.server.workers.worker_context import TaskResult

logger = logging.getLogger("keypose.server")

AFFINITY_WAIT_S = 0.25  # a request waits this long for the worker that has its clip; then any other may take it
RESTART_S, MAX_RESTART_S = 1.0, 30.0  # between failing starts, doubled each time
MAX_WAITING = 128
BUFFER_WAIT_S = 5.0  # a request waits this long for memory for its response
BUFFER_POLL_S = 0.05  # between two checks of that


class TaskWeight(IntEnum):
    """How long a task may take; also the number of workers that stay free for lighter tasks, if there are enough."""

    LIGHT = 0  # the data of a page
    MEDIUM = 1  # an edit, curves
    HEAVY = 2  # an export, a comparison


@dataclass(frozen=True)
class QueueLength:
    """Tasks of one weight, or heavier."""

    running: int
    waiting: int


@dataclass(eq=False)
class _Job:
    task: str
    clip_hash: str
    home_slot: int  # of the worker that has the clip
    payload: dict[str, Any]
    timeout_s: float
    weight: TaskWeight
    turn: int  # jobs with smaller numbers start first
    result: asyncio.Future[TaskResult]
    queued_at: float = field(default_factory=time.monotonic)


class Workers:
    """``n_workers`` processes, each with at most ``timeout_s`` for a task and ``config.memory_bytes`` of memory.

    A worker that takes longer, or crashes, is replaced, and its request raises WorkerError. A cancelled request is
    removed from the queue; if it is running, it has ``grace_s`` to finish.
    """

    def __init__(
        self,
        config: WorkerConfig,
        n_workers: int,
        *,
        timeout_s: float,
        grace_s: float = 5.0,
        max_waiting: int = MAX_WAITING,
        affinity_wait_s: float = AFFINITY_WAIT_S,
        has_buffer_space: Callable[[], bool] = lambda: True,
    ) -> None:
        self.config = config
        self.n_workers = n_workers
        self.timeout_s = timeout_s
        self.grace_s = grace_s
        self.max_waiting = max_waiting
        self.affinity_wait_s = affinity_wait_s  # 0: any worker serves any clip as well
        self.has_buffer_space = has_buffer_space  # for another response
        self._queue: list[_Job] = []
        self._running: list[_Job] = []
        self._last_turn = 0  # that was given to a job
        self._changed = asyncio.Event()  # a job was added or has ended, or a slot has failed
        self._failed_slots: dict[int, str] = {}  # whose process could not be started, with the messages
        self._slot_tasks: list[asyncio.Task[None]] = []
        self._workers: dict[int, Worker] = {}

    async def start(self) -> None:
        """Begin to start the processes; requests are accepted at once."""
        self._slot_tasks = [
            asyncio.create_task(self._run_slot(slot), name=f"worker {slot}") for slot in range(self.n_workers)
        ]

    async def stop(self) -> None:
        """Kill all processes; they have ended when this returns."""
        for slot_task in self._slot_tasks:
            slot_task.cancel()
        await asyncio.gather(*self._slot_tasks, return_exceptions=True)
        for job in self._queue:
            job.result.cancel()
        self._queue.clear()

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the living workers."""
        return tuple(worker.pid for worker in self._workers.values() if worker.is_alive)

    def queue_length(self, min_weight: TaskWeight = TaskWeight.LIGHT) -> QueueLength:
        """Return the numbers of tasks of ``min_weight`` or more."""
        running, waiting = (sum(job.weight >= min_weight for job in jobs) for jobs in (self._running, self._queue))
        return QueueLength(running, waiting)

    async def run(
        self,
        task: str,
        clip_hash: str,
        payload: dict[str, Any],
        timeout_s: float | None = None,
        *,
        weight: TaskWeight = TaskWeight.LIGHT,
        uses_neighbour: bool = False,
    ) -> TaskResult:
        """Return the result of a task about a clip; with ``uses_neighbour`` from the neighbour of the clip's worker."""
        n_waiting = sum(job.weight == weight for job in self._queue)  # heavy tasks leave places to lighter ones
        if n_waiting >= self.max_waiting:
            raise TooManyRequests(f"{n_waiting} requests are waiting already")
        job = _Job(
            task,
            clip_hash,
            (int(clip_hash[:8], 16) + uses_neighbour) % self.n_workers,
            payload,
            self.timeout_s if timeout_s is None else timeout_s,
            weight,
            self._next_turn(),
            asyncio.get_running_loop().create_future(),
        )
        self._queue.append(job)
        self._changed.set()
        try:
            return await job.result
        finally:
            if job in self._queue:
                self._queue.remove(job)

    def _next_turn(self) -> int:
        self._last_turn += 1
        return self._last_turn

    def _move_back(self, job: _Job) -> None:
        """Let the waiting jobs of the same clip and kind start after all others that are waiting now."""
        turn = self._next_turn()
        for each in self._queue:
            if (each.clip_hash, each.task) == (job.clip_hash, job.task):
                each.turn = turn

    async def _run_slot(self, slot: int) -> None:
        """Run jobs on the worker of a slot, which is restarted whenever it has ended."""
        worker: Worker | None = None
        pause_s = RESTART_S
        try:
            while True:
                try:
                    if worker is not None and not worker.is_alive:
                        await worker.stop()
                        worker = None
                    if worker is None:
                        self._workers[slot] = worker = await Worker.start(self.config)
                        self._failed_slots.pop(slot, None)
                        pause_s = RESTART_S
                except WorkerError as error:
                    await self._pause_slot(slot, error, pause_s)
                    pause_s = min(2 * pause_s, MAX_RESTART_S)
                    continue
                job = await self._next_job(slot)
                try:
                    if worker.is_alive:
                        await self._run_job(worker, job)
                        self._move_back(job)
                    else:  # it died while idle
                        self._queue.insert(0, job)
                finally:
                    self._running.remove(job)
                    del job  # and with it the result, while this waits for the next one
                    self._changed.set()
        finally:
            if worker is not None:
                await worker.stop()

    async def _pause_slot(self, slot: int, error: WorkerError, duration_s: float) -> None:
        """Leave the jobs of a slot whose process cannot be started to others; if all fail, fail the jobs."""
        is_logged = str(error) in self._failed_slots.values()  # once, not for each slot and attempt
        if not is_logged and error.code not in OUTAGE_CODES:
            logger.error("%s%s", error, "" if error.__cause__ is None else f": {error.__cause__}")
        self._failed_slots[slot] = str(error)
        self._changed.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(duration_s):
                while True:
                    if len(self._failed_slots) == self.n_workers:
                        while self._queue:
                            _set_outcome(self._queue.pop(0), error)
                    self._changed.clear()
                    await self._changed.wait()

    async def _next_job(self, slot: int) -> _Job:
        """Return the next job for a slot: of its own clips, or one that has waited too long for another worker."""
        while True:
            now = time.monotonic()
            jobs = [job for job in self._queue if self._can_start(job)]
            waits_s = [self._affinity_wait_s(job, slot, now) for job in jobs]
            ready = [job for job, wait_s in zip(jobs, waits_s, strict=True) if wait_s <= 0]
            if ready:
                job = min(ready, key=lambda job: job.turn)  # the first of equals
                self._queue.remove(job)
                self._running.append(job)
                self._move_back(job)
                return job
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(waits_s, default=None)):
                    await self._changed.wait()

    def _can_start(self, job: _Job) -> bool:
        """Return whether enough workers remain for lighter tasks; one worker runs all of them."""
        return all(
            sum(each.weight >= weight for each in self._running) < max(1, self.n_workers - weight)
            for weight in TaskWeight
            if 0 < weight <= job.weight
        )

    def _affinity_wait_s(self, job: _Job, slot: int, now: float) -> float:
        """Return how long a job still waits for the worker of its clip before ``slot`` may run it."""
        if job.home_slot == slot or job.home_slot in self._failed_slots:
            return 0.0
        return job.queued_at + self.affinity_wait_s - now

    async def _wait_for_buffer_space(self, job: _Job) -> bool:
        """Wait for memory for the response of a job; fail the job and return False after BUFFER_WAIT_S."""
        while not self.has_buffer_space():
            if time.monotonic() - job.queued_at > BUFFER_WAIT_S or job.result.done():
                _set_outcome(job, TooManyRequests("too many responses are waiting to be read"))
                return False
            await asyncio.sleep(BUFFER_POLL_S)
        return True

    async def _run_job(self, worker: Worker, job: _Job) -> None:
        try:
            if await self._wait_for_buffer_space(job):
                await self._send_job(worker, job)
        except asyncio.CancelledError:  # the server stops
            _set_outcome(job, WorkerError("the server is stopping"))
            raise

    async def _send_job(self, worker: Worker, job: _Job) -> None:
        reply_task = asyncio.create_task(worker.request({"task": job.task, "payload": job.payload}))
        try:
            either: set[asyncio.Future[Any]] = {reply_task, job.result}
            await asyncio.wait(either, timeout=job.timeout_s, return_when=asyncio.FIRST_COMPLETED)
            if job.result.done() and not reply_task.done():  # cancelled by the client
                await asyncio.wait({reply_task}, timeout=self.grace_s)
            if reply_task.done():
                _set_outcome(job, _read_reply(reply_task))
            else:
                await worker.stop()
                _set_outcome(
                    job,
                    WorkerError(f"the request took longer than {job.timeout_s:g} s and was stopped", code="timeout"),
                )
        finally:
            reply_task.cancel()
            await asyncio.gather(reply_task, return_exceptions=True)


def _read_reply(reply_task: asyncio.Task[tuple[Header, bytes | StoredBody]]) -> TaskResult | Exception:
    try:
        header, body = reply_task.result()
        if "error" not in header:
            return TaskResult(body, str(header["media_type"]), dict(header["headers"]))
        details = ErrorDetails.model_validate(header["error"])
        if header.get("traceback"):
            logger.error("a worker failed:\n%s", header["traceback"])
        task_error = TaskError(details)
        task_error.__cause__ = KeyposeError(header["message"]) if header["message"] else None
        return task_error
    except WorkerError as error:
        return error


def _set_outcome(job: _Job, outcome: TaskResult | Exception) -> None:
    if job.result.done():
        return
    if isinstance(outcome, Exception):
        job.result.set_exception(outcome)
    else:
        job.result.set_result(outcome)
