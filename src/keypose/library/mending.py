"""Rows of clips that are damaged, made sound by the bytes that they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from keypose.errors import FileError, FormatError, KeyposeError
from keypose.library.analysis_rows import write_analysis
from keypose.library.blobs.base import is_hash
from keypose.library.extra import sa
from keypose.library.material import packed
from keypose.library.nouns import Fault
from keypose.library.preparing import Prepared, prepared, read
from keypose.library.rows import clips_of, forget_blob, is_right, now, settle
from keypose.library.store import Store
from keypose.library.tables import blobs, clips, names, tags

_SAID = ("source", "licence", "note")


def mend_rows(store: Store) -> Iterator[Fault]:
    """Makes every damaged row of a clip sound: what its frames are is read anew, what people said stays where it can.

    A row whose bytes are damaged too is dropped, and told of: nothing is left of its clip.
    """
    damaged: dict[int, str] = {}
    with store.database.reading() as connection, store.database.dialect.as_they_are(connection):
        clips_of(connection, damaged=damaged)
        rows = {
            number: dict(connection.execute(sa.select(clips).where(clips.c.id == number)).mappings().one())
            for number in damaged
        }
    for number, row in rows.items():
        yield from _mended(store, number, row, damaged[number])


def _mended(store: Store, number: int, row: Mapping[str, Any], wrong: str) -> Iterator[Fault]:
    name = row["name"] if is_right(row, "name") else f"clip {number}"
    try:
        made = _read(store, row)
    except (FileError, FormatError) as error:
        _drop(store, number, row)
        yield Fault("row", name, f"it was damaged ({wrong}), and so are its bytes ({error}): the clip is gone, add its "
                                 "file again")  # fmt: skip
    except KeyposeError as error:  # a package that reads such files is not installed
        yield Fault("row", name, f"it is damaged ({wrong}), and its bytes cannot be read here: {error}")
    else:
        _write(store, number, row, made)


def _read(store: Store, row: Mapping[str, Any]) -> Prepared:
    """The clip that a row is about, from its bytes; where they are not said, those under the hash of its content."""
    digest = next((row[what] for what in ("blob", "hash") if is_right(row, what) and store.blobs.has(row[what])), "")
    if not is_hash(digest):
        raise FormatError(str(store.blobs), "no bytes of the clip are there")
    where = store.blobs.stand_in("clip")
    return prepared(read(packed(store.blobs.read(digest), where, store.limits), where, where, store.limits), None)


def _write(store: Store, number: int, row: Mapping[str, Any], made: Prepared) -> None:
    dialect = store.database.dialect
    is_near = row["within_mm"] is not None and is_right(row, "within_mm") and is_right(row, "hash")
    blob = store.blobs.put(made.data)
    values = {
        "hash": row["hash"] if is_near else made.hash,
        "blob": blob,
        "name": row["name"] if is_right(row, "name") else blob[:12],
        **{what: row[what] if is_right(row, what) else "" for what in _SAID},
        "suffix": made.suffix,
        **asdict(made.analysis.facts),
        "added_at": row["added_at"] if is_right(row, "added_at") else now(),
        "within_mm": row["within_mm"] if is_near else None,
    }
    with store.database.writing() as connection:
        same = sa.select(clips.c.id).where(clips.c.hash == values["hash"], clips.c.id != number)
        if connection.execute(same).first():  # it was added again meanwhile
            _delete(store, connection, number, row)
            return
        connection.execute(dialect.insert_new(blobs, [{"hash": blob, "bytes": len(made.data)}]))
        connection.execute(sa.update(blobs).where(blobs.c.hash == blob).values(bytes=len(made.data)))
        connection.execute(sa.update(clips).where(clips.c.id == number).values(values))
        _drop_words_that_are_none(store, connection, number)
        write_analysis(connection, dialect, number, made.analysis)
        settle(connection, dialect, number)


def _drop_words_that_are_none(store: Store, connection: sa.Connection, number: int) -> None:
    for table, column in ((names, names.c.name), (tags, tags.c.tag)):
        mine = sa.select(column).where(table.c.clip == number)
        with store.database.dialect.as_they_are(connection):
            kept = [word for word in connection.scalars(mine) if isinstance(word, str)]
        connection.execute(sa.delete(table).where(table.c.clip == number, column.not_in(kept)))


def _drop(store: Store, number: int, row: Mapping[str, Any]) -> None:
    with store.database.writing() as connection:
        _delete(store, connection, number, row)


def _delete(store: Store, connection: sa.Connection, number: int, row: Mapping[str, Any]) -> None:
    dialect = store.database.dialect
    dialect.forget_words(connection, number)
    connection.execute(sa.delete(clips).where(clips.c.id == number))
    if isinstance(row["blob"], str):
        forget_blob(connection, row["blob"])
    dialect.count_change(connection)
