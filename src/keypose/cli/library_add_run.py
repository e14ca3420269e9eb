"""The run of ``keypose library add``: progress, and what became of each file."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from keypose.cli import library_bar, library_run, output
from keypose.cli.clip_view import duration
from keypose.cli.exits import FAILED, INTERRUPTED
from keypose.cli.library_heard import Heard
from keypose.cli.library_listed import Listed
from keypose.cli.wording import for_command_line
from keypose.errors import KeyposeError
from keypose.library.library import Library
from keypose.library.nouns import IngestProgress


@dataclass
class Told:
    """What was told of the files so far: only what is safe on the disk, whatever comes.

    Clips are counted and not remembered: an archive may have more than memory has room for. Errors are said at once,
    warnings and notes in the end, each kind once; or all are ``listed``, as are the clips.
    """

    listed: Listed | None = None
    total: int = 0
    added: int = 0
    known: int = 0
    failed: int = 0
    changed: int = 0  # known ones that got a name, a tag or a remark
    mended: int = 0
    motion_s: float = 0.0
    interrupted: bool = False
    seconds: float = 0.0
    warnings: Heard = field(default_factory=Heard)
    notes: Heard = field(default_factory=Heard)

    def hear(self, progress: IngestProgress) -> None:
        """One more file."""
        self.total, self.motion_s = progress.total, progress.motion_s
        self.added, self.known, self.failed = progress.added, progress.known, progress.failed
        self.changed, self.mended = self.changed + progress.is_changed, self.mended + progress.is_mended
        read = {
            "path": progress.path,
            "warnings": [self.warnings.hear(progress.path, text) for text in progress.warnings],
            "notes": [self.notes.hear(progress.path, text) for text in progress.notes],
        }
        if progress.clip is not None:
            if self.listed is not None:
                became = {} if progress.is_new else {"changed": progress.is_changed, "mended": progress.is_mended}
                clip = library_run.document(progress.clip)
                self.listed.put("added" if progress.is_new else "known", clip | became | read)
            return
        says = for_command_line(progress.says, progress.path)
        if self.listed is None:
            output.error(says)
        else:
            self.listed.put("failed", {"error": says} | read)

    @property
    def left(self) -> int:
        """Files of which nothing was told."""
        return self.total - self.added - self.known - self.failed


class Bar(library_bar.Bar):
    """Files that are done, how many seconds of motion go in a second, and the time left."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__("Adding", quiet=quiet)

    def hear(self, progress: IngestProgress) -> None:
        """One more file."""
        rate = f"{progress.motion_s_per_s:.0f} s of motion/s, {duration(progress.left_s)} left"
        self.show(progress.total, progress.done, rate, "" if progress.clip is None else progress.clip.name)


def run(library: Library, files: Sequence[str], options: Mapping[str, Any], *, json: bool, quiet: bool) -> int:
    """Adds all that can be read, and says what became of it; the exit code."""
    with ExitStack() as stack:
        told = Told(stack.enter_context(Listed(("added", "known", "failed"))) if json else None)
        try:
            _take_in(library, files, options, told, quiet=quiet or json)
        except KeyposeError:
            if told.listed is None and told.total:
                _say(library, told, quiet=quiet, ended="stopped")
            raise
        if told.listed is None:
            _say(library, told, quiet=quiet, ended="interrupted" if told.interrupted else "")
        else:
            _show(library, told, told.listed)
    return INTERRUPTED if told.interrupted else FAILED if told.failed else 0


def _take_in(library: Library, files: Sequence[str], options: Mapping[str, Any], told: Told, *, quiet: bool) -> None:
    start = time.perf_counter()
    with Bar(quiet=quiet) as bar:

        def hear(progress: IngestProgress) -> None:
            told.hear(progress)
            bar.hear(progress)

        try:
            library.ingest(files, **options, on_progress=hear)
        except KeyboardInterrupt:
            told.interrupted = True
        finally:
            told.seconds = time.perf_counter() - start


def _say(library: Library, told: Told, *, quiet: bool, ended: str = "") -> None:
    if not quiet:
        told.warnings.say(output.warning)
        told.notes.say(output.note)
        output.line(f"{library.where}: {', '.join(_counted(told))} in {told.seconds:.2f} s")
    if ended:
        left = f"{told.left:,} files" if told.left != 1 else "1 file"
        output.note(f"{ended} with {left} to go; the same command goes on from here")


def _counted(told: Told) -> list[str]:
    """How many files became what, as parts of a sentence."""
    known = [f"{told.changed:,} of them got names, tags or remarks"] if told.changed else []
    known += [f"{told.mended:,} mended"] if told.mended else []
    parts = [f"{told.added:,} of {told.total:,} files added"]
    parts += [f"{told.known:,} known already" + (f" ({', '.join(known)})" if known else "")] if told.known else []
    parts += [f"{told.failed:,} left out"] if told.failed else []
    return parts + ([f"{duration(told.motion_s)} of motion"] if told.added else [])


def _show(library: Library, told: Told, listed: Listed) -> None:
    first = {"library": library.where}
    last = {"left": told.left, "interrupted": told.interrupted, "seconds": told.seconds}
    for line in listed.document(first, last):
        output.line(line)
