"""A server that runs: its library, the processes that compute for it, and threads for what waits for the disk."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path, PurePath
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

import anyio.to_thread
from anyio import CapacityLimiter
from fastapi import Depends, Request

from keypose.errors import KeyposeError
from keypose.library.library import Library
from keypose.library.nouns import Clip
from keypose.server.failing import NoRoom
from keypose.server.own_folder import OwnFolder, own_folder
from keypose.server.receiving import has_room
from keypose.server.settings import Settings
from keypose.server.static_files import FILES
from keypose.server.work.desk import clip_of
from keypose.server.work.pool import Workers
from keypose.server.work.process import CLIPS, SEARCHES, UPLOADS, How

logger = logging.getLogger("keypose.server")

READS_AT_ONCE = 8  # the library has so many connections, and some more
NICENESS = 10  # of the processes that analyse uploads
FOLDER = "keypose-uploads-"  # how the names of our folders begin
SWEEP_S = 6 * 3600.0  # between two looks at what was thrown away long ago

Result = TypeVar("Result")


class ClientGone(Exception):  # noqa: N818 - it is none
    """Nobody waits for the answer any more."""


class Running:
    """What routes work with."""

    def __init__(self, settings: Settings, library: Library, folder: OwnFolder) -> None:
        self.settings = settings
        self.library = library
        self.folder = folder  # for files on their way in, and what workers work on
        self.uploading = 0
        where = str(folder.path)
        clips = How(settings.library, CLIPS, settings.worker_bytes, folder=where)
        files = How(settings.library, UPLOADS, settings.upload_worker_bytes, NICENESS, settings.unpacked_bytes, where)
        self.workers = Workers(
            clips, settings.workers, time_s=settings.task_s, most_waiting=settings.most_waiting, has_room=has_room
        )
        self.uploaders = Workers(
            files,
            settings.upload_workers,
            time_s=settings.upload_s,
            grace_s=0.0,
            most_waiting=settings.uploads_at_once,
        )
        self.searchers = Workers(
            How(settings.library, SEARCHES, settings.searcher_bytes, folder=where),
            settings.searchers,
            time_s=settings.task_s,
            grace_s=settings.task_s,  # what it holds in memory is worth more than a search that nobody waits for
            most_waiting=settings.searches_waiting,
            patience_s=0.0,
            has_room=has_room,
        )
        self._reads = CapacityLimiter(READS_AT_ONCE)
        self._writes = CapacityLimiter(1)

    @property
    def name(self) -> str:
        """What the library is called: its file without folders, or its database."""
        return PurePath(urlsplit(self.settings.library).path).name or "library"

    def upload_path(self) -> Path:
        """A place for a file on its way in; its folder is made again where somebody has removed it."""
        try:
            return self.folder.there() / secrets.token_hex(16)
        except OSError as error:
            logger.error("the folder of uploads is gone: %s", error)
            raise NoRoom from None

    async def reads(self, question: Callable[[Library], Result]) -> Result:
        """What the library answers, without holding up others."""
        return await self._in_thread(question, self._reads)

    async def writes(self, change: Callable[[Library], Result]) -> Result:
        """A change of the library; one at a time."""
        return await self._in_thread(change, self._writes)

    async def _in_thread(self, question: Callable[[Library], Result], places: CapacityLimiter) -> Result:
        """What a thread finds out. Nobody can end one: if whoever asks goes, its place is taken until it is done."""
        turn = object()
        await places.acquire_on_behalf_of(turn)
        work = asyncio.ensure_future(anyio.to_thread.run_sync(question, self.library, limiter=CapacityLimiter(1)))

        def done(work: asyncio.Future[Result]) -> None:
            places.release_on_behalf_of(turn)
            if not work.cancelled():
                work.exception()  # seen: it is nobody's fault that nobody waits for it

        work.add_done_callback(done)
        return await asyncio.shield(work)

    async def clip(self, digest: str) -> Clip:
        """The clip of a hash."""
        return await self.reads(lambda library: clip_of(library, digest))


@contextlib.asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Running]:
    """Opens everything, and closes it: no process and no file of an upload stays behind."""
    with Library(settings.library, create=False) as library, own_folder(FOLDER) as folder:
        here = Running(settings, library, folder)
        sweep = asyncio.create_task(_sweep(here))
        try:
            await here.workers.start()
            await here.uploaders.start()
            await here.searchers.start()
            await anyio.to_thread.run_sync(FILES.look)
            yield here
        finally:
            sweep.cancel()
            await asyncio.gather(here.workers.stop(), here.uploaders.stop(), here.searchers.stop())


async def _sweep(here: Running) -> None:
    """Forgets, now and then, what was thrown away long ago."""
    while True:
        try:
            await here.writes(lambda library: library.forget_thrown_away(older_than_days=here.settings.bin_days))
        except KeyposeError as error:
            logger.error("clips that were thrown away long ago stay: %s", error)
        await asyncio.sleep(SWEEP_S)


async def until_gone(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of ``work``, which is broken off when the client goes; the request's body must have been read."""
    working, going = asyncio.ensure_future(work), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({working, going}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientGone
    finally:
        for task in (working, going):
            task.cancel()
        await asyncio.gather(working, going, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _here(request: Request) -> Running:
    here = request.app.state.running
    assert isinstance(here, Running)
    return here


Here = Annotated[Running, Depends(_here)]
