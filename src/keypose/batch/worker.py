"""Run one item, in this process or in a worker, and collect its result, warnings, error and time.

``pool.py`` starts workers, which run ``main``.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Generic, NoReturn, TypeVar

from keypose.errors import FormatWarning, KeyposeError

if sys.platform == "win32":
    from multiprocessing.connection import PipeConnection as Connection
else:
    from multiprocessing.connection import Connection

Item = TypeVar("Item")
Result = TypeVar("Result")

EXIT_STOPPED = 128 + signal.SIGTERM


@dataclass(frozen=True)
class Failure:
    """The reason why an item has no result: the error with its fields, or its text, as not every exception can be
    pickled."""

    kind: str  # the exception's class; "crash" if the process died
    message: str
    traceback: str = ""  # only of errors that invalid input should not cause
    error: KeyposeError | None = field(default=None, compare=False)  # None: of another class, or the process died

    @property
    def is_bug(self) -> bool:
        """Return whether the error is in the program, not in the item."""
        return bool(self.traceback)


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """The result or failure of one item."""

    index: int
    value: Result | None = None  # None if it failed
    failure: Failure | None = None
    warnings: tuple[FormatWarning, ...] = ()
    seconds: float = 0.0


def run_item(function: Callable[[Item], Result], index: int, item: Item) -> Outcome[Result]:
    """Return the outcome of ``function(item)``; exceptions become failures."""
    value, failure = None, None
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as recorded:
        warnings.simplefilter("always", FormatWarning)
        try:
            value = function(item)
        except (Exception, SystemExit) as error:  # an error of one item must not end the others
            failure = build_failure(error)
    seconds = time.perf_counter() - start
    for warning in recorded:
        if not isinstance(warning.message, FormatWarning):
            warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)
    format_warnings = tuple(each.message for each in recorded if isinstance(each.message, FormatWarning))
    return Outcome(index, value, failure, format_warnings, seconds)


def list_other_notes(notes: Iterable[str], warnings: Iterable[FormatWarning]) -> tuple[str, ...]:
    """Return each note once, without those that a reader has also issued as the problem of a warning."""
    problems = {warning.problem for warning in warnings}
    return tuple(note for note in dict.fromkeys(notes) if note not in problems)


def build_failure(error: BaseException) -> Failure:
    """Return an exception as text; only unexpected ones with a traceback."""
    kind, message = type(error).__name__, str(error)
    if isinstance(error, KeyposeError):
        return Failure(kind, message, error=error.with_traceback(None))
    if isinstance(error, MemoryError):
        return Failure(kind, "not enough memory")
    return Failure(kind, message, "".join(traceback.format_exception(error)))


class _StopRequest(BaseException):
    """Raised when the parent stops this worker, so that ``finally`` blocks run."""


_in_item = False


def _stop(signal_number: int, frame: FrameType | None) -> None:
    if _in_item:
        raise _StopRequest
    os._exit(EXIT_STOPPED)


def main(handle: int) -> NoReturn:
    """Run a worker: receive a function, send ``ready``, then an outcome for every item until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent
    signal.signal(signal.SIGTERM, _stop)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.dup2(sys.__stderr__.fileno() if sys.__stderr__ else 2, 1)  # stdout is reserved for the parent's output
    try:
        _serve(Connection(handle))
    except _StopRequest:
        os._exit(EXIT_STOPPED)
    except (EOFError, OSError):
        os._exit(0)  # there are no more items, or the parent has ended


def _serve(pipe: Connection[Any, Any]) -> NoReturn:
    global _in_item
    function = _load_function(pipe.recv_bytes())
    pipe.send_bytes(b"ready")
    while True:
        message = pipe.recv_bytes()
        try:
            _in_item = True
            answer = _handle_message(function, message)
        finally:
            _in_item = False
        pipe.send_bytes(answer)


def _load_function(message: bytes) -> Callable[[Any], Any]:
    try:
        function: Callable[[Any], Any] = pickle.loads(message)
    except Exception:  # the import of its module may raise anything
        traceback.print_exc()
        os._exit(1)
    return function


def _handle_message(function: Callable[[Any], Any], message: bytes) -> bytes:
    outcome = run_item(lambda data: function(pickle.loads(data)), 0, message)
    try:
        return pickle.dumps(outcome)
    except Exception as error:  # the pickling of a result may raise anything
        return pickle.dumps(Outcome[Any](0, failure=build_failure(error)))
