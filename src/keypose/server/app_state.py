"""State of a running server: its library, worker processes, and threads for database access."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from pathlib import Path, PurePath
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

import anyio.to_thread
from anyio import CapacityLimiter
from fastapi import Depends, Request
from starlette.responses import Response, StreamingResponse

from keypose.errors import KeyposeError
from keypose.library.library import Library
from keypose.library.records import Clip
from keypose.server import http_protocol
from keypose.server.error_responses import OUTAGE_CODES, DiskFull, describe_for_log
from keypose.server.settings import Settings
from keypose.server.static_files import FILES
from keypose.server.temp_dirs import TempDir, temp_dir
from keypose.server.workers.pool import TaskWeight, Workers
from keypose.server.workers.process import CLIP_TASKS, SEARCH_TASKS, UPLOAD_TASKS, WorkerConfig, total_stored_bytes
from keypose.server.workers.worker_context import TaskResult, find_clip

logger = logging.getLogger("keypose.server")

MAX_READS = 8  # concurrent; the library has somewhat more connections
NICENESS = 10  # of the processes that analyse uploads
DIR_PREFIX = "keypose-uploads-"  # of the names of our temporary folders
MAX_STORED_BYTES = 2 << 30  # of large responses on disk that were not sent yet
RETRY_S = 15.0  # from the beginning of an outage of the database
MIN_RETRY_DELAY_S = 0.1  # doubled each time
OUTAGE_END_S = 30.0  # without a failure, after which the next one is another outage
TRASH_INTERVAL_S = 6 * 3600.0  # between two deletions of old clips from the trash

Result = TypeVar("Result")


def has_buffer_space() -> bool:
    """Return whether there is memory and disk space for another response."""
    return http_protocol.has_buffer_space() and total_stored_bytes() < MAX_STORED_BYTES


class ClientDisconnected(Exception):  # noqa: N818 - not an error
    """The client does not wait for the response any more."""


class Outage:
    """Times in which the database of the library does not answer, as when its server restarts: one line of the log."""

    def __init__(self) -> None:
        self._first_failed_at: float | None = None  # since something succeeded
        self._last_failed_at = -math.inf

    async def retry(self, attempt: Callable[[], Awaitable[Result]], *, is_write: bool = False) -> Result:
        """Return the result of ``attempt``, repeated in the first RETRY_S of an outage.

        A write is not repeated if its connection was lost, as it may have been done.
        """
        delay_s, end = MIN_RETRY_DELAY_S, time.monotonic() + RETRY_S
        while True:
            try:
                result = await attempt()
            except KeyposeError as error:
                if error.code not in OUTAGE_CODES:
                    raise
                started_at = self._record(error)
                is_repeatable = error.code == "no_connection" or not is_write
                if not is_repeatable or time.monotonic() + delay_s > min(started_at + RETRY_S, end):
                    raise
            else:
                self._first_failed_at = None
                return result
            await asyncio.sleep(delay_s)
            delay_s *= 2

    def _record(self, error: KeyposeError) -> float:
        """Log the first error of an outage; return when the database has stopped to answer."""
        now = time.monotonic()
        if now - self._last_failed_at > OUTAGE_END_S:
            logger.error("%s", describe_for_log(error))
        self._last_failed_at = now
        self._first_failed_at = now if self._first_failed_at is None else self._first_failed_at
        return self._first_failed_at


class AppState:
    """Library, workers and settings that routes use."""

    def __init__(self, settings: Settings, library: Library, temp_dir: TempDir) -> None:
        self.settings = settings
        self.library = library
        self.temp_dir = temp_dir  # for uploads, and temporary files of workers
        self.n_uploads = 0
        self.outage = Outage()
        temp_path = str(temp_dir.path)
        clip_config = WorkerConfig(settings.library, CLIP_TASKS, settings.worker_memory_bytes, temp_dir=temp_path)
        upload_config = WorkerConfig(
            settings.library,
            UPLOAD_TASKS,
            settings.upload_worker_memory_bytes,
            NICENESS,
            settings.max_unpacked_bytes,
            temp_path,
        )
        self.workers = Workers(
            clip_config,
            settings.workers,
            timeout_s=settings.task_timeout_s,
            max_waiting=settings.max_waiting,
            has_buffer_space=has_buffer_space,
        )
        self.uploaders = Workers(
            upload_config,
            settings.upload_workers,
            timeout_s=settings.upload_timeout_s,
            grace_s=0.0,
            max_waiting=settings.max_uploads,
        )
        self.searchers = Workers(
            WorkerConfig(settings.library, SEARCH_TASKS, settings.searcher_memory_bytes, temp_dir=temp_path),
            settings.searchers,
            timeout_s=settings.task_timeout_s,
            grace_s=settings.task_timeout_s,  # restarting costs its index in memory, more than an unwanted search
            max_waiting=settings.max_waiting_searches,
            affinity_wait_s=0.0,
            has_buffer_space=has_buffer_space,
        )
        self._reads = CapacityLimiter(MAX_READS)
        self._writes = CapacityLimiter(1)

    @property
    def library_name(self) -> str:
        """Name of the library: its file without folders, or its database."""
        return PurePath(urlsplit(self.settings.library).path).name or "library"

    def upload_path(self) -> Path:
        """Return a new path for an upload; its folder is created again if it was removed."""
        try:
            return self.temp_dir.ensure_path() / secrets.token_hex(16)
        except OSError as error:
            logger.error("the folder of uploads is gone: %s", error)
            raise DiskFull from None

    async def run_read(self, query: Callable[[Library], Result]) -> Result:
        """Run a query of the library in a thread."""
        return await self.outage.retry(lambda: self._run_in_thread(query, self._reads))

    async def run_write(self, change: Callable[[Library], Result]) -> Result:
        """Run a change of the library in a thread, one at a time."""
        return await self.outage.retry(lambda: self._run_in_thread(change, self._writes), is_write=True)

    async def run_clip_task(self, task: str, clip: str, payload: dict[str, Any], **options: Any) -> TaskResult:
        """Return the result of a task about a clip; ``options`` are those of ``Workers.run``."""
        return await self.outage.retry(lambda: self.workers.run(task, clip, payload, **options))

    async def run_search(self, clip: str, payload: dict[str, Any]) -> TaskResult:
        """Return the result of a search with a clip."""
        return await self.outage.retry(lambda: self.searchers.run("search", clip, payload))

    async def add_upload(self, key: str, payload: dict[str, Any]) -> TaskResult:
        """Add an uploaded file to the library; ``key`` are hexadecimal digits."""
        return await self.outage.retry(lambda: self.uploaders.run("add", key, payload), is_write=True)

    async def _run_in_thread(self, query: Callable[[Library], Result], limiter: CapacityLimiter) -> Result:
        """Return the result of ``query``. Threads cannot be killed: a cancelled one holds the limiter until done."""
        token = object()
        await limiter.acquire_on_behalf_of(token)
        future = asyncio.ensure_future(anyio.to_thread.run_sync(query, self.library, limiter=CapacityLimiter(1)))

        def release(future: asyncio.Future[Result]) -> None:
            limiter.release_on_behalf_of(token)
            if not future.cancelled():
                future.exception()  # mark as retrieved, if nobody awaits it

        future.add_done_callback(release)
        return await asyncio.shield(future)

    async def get_clip(self, digest: str) -> Clip:
        """Return the clip of a hash."""
        return await self.run_read(lambda library: find_clip(library, digest))


@contextlib.asynccontextmanager
async def open_app_state(settings: Settings) -> AsyncIterator[AppState]:
    """Open library, temporary folder and workers, and close them: no process and no upload is left behind."""
    with Library(settings.library, create=False) as library, temp_dir(DIR_PREFIX) as uploads_dir:
        state = AppState(settings, library, uploads_dir)
        trash_task = asyncio.create_task(_empty_trash_periodically(state))
        try:
            await state.workers.start()
            await state.uploaders.start()
            await state.searchers.start()
            await anyio.to_thread.run_sync(FILES.reload)
            yield state
        finally:
            trash_task.cancel()
            await asyncio.gather(state.workers.stop(), state.uploaders.stop(), state.searchers.stop())


async def _empty_trash_periodically(state: AppState) -> None:
    """Delete clips that have been in the trash for longer than ``trash_days``, every few hours."""
    while True:
        try:
            await state.run_write(lambda library: library.empty_trash(older_than_days=state.settings.trash_days))
        except KeyposeError as error:
            logger.error("old clips in the trash cannot be deleted: %s", error)
        await asyncio.sleep(TRASH_INTERVAL_S)


async def run_until_disconnect(request: Request, coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of ``coroutine``, cancelled if the client disconnects; the body must have been read before."""
    result_task = asyncio.ensure_future(coroutine)
    disconnect_task = asyncio.ensure_future(_wait_for_disconnect(request))
    try:
        await asyncio.wait({result_task, disconnect_task}, return_when=asyncio.FIRST_COMPLETED)
        if result_task.done():
            return result_task.result()
        raise ClientDisconnected
    finally:
        for task in (result_task, disconnect_task):
            task.cancel()
        await asyncio.gather(result_task, disconnect_task, return_exceptions=True)


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _get_app_state(request: Request) -> AppState:
    state = request.app.state.app_state
    assert isinstance(state, AppState)
    return state


AppStateDep = Annotated[AppState, Depends(_get_app_state)]


async def run_task(
    request: Request,
    state: AppState,
    task: str,
    clip: str,
    payload: dict[str, Any],
    timeout_s: float | None = None,
    weight: TaskWeight = TaskWeight.LIGHT,
    *,
    uses_neighbour: bool = False,
) -> Response:
    """Return the response of a task about a clip, cancelled if the client disconnects. ``payload`` is JSON data."""
    work = state.run_clip_task(task, clip, payload, timeout_s=timeout_s, weight=weight, uses_neighbour=uses_neighbour)
    return build_response(request, await run_until_disconnect(request, work))


def build_response(request: Request, result: TaskResult) -> Response:
    """Return a task result as a response: 304 without a body if the client has it by its ETag."""
    etag = next((value for name, value in result.headers.items() if name.lower() == "etag"), None)
    if etag is not None and is_cached(request, etag):
        return Response(status_code=304, headers=dict(result.headers))
    headers = {**result.headers, "Content-Length": str(result.size)}
    if isinstance(result.body, bytes):
        return Response(result.body, media_type=result.media_type, headers=headers)
    return StreamingResponse(result.chunks(), media_type=result.media_type, headers=headers)


def is_cached(request: Request, etag: str) -> bool:
    """Return whether the client has the content with this ETag."""
    etags = request.headers.get("if-none-match", "")
    return etag in (each.strip().removeprefix("W/") for each in etags.split(","))
