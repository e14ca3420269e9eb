"""The arguments of the current command line. Parsing loses the order of different options; this module keeps it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextvars import ContextVar

_ARGV: ContextVar[tuple[str, ...]] = ContextVar("typed", default=())


def set_argv(tokens: Sequence[str]) -> None:
    """Store the arguments before a command runs."""
    _ARGV.set(tuple(tokens))


def command_line() -> str:
    """Return the command line as one quoted shell line."""
    from keypose.pictures.shell_command import format_shell_command

    return format_shell_command(("keypose", *_ARGV.get()))


def option_order(options: Collection[str]) -> list[str]:
    """Return the given ``options`` in command line order, each as often as it occurs."""
    argv = _ARGV.get()
    before_names = argv[: argv.index("--")] if "--" in argv else argv
    names = (token.partition("=")[0] for token in before_names)
    return [name for name in names if name in options]
