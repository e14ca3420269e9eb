"""Exit codes and the errors for wrong command lines and failed output."""

from __future__ import annotations

from keypose.cli import INTERRUPTED
from keypose.errors import FileError

__all__ = ["BROKEN_PIPE", "BUG", "FAILED", "INTERRUPTED", "USAGE", "OutputError", "UsageError"]

FAILED = 1
USAGE = 2
BUG = 70
BROKEN_PIPE = 141


class OutputError(FileError):
    """Output cannot be written: the disk is full, or stdout is closed."""


class UsageError(Exception):
    """The command line is invalid."""
