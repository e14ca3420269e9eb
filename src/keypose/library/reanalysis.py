"""Reanalysis of every clip by worker processes; stored analyses are replaced clip by clip."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from keypose.batch import Failure, Outcome
from keypose.errors import FileError, FormatError, KeyposeError, LimitError
from keypose.formats import Limits
from keypose.library.analysis import Analysis, analyse
from keypose.library.analysis_rows import write_analysis
from keypose.library.clip_insert import insert_clips
from keypose.library.clip_preparation import PrepareJob, run_prepare_job
from keypose.library.extra import sa
from keypose.library.index_rebuild import reindex_stored_vectors
from keypose.library.ingest.engine import Engine
from keypose.library.metadata import FOUND_BY_REBUILD, ClipMetadata, clean_fields
from keypose.library.records import Clip, Fault, FaultKind, RebuildProgress
from keypose.library.rows import finalize_clip, load_clips
from keypose.library.source_file import read_standalone, unzip_content
from keypose.library.store import Store
from keypose.library.tables import clips
from keypose.library.text_normalization import file_stem

NAME_DIGITS = 12  # of the hash, as the name of an orphan
OnRebuildProgress = Callable[[RebuildProgress], None]
_DAMAGED = frozenset(kind.__name__ for kind in (FormatError, LimitError))


@dataclass(frozen=True)
class ReanalysisJob:
    """The bytes of a clip to analyse; sent to a worker like those of an ingest."""

    data: bytes
    path: str  # for messages only
    limits: Limits


def run_reanalysis_job(job: ReanalysisJob) -> Analysis:
    """Return the analysis of the frames of a job."""
    path = Path(job.path)
    return analyse(read_standalone(unzip_content(job.data, path, job.limits), path, job.limits))


@dataclass(eq=False)
class Reanalysis:
    """A rebuild in progress."""

    store: Store
    engine: Engine
    on_progress: OnRebuildProgress | None = None
    done: int = 0
    total: int = 0
    new_hashes: set[str] = field(default_factory=set)  # of clips that were just inserted
    started_at: float = field(default_factory=time.monotonic)
    faults: list[Fault] = field(default_factory=list)  # not yielded yet

    def run(self) -> Iterator[Fault]:
        """Insert orphan blobs as clips and reanalyse all other clips; yield faults for what cannot be read."""
        with self.store.database.begin_read() as connection:
            rows = connection.execute(sa.select(clips.c.id, clips.c.hash, clips.c.blob)).all()
        known_blobs = {row.blob for row in rows}
        orphans = [digest for digest in self.store.blobs.hashes() if digest not in known_blobs]
        self.total = len(rows) + len(orphans)
        yield from self._insert_orphans(orphans)
        yield from self._reanalyse_clips([row.id for row in rows if row.hash not in self.new_hashes])

    def _insert_orphans(self, orphans: Sequence[str]) -> Iterator[Fault]:
        """Insert clips for blobs that belong to none."""
        pending: dict[int, tuple[str, PrepareJob]] = {}
        count = 0
        placeholder = os.fspath(self.store.blobs.placeholder_path("clip"))

        def build_jobs() -> Iterator[PrepareJob]:
            nonlocal count
            for digest in orphans:
                try:
                    data = self.store.blobs.read(digest)
                except KeyposeError as error:
                    self._report_fault("orphan blob", digest, str(error))
                    continue
                job = PrepareJob(data, placeholder, placeholder, self.store.limits, None)
                pending[count] = digest, job
                count += 1
                yield job

        for outcome in self._outcomes(run_prepare_job, build_jobs(), len(orphans)):
            digest, job = pending.pop(outcome.index)
            if outcome.value is None:
                self._report_fault("orphan blob", digest, _failure_message(outcome, placeholder, digest))
            else:
                metadata = ClipMetadata(digest[:NAME_DIGITS], (), clean_fields("", "", FOUND_BY_REBUILD))
                prepared = replace(outcome.value, data=outcome.value.data or job.data)
                self.new_hashes.add(insert_clips(self.store, [(prepared, metadata)])[0].clip.hash)
                self._report(digest[:NAME_DIGITS], outcome.warnings, placeholder)
            yield from self._drain_faults()
        yield from self._drain_faults()

    def _reanalyse_clips(self, clip_ids: Sequence[int]) -> Iterator[Fault]:
        pending: dict[int, tuple[int, Clip, str]] = {}
        count = 0

        def build_jobs() -> Iterator[ReanalysisJob]:
            nonlocal count
            for clip_id in clip_ids:
                clip = self._load_clip(clip_id)
                if clip is None:  # removed in the meantime, or already reported
                    self._report("")
                    continue
                try:
                    data = self.store.read_bytes(clip)
                except KeyposeError as error:
                    self._write(clip_id, None)
                    is_missing = isinstance(error, FileError)
                    self._report_fault("missing blob" if is_missing else "damaged blob", clip.name, str(error))
                    continue
                path = os.fspath(self.store.blobs.placeholder_path(f"{file_stem(clip.name)}{clip.suffix}"))
                pending[count] = clip_id, clip, path
                count += 1
                yield ReanalysisJob(data, path, self.store.limits)

        for outcome in self._outcomes(run_reanalysis_job, build_jobs(), len(clip_ids)):
            clip_id, clip, path = pending.pop(outcome.index)
            self._write(clip_id, outcome.value)
            display_name = f"{clip.name}{clip.suffix}"
            if outcome.failure is not None:
                self._report_fault(
                    _fault_kind(outcome.failure), clip.name, _failure_message(outcome, path, display_name)
                )
            else:
                self._report(clip.name, outcome.warnings, path, display_name)
            yield from self._drain_faults()
        yield from self._drain_faults()

    def _load_clip(self, clip_id: int) -> Clip | None:
        id_query = sa.select(clips.c.id).where(clips.c.id == clip_id)
        with self.store.database.begin_read() as connection, self.store.database.dialect.raw_text(connection):
            return load_clips(connection, id_query, damaged={}).get(clip_id)

    def _write(self, clip_id: int, analysis: Analysis | None) -> None:
        """Replace the analysis of a clip; if it cannot be read (None), index its stored vectors."""
        store = self.store
        with store.database.begin_write() as connection:
            if not load_clips(connection, sa.select(clips.c.id).where(clips.c.id == clip_id)):
                return
            if analysis is not None:
                connection.execute(sa.update(clips).where(clips.c.id == clip_id).values(asdict(analysis.facts)))
                write_analysis(connection, store.database.dialect, clip_id, analysis)
            else:
                reindex_stored_vectors(store, connection, clip_id)
            finalize_clip(connection, store.database.dialect, clip_id)

    def _outcomes(self, function: Callable[[Any], Any], jobs: Iterator[Any], n: int) -> Iterator[Outcome[Any]]:
        with closing(self.engine.map(function, jobs, n)) as outcomes:
            yield from outcomes

    def _report_fault(self, kind: FaultKind, subject: str, message: str) -> None:
        self.faults.append(Fault(kind, subject, message))
        self._report(subject)

    def _drain_faults(self) -> Iterator[Fault]:
        faults, self.faults = self.faults, []
        yield from faults

    def _report(self, name: str, warnings: Sequence[str] = (), path: str = "", display_name: str = "") -> None:
        self.done += 1
        if self.on_progress is not None:
            named_warnings = tuple(text.replace(path, display_name or name) for text in warnings)
            elapsed_s = time.monotonic() - self.started_at
            self.on_progress(RebuildProgress(name, self.total, self.done, elapsed_s, named_warnings))


def _fault_kind(failure: Failure) -> FaultKind:
    return "damaged blob" if failure.kind in _DAMAGED else "analysis"  # else the package for its format is missing


def _failure_message(outcome: Outcome[Any], path: str, display_name: str) -> str:
    assert outcome.failure is not None
    message = outcome.failure.message.replace(path, display_name)
    return f"{outcome.failure.kind}: {message}" if outcome.failure.is_bug else message
