"""How far work on a library is; on terminals only."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as RichProgress

from keypose.cli import output

NAME_COLUMNS = 30


class Bar:
    """What is done of so much, how fast, and which clip was the last."""

    def __init__(self, verb: str, *, quiet: bool) -> None:
        self._bar = RichProgress(
            TextColumn(verb, markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}", markup=False, style="dim"),
            TextColumn("{task.fields[name]}", markup=False, style="cyan"),
            console=output.messages(),
            transient=True,
            disable=quiet or not output.messages().is_terminal,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task("", total=None, rate="", name="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()

    def show(self, total: int, done: int, rate: str, name: str) -> None:
        """One more is done."""
        shown = output.printable(name)[:NAME_COLUMNS]
        self._bar.update(self._task, total=total, completed=done, rate=rate, name=shown)
