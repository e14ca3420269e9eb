"""Pool of workers: requests about one clip go to the same worker, which has its motion in memory, or its neighbour."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from keypose.server.error_responses import TaskError, TooManyRequests, WorkerError
from keypose.server.schema import ErrorDetails
from keypose.server.workers.process import Header, Worker, WorkerConfig
from keypose.server.workers.worker_context import TaskResult

logger = logging.getLogger("keypose.server")

AFFINITY_WAIT_S = 0.25  # a request waits this long for the worker that has its clip; then any other may take it
RESTART_S, MAX_RESTART_S = 1.0, 30.0  # between failing starts, doubled each time
MAX_WAITING = 128
BUFFER_WAIT_S = 5.0  # a request waits this long for memory for its response
BUFFER_POLL_S = 0.05  # between two checks of that


@dataclass(eq=False)
class _Job:
    task: str
    home_slot: int  # of the worker that has the clip
    payload: dict[str, Any]
    timeout_s: float
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
        self._job_added = asyncio.Event()
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

    async def run(
        self,
        task: str,
        clip_hash: str,
        payload: dict[str, Any],
        timeout_s: float | None = None,
        *,
        is_slow: bool = False,
    ) -> TaskResult:
        """Return the result of a task about a clip; one that ``is_slow`` goes to the neighbour of the clip's worker."""
        if len(self._queue) >= self.max_waiting:
            raise TooManyRequests(f"{len(self._queue)} requests are waiting already")
        future: asyncio.Future[TaskResult] = asyncio.get_running_loop().create_future()
        home_slot = (int(clip_hash[:8], 16) + is_slow) % self.n_workers
        job = _Job(task, home_slot, payload, self.timeout_s if timeout_s is None else timeout_s, future)
        self._queue.append(job)
        self._job_added.set()
        try:
            return await future
        finally:
            if job in self._queue:
                self._queue.remove(job)

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
                        pause_s = RESTART_S
                except WorkerError as error:
                    await self._fail_all(slot, error, pause_s)
                    pause_s = min(2 * pause_s, MAX_RESTART_S)
                    continue
                job = await self._next_job(slot)
                if worker.is_alive:
                    await self._run_job(worker, job)
                else:  # it died while idle
                    self._queue.insert(0, job)
        finally:
            if worker is not None:
                await worker.stop()

    async def _fail_all(self, slot: int, error: WorkerError, duration_s: float) -> None:
        """Fail the jobs of a slot for ``duration_s``, because no process can be started."""
        logger.error("%s", error)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(duration_s):
                while True:
                    _set_outcome(await self._next_job(slot), error)

    async def _next_job(self, slot: int) -> _Job:
        """Return the next job for a slot: of its own clips, or one that has waited too long for another worker."""
        while True:
            now = time.monotonic()
            for job in self._queue:
                if job.home_slot == slot or now - job.queued_at >= self.affinity_wait_s:
                    self._queue.remove(job)
                    return job
            self._job_added.clear()
            wait_s = min((job.queued_at + self.affinity_wait_s - now for job in self._queue), default=None)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._job_added.wait()

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


def _read_reply(reply_task: asyncio.Task[tuple[Header, bytes]]) -> TaskResult | Exception:
    try:
        header, body = reply_task.result()
        if "error" not in header:
            return TaskResult(body, str(header["media_type"]), dict(header["headers"]))
        details = ErrorDetails.model_validate(header["error"])
        if header.get("traceback"):
            logger.error("a worker failed:\n%s", header["traceback"])
        return TaskError(details)
    except WorkerError as error:
        return error


def _set_outcome(job: _Job, outcome: TaskResult | Exception) -> None:
    if job.result.done():
        return
    if isinstance(outcome, Exception):
        job.result.set_exception(outcome)
    else:
        job.result.set_result(outcome)
