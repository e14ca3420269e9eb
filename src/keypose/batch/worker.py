"""What happens to one item, in this process or in a worker: tried, timed, its warnings and errors kept."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any, Generic, TypeVar

from keypose.errors import FormatWarning, KeyposeError

Item = TypeVar("Item")
Result = TypeVar("Result")

STOPPED = 128 + signal.SIGTERM


@dataclass(frozen=True)
class Failure:
    """Why an item has no result. As text, because not every exception survives the way between processes."""

    kind: str  # the exception's class; "crash" where the process died
    message: str
    traceback: str = ""  # of an error that no bad input should cause

    @property
    def is_bug(self) -> bool:
        """Whether the fault is in the program, not in the item."""
        return bool(self.traceback)


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """What became of one item."""

    index: int
    value: Result | None = None  # None where it failed
    failure: Failure | None = None
    warnings: tuple[str, ...] = ()  # FormatWarnings
    seconds: float = 0.0


def attempt(function: Callable[[Item], Result], index: int, item: Item) -> Outcome[Result]:
    """The outcome of ``function(item)``, whatever it is."""
    value, failure = None, None
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FormatWarning)
        try:
            value = function(item)
        except (Exception, SystemExit) as error:  # one item's error must not end the others
            failure = failure_of(error)
    seconds = time.perf_counter() - start
    for other in caught:
        if not issubclass(other.category, FormatWarning):
            warnings.showwarning(other.message, other.category, other.filename, other.lineno)
    texts = tuple(str(w.message) for w in caught if issubclass(w.category, FormatWarning))
    return Outcome(index, value, failure, texts, seconds)


def failure_of(error: BaseException) -> Failure:
    """An exception as text."""
    kind, message = type(error).__name__, str(error)
    if isinstance(error, KeyposeError):
        return Failure(kind, message)
    if isinstance(error, MemoryError):
        return Failure(kind, "not enough memory")
    return Failure(kind, message, "".join(traceback.format_exception(error)))


class _Stopped(BaseException):
    """The parent asked this worker to stop; unwinds through whatever has to be tidied up."""


_in_item = False


def _stop(signal_number: int, frame: FrameType | None) -> None:
    if _in_item:
        raise _Stopped
    os._exit(STOPPED)


def serve(pipe: Connection[Any, Any], function: Callable[[Any], Any]) -> None:
    """The life of a worker: says that it is ready, then answers items until the pipe closes."""
    global _in_item
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C too, and decides
    signal.signal(signal.SIGTERM, _stop)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.dup2(sys.__stderr__.fileno() if sys.__stderr__ else 2, 1)  # stdout belongs to the parent's own output
    try:
        pipe.send_bytes(b"ready")
        while True:
            message = pipe.recv_bytes()
            try:
                _in_item = True
                answer = _answer(function, message)
            finally:
                _in_item = False
            pipe.send_bytes(answer)
    except _Stopped:
        os._exit(STOPPED)
    except (EOFError, OSError):
        os._exit(0)  # no more items, or no parent


def _answer(function: Callable[[Any], Any], message: bytes) -> bytes:
    outcome = attempt(lambda data: function(pickle.loads(data)), 0, message)
    try:
        return pickle.dumps(outcome)
    except Exception as error:  # whatever a result's own pickling may raise
        return pickle.dumps(Outcome[Any](0, failure=failure_of(error)))
