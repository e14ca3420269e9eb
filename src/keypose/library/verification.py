"""Verification of rows, checksums, blobs and indexes of a library, and repair of some faults."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from keypose.errors import FileError, FormatError, Hint, format_count
from keypose.library import library_info
from keypose.library.analysis import ANALYSIS_VERSION, unzip_content
from keypose.library.analysis_rows import (
    compute_checksums,
    has_consistent_body_parts,
    ids_without_analysis,
)
from keypose.library.blobs.base import OWNER_FILE
from keypose.library.blobs.folder import load_owner, write_identity
from keypose.library.extra import sa
from keypose.library.rebuild import load_search_vectors, rebuild_word_index
from keypose.library.records import ADD_AGAIN, EMPTY_PLACE_HINT, Clip, Fault, rebuild_hint, verify_hint
from keypose.library.rows import load_clips, row_checksum, search_words
from keypose.library.salvage import find_invalid_rows
from keypose.library.store import Store, load_identity
from keypose.library.tables import analyses, blobs, clips

ORPHAN_HINT = Hint(
    python="adding their file again or rebuild() takes them in, verify(drop_orphans=True) removes them",
    command="adding their file again or keypose library rebuild takes them in, keypose library verify --drop-orphans "
    "removes them",
)
_COPY_HINT = rebuild_hint("repairs it, or copies what can be read into a new file")


def verify(store: Store, location: str, *, fix: bool, drop_orphans: bool = False) -> Iterator[Fault]:
    """Yield all faults; with ``fix``, remove files of killed writers and rebuild indexes.

    If the database was lost or is an older copy, an orphan blob may be the only remainder of a clip; therefore only
    ``drop_orphans`` removes them. Others may write in the meantime: the lock is only held for single steps, and their
    changes are no faults.
    """
    clips_by_id: dict[int, Clip] = {}
    try:
        yield from _check_database(store, location, fix, clips_by_id)
    except FormatError as error:
        yield Fault("database", location, error.summary, hint=_COPY_HINT)
        return
    missing_hint = _choose_missing_hint(store)
    for clip in clips_by_id.values():
        faults = list(_check_bytes(store, clip, missing_hint))
        if faults and _is_unchanged(store, clip):
            yield from faults
    try:
        yield from _check_orphans(store, drop_orphans)
        yield from _check_other_files(store, fix)
    except FileError as error:
        yield Fault("missing blob", str(store.blobs), str(error))


def _check_database(store: Store, location: str, fix: bool, clips_by_id: dict[int, Clip]) -> Iterator[Fault]:
    """Yield all faults except those of blobs; put the clips with valid rows into ``clips_by_id``."""
    dialect = store.database.dialect
    damaged: dict[int, str] = {}
    with store.database.begin_read(raw_text=True) as connection:
        for problem in (*dialect.find_problems(connection),):
            yield Fault("database", location, problem, hint=None if dialect.path is None else _COPY_HINT)
        for problem in (*library_info.find_problems(connection), *_check_identity(connection)):
            yield Fault("database", location, problem, hint=rebuild_hint("repairs it"))
        for _, clip_id, problem in find_invalid_rows(connection):
            yield Fault("row", f"clip {clip_id}", problem, hint=rebuild_hint("repairs or removes it"))
        missing_indexes = dialect.missing_indexes(connection)
        clips_by_id.update(load_clips(connection, damaged=damaged))
        checksums = {row.id: row.checksum for row in connection.execute(sa.select(clips.c.id, clips.c.checksum))}
        unused_blobs = sa.select(blobs.c.hash).where(blobs.c.hash.not_in(sa.select(clips.c.blob)))
        for digest in sorted(map(str, connection.scalars(unused_blobs))):
            yield Fault("row", digest, "the database has bytes that belong to no clip", hint=rebuild_hint("repairs it"))
        indexed_words = _load_indexed_words(store, connection)
    for clip_id, reason in damaged.items():
        hint = rebuild_hint("repairs it from its bytes")
        yield Fault("row", f"clip {clip_id}", f"its row is damaged ({reason})", hint=hint)
    for clip_id, clip in clips_by_id.items():
        if row_checksum(clip) != checksums.get(clip_id):
            hint = rebuild_hint("recovers what it can from the bytes")
            yield Fault("row", clip.name, "its stored metadata were changed by accident", hint=hint)
    clip_ids = (clips_by_id.keys() | indexed_words.keys()) - damaged.keys()
    ids_with_wrong_words = {
        clip_id for clip_id in clip_ids if _expected_words(clips_by_id, clip_id) != indexed_words.get(clip_id)
    }
    yield from _check_indexes(store, location, missing_indexes, len(ids_with_wrong_words), fix)
    yield from _check_analyses(store, {clip_id: clip.name for clip_id, clip in clips_by_id.items()})


def _check_identity(connection: sa.Connection) -> Iterator[str]:
    if load_identity(connection) is None:
        yield "it does not say which library it is"


def _load_indexed_words(store: Store, connection: sa.Connection) -> dict[int, tuple[str, ...]]:
    """Return the indexed words by clip id; none if the index cannot be read."""
    try:
        with connection.begin_nested():
            return store.database.dialect.indexed_words(connection)
    except sa.exc.DBAPIError:
        return {}


def _check_indexes(
    store: Store, location: str, missing_indexes: Mapping[str, sa.Executable], n_wrong: int, fix: bool
) -> Iterator[Fault]:
    dialect = store.database.dialect
    word_problems: list[str] = []
    if fix or dialect.is_writable:
        with store.database.begin_write(raw_text=True) as connection:
            word_problems += dialect.find_word_problems(connection)
            if fix:
                _rebuild_indexes(store, connection, missing_indexes, words=bool(n_wrong or word_problems))
    for name in missing_indexes:
        yield Fault("database", location, f"the index {name} is gone", fix, verify_hint("makes it again"))
    for problem in word_problems:
        yield Fault("words", location, problem, fix, verify_hint("makes it again"))
    if n_wrong:
        yield Fault("words", location, f"not found by their words: {format_count(n_wrong, 'clip')}", fix)


def _rebuild_indexes(
    store: Store, connection: sa.Connection, missing_indexes: Mapping[str, sa.Executable], *, words: bool
) -> None:
    """Rebuild the word index, and create missing indexes that nobody else has created in the meantime."""
    if words:
        rebuild_word_index(store, connection)
    still_missing = store.database.dialect.missing_indexes(connection)
    for name in missing_indexes.keys() & still_missing.keys():
        connection.execute(still_missing[name])


def _check_analyses(store: Store, names: dict[int, str]) -> Iterator[Fault]:
    """Yield faults of analyses: missing, damaged, or of another version."""
    with store.database.begin_read(raw_text=True) as connection:
        for clip_id in sorted(ids_without_analysis(connection) & names.keys()):
            yield Fault("analysis", names[clip_id], "it was not analysed", hint=rebuild_hint("analyses it"))
        # One statement, as versions alone would be read from their index, which may be damaged.
        columns = (analyses.c.clip_id, analyses.c.checksum, analyses.c.version)
        for clip_id, checksum, version in connection.execute(sa.select(*columns).order_by(columns[0])).all():
            if clip_id not in names:
                continue
            problem = _find_analysis_problem(store, connection, clip_id, checksum, version)
            if problem:
                yield Fault("analysis", names[clip_id], problem, hint=rebuild_hint("analyses it again"))


def _find_analysis_problem(store: Store, connection: sa.Connection, clip_id: int, checksum: str, version: int) -> str:
    if compute_checksums(connection, [clip_id])[clip_id] != checksum:
        return "what is stored about its frames was changed by accident"
    if version != ANALYSIS_VERSION:
        return f"its analysis is of version {version}, expected {ANALYSIS_VERSION}"
    if not has_consistent_body_parts(connection, clip_id):
        return "it is not found by the parts of the body that swing"
    if not store.database.dialect.has_vector_index:
        return ""
    missing = store.database.dialect.find_unindexed(connection, clip_id, load_search_vectors(connection, clip_id))
    return f"it is not found by its vectors ({', '.join(missing)})" if missing else ""


def _expected_words(clips_by_id: dict[int, Clip], clip_id: int) -> tuple[str, ...] | None:
    return search_words(clips_by_id[clip_id]) if clip_id in clips_by_id else None


def _choose_missing_hint(store: Store) -> Hint | str:
    """Return what helps against missing bytes: where those of all clips are gone, none can be added."""
    with contextlib.suppress(FileError):
        if load_owner(store.blobs) is None and not store.has_some_bytes():
            return EMPTY_PLACE_HINT
    return ADD_AGAIN


def _check_bytes(store: Store, clip: Clip, missing_hint: Hint | str) -> Iterator[Fault]:
    try:
        content = unzip_content(
            store.blobs.read(clip.blob, clip.bytes), store.blobs.placeholder_path(clip.blob), store.limits
        )
    except FileError as error:
        yield Fault("missing blob", clip.name, str(error), hint=missing_hint)
    except FormatError as error:
        yield Fault("damaged blob", clip.name, str(error), hint=ADD_AGAIN)
    else:
        if content.hash != clip.hash and clip.tolerance_mm is None:  # otherwise it is lossy
            yield Fault("row", clip.name, f"its content has the sha256 {content.hash}, expected {clip.hash}")
        if len(content.data) != clip.bytes:
            yield Fault("row", clip.name, f"{format_count(len(content.data), 'byte')}, expected {clip.bytes}")


def _is_unchanged(store: Store, clip: Clip) -> bool:
    """Return whether a clip has not been removed or repaired in the meantime."""
    with store.database.begin_read(raw_text=True) as connection:
        same_row = sa.select(clips.c.id).where(clips.c.hash == clip.hash, clips.c.blob == clip.blob)
        return connection.execute(same_row).first() is not None


def _check_orphans(store: Store, drop: bool) -> Iterator[Fault]:
    stored_hashes = list(store.blobs.hashes())
    # Read after the rows, so that bytes added in the meantime are no orphans.
    with store.database.begin_read(raw_text=True) as connection:
        used_hashes = set(connection.scalars(sa.union(sa.select(blobs.c.hash), sa.select(clips.c.blob))))
    for digest in stored_hashes:
        if digest not in used_hashes and store.blobs.has(digest):
            is_dropped = drop and store.delete_unused_bytes(digest)
            yield Fault("orphan blob", digest, "bytes of no clip", is_dropped, ORPHAN_HINT)


def _check_other_files(store: Store, fix: bool) -> Iterator[Fault]:
    """Yield faults of files that are no blobs."""
    for name in list(store.blobs.leftovers()):
        if fix:
            store.blobs.remove_leftover(name)
        yield Fault("leftover", name, "a file that a process left which died", fix)
    for name in store.blobs.foreign_files():
        yield Fault("leftover", name, "not put there by a library, and left alone", hint="move it away yourself")
    identity = store.database.identity
    if identity is not None and store.blobs.top_level_names() is not None and load_owner(store.blobs) != identity:
        can_fix = store.has_some_bytes()
        if fix and can_fix:
            write_identity(store.blobs, identity)
        hint = verify_hint("makes it say so") if can_fix else rebuild_hint("does so, if the bytes are lost for good")
        yield Fault("leftover", OWNER_FILE, "does not say whose bytes these are", fix and can_fix, hint)
