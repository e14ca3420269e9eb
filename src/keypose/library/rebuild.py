"""Rebuild everything that is derived from the bytes of clips: analyses (by worker processes), damaged rows, and
indexes."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from keypose.batch import Failure, Outcome
from keypose.errors import FileError, FormatError, FormatWarning, KeyposeError, MessageFields
from keypose.formats import Limits
from keypose.library import library_info
from keypose.library.analysis import (
    Analysis,
    PreparedClip,
    PrepareJob,
    analyse,
    prepare_clip,
    read_source,
    read_standalone,
    run_prepare_job,
    unzip_content,
)
from keypose.library.analysis_rows import (
    compute_checksums,
    load_checksums,
    load_descriptions,
    load_poses,
    load_tracks,
    write_analysis,
)
from keypose.library.blobs.folder import load_owner, write_identity
from keypose.library.clip_insert import insert_clips
from keypose.library.db.base import Vectors
from keypose.library.extra import sa
from keypose.library.ingest.run import Engine, choose_engine
from keypose.library.metadata import ClipMetadata, clean_fields
from keypose.library.records import ADD_AGAIN, Clip, Fault, FaultKind, RebuildProgress
from keypose.library.rows import (
    delete_unused_blob_row,
    file_stem,
    finalize_clip,
    is_valid_column,
    load_clips,
    row_checksum,
    search_words,
)
from keypose.library.salvage import drop_stray_rows, repair_database, repair_invalid_rows
from keypose.library.search_vectors import build_search_vectors
from keypose.library.store import Store, load_identity
from keypose.library.tables import blobs, clips, identity, now_text, other_names, tags
from keypose.validation import check_callback, is_sha256

NAME_DIGITS = 12  # of the hash, as the name of an orphan
PLACEHOLDER_NOTE = "found by rebuild"  # note of an orphan, for people
_TEXT_FIELDS = ("source", "licence", "note")
OnRebuildProgress = Callable[[RebuildProgress], None]
Error = TypeVar("Error", bound=MessageFields)


def rebuild_library(
    store: Store, jobs: int | None = None, on_progress: OnRebuildProgress | None = None
) -> Iterator[Fault]:
    """Rebuild the word index, repair damaged rows, insert orphan blobs as clips, and reanalyse every clip.

    This recovers a lost database, with names made of hashes; yields faults for what cannot be read. Searches in the
    meantime find every clip: words are indexed in one transaction, everything else is replaced clip by clip. ``jobs``
    processes read clips (None: one per core); ``on_progress`` is called after each.
    """
    check_callback("on_progress", on_progress)
    yield from repair_database(store)
    with store.database.begin_write(raw_text=True) as connection:
        faults = [*drop_stray_rows(connection), *repair_invalid_rows(connection)]
        library_info.repair(connection, store.database.blob_location)
        _restore_identity(store, connection)
        rebuild_word_index(store, connection)
        for statement in store.database.dialect.missing_indexes(connection).values():
            connection.execute(statement)
        connection.execute(sa.delete(blobs).where(blobs.c.hash.not_in(sa.select(clips.c.blob))))
    yield from faults
    yield from repair_rows(store)
    yield from Reanalysis(store, choose_engine(jobs, None), on_progress).run()


def rebuild_word_index(store: Store, connection: sa.Connection) -> None:
    """Rebuild the word index from all clips with valid rows; ``connection`` reads raw text."""
    dialect = store.database.dialect
    dialect.create_word_index(connection)
    clips_by_id = load_clips(connection, damaged={})
    for clip_id, clip in clips_by_id.items():
        dialect.index_words(connection, clip_id, search_words(clip))


def repair_rows(store: Store) -> Iterator[Fault]:
    """Repair every damaged row: facts are computed again, valid metadata do not change.

    If the bytes are damaged, too, the row is deleted and reported, as nothing of the clip exists any more.
    """
    damaged: dict[int, str] = {}
    with store.database.begin_read(raw_text=True) as connection:
        load_clips(connection, damaged=damaged)
        rows = {
            clip_id: dict(connection.execute(sa.select(clips).where(clips.c.id == clip_id)).mappings().one())
            for clip_id in damaged
        }
    for clip_id, row in rows.items():
        yield from _repair_row(store, clip_id, row, damaged[clip_id])


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
    new_hashes: set[str] = field(default_factory=set)  # hashes of clips that this rebuild has inserted
    started_at: float = field(default_factory=time.monotonic)
    faults: list[Fault] = field(default_factory=list)  # not yielded yet

    def run(self) -> Iterator[Fault]:
        """Insert orphan blobs as clips and reanalyse all other clips; yield faults for what cannot be read."""
        with self.store.database.begin_read(raw_text=True) as connection:
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
                fields = clean_fields("", "", PLACEHOLDER_NOTE)
                metadata = ClipMetadata(digest[:NAME_DIGITS], (), fields, is_placeholder=True)
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
                if clip is None:  # the clip was removed in the meantime, or already reported
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
                self._restore_hash(clip_id, clip, data)
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
        with self.store.database.begin_read(raw_text=True) as connection:
            return load_clips(connection, id_query, damaged={}).get(clip_id)

    def _restore_hash(self, clip_id: int, clip: Clip, data: bytes) -> None:
        """Write the hash and the size of a clip again if its row was changed by accident."""
        with self.store.database.begin_read(raw_text=True) as connection:
            if _is_row_intact(connection, clip_id):
                return
        placeholder = self.store.blobs.placeholder_path("clip")
        digest = clip.hash
        if clip.tolerance_mm is None:
            with suppress(FormatError):  # reported by the reader
                digest = unzip_content(data, placeholder, self.store.limits).hash
        with self.store.database.begin_write(raw_text=True) as connection:
            connection.execute(sa.update(blobs).where(blobs.c.hash == clip.blob).values(bytes=len(data)))
            if not connection.execute(sa.select(clips.c.id).where(clips.c.hash == digest)).first():
                connection.execute(sa.update(clips).where(clips.c.id == clip_id).values(hash=digest))

    def _write(self, clip_id: int, analysis: Analysis | None) -> None:
        """Replace the analysis of a clip; if it cannot be read (None), index its stored vectors."""
        store = self.store
        with store.database.begin_write(raw_text=True) as connection:
            if not load_clips(connection, sa.select(clips.c.id).where(clips.c.id == clip_id)):
                return
            was_intact = _is_row_intact(connection, clip_id)
            if analysis is not None:
                connection.execute(sa.update(clips).where(clips.c.id == clip_id).values(asdict(analysis.facts)))
                write_analysis(connection, store.database.dialect, clip_id, analysis)
            else:
                reindex_stored_vectors(store, connection, clip_id)
            is_intact = was_intact or _is_row_intact(connection, clip_id)  # with facts that are computed again
            clip = finalize_clip(connection, store.database.dialect, clip_id)
        if not is_intact:
            self.faults.append(Fault("row", clip.name, "its names, tags, source, licence, note or date were changed by "
                                                       "accident: check them"))  # fmt: skip

    def _outcomes(self, function: Callable[[Any], Any], jobs: Iterator[Any], n: int) -> Iterator[Outcome[Any]]:
        with closing(self.engine.map(function, jobs, n)) as outcomes:
            yield from outcomes

    def _report_fault(self, kind: FaultKind, subject: str, message: str) -> None:
        self.faults.append(Fault(kind, subject, message))
        self._report(subject)

    def _drain_faults(self) -> Iterator[Fault]:
        faults, self.faults = self.faults, []
        yield from faults

    def _report(
        self, name: str, warnings: Sequence[FormatWarning] = (), path: str = "", display_name: str = ""
    ) -> None:
        self.done += 1
        if self.on_progress is not None:
            named_warnings = tuple(_replace_path(warning, path, display_name or name) for warning in warnings)
            elapsed_s = time.monotonic() - self.started_at
            self.on_progress(RebuildProgress(name, self.total, self.done, elapsed_s, named_warnings))


def _is_row_intact(connection: sa.Connection, clip_id: int) -> bool:
    """Return whether the row of a clip, its names and its tags have their checksum, or have none ("")."""
    is_clip = clips.c.id == clip_id
    clip = load_clips(connection, sa.select(clips.c.id).where(is_clip))[clip_id]
    return connection.execute(sa.select(clips.c.checksum).where(is_clip)).scalar_one() in ("", row_checksum(clip))


def reindex_stored_vectors(store: Store, connection: sa.Connection, clip_id: int) -> None:
    """Index the stored vectors of a clip, if intact, when its bytes cannot be read to compute them again."""
    dialect = store.database.dialect
    if (
        dialect.has_vector_index
        and load_checksums(connection).get(clip_id) == compute_checksums(connection, [clip_id])[clip_id]
    ):
        dialect.index_vectors(connection, clip_id, load_search_vectors(connection, clip_id))


def load_search_vectors(connection: sa.Connection, clip_id: int) -> Mapping[str, Vectors]:
    """Return the stored vectors of a clip by descriptor."""
    clip_ids = [clip_id]
    description, track = load_descriptions(connection, clip_ids), load_tracks(connection, clip_ids)
    return build_search_vectors(
        description.get(clip_id), track.get(clip_id), load_poses(connection, clip_ids).get(clip_id)
    )


def _restore_identity(store: Store, connection: sa.Connection) -> None:
    """Restore a damaged identity from the location of the blobs, or choose a new one; write a missing owner file."""
    recorded = load_identity(connection)
    if recorded is not None:
        if load_owner(store.blobs) is None:
            write_identity(store.blobs, recorded)
        return
    new_identity = load_owner(store.blobs) or secrets.token_hex(16)
    connection.execute(sa.delete(identity))
    connection.execute(sa.insert(identity).values(identity=new_identity))
    write_identity(store.blobs, new_identity)
    store.database.identity = new_identity


def _repair_row(store: Store, clip_id: int, row: Mapping[str, Any], problem: str) -> Iterator[Fault]:
    name = row["name"] if is_valid_column(row, "name") else f"clip {clip_id}"
    try:
        prepared = _read(store, row)
    except (FileError, FormatError) as error:
        _drop(store, clip_id, row)
        reason = f"it was damaged ({problem}), and so are its bytes ({error}): the clip is gone"
        yield Fault("row", name, reason, hint=ADD_AGAIN)
    except KeyposeError as error:  # the package for this format is not installed
        yield Fault("row", name, f"it is damaged ({problem}), and its bytes cannot be read here: {error}")
    else:
        lost = [column for column in ("name", *_TEXT_FIELDS, "added_at") if not is_valid_column(row, column)]
        if _write(store, clip_id, row, prepared):
            lost.append("tags or other names")
        if lost:
            yield Fault("row", name, f"it was damaged, and could not be read: {', '.join(lost)}")


def _read(store: Store, row: Mapping[str, Any]) -> PreparedClip:
    """Read the clip of a row from its blob or, if that is unknown, from the blob named by the hash of its content."""
    digest = next(
        (row[column] for column in ("blob", "hash") if is_valid_column(row, column) and store.blobs.has(row[column])),
        "",
    )
    if not is_sha256(digest):
        raise FormatError(str(store.blobs), "no bytes of the clip are there", code="missing_blob")
    placeholder = store.blobs.placeholder_path("clip")
    return prepare_clip(
        read_source(
            unzip_content(store.blobs.read(digest), placeholder, store.limits), placeholder, placeholder, store.limits
        ),
        None,
    )


def _write(store: Store, clip_id: int, row: Mapping[str, Any], prepared: PreparedClip) -> bool:
    """Replace a damaged row; return whether other names or tags were lost."""
    dialect = store.database.dialect
    is_lossy = row["tolerance_mm"] is not None and is_valid_column(row, "tolerance_mm") and is_valid_column(row, "hash")
    blob = store.put_bytes(prepared.data)
    values = {
        "hash": row["hash"] if is_lossy else prepared.hash,
        "blob": blob,
        "name": row["name"] if is_valid_column(row, "name") else blob[:12],
        **{column: row[column] if is_valid_column(row, column) else "" for column in _TEXT_FIELDS},
        "suffix": prepared.suffix,
        **asdict(prepared.analysis.facts),
        "added_at": row["added_at"] if is_valid_column(row, "added_at") else now_text(),
        "tolerance_mm": row["tolerance_mm"] if is_lossy else None,
        "is_placeholder": row["is_placeholder"] if is_valid_column(row, "is_placeholder") else 0,
    }
    with store.database.begin_write(raw_text=True) as connection:
        same = sa.select(clips.c.id).where(clips.c.hash == values["hash"], clips.c.id != clip_id)
        if connection.execute(same).first():  # the clip was added again in the meantime
            _delete(store, connection, clip_id, row)
            return False
        connection.execute(dialect.insert_new(blobs, [{"hash": blob, "bytes": len(prepared.data)}]))
        connection.execute(sa.update(blobs).where(blobs.c.hash == blob).values(bytes=len(prepared.data)))
        connection.execute(sa.update(clips).where(clips.c.id == clip_id).values(values))
        has_lost_words = _drop_invalid_words(store, connection, clip_id)
        write_analysis(connection, dialect, clip_id, prepared.analysis)
        finalize_clip(connection, dialect, clip_id)
    return has_lost_words


def _drop_invalid_words(store: Store, connection: sa.Connection, clip_id: int) -> bool:
    """Delete other names and tags that are no text; return whether there were any."""
    has_lost_words = False
    for table, column in ((other_names, other_names.c.name), (tags, tags.c.tag)):
        own_words = sa.select(column).where(table.c.clip_id == clip_id)
        words = list(connection.scalars(own_words))
        valid_words = [word for word in words if isinstance(word, str)]
        has_lost_words |= len(valid_words) < len(words)
        connection.execute(sa.delete(table).where(table.c.clip_id == clip_id, column.not_in(valid_words)))
    return has_lost_words


def _drop(store: Store, clip_id: int, row: Mapping[str, Any]) -> None:
    with store.database.begin_write(raw_text=True) as connection:
        _delete(store, connection, clip_id, row)


def _delete(store: Store, connection: sa.Connection, clip_id: int, row: Mapping[str, Any]) -> None:
    dialect = store.database.dialect
    dialect.delete_words(connection, clip_id)
    connection.execute(sa.delete(clips).where(clips.c.id == clip_id))
    if isinstance(row["blob"], str):
        delete_unused_blob_row(connection, row["blob"])
    dialect.increment_changes(connection)


def _fault_kind(failure: Failure) -> FaultKind:
    # Otherwise the package for its format is missing.
    return "damaged blob" if isinstance(failure.error, FormatError) else "analysis"


def _failure_message(outcome: Outcome[Any], path: str, display_name: str) -> str:
    failure = outcome.failure
    assert failure is not None
    if failure.error is not None:
        return str(_replace_path(failure.error, path, display_name))
    return f"{failure.kind}: {failure.message}" if failure.is_bug else failure.message


def _replace_path(error: Error, path: str, display_name: str) -> Error:
    """Return an error or warning with ``display_name`` in place of ``path``."""
    return error.with_fields(path=display_name) if error.path == path else error
