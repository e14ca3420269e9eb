"""The command line: parse, call, print."""

import os
import signal
from types import FrameType

INTERRUPTED = 130


def main() -> int:
    """The program ``keypose``; its exit code."""
    # While modules load, Ctrl-C ends the program at once: nothing is to be tidied up yet, and an exception
    # could come up anywhere. Where it is ignored (nohup), it stays so.
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heard:
        signal.signal(signal.SIGINT, _leave)
    # Imported here because every worker process imports this module again, and needs none of it.
    from keypose.cli.app import run

    try:
        if heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = run()
        if heard:  # all is done and said
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        return code
    except KeyboardInterrupt:
        return INTERRUPTED


def _leave(signal_number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)
