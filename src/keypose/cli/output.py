"""Print to stdout and stderr; text from files is escaped.

Names and messages may come from hostile files. They never reach rich as markup, and characters that a
terminal would act on (escapes, line ends, direction marks) are printed as escape codes.
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

from keypose.cli.exit_codes import OutputError

HELP_COLUMNS = 80
CHUNK_CHARS = 1000  # at most 4000 bytes; pipes accept 4096 bytes atomically (PIPE_BUF on Linux)
PIPE_COLUMNS = 10_000  # columns in a pipe or a file, so that nothing is cut


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError, which ``app.run`` handles."""
        raise BrokenPipeError

    def print(self, *objects: Any, **options: Any) -> None:
        """Print; raise OutputError if the disk is full."""
        with _raise_output_error():
            super().print(*objects, **options)


def stdout_console() -> Console:
    """Return a console on stdout, for results."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    return _Console(highlight=False, markup=False, emoji=False, width=None if terminal else PIPE_COLUMNS)


def help_console() -> Console:
    """Return a console on stdout for help, at most HELP_COLUMNS wide."""
    width = _Console().width if sys.stdout is not None and sys.stdout.isatty() else HELP_COLUMNS
    return _Console(highlight=False, markup=False, emoji=False, width=min(width, HELP_COLUMNS))


@cache
def stderr_console() -> Console:
    """Return the console on stderr, for warnings, errors and progress."""
    return _Console(stderr=True, highlight=False, markup=False, emoji=False)


def escape_unprintable(text: str) -> str:
    r"""Return ``text`` on one line, with unprintable characters as escape codes (``\x1b``)."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def print_renderable(renderable: RenderableType) -> None:
    """Print a renderable on stdout, without trailing blanks if it is no terminal."""
    out = stdout_console()
    if out.is_terminal:
        out.print(renderable)
        return
    with _raise_output_error(), out.capture() as text:
        out.print(renderable)
    _write("".join(row.rstrip() + "\n" for row in text.get().splitlines()))


def print_line(text: str) -> None:
    """Print one line of a result on stdout."""
    stdout_console().print(Text(escape_unprintable(text)), soft_wrap=True)


def print_json(document: Any) -> None:
    """Print one JSON document on stdout; infinite numbers and NaN become null."""
    try:
        text = json.dumps(document, indent=2, allow_nan=False)
    except ValueError:
        text = json.dumps(_replace_non_finite(document), indent=2, allow_nan=False)
    _write(text + "\n")


def _replace_non_finite(value: Any) -> Any:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {key: _replace_non_finite(item) for key, item in value.items()}
        case list() | tuple():
            return [_replace_non_finite(item) for item in value]
        case _:
            return value


def _write(text: str) -> None:
    """Write in chunks that a pipe accepts completely or not at all.

    With PYTHONUNBUFFERED set, Python treats a partial write as a complete one, and the program would succeed
    although the reader has closed the pipe.
    """
    with _raise_output_error():
        for start in range(0, len(text), CHUNK_CHARS):
            sys.stdout.write(text[start : start + CHUNK_CHARS])


def flush() -> None:
    """Flush stdout; raise OutputError if that fails."""
    with _raise_output_error():
        sys.stdout.flush()


@contextmanager
def _raise_output_error() -> Iterator[None]:
    try:
        yield
    except (BrokenPipeError, OutputError):
        raise
    except OSError as error:
        raise OutputError(f"the output cannot be written ({error.strerror})") from None


def print_error(text: str) -> None:
    """Print ``error: ...`` on stderr."""
    _print_message("error:", "bold red", text)


def print_warning(text: str) -> None:
    """Print ``warning: ...`` on stderr, for example if a file was repaired while reading."""
    _print_message("warning:", "yellow", text)


def print_note(text: str) -> None:
    """Print ``note: ...`` on stderr, for information."""
    _print_message("note:", "cyan", text)


def print_hint(text: str) -> None:
    """Print an indented hint after an error."""
    _print_to_stderr(Text("  " + escape_unprintable(text), style="dim"))


def print_traceback(text: str) -> None:
    """Print a traceback on stderr."""
    for part in text.splitlines():
        _print_to_stderr(Text(escape_unprintable(part)))


def _print_message(label: str, style: str, text: str) -> None:
    _print_to_stderr(Text.assemble((label, style), " ", escape_unprintable(text)))


def _print_to_stderr(text: Text) -> None:
    """Print on stderr, wrapped between words on a terminal only."""
    stderr_console().print(text, soft_wrap=not stderr_console().is_terminal)


def escape_unencodable() -> None:
    """Print characters that the terminal's encoding lacks as escape codes instead of raising."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def discard_stdout() -> None:
    """Redirect stdout to /dev/null after its reader has gone, so that flushing at exit does not fail."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = io.StringIO()
