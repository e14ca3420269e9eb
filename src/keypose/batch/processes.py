"""Helpers for child processes: block interrupts while one starts, describe how one ended."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


def describe_exit(exit_code: int | None) -> str:
    """Return how a process ended, from its exit code (negative: a signal)."""
    if exit_code is not None and exit_code < 0:
        try:
            name = signal.Signals(-exit_code).name
        except ValueError:
            name = f"signal {-exit_code}"
        memory = ", perhaps for want of memory" if name == "SIGKILL" else ""
        return f"was ended by {name}{memory}"
    return f"ended with exit code {exit_code}"


@contextmanager
def block_interrupts() -> Iterator[None]:
    """Block SIGINT, so that a process that is starting does not print a traceback on Ctrl-C, which goes to the group.

    The new process inherits the blocked signal, and unblocks it once it has set its handler.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker  # POSIX only, as the mask is

    # The first start of a process also starts the resource tracker, which unblocks the signal on its way.
    resource_tracker.ensure_running()
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)
