"""The command line: parse, call, print."""

import os
import signal
from types import FrameType

INTERRUPTED = 130


def main() -> int:
    """Run the program ``keypose`` and return its exit code."""
    # While modules load, Ctrl-C ends the program at once: nothing needs cleaning up yet, and an exception
    # could be raised anywhere. If SIGINT is ignored (nohup), it stays ignored.
    handles_interrupt = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if handles_interrupt:
        signal.signal(signal.SIGINT, _exit_at_once)
    # Imported here because every worker process imports this module again and needs none of it.
    from keypose.cli.app import run

    try:
        if handles_interrupt:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = run()
        if handles_interrupt:  # everything is done and printed
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        return code
    except KeyboardInterrupt:
        return INTERRUPTED


def _exit_at_once(signal_number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)
