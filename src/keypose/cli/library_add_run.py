"""Run ``keypose library add``: progress and the result of each file."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from keypose.cli import library_progress, library_run, output
from keypose.cli.clip_view import format_duration
from keypose.cli.exit_codes import FAILED, INTERRUPTED
from keypose.cli.json_spool import JsonSpool
from keypose.cli.message_options import translate_keywords
from keypose.cli.message_summary import MessageSummary
from keypose.errors import KeyposeError
from keypose.library.library import Library
from keypose.library.records import IngestProgress


@dataclass
class IngestSummary:
    """Counts and messages of the files so far; only files whose results are safely on disk count.

    Clips are counted but not stored, as an archive may have more than fit into memory. Errors are printed at once,
    warnings and notes at the end, each kind once. With a ``spool``, all of them and the clips go there instead.
    """

    spool: JsonSpool | None = None
    total: int = 0
    added: int = 0
    existing: int = 0
    failed: int = 0
    changed: int = 0  # existing clips that got a name, a tag or metadata
    repaired: int = 0
    motion_s: float = 0.0
    interrupted: bool = False
    seconds: float = 0.0
    warnings: MessageSummary = field(default_factory=MessageSummary)
    notes: MessageSummary = field(default_factory=MessageSummary)

    def add(self, progress: IngestProgress) -> None:
        """Count one more file and its messages."""
        self.total, self.motion_s = progress.total, progress.motion_s
        self.added, self.existing, self.failed = progress.added, progress.existing, progress.failed
        self.changed, self.repaired = self.changed + progress.is_changed, self.repaired + progress.is_repaired
        file_fields = {
            "path": progress.path,
            "warnings": [self.warnings.add(progress.path, text) for text in progress.warnings],
            "notes": [self.notes.add(progress.path, text) for text in progress.notes],
        }
        if progress.clip is not None:
            if self.spool is not None:
                change_fields = (
                    {} if progress.is_new else {"changed": progress.is_changed, "repaired": progress.is_repaired}
                )
                clip = library_run.clip_document(progress.clip)
                self.spool.append("added" if progress.is_new else "existing", clip | change_fields | file_fields)
            return
        message = translate_keywords(progress.message, progress.path)
        if self.spool is None:
            output.print_error(message)
        else:
            self.spool.append("failed", {"error": message} | file_fields)

    @property
    def n_remaining(self) -> int:
        """Return the number of files without a result."""
        return self.total - self.added - self.existing - self.failed


class IngestProgressBar(library_progress.LibraryProgressBar):
    """Show finished files, seconds of motion per second, and the remaining time."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__("Adding", quiet=quiet)

    def show_file(self, progress: IngestProgress) -> None:
        """Update the bar after one file."""
        rate = f"{progress.motion_s_per_s:.0f} s of motion/s, {format_duration(progress.remaining_s)} left"
        self.update(progress.total, progress.done, rate, "" if progress.clip is None else progress.clip.name)


def run(library: Library, files: Sequence[str], options: Mapping[str, Any], *, json: bool, quiet: bool) -> int:
    """Add all readable files and print a summary; return the exit code."""
    with ExitStack() as stack:
        summary = IngestSummary(stack.enter_context(JsonSpool(("added", "existing", "failed"))) if json else None)
        try:
            _ingest(library, files, options, summary, quiet=quiet or json)
        except KeyposeError:
            if summary.spool is None and summary.total:
                _print_summary(library, summary, quiet=quiet, reason="stopped")
            raise
        if summary.spool is None:
            _print_summary(library, summary, quiet=quiet, reason="interrupted" if summary.interrupted else "")
        else:
            _print_json(library, summary, summary.spool)
    return INTERRUPTED if summary.interrupted else FAILED if summary.failed else 0


def _ingest(
    library: Library, files: Sequence[str], options: Mapping[str, Any], summary: IngestSummary, *, quiet: bool
) -> None:
    start = time.perf_counter()
    with IngestProgressBar(quiet=quiet) as bar:

        def on_progress(progress: IngestProgress) -> None:
            summary.add(progress)
            bar.show_file(progress)

        try:
            library.ingest(files, **options, on_progress=on_progress)
        except KeyboardInterrupt:
            summary.interrupted = True
        finally:
            summary.seconds = time.perf_counter() - start


def _print_summary(library: Library, summary: IngestSummary, *, quiet: bool, reason: str = "") -> None:
    if not quiet:
        summary.warnings.print(output.print_warning)
        summary.notes.print(output.print_note)
        output.print_line(f"{library.location}: {', '.join(_count_phrases(summary))} in {summary.seconds:.2f} s")
    if reason:
        remaining_files = f"{summary.n_remaining:,} files" if summary.n_remaining != 1 else "1 file"
        output.print_note(f"{reason} with {remaining_files} to go; the same command goes on from here")


def _count_phrases(summary: IngestSummary) -> list[str]:
    """Return the counts as phrases of one sentence."""
    details = [f"{summary.changed:,} of them got names, tags or remarks"] if summary.changed else []
    details += [f"{summary.repaired:,} mended"] if summary.repaired else []
    phrases = [f"{summary.added:,} of {summary.total:,} files added"]
    phrases += (
        [f"{summary.existing:,} known already" + (f" ({', '.join(details)})" if details else "")]
        if summary.existing
        else []
    )
    phrases += [f"{summary.failed:,} left out"] if summary.failed else []
    return phrases + ([f"{format_duration(summary.motion_s)} of motion"] if summary.added else [])


def _print_json(library: Library, summary: IngestSummary, spool: JsonSpool) -> None:
    first = {"library": library.location}
    last = {"n_remaining": summary.n_remaining, "interrupted": summary.interrupted, "seconds": summary.seconds}
    for line in spool.lines(first, last):
        output.print_line(line)
