"""All that can be made anew from the bytes of clips."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

from keypose.library import marker
from keypose.library.blobs.owner import claim, owner_of
from keypose.library.database import identity_of
from keypose.library.extra import sa
from keypose.library.indexing import index_words_again
from keypose.library.ingest.engine import engine_of
from keypose.library.mending import mend_rows
from keypose.library.nouns import Fault
from keypose.library.remaking import OnRebuilt, Remaking
from keypose.library.store import Store
from keypose.library.tables import blobs, clips, identity


def rebuild(store: Store, jobs: int | None = None, on_progress: OnRebuilt | None = None) -> Iterator[Fault]:
    """Indexes all words, makes damaged rows sound, takes in bytes of no clip, and reads every clip anew for what is
    kept about its frames.

    A lost database comes back so, under names made of hashes; yields what cannot be read. Whoever searches meanwhile
    finds every clip: words are indexed in one step, all else is replaced clip by clip. ``jobs`` processes read clips
    (None: one for each core); ``on_progress`` is told of each.
    """
    with store.database.writing() as connection:
        marker.mend(connection)
        _say_which(store, connection)
        index_words_again(store, connection)
        for made in store.database.dialect.lost_indexes(connection).values():
            connection.execute(made)
        connection.execute(sa.delete(blobs).where(blobs.c.hash.not_in(sa.select(clips.c.blob))))
    yield from mend_rows(store)
    yield from Remaking(store, engine_of(jobs, None), on_progress).run()


def _say_which(store: Store, connection: sa.Connection) -> None:
    """Which library it is, where its row is damaged: the place of its bytes knows it."""
    if identity_of(connection) is not None:
        return
    found = owner_of(store.blobs) or secrets.token_hex(16)
    connection.execute(sa.delete(identity))
    connection.execute(sa.insert(identity).values(identity=found))
    claim(store.blobs, found)
    store.database.identity = found
