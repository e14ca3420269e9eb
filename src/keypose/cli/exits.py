"""Exit codes, and the error of a command line that makes no sense."""

from __future__ import annotations

FAILED = 1
USAGE = 2
BUG = 70
INTERRUPTED = 130
BROKEN_PIPE = 141


class UsageError(Exception):
    """The command line asks for something that cannot be meant."""
