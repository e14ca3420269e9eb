"""How processes start undisturbed, and how they ended."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


def how_it_ended(exit_code: int | None) -> str:
    """What an exit code tells of the end of a process."""
    if exit_code is not None and exit_code < 0:
        try:
            name = signal.Signals(-exit_code).name
        except ValueError:
            name = f"signal {-exit_code}"
        memory = ", perhaps for want of memory" if name == "SIGKILL" else ""
        return f"was ended by {name}{memory}"
    return f"ended with exit code {exit_code}"


@contextmanager
def interrupt_held_back() -> Iterator[None]:
    """Ctrl-C goes to a whole group of processes: one that is just starting must not answer with a traceback.

    The new process inherits the blocked signal, and takes it up again when it has said what to do with it.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker  # POSIX only, as the mask is

    # The first start of a process also starts the resource tracker, which unblocks the signal on its way.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
