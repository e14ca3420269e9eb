"""Print to stdout and stderr: lines, tables that fit the terminal, JSON; exit codes."""

from __future__ import annotations

import io
import json
import math
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import IO, Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from keypose.cli import INTERRUPTED
from keypose.errors import FileError, MessageFields, format_count

__all__ = ["BROKEN_PIPE", "BUG", "FAILED", "INTERRUPTED", "USAGE", "OutputError", "UsageError"]

# Exit codes, besides INTERRUPTED.
FAILED = 1
USAGE = 2
BUG = 70
BROKEN_PIPE = 141

HELP_COLUMNS = 80
CHUNK_CHARS = 1000  # at most 4000 bytes; pipes accept 4096 bytes atomically (PIPE_BUF on Linux)
PIPE_COLUMNS = 10_000  # columns in a pipe or a file, so that nothing is cut
PREFERRED_NAME_WIDTH = 24  # optional columns are dropped until names have this width
MIN_NAME_WIDTH = 8  # on any terminal
COLUMN_GAP = 2  # blanks between two columns, and one at either side
ELLIPSIS = "…"
MAX_HOURS_S = 1e9  # longer durations are printed in seconds, not hours


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
    _write(_encode_json(document, 2) + "\n")


def print_json_line(document: Any) -> None:
    """Print one JSON document on one line of stdout; infinite numbers and NaN become null."""
    _write(_encode_json(document, None) + "\n")


def _encode_json(document: Any, indent: int | None) -> str:
    try:
        return json.dumps(document, indent=indent, allow_nan=False)
    except ValueError:
        return json.dumps(_replace_non_finite(document), indent=indent, allow_nan=False)


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


@dataclass(frozen=True)
class Column:
    """One column: a heading and cells without unprintable characters."""

    heading: str
    cells: Sequence[str]
    right_aligned: bool = False  # for numbers

    @property
    def width(self) -> int:
        """Return the width of the widest cell."""
        return max(map(cell_len, (self.heading, *self.cells)))


def name_width(columns: Sequence[Column], width: int) -> int:
    """Return the width left for a column of names beside ``columns`` on a terminal of ``width``."""
    return width - 2 - sum(column.width + COLUMN_GAP for column in columns)


def drop_optional_columns(
    names: Column, columns: Sequence[Column], width: int, optional_headings: Sequence[str]
) -> list[Column]:
    """Drop columns with ``optional_headings``, in that order, until names have room; return the rest."""
    remaining = list(columns)
    for heading in optional_headings:
        if name_width(remaining, width) >= min(names.width, PREFERRED_NAME_WIDTH):
            break
        remaining = [column for column in remaining if column.heading != heading]
    return remaining


def build_table(names: Column, columns: Sequence[Column], width: int, styles: Sequence[str | None] = ()) -> Table:
    """Return a table of ``names`` (shortened to fit) and ``columns``; ``styles`` has one style per row."""
    width_of_names = max(MIN_NAME_WIDTH, min(names.width, name_width(columns, width)))
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    grid.add_column(names.heading, no_wrap=True, style="cyan", min_width=width_of_names)
    for column in columns:
        grid.add_column(column.heading, no_wrap=True, justify="right" if column.right_aligned else "left")
    for row, name in enumerate(names.cells):
        cells = (Text(shorten(name, width_of_names)), *(Text(column.cells[row]) for column in columns))
        grid.add_row(*cells, style=styles[row] if styles else None)
    return grid


def shorten(text: str, width: int) -> str:
    """Replace the middle of ``text`` by an ellipsis if it is too wide; keep more of the end, where names differ."""
    if cell_len(text) <= width:
        return text
    before = (width - 1) // 3
    return _truncate(text, before) + ELLIPSIS + _truncate(text[::-1], width - 1 - before)[::-1]


def _truncate(text: str, width: int) -> str:
    """Return the start of ``text`` that fits into ``width`` columns; some characters take two."""
    end = 0
    while end < len(text) and cell_len(text[: end + 1]) <= width:
        end += 1
    return text[:end]


def labelled_rows(title: str, rows: Sequence[tuple[str, str]]) -> Group:
    """Return a title with one line per (label, value) row below it."""
    grid = Table(box=None, show_header=False)
    grid.add_column(style="cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, value in rows:
        grid.add_row(label, Text(escape_unprintable(value)))
    return Group(title_text(title), grid)


def title_text(text: str) -> Text:
    """Return the title of a block or a table."""
    return Text(escape_unprintable(text), style="bold", overflow="fold")


def format_duration(seconds: float) -> str:
    """Return a duration as text."""
    if seconds < 100:
        return f"{seconds:.2f} s"
    if not seconds < MAX_HOURS_S:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 100:
        return f"{minutes // 60}:{minutes % 60:02d} h"
    return f"{minutes}:{rest:02d} min"


def format_bytes(size: int) -> str:
    """Return a number of bytes as text."""
    if size < 1000:
        return format_count(size, "byte")
    for unit in ("kB", "MB"):
        size_in_unit = size / (1000 if unit == "kB" else 1_000_000)
        if size_in_unit < 999.5:
            return f"{size_in_unit:.3g} {unit}"
    return f"{size / 1e9:.3g} GB"


class JsonSpool:
    """Named lists that can be filled in any order and are printed one after another."""

    def __init__(self, names: Sequence[str]) -> None:
        self._files = ExitStack()
        self._lists: dict[str, IO[str]] = {
            name: self._files.enter_context(tempfile.TemporaryFile("w+", encoding="ascii"))  # noqa: SIM115 - __exit__
            for name in names
        }

    def __enter__(self) -> JsonSpool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._files.close()

    def append(self, name: str, item: Mapping[str, Any]) -> None:
        """Append one item to the list ``name``."""
        self._lists[name].write(json.dumps(item) + "\n")

    def lines(self, first: Mapping[str, Any], last: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines of one JSON object: fields of ``first``, the lists (an item per line), fields of ``last``."""
        yield "{"
        yield from (f"  {json.dumps(name)}: {json.dumps(value)}," for name, value in first.items())
        for name, file in self._lists.items():
            yield from _list_lines(name, file)
        for n, (name, value) in enumerate(last.items(), 1):
            yield f"  {json.dumps(name)}: {json.dumps(value)}{',' if n < len(last) else ''}"
        yield "}"


def _list_lines(name: str, file: IO[str]) -> Iterator[str]:
    file.seek(0)
    pending = ""
    yield f"  {json.dumps(name)}: ["
    for line in file:
        if pending:
            yield f"    {pending},"
        pending = line.rstrip()
    if pending:
        yield f"    {pending}"
    yield "  ],"


class OutputError(FileError):
    """Output cannot be written: the disk is full, or stdout is closed."""


class UsageError(MessageFields):
    """The command line is invalid. ``option`` may be a flag: ``--max-keys``."""

    code = "usage"


def conflict_error(option: str, other_flag: str, reason: str = "", *, value: Any = True) -> UsageError:
    """Return the error of two options that contradict each other; ``value`` is that of the first."""
    problem = f"cannot be combined with {other_flag}{': ' if reason else ''}{reason}"
    return UsageError(problem, code="conflicting_options", option=option, value=value)


def missing_argument_error(problem: str, expected: str, hint: str | None = None) -> UsageError:
    """Return the error of a command line on which a file, a name or an option is missing."""
    return UsageError(problem, code="missing_argument", expected=expected, hint=hint)
