"""The indexes of a library, made anew of what is kept."""

from __future__ import annotations

from collections.abc import Mapping

from keypose.library.analyses import descriptions_of, poses_of, tracks_of
from keypose.library.analysis_rows import kept_seals, seals_now
from keypose.library.dialects.base import Vectors
from keypose.library.extra import sa
from keypose.library.near import indexed
from keypose.library.rows import clips_of, words_for
from keypose.library.store import Store


def index_words_again(store: Store, connection: sa.Connection) -> None:
    """Makes the index of words anew, of all clips whose rows are whole."""
    dialect = store.database.dialect
    dialect.make_word_index(connection)
    with dialect.as_they_are(connection):
        there = clips_of(connection, damaged={})
    for number, clip in there.items():
        dialect.index_words(connection, number, words_for(clip))


def index_kept_vectors(store: Store, connection: sa.Connection, number: int) -> None:
    """Indexes what is kept of a clip, where it is sound: its bytes are not there to make it anew."""
    dialect = store.database.dialect
    if dialect.has_vector_index and kept_seals(connection).get(number) == seals_now(connection, [number])[number]:
        dialect.index_vectors(connection, number, kept_vectors(connection, number))


def kept_vectors(connection: sa.Connection, number: int) -> Mapping[str, Vectors]:
    """The vectors by which a clip is found, as they are kept."""
    here = [number]
    description, track = descriptions_of(connection, here), tracks_of(connection, here)
    return indexed(description.get(number), track.get(number), poses_of(connection, here).get(number))
