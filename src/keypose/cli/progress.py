"""The progress bar: on stderr, and only on a terminal."""

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

MIN_CLIPS = 2
BAR_DELAY_S = 1.0  # before the bar of a single clip appears
MAX_NAME_COLUMNS = 24


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.3g}/s" if task.speed else "", style="dim")


class _CurrentName(ProgressColumn):
    """The clip that has been processed for the longest time; truncated at the start, where paths differ least."""

    def render(self, task: Task) -> Text:
        name = task.fields["current"]
        return Text(name if len(name) <= MAX_NAME_COLUMNS else "…" + name[1 - MAX_NAME_COLUMNS :], style="cyan")


class ProgressBar:
    """A context manager that counts clips; for a single slow clip it shows the fraction done, if that is reported.

    Without a terminal it shows nothing.
    """

    def __init__(self, verb: str, paths: Sequence[Path], *, quiet: bool = False) -> None:
        self._paths = paths
        self._start_times: dict[int, float] = {}
        self._is_visible = output.stderr_console().is_terminal and not quiet
        self._has_many = len(paths) >= MIN_CLIPS
        self._bar = RichProgress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            *((MofNCompleteColumn(), _Rate()) if self._has_many else (TaskProgressColumn(),)),
            TimeRemainingColumn(compact=True),
            _CurrentName(),
            console=output.stderr_console(),
            transient=True,
            disable=not self._is_visible,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task(verb, total=len(paths), current="")
        self._is_started = False

    def __enter__(self) -> ProgressBar:
        if self._has_many:
            self._start_bar()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._is_started:
            self._bar.stop()

    def _start_bar(self) -> None:
        self._is_started = True
        self._bar.start()

    def update_part(self, fraction: float) -> None:
        """Set the fraction of the only clip that is done, from 0 to 1."""
        start = min(self._start_times.values(), default=None)
        if start is None or time.monotonic() - start < BAR_DELAY_S:
            return
        if not self._is_started:
            self._start_bar()
        self._bar.update(self._task, completed=fraction)

    def start_clip(self, index: int) -> None:
        """Record that work on a clip has started."""
        self._start_times[index] = time.monotonic()
        self._update(advance=0)

    def finish_clip(self, outcome: Outcome[Any]) -> None:
        """Count a finished clip."""
        self._start_times.pop(outcome.index, None)
        self._update(advance=1)

    def _update(self, advance: int) -> None:
        oldest = min(self._start_times, key=self._start_times.__getitem__, default=None)
        current = output.escape_unprintable(self._paths[oldest].name) if oldest is not None else ""
        self._bar.update(self._task, advance=advance, current=current)
