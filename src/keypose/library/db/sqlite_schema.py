"""Repair of the header and the schema of an SQLite file that cannot be opened: both are the same in all libraries.

New libraries create their tables in the same order, and therefore on the same pages.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from keypose.library.db.sqlite import text_or_bytes

HEADER_BYTES, PAGE_BYTES = 100, 4096
INTERIOR_PAGE = 5  # type of a page whose cells begin with the numbers of other pages
# Numbers in the header without which a file can be read: its free pages, and when its number of pages was correct.
_FREE_PAGES, _VALID_FOR = slice(32, 40), slice(92, 96)
MIN_SIMILARITY = 0.8  # of a damaged entry of the schema to the original one

Entry = tuple[Any, Any, Any, Any]  # type, name, table, SQL


def copy_file(file: Path, copy: Path, sound_file: Path) -> None:
    """Copy a damaged file with its log; the copy gets the header and schema of ``sound_file``, where they differ."""
    shutil.copyfile(file, copy)
    with suppress(FileNotFoundError):
        shutil.copyfile(f"{file}-wal", f"{copy}-wal")
    _repair_header(copy, sound_file)
    with open_damaged(sound_file) as connection:
        entries = list(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))
    is_complete = False
    with suppress(sqlite3.DatabaseError), open_damaged(copy) as connection:
        missing = _repair_schema(connection, entries)
        is_complete = all(kind != "table" for kind, *_ in missing)
    if not is_complete:
        _copy_schema_pages(sound_file, copy)


def remove_file(file: Path) -> None:
    """Remove a file and what SQLite has created beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        Path(f"{file}{suffix}").unlink(missing_ok=True)


@contextmanager
def open_damaged(file: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection that ignores damaged entries of the schema; text may be bytes."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.text_factory = text_or_bytes
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("PRAGMA cell_size_check = ON")
        yield connection


def _repair_header(copy: Path, sound_file: Path) -> None:
    with sound_file.open("rb") as stream:
        header = bytearray(stream.read(HEADER_BYTES))
    for numbers in (_FREE_PAGES, _VALID_FOR):
        header[numbers] = bytes(numbers.stop - numbers.start)
    with copy.open("r+b") as stream:
        stream.write(header[: os.fstat(stream.fileno()).st_size])


def _copy_schema_pages(sound_file: Path, copy: Path) -> None:
    """Copy the pages of the schema, where some of its entries cannot be found: the first page, and its leaves."""
    data = sound_file.read_bytes()
    first = data[HEADER_BYTES:PAGE_BYTES]
    pages = [1]
    if first[0] == INTERIOR_PAGE:
        n_cells, (rightmost,) = int.from_bytes(first[3:5], "big"), struct.unpack(">I", first[8:12])
        cells = struct.unpack(f">{n_cells}H", first[12 : 12 + 2 * n_cells])
        pages += [rightmost, *(int.from_bytes(data[cell : cell + 4], "big") for cell in cells)]
    with copy.open("r+b") as stream:
        for page in pages:
            start = (page - 1) * PAGE_BYTES + (HEADER_BYTES if page == 1 else 0)
            stream.seek(start)
            stream.write(data[start : page * PAGE_BYTES])


def _repair_schema(connection: sqlite3.Connection, entries: Sequence[Entry]) -> list[Entry]:
    """Replace each entry by the original one that it resembles, except for its page, and delete all others; return the
    original ones that are missing."""
    rows = {
        rowid: entry
        for rowid, *entry in connection.execute("SELECT rowid, type, name, tbl_name, sql FROM sqlite_master")
    }
    missing = [entry for entry in entries if list(entry) not in rows.values()]
    for rowid, row in rows.items():
        if tuple(row) in entries:
            continue
        similarities = [SequenceMatcher(None, _describe(row), _describe(entry)).ratio() for entry in missing]
        if max(similarities, default=0.0) < MIN_SIMILARITY:
            connection.execute("DELETE FROM sqlite_master WHERE rowid = ?", (rowid,))
            continue
        entry = missing.pop(similarities.index(max(similarities)))
        values = "type = ?, name = ?, tbl_name = ?, sql = ?"
        connection.execute(f"UPDATE sqlite_master SET {values} WHERE rowid = ?", (*entry, rowid))
    return missing


def _describe(entry: Sequence[Any]) -> str:
    return " ".join(each.decode("latin-1") if isinstance(each, bytes) else str(each) for each in entry)
