"""Progress bar for work on a library; shown on terminals only."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as RichProgress

from keypose.cli import output

MAX_NAME_COLUMNS = 30


class LibraryProgressBar:
    """A progress bar with rate and the name of the last clip."""

    def __init__(self, verb: str, *, quiet: bool) -> None:
        self._bar = RichProgress(
            TextColumn(verb, markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}", markup=False, style="dim"),
            TextColumn("{task.fields[name]}", markup=False, style="cyan"),
            console=output.stderr_console(),
            transient=True,
            disable=quiet or not output.stderr_console().is_terminal,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task("", total=None, rate="", name="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()

    def update(self, total: int, done: int, rate: str, name: str) -> None:
        """Set the progress."""
        short_name = output.escape_unprintable(name)[:MAX_NAME_COLUMNS]
        self._bar.update(self._task, total=total, completed=done, rate=rate, name=short_name)
