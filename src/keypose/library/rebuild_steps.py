"""Rebuild of everything that follows from the bytes of clips."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

from keypose.library import library_info
from keypose.library.blobs.owner import load_owner, write_identity
from keypose.library.database import load_identity
from keypose.library.extra import sa
from keypose.library.index_rebuild import rebuild_word_index
from keypose.library.ingest.engine import choose_engine
from keypose.library.reanalysis import OnRebuildProgress, Reanalysis
from keypose.library.records import Fault
from keypose.library.row_repair import repair_rows
from keypose.library.store import Store
from keypose.library.tables import blobs, clips, identity


def rebuild_library(store: Store, jobs: int | None = None, on_progress: OnRebuildProgress | None = None) -> Iterator[Fault]:
    """Rebuild the word index, repair damaged rows, insert orphan blobs as clips, and reanalyse every clip.

    This recovers a lost database, with names made of hashes; yields faults for what cannot be read. Searches in the
    meantime find every clip: words are indexed in one transaction, all else is replaced clip by clip. ``jobs``
    processes read clips (None: one per core); ``on_progress`` is called after each.
    """
    with store.database.begin_write() as connection:
        library_info.repair(connection)
        _restore_identity(store, connection)
        rebuild_word_index(store, connection)
        for statement in store.database.dialect.missing_indexes(connection).values():
            connection.execute(statement)
        connection.execute(sa.delete(blobs).where(blobs.c.hash.not_in(sa.select(clips.c.blob))))
    yield from repair_rows(store)
    yield from Reanalysis(store, choose_engine(jobs, None), on_progress).run()


def _restore_identity(store: Store, connection: sa.Connection) -> None:
    """Restore a damaged identity from the location of the blobs, or choose a new one."""
    if load_identity(connection) is not None:
        return
    new_identity = load_owner(store.blobs) or secrets.token_hex(16)
    connection.execute(sa.delete(identity))
    connection.execute(sa.insert(identity).values(identity=new_identity))
    write_identity(store.blobs, new_identity)
    store.database.identity = new_identity
