"""One ingest: files are read and recognised here, prepared by workers, and written here in small batches."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from keypose.batch import Outcome, default_jobs, map_clips
from keypose.batch.dask_map import SCHEMES, map_on_dask
from keypose.batch.file_discovery import discover_clips
from keypose.batch.worker import list_other_notes, run_item
from keypose.errors import FileError, FormatWarning, KeyposeError, OptionError
from keypose.library.analysis import (
    ANALYSIS_VERSION,
    CONVERSION_NOTES,
    MULTI_FILE_SUFFIXES,
    Conversion,
    FileContent,
    PreparedClip,
    PrepareJob,
    SourceFile,
    check_tolerance_mm,
    read_content,
    read_source,
    run_prepare_job,
)
from keypose.library.clip_insert import (
    InsertResult,
    find_existing,
    has_intact_bytes,
    insert_clips,
    restore_bytes,
)
from keypose.library.metadata import ClipMetadata, default_name, default_source
from keypose.library.records import Clip, IngestCounts, IngestFailure, IngestProgress, IngestReport
from keypose.library.rows import clean_note, clean_tags
from keypose.library.store import Store
from keypose.model import list_notes
from keypose.options import DEFAULT_LOAD_OPTIONS, JobOptions, LoadOptions, check_option_int
from keypose.options.library import AddKeywords, IngestOptions
from keypose.validation import check_bool, check_callback, check_items, check_text

MAX_BATCH_CLIPS = 8  # per transaction
MAX_BATCH_BYTES = 64 << 20  # per transaction
MAX_BATCH_WAIT_S = 0.5  # of a prepared clip for the rest of its batch
MAX_TEXT_CHARS = 60  # of a field in a note
EXACT_NOTE = "already stored with its original bytes, which are more exact than the tolerance"
# Each process uses one thread, as there are many small clips.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
Item = TypeVar("Item")
Result = TypeVar("Result")
OnProgress = Callable[[IngestProgress], None]


class IngestKeywords(AddKeywords, total=False):
    """The keywords of ``Library.ingest``, for overloads of ``Library.add``."""

    jobs: int | None
    engine: str | None
    on_progress: OnProgress | None
    tag_folders: bool


def ingest(
    store: Store,
    sources: Iterable[str | PathLike[str]],
    options: IngestOptions,
    load_options: LoadOptions = DEFAULT_LOAD_OPTIONS,
    on_progress: OnProgress | None = None,
) -> IngestCounts:
    """Ingest files, all motion files in and below folders, and matches of patterns.

    Unreadable files are skipped and reported. Existing content is not analysed again, so an interrupted ingest can be
    continued by starting it again; only files that need others (AMC, glTF with buffers) are read again. ``on_progress``
    is called for each file after it is durable; clips are not collected, so memory does not grow with their number.

    With ``load_options`` other than the default all files are read again, and a file that is read differently with
    them becomes a separate clip. The workers of a cluster receive the bytes and need no access to the disk of this
    machine.
    """
    check_callback("on_progress", on_progress)
    fields = {"licence": clean_note("licence", options.licence), "note": clean_note("note", options.note)}
    if options.source is not None:
        fields["source"] = clean_note("source", options.source)
    tolerance = check_tolerance_mm(options.tolerance_mm)
    animation = "" if load_options.animation is None else str(load_options.animation)
    tag_folders = check_bool("tag_folders", options.tag_folders)
    metadata = IngestMetadata(clean_tags(options.tags), fields, tag_folders, animation)
    chosen_engine = choose_engine(options.jobs, options.engine)
    files, problems = _find_files(sources)
    run = IngestRun(store, chosen_engine, metadata, tolerance, load_options, on_progress, len(files) + len(problems))
    for name, error in problems:
        run.report_failure(Path(name), str(error), error=error)
    return run.run(files)


def _find_files(sources: Iterable[str | PathLike[str]]) -> tuple[list[InputFile], list[tuple[str, FileError]]]:
    """Return the files, each once, and the sources that matched nothing, with their errors."""
    files_by_path: dict[str, InputFile] = {}
    problems: list[tuple[str, FileError]] = []
    expected = "paths of files and folders"
    for source in check_items("paths", sources, expected):
        try:
            name = os.fspath(source)
        except TypeError:
            raise OptionError(option="paths", value=source, expected=expected) from None
        inputs = discover_clips([name])
        problems += [(name, problem) for problem in inputs.problems]
        for file in inputs.files:
            # Links are not resolved.
            files_by_path.setdefault(os.path.abspath(file.path), InputFile(file.path, file.relative))  # noqa: PTH100
    return list(files_by_path.values()), problems


def choose_engine(jobs: int | None, engine: str | None) -> Engine:
    """Return the engine: None is this machine, ``dask://host:8786`` a cluster (also ``tcp://``, ``tls://``)."""
    count = None if jobs is None else check_option_int(JobOptions, "jobs", jobs)
    if engine is None:
        return Engine(count)
    if not check_text("engine", engine).startswith(SCHEMES):
        raise OptionError(option="engine", value=engine, expected="the address of a Dask scheduler: dask://host:8786")
    if count is not None:
        raise OptionError(f"and engine={engine!r}: a cluster has as many workers as it has", option="jobs", value=jobs)
    return Engine(None, engine)


@dataclass(frozen=True)
class Engine:
    """``jobs`` processes of this machine, or the cluster at ``address``."""

    jobs: int | None
    address: str | None = None

    @property
    def is_remote(self) -> bool:
        """Whether workers may not have access to the files of this machine."""
        return self.address is not None

    def prepare_clips(self, jobs: Iterable[PrepareJob], n_files: int) -> Generator[Outcome[PreparedClip]]:
        """Yield the outcome of each job as it completes."""
        return self.map(run_prepare_job, jobs, n_files)

    def map(
        self, function: Callable[[Item], Result], items: Iterable[Item], n_items: int
    ) -> Generator[Outcome[Result]]:
        """Yield the outcome of ``function`` for each of ``items`` as it completes."""
        if self.address is not None:
            yield from map_on_dask(function, items, self.address)
            return
        with _limit_threads():
            yield from map_clips(function, items, self.jobs or default_jobs(n_items))


@dataclass(frozen=True)
class InputFile:
    """A file to ingest, and its path relative to the folder or pattern that matched it."""

    path: Path
    relative: Path


@dataclass(frozen=True)
class IngestMetadata:
    """The metadata common to all files of an ingest, normalised."""

    tags: tuple[str, ...]
    fields: Mapping[str, str]  # source, if given, licence, note
    tag_folders: bool = False  # names of the folders below the given one become tags
    animation: str = ""

    def build_metadata(self, file: InputFile) -> ClipMetadata:
        """Return the metadata of one file; its name and source are derived from the path."""
        _, name = default_name(file.path)
        folders = [part for part in file.relative.parent.parts if part.strip(" .")] if self.tag_folders else []
        return ClipMetadata(
            name,
            clean_tags((*self.tags, *folders)),
            {"source": default_source(file.path), **self.fields},
            self.animation,
        )

    def unchanged_field_notes(self, clip: Clip) -> list[str]:
        """Return a note for each field of an existing clip with another value, which is not changed."""
        return [
            f"its {field} stays {_shorten(getattr(clip, field))!r}; describe changes it"
            for field, text in self.fields.items()
            if text and getattr(clip, field) != text
        ]


@dataclass(eq=False)
class IngestRun:
    """An ingest in progress."""

    store: Store
    engine: Engine
    metadata: IngestMetadata
    tolerance_mm: float | None
    options: LoadOptions
    on_progress: OnProgress | None
    total: int
    n_added: int = 0  # number of added files; clips are not collected, to limit memory
    n_existing: int = 0
    n_failed: int = 0
    motion_s: float = 0.0
    started_at: float = field(default_factory=time.monotonic)
    pending: dict[int, _PendingFile] = field(default_factory=dict)
    ready: list[_PreparedFile] = field(default_factory=list)
    ready_since: float = 0.0

    def run(self, files: Sequence[InputFile]) -> IngestCounts:
        """Ingest all files and return the counts."""
        try:
            with closing(self.engine.prepare_clips(self._jobs(files), len(files))) as outcomes:
                for outcome in outcomes:
                    self._collect(outcome)
        except KeyposeError:  # there are no workers, or the disk is full; prepared clips are still written
            self._write()
            raise
        self._write()
        return IngestCounts(
            self.total, self.n_added, self.n_existing, self.n_failed, self.motion_s, time.monotonic() - self.started_at
        )

    def report_failure(
        self, path: Path, message: str, warnings: tuple[FormatWarning, ...] = (), error: KeyposeError | None = None
    ) -> None:
        """Count and report a file that cannot be ingested."""
        self.n_failed += 1
        self._report(path, None, message, warnings, error=error)

    def _jobs(self, files: Sequence[InputFile]) -> Iterator[PrepareJob]:
        """Yield jobs for files with new content, lazily, as workers need them."""
        index = 0
        for file in files:
            try:
                metadata, content = self.metadata.build_metadata(file), read_content(file.path, self.store.limits)
            except KeyposeError as error:
                self.report_failure(file.path, str(error), error=error)
                continue
            existing = (
                find_existing(self.store, content, metadata, self.tolerance_mm)
                if self.options == DEFAULT_LOAD_OPTIONS
                else None
            )
            if existing is not None:
                self._report_existing(file.path, content, existing)
                continue
            must_read_here = self.engine.is_remote and _may_need_other_files(file.path)
            pending = (
                self._read_locally(file.path, metadata, content)
                if must_read_here
                else self._pending_file(file.path, metadata, content)
            )
            if pending is not None:
                self.pending[index] = pending
                index += 1
                yield pending.job

    def _report_existing(
        self, path: Path, content: FileContent, existing: InsertResult, warnings: tuple[FormatWarning, ...] = ()
    ) -> None:
        """Report an existing clip, after restoring its bytes from the file if they are lost."""
        if not has_intact_bytes(self.store, existing.clip):
            outcome = self._read(path, content)
            if outcome.value is None:
                self.report_failure(path, *_describe_failure(outcome, path))
                return
            existing, warnings = (
                InsertResult(restore_bytes(self.store, existing.clip, outcome.value), is_repaired=True),
                outcome.warnings,
            )
        self.n_existing += 1
        self._report(path, existing, warnings=warnings)

    @property
    def placeholder(self) -> Path:
        """A path with no other file beside it."""
        return self.store.blobs.placeholder_path("clip")

    def _pending_file(self, path: Path, metadata: ClipMetadata, content: FileContent) -> _PendingFile:
        """Return the job for a file."""
        return _PendingFile(path, metadata, self._job(path, content, self.options))

    def _job(self, path: Path, content: FileContent, options: LoadOptions) -> PrepareJob:
        job_path = self.placeholder if self.engine.is_remote else path
        return PrepareJob(
            content.data,
            os.fspath(job_path),
            os.fspath(self.placeholder),
            self.store.limits,
            self.tolerance_mm,
            options,
        )

    def _read_locally(self, path: Path, metadata: ClipMetadata, content: FileContent) -> _PendingFile | None:
        """Return a job for the motion of a file that needs other files; None if the clip exists or the file cannot be
        read."""
        outcome = self._read(path, content)
        if outcome.value is None:
            self.report_failure(path, *_describe_failure(outcome, path))
            return None
        source, warnings = outcome.value, outcome.warnings
        existing = find_existing(self.store, source.content, metadata, self.tolerance_mm)
        if existing is not None:
            self._report_existing(path, source.content, existing, warnings)
            return None
        return _PendingFile(
            path,
            metadata,
            self._job(path, source.content, DEFAULT_LOAD_OPTIONS),
            warnings,
            list_notes(source.motion),
            source.conversion,
        )

    def _read(self, path: Path, content: FileContent) -> Outcome[SourceFile]:
        """Read the motion of a file in this process, collecting warnings."""
        return run_item(
            lambda each: read_source(each, path, self.placeholder, self.store.limits, self.options), 0, content
        )

    def _collect(self, outcome: Outcome[PreparedClip]) -> None:
        pending = self.pending.pop(outcome.index)
        worker_path, own_path = pending.job.path, os.fspath(pending.path)
        warnings = pending.warnings + tuple(
            warning.with_fields(path=own_path) if warning.path == worker_path else warning
            for warning in outcome.warnings
        )
        value = outcome.value
        if value is None:
            message, _, error = _describe_failure(outcome, pending.path, worker_path)
            self.report_failure(pending.path, message, warnings, error)
            return
        if value.analysis.version != ANALYSIS_VERSION:
            raise KeyposeError(
                f"a worker analyses by version {value.analysis.version}",
                code="worker",
                expected=f"{ANALYSIS_VERSION}: all must run the same Keypose",
            )
        prepared = replace(
            value,
            data=value.data or pending.job.data,
            notes=pending.notes or value.notes,
            conversion=pending.conversion or value.conversion,
        )
        self.ready.append(_PreparedFile(pending, prepared, warnings))
        now = time.monotonic()
        self.ready_since = now if len(self.ready) == 1 else self.ready_since
        is_full = (
            len(self.ready) >= MAX_BATCH_CLIPS or sum(len(file.prepared.data) for file in self.ready) > MAX_BATCH_BYTES
        )
        if is_full or now - self.ready_since > MAX_BATCH_WAIT_S:
            self._write()

    def _write(self) -> None:
        """Write the prepared batch, and report each file once it is on disk."""
        batch, self.ready = self.ready, []
        if not batch:
            return
        results = insert_clips(self.store, [(file.prepared, file.pending.metadata) for file in batch])
        for file, result in zip(batch, results, strict=True):
            self.n_added, self.n_existing = self.n_added + result.is_new, self.n_existing + (not result.is_new)
            self.motion_s += result.clip.duration_s if result.is_new else 0.0
            conversion = file.prepared.conversion
            conversion_notes = () if conversion is None else (CONVERSION_NOTES[conversion],)
            notes = list_other_notes((*file.prepared.notes, *conversion_notes), file.warnings)
            self._report(file.pending.path, result, warnings=file.warnings, notes=notes)

    def _report(
        self,
        path: Path,
        result: InsertResult | None,
        message: str = "",
        warnings: tuple[FormatWarning, ...] = (),
        notes: tuple[str, ...] = (),
        error: KeyposeError | None = None,
    ) -> None:
        if self.on_progress is None:
            return
        clip = None if result is None else result.clip
        if result is not None and not result.is_new:
            notes += tuple(self.metadata.unchanged_field_notes(result.clip))
            if self.tolerance_mm is not None and result.clip.tolerance_mm is None:
                notes += (EXACT_NOTE,)
        self.on_progress(
            IngestProgress(
                os.fspath(path),
                clip,
                message,
                self.total,
                self.n_added,
                self.n_existing,
                self.n_failed,
                self.motion_s,
                time.monotonic() - self.started_at,
                is_new=result is not None and result.is_new,
                is_changed=result is not None and result.is_changed,
                is_repaired=result is not None and result.is_repaired,
                warnings=warnings,
                notes=notes,
                error=error,
            )
        )


@dataclass(frozen=True)
class _PendingFile:
    """A file that was sent to a worker."""

    path: Path
    metadata: ClipMetadata
    job: PrepareJob
    warnings: tuple[FormatWarning, ...] = ()  # of the local reader
    notes: tuple[str, ...] = ()
    conversion: Conversion | None = None


@dataclass(frozen=True, eq=False)
class _PreparedFile:
    """A file that a worker returned."""

    pending: _PendingFile
    prepared: PreparedClip
    warnings: tuple[FormatWarning, ...]


@dataclass(eq=False)
class ReportCollector:
    """Collects progress and forwards it."""

    on_progress: OnProgress | None = None
    added: list[Clip] = field(default_factory=list)
    existing: list[Clip] = field(default_factory=list)
    failures: list[IngestFailure] = field(default_factory=list)
    warnings: list[FormatWarning] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, progress: IngestProgress) -> None:
        """Add the progress of one file."""
        if progress.clip is None:
            self.failures.append(IngestFailure(progress.path, progress.message))
        else:
            (self.added if progress.is_new else self.existing).append(progress.clip)
        self.warnings.extend(progress.warnings)
        self.notes.extend(f"{progress.path}: {note}" for note in progress.notes)
        if self.on_progress is not None:
            self.on_progress(progress)

    @property
    def report(self) -> IngestReport:
        """The report of all files so far."""
        return IngestReport(
            tuple(self.added), tuple(self.existing), tuple(self.failures), tuple(self.warnings), tuple(self.notes)
        )


def _may_need_other_files(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith(MULTI_FILE_SUFFIXES)


def _describe_failure(
    outcome: Outcome[Any], path: Path, worker_path: str | None = None
) -> tuple[str, tuple[FormatWarning, ...], KeyposeError | None]:
    """Return the message, the warnings and the error of a failure.

    ``worker_path``: the path that the worker had, which is replaced by that of the file.
    """
    assert outcome.failure is not None
    error, message, own_path = outcome.failure.error, outcome.failure.message, os.fspath(path)
    if error is not None:
        error = error.with_fields(path=own_path) if error.path in (None, worker_path) else error
        message = str(error)
    if outcome.failure.is_bug:
        message = f"{outcome.failure.kind}: {message}"
    names_file = error is not None and error.path == own_path
    return message if names_file else f"{path}: {message}", outcome.warnings, error


@contextmanager
def _limit_threads() -> Iterator[None]:
    """Limit processes started within the context to one thread, except where the user has set a number."""
    added = {name: value for name, value in _ONE_THREAD.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_TEXT_CHARS else f"{text[:MAX_TEXT_CHARS]}..."
