"""An event loop in a thread of its own: the browser of other tests may be running one in this one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self, TypeVar

Answer = TypeVar("Answer")


class Loop:
    """Runs coroutines, one after another, until it is closed."""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self._loop.shutdown_asyncgens())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


def run(work: Coroutine[Any, Any, Answer]) -> Answer:
    """What a coroutine gives, in a loop for it alone."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
