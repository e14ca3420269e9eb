"""The command line as it was typed: in which order different options came, which parsing does not keep."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextvars import ContextVar

_TYPED: ContextVar[tuple[str, ...]] = ContextVar("typed", default=())


def remember(tokens: Sequence[str]) -> None:
    """Before a command runs."""
    _TYPED.set(tuple(tokens))


def line() -> str:
    """The command, to be typed again."""
    from keypose.pictures.shell import shell_line

    return shell_line(("keypose", *_TYPED.get()))


def order_of(options: Collection[str]) -> list[str]:
    """Those of ``options`` that were typed, each as often as it was, in order."""
    typed = _TYPED.get()
    before_names = typed[: typed.index("--")] if "--" in typed else typed
    names = (token.partition("=")[0] for token in before_names)
    return [name for name in names if name in options]
