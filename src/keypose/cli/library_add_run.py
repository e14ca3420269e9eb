"""The run of ``keypose library add``: progress, and what became of each file."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as RichProgress

from keypose.cli import library_run, output
from keypose.cli.clip_view import duration
from keypose.cli.exits import FAILED, INTERRUPTED
from keypose.cli.wording import for_command_line
from keypose.library.library import Library
from keypose.library.nouns import Clip, IngestProgress, NotAdded


@dataclass
class Told:
    """What was told of the files so far: only what is safe on the disk, whatever comes."""

    total: int = 0
    added: list[Clip] = field(default_factory=list)
    known: list[Clip] = field(default_factory=list)
    failed: list[NotAdded] = field(default_factory=list)
    interrupted: bool = False
    seconds: float = 0.0

    def hear(self, progress: IngestProgress) -> None:
        """One more file."""
        self.total = progress.total
        if progress.clip is None:
            says = for_command_line(progress.says, progress.path)
            self.failed.append(NotAdded(progress.path, says))
        else:
            (self.added if progress.added > len(self.added) else self.known).append(progress.clip)

    @property
    def left(self) -> int:
        """Files of which nothing was told."""
        return self.total - len(self.added) - len(self.known) - len(self.failed)


class Bar:
    """Files that are done, how many seconds of motion go in a second, and the time left; on terminals only."""

    def __init__(self, *, quiet: bool) -> None:
        self._bar = RichProgress(
            TextColumn("Adding", markup=False),
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

    def __enter__(self) -> Bar:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()

    def hear(self, progress: IngestProgress) -> None:
        """One more file."""
        rate = f"{progress.motion_s_per_s:.0f} s of motion/s, {duration(progress.left_s)} left"
        name = "" if progress.clip is None else output.printable(progress.clip.name)[:30]
        self._bar.update(self._task, total=progress.total, completed=progress.done, rate=rate, name=name)


def run(library: Library, files: Sequence[str], options: Mapping[str, Any], *, json: bool, quiet: bool) -> int:
    """Adds all that can be read, and says what became of it; the exit code."""
    told = Told()
    start = time.perf_counter()
    with Bar(quiet=quiet or json) as bar:

        def hear(progress: IngestProgress) -> None:
            told.hear(progress)
            bar.hear(progress)

        try:
            library.add(list(files), **options, on_progress=hear)
        except KeyboardInterrupt:
            told.interrupted = True
    told.seconds = time.perf_counter() - start
    if json:
        output.show_json(_document(library, told))
    else:
        _say(library, told, quiet=quiet)
    return INTERRUPTED if told.interrupted else FAILED if told.failed else 0


def _say(library: Library, told: Told, *, quiet: bool) -> None:
    for file in told.failed:
        output.error(file.says)
    if not quiet:
        motion_s = sum(clip.duration_s for clip in told.added)
        parts = [f"{len(told.added):,} of {told.total:,} files added"]
        parts += [f"{len(told.known):,} known already"] if told.known else []
        parts += [f"{len(told.failed):,} left out"] if told.failed else []
        output.line(f"{library.where}: {', '.join(parts)}, {duration(motion_s)} of motion in {told.seconds:.2f} s")
    if told.interrupted:
        left = f"{told.left:,} files" if told.left != 1 else "1 file"
        output.note(f"interrupted with {left} to go; the same command goes on from here")


def _document(library: Library, told: Told) -> dict[str, Any]:
    return {
        "library": library.where,
        "added": library_run.documents(told.added),
        "known": library_run.documents(told.known),
        "failed": [{"path": file.path, "error": file.says} for file in told.failed],
        "left": told.left,
        "interrupted": told.interrupted,
        "seconds": told.seconds,
    }
