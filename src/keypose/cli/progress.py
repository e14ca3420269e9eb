"""The progress bar: on stderr, and only where a person looks at it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as RichProgress
from rich.text import Text

from keypose.batch import Outcome
from keypose.cli import output

FEWEST_CLIPS = 2
LONG_S = 1.0  # what is shown of a single clip comes so late
NAME_COLUMNS = 24


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.3g}/s" if task.speed else "", style="dim")


class _Current(ProgressColumn):
    """The clip that has been worked on for the longest time; cut in front, where paths differ least."""

    def render(self, task: Task) -> Text:
        name = task.fields["current"]
        return Text(name if len(name) <= NAME_COLUMNS else "…" + name[1 - NAME_COLUMNS :], style="cyan")


class Progress:
    """Counts clips, as a context; of one clip that takes long it shows the part that is done, if that is told.

    Without a terminal it shows nothing.
    """

    def __init__(self, verb: str, paths: Sequence[Path], *, quiet: bool = False) -> None:
        self._paths = paths
        self._under_way: dict[int, float] = {}
        self._shown = output.messages().is_terminal and not quiet
        self._many = len(paths) >= FEWEST_CLIPS
        self._bar = RichProgress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            *((MofNCompleteColumn(), _Rate()) if self._many else (TaskProgressColumn(),)),
            TimeRemainingColumn(compact=True),
            _Current(),
            console=output.messages(),
            transient=True,
            disable=not self._shown,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task(verb, total=len(paths), current="")
        self._started = False

    def __enter__(self) -> Progress:
        if self._many:
            self._start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._started:
            self._bar.stop()

    def _start(self) -> None:
        self._started = True
        self._bar.start()

    def part(self, done: float) -> None:
        """How much of the only clip is done, from 0 to 1."""
        began = min(self._under_way.values(), default=None)
        if began is None or time.monotonic() - began < LONG_S:
            return
        if not self._started:
            self._start()
        self._bar.update(self._task, completed=done)

    def begin(self, index: int) -> None:
        """Work on a clip has begun."""
        self._under_way[index] = time.monotonic()
        self._show(advance=0)

    def done(self, outcome: Outcome[Any]) -> None:
        """A clip has its outcome."""
        self._under_way.pop(outcome.index, None)
        self._show(advance=1)

    def _show(self, advance: int) -> None:
        oldest = min(self._under_way, key=self._under_way.__getitem__, default=None)
        current = output.printable(self._paths[oldest].name) if oldest is not None else ""
        self._bar.update(self._task, advance=advance, current=current)
