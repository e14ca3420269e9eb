"""Repair of damaged rows of clips from their bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from keypose.errors import FileError, FormatError, KeyposeError
from keypose.library.analysis_rows import write_analysis
from keypose.library.blobs.base import is_hash
from keypose.library.clip_preparation import PreparedClip, prepare_clip, read_source
from keypose.library.extra import sa
from keypose.library.records import Fault
from keypose.library.rows import delete_unused_blob_row, finalize_clip, is_valid_column, load_clips, now_text
from keypose.library.source_file import unzip_content
from keypose.library.store import Store
from keypose.library.tables import blobs, clips, other_names, tags

_TEXT_FIELDS = ("source", "licence", "note")


def repair_rows(store: Store) -> Iterator[Fault]:
    """Repair every damaged row: facts are computed again, valid metadata stays.

    A row whose bytes are damaged too is deleted and reported, as nothing is left of the clip.
    """
    damaged: dict[int, str] = {}
    with store.database.begin_read() as connection, store.database.dialect.raw_text(connection):
        load_clips(connection, damaged=damaged)
        rows = {
            clip_id: dict(connection.execute(sa.select(clips).where(clips.c.id == clip_id)).mappings().one())
            for clip_id in damaged
        }
    for clip_id, row in rows.items():
        yield from _repair_row(store, clip_id, row, damaged[clip_id])


def _repair_row(store: Store, clip_id: int, row: Mapping[str, Any], problem: str) -> Iterator[Fault]:
    name = row["name"] if is_valid_column(row, "name") else f"clip {clip_id}"
    try:
        prepared = _read(store, row)
    except (FileError, FormatError) as error:
        _drop(store, clip_id, row)
        yield Fault("row", name, f"it was damaged ({problem}), and so are its bytes ({error}): the clip is gone, add "
                                 "its file again")  # fmt: skip
    except KeyposeError as error:  # the package for this format is not installed
        yield Fault("row", name, f"it is damaged ({problem}), and its bytes cannot be read here: {error}")
    else:
        _write(store, clip_id, row, prepared)


def _read(store: Store, row: Mapping[str, Any]) -> PreparedClip:
    """Read the clip of a row from its blob; if that is unknown, from the blob named by the hash of its content."""
    digest = next(
        (row[column] for column in ("blob", "hash") if is_valid_column(row, column) and store.blobs.has(row[column])),
        "",
    )
    if not is_hash(digest):
        raise FormatError(str(store.blobs), "no bytes of the clip are there")
    placeholder = store.blobs.placeholder_path("clip")
    return prepare_clip(
        read_source(
            unzip_content(store.blobs.read(digest), placeholder, store.limits), placeholder, placeholder, store.limits
        ),
        None,
    )


def _write(store: Store, clip_id: int, row: Mapping[str, Any], prepared: PreparedClip) -> None:
    dialect = store.database.dialect
    is_lossy = row["tolerance_mm"] is not None and is_valid_column(row, "tolerance_mm") and is_valid_column(row, "hash")
    blob = store.blobs.put(prepared.data)
    values = {
        "hash": row["hash"] if is_lossy else prepared.hash,
        "blob": blob,
        "name": row["name"] if is_valid_column(row, "name") else blob[:12],
        **{column: row[column] if is_valid_column(row, column) else "" for column in _TEXT_FIELDS},
        "suffix": prepared.suffix,
        **asdict(prepared.analysis.facts),
        "added_at": row["added_at"] if is_valid_column(row, "added_at") else now_text(),
        "tolerance_mm": row["tolerance_mm"] if is_lossy else None,
    }
    with store.database.begin_write() as connection:
        same = sa.select(clips.c.id).where(clips.c.hash == values["hash"], clips.c.id != clip_id)
        if connection.execute(same).first():  # added again in the meantime
            _delete(store, connection, clip_id, row)
            return
        connection.execute(dialect.insert_new(blobs, [{"hash": blob, "bytes": len(prepared.data)}]))
        connection.execute(sa.update(blobs).where(blobs.c.hash == blob).values(bytes=len(prepared.data)))
        connection.execute(sa.update(clips).where(clips.c.id == clip_id).values(values))
        _drop_invalid_words(store, connection, clip_id)
        write_analysis(connection, dialect, clip_id, prepared.analysis)
        finalize_clip(connection, dialect, clip_id)


def _drop_invalid_words(store: Store, connection: sa.Connection, clip_id: int) -> None:
    for table, column in ((other_names, other_names.c.name), (tags, tags.c.tag)):
        own_words = sa.select(column).where(table.c.clip_id == clip_id)
        with store.database.dialect.raw_text(connection):
            valid_words = [word for word in connection.scalars(own_words) if isinstance(word, str)]
        connection.execute(sa.delete(table).where(table.c.clip_id == clip_id, column.not_in(valid_words)))


def _drop(store: Store, clip_id: int, row: Mapping[str, Any]) -> None:
    with store.database.begin_write() as connection:
        _delete(store, connection, clip_id, row)


def _delete(store: Store, connection: sa.Connection, clip_id: int, row: Mapping[str, Any]) -> None:
    dialect = store.database.dialect
    dialect.delete_words(connection, clip_id)
    connection.execute(sa.delete(clips).where(clips.c.id == clip_id))
    if isinstance(row["blob"], str):
        delete_unused_blob_row(connection, row["blob"])
    dialect.increment_changes(connection)
