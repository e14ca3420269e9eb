"""Rebuilds the indexes of a library from stored data."""

from __future__ import annotations

from collections.abc import Mapping

from keypose.library.analysis_reader import load_descriptions, load_poses, load_tracks
from keypose.library.analysis_rows import compute_checksums, load_checksums
from keypose.library.db.base import Vectors
from keypose.library.extra import sa
from keypose.library.rows import load_clips, search_words
from keypose.library.search_vectors import build_search_vectors
from keypose.library.store import Store


def rebuild_word_index(store: Store, connection: sa.Connection) -> None:
    """Rebuild the word index from all clips with valid rows."""
    dialect = store.database.dialect
    dialect.create_word_index(connection)
    with dialect.raw_text(connection):
        clips_by_id = load_clips(connection, damaged={})
    for clip_id, clip in clips_by_id.items():
        dialect.index_words(connection, clip_id, search_words(clip))


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
