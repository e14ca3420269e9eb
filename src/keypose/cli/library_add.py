"""``keypose library add``: add files and folders to a library, in parallel, each content once."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from keypose.cli import library_edit, library_options, output
from keypose.cli.error_text import render_error
from keypose.cli.library_options import Blobs, LibraryOption, check_files_exist, open_library
from keypose.cli.messages import MessageSummary
from keypose.cli.options import DEFAULT_LIBRARY_LOAD, Files, Flags, Jobs, Json, LibraryLoadFlags, with_flags
from keypose.cli.output import FAILED, INTERRUPTED, JsonSpool, UsageError, format_duration, missing_argument_error
from keypose.cli.runner import Quiet
from keypose.errors import KeyposeError, format_count
from keypose.options.library import IngestOptions

if TYPE_CHECKING:
    from keypose.library.library import Library
    from keypose.library.records import IngestProgress

METADATA_GROUP, INGEST_GROUP, READ_GROUP = (
    Parameter(group=Group(title, sort_key=order))
    for order, title in ((1, "Metadata of the clips"), (2, "Adding"), (3, "Reading files"))
)


@with_flags(only=("tags", "tag_folders", "source", "licence", "note"))
class MetadataFlags(Flags, IngestOptions):
    """What is recorded about the clips."""


@with_flags(only=("tolerance_mm",))
class StorageFlags(Flags, IngestOptions):
    """How the clips are stored."""


@with_flags(only=("engine",))
class EngineFlags(Flags, IngestOptions):
    """Where the work is done."""


DEFAULT_METADATA, DEFAULT_STORAGE, DEFAULT_ENGINE = MetadataFlags(), StorageFlags(), EngineFlags()


def add(
    *files: Files,
    metadata: Annotated[MetadataFlags, METADATA_GROUP] = DEFAULT_METADATA,
    storage: Annotated[StorageFlags, INGEST_GROUP] = DEFAULT_STORAGE,
    jobs: Annotated[Jobs, INGEST_GROUP] = None,
    engine: Annotated[EngineFlags, INGEST_GROUP] = DEFAULT_ENGINE,
    library: LibraryOption = None,
    blobs: Blobs = None,
    json: Json = False,
    quiet: Quiet = False,
    load: Annotated[LibraryLoadFlags, READ_GROUP] = DEFAULT_LIBRARY_LOAD,
) -> int:
    """Add motion files to a library, which is created if it does not exist.

    Folders are searched recursively. Content that is already in the library, under
    any name, stays one clip: the new name and tags are added to it. A file that
    cannot be read is reported and skipped; then the exit code is 1. A clip is
    added completely or not at all, and after an interruption the same command
    continues. Of a file with several animations the first is added; --animation
    adds another one as a separate clip.

    For example:
      keypose library add takes/
      keypose library add takes/ more/walk.bvh --tag walk --licence CC-BY-4.0
      keypose library add "cmu/**/*.amc" --library archive.db --jobs 4
      keypose library add walks/ --asf skeletons/07.asf --read-fps 60
      keypose library add takes/ --engine dask://render01:8786
    """
    if not files:
        raise missing_argument_error("no file named", "at least one file, folder or pattern")
    if jobs is not None and jobs < 1:
        raise UsageError(option="jobs", value=jobs, expected="at least 1")
    if jobs is not None and engine.engine is not None:
        raise UsageError("is about this machine, and --engine about others", option="jobs", value=jobs, expected="one")
    storage.check()
    check_files_exist(files)
    load_options = load.load_options()
    options = {
        **metadata.options(),
        **storage.options(),
        "jobs": jobs,
        **engine.options(),
        "reference_pose": load_options.reference_pose,
        "asf": load_options.asf,
        "gaps": load_options.gaps,
        "animation": load_options.animation,
        "fps": load_options.fps,
    }
    with open_library(library, blobs, create=True) as opened_library:
        return run(opened_library, files, options, json=json, quiet=quiet)


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
            "warnings": [self.warnings.add_warning(progress.path, warning) for warning in progress.warnings],
            "notes": [self.notes.add_note(progress.path, note) for note in progress.notes],
        }
        if progress.clip is not None:
            if self.spool is not None:
                change_fields = (
                    {} if progress.is_new else {"changed": progress.is_changed, "repaired": progress.is_repaired}
                )
                clip = library_edit.clip_document(progress.clip)
                self.spool.append("added" if progress.is_new else "existing", clip | change_fields | file_fields)
            return
        message = progress.message
        if progress.error is not None:
            message = render_error(progress.error)
            if progress.error.path != progress.path:
                message = f"{progress.path}: {message}"
        if self.spool is None:
            output.print_error(message)
        else:
            self.spool.append("failed", {"error": message} | file_fields)

    @property
    def n_remaining(self) -> int:
        """Return the number of files without a result."""
        return self.total - self.added - self.existing - self.failed


class IngestProgressBar(library_options.LibraryProgressBar):
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
        remaining_files = format_count(summary.n_remaining, "file", ",")
        output.print_note(f"{reason} with {remaining_files} to go; the same command continues from here")


def _count_phrases(summary: IngestSummary) -> list[str]:
    """Return the counts as phrases of one sentence."""
    details = [f"{summary.changed:,} of them with new metadata"] if summary.changed else []
    details += [f"{summary.repaired:,} repaired"] if summary.repaired else []
    phrases = [f"{summary.added:,} of {format_count(summary.total, 'file', ',')} added"]
    phrases += (
        [f"{summary.existing:,} existing" + (f" ({', '.join(details)})" if details else "")] if summary.existing else []
    )
    phrases += [f"{summary.failed:,} left out"] if summary.failed else []
    return phrases + ([f"{format_duration(summary.motion_s)} of motion"] if summary.added else [])


def _print_json(library: Library, summary: IngestSummary, spool: JsonSpool) -> None:
    first = {"library": library.location}
    last = {"n_remaining": summary.n_remaining, "interrupted": summary.interrupted, "seconds": summary.seconds}
    for line in spool.lines(first, last):
        output.print_line(line)
