"""What the commands print, and how: text from files is shown literally, whatever it holds.

Names and messages may come from hostile files. They never reach rich as markup, and characters that a
terminal would act on (escapes, line ends, direction marks) are shown as their codes.
"""

from __future__ import annotations

import io
import json
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from keypose.cli.exits import OutputError

HELP_COLUMNS = 80
PIECE = 1000  # characters: at most 4000 bytes, and POSIX lets pipes take 4096 at once (PIPE_BUF on Linux)
WIDE = 10_000  # columns where nobody looks at them: in a pipe or a file nothing is cut


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leaves it to the outermost place, as for any other output."""
        raise BrokenPipeError

    def print(self, *objects: Any, **options: Any) -> None:
        """As ever, but for a disk that is full."""
        with _told_where_it_fails():
            super().print(*objects, **options)


def console() -> Console:
    """Where results go: stdout."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    return _Console(highlight=False, markup=False, emoji=False, width=None if terminal else WIDE)


def help_console() -> Console:
    """Where help goes: stdout, in lines that are not too long to read."""
    width = _Console().width if sys.stdout is not None and sys.stdout.isatty() else HELP_COLUMNS
    return _Console(highlight=False, markup=False, emoji=False, width=min(width, HELP_COLUMNS))


@cache
def messages() -> Console:
    """Where warnings, errors and progress go: stderr."""
    return _Console(stderr=True, highlight=False, markup=False, emoji=False)


def printable(text: str) -> str:
    r"""``text`` on one line, with every character that is not simply visible as its code (``\x1b``)."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def show(renderable: RenderableType) -> None:
    """A result, on stdout; without the blanks that fill a terminal's line."""
    out = console()
    if out.is_terminal:
        out.print(renderable)
        return
    with _told_where_it_fails(), out.capture() as text:
        out.print(renderable)
    _write("".join(row.rstrip() + "\n" for row in text.get().splitlines()))


def line(text: str) -> None:
    """One line of a result, on stdout."""
    console().print(Text(printable(text)), soft_wrap=True)


def show_json(document: Any) -> None:
    """One JSON document, on stdout; numbers that JSON has not (infinite, none at all) are null."""
    try:
        text = json.dumps(document, indent=2, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(document), indent=2, allow_nan=False)
    _write(text + "\n")


def _finite(value: Any) -> Any:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {key: _finite(item) for key, item in value.items()}
        case list() | tuple():
            return [_finite(item) for item in value]
        case _:
            return value


def _write(text: str) -> None:
    """In pieces that a pipe takes whole or not at all.

    With PYTHONUNBUFFERED set, Python takes a write that was cut off for a whole one, and would end well
    though the reader has gone.
    """
    with _told_where_it_fails():
        for start in range(0, len(text), PIECE):
            sys.stdout.write(text[start : start + PIECE])


def flush() -> None:
    """All that was printed is out, or an error says why not."""
    with _told_where_it_fails():
        sys.stdout.flush()


@contextmanager
def _told_where_it_fails() -> Iterator[None]:
    try:
        yield
    except (BrokenPipeError, OutputError):
        raise
    except OSError as error:
        raise OutputError(f"the output cannot be written ({error.strerror})") from None


def error(text: str) -> None:
    """``error: ...`` on stderr."""
    _message("error:", "bold red", text)


def warning(text: str) -> None:
    """``warning: ...`` on stderr: a file was repaired while reading."""
    _message("warning:", "yellow", text)


def note(text: str) -> None:
    """``note: ...`` on stderr: worth knowing, and no fault."""
    _message("note:", "cyan", text)


def hint(text: str) -> None:
    """A line after an error that helps on."""
    _say(Text("  " + printable(text), style="dim"))


def details(text: str) -> None:
    """A traceback, for those who asked for it."""
    for part in text.splitlines():
        _say(Text(printable(part)))


def _message(label: str, style: str, text: str) -> None:
    _say(Text.assemble((label, style), " ", printable(text)))


def _say(text: Text) -> None:
    """Wrapped between words on a terminal; elsewhere one line stays one line."""
    messages().print(text, soft_wrap=not messages().is_terminal)


def make_unbreakable() -> None:
    """A name that the terminal's encoding lacks is shown as codes; it is no reason to fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def abandon() -> None:
    """Nobody reads stdout any more: what is left in it must not complain when the program ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = io.StringIO()
