"""The differences between databases: opening, word and vector indexes, checks and errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from keypose.errors import KeyposeError
from keypose.library.extra import sa

Vectors = NDArray[np.float32]  # (W, D)


class Dialect(Protocol):
    """One kind of database."""

    location: str  # for messages, without a password
    driver_errors: tuple[type[Exception], ...]  # raised by the driver and SQLAlchemy
    write_options: Mapping[str, Any]  # execution options of writing connections
    has_vector_index: bool  # whether ``index_vectors`` does anything

    @property
    def path(self) -> Path | None:
        """Path of the database file; None for a server."""

    def open(self, *, create: bool) -> sa.Engine:
        """Return an engine with connections that enforce foreign keys and wait for other writers."""

    def insert_new(self, table: sa.Table, rows: list[dict[str, Any]]) -> sa.Insert:
        """Return an INSERT that skips existing rows."""

    def create_word_index(self, connection: sa.Connection) -> None:
        """Create an empty word index in place of a broken one; readers see the old one until the commit."""

    def index_words(self, connection: sa.Connection, clip_id: int, words: tuple[str, ...]) -> None:
        """Replace the indexed words of a clip."""

    def delete_words(self, connection: sa.Connection, clip_id: int) -> None:
        """Remove a clip from the word index."""

    def clips_with_words(self, words: tuple[str, ...]) -> sa.TextualSelect:
        """Return a query for the ids of clips that have, for each of ``words``, a word with that prefix."""

    def indexed_words(self, connection: sa.Connection) -> dict[int, tuple[str, ...]]:
        """Return the indexed words by clip id."""

    def create_vector_index(self, connection: sa.Connection) -> None:
        """Create an empty vector index; an existing one is dropped."""

    def index_vectors(self, connection: sa.Connection, clip_id: int, vectors: Mapping[str, Vectors]) -> None:
        """Replace the indexed vectors of a clip, by descriptor."""

    def find_unindexed(
        self, connection: sa.Connection, clip_id: int, vectors: Mapping[str, Vectors]
    ) -> tuple[str, ...]:
        """Return the descriptors of ``vectors`` with missing or different indexed rows for the clip."""

    def increment_changes(self, connection: sa.Connection) -> None:
        """Increment the change counter, which invalidates indexes cached in memory."""

    def find_problems(self, connection: sa.Connection) -> Iterator[str]:
        """Yield the faults that the database finds in its own files."""

    @property
    def is_writable(self) -> bool:
        """Return whether this user can write, as far as that is known in advance."""

    def raw_text(self, connection: sa.Connection) -> AbstractContextManager[None]:
        """Return a context in which invalid text is read as bytes instead of raising an error."""

    def find_word_problems(self, connection: sa.Connection) -> Iterator[str]:
        """Yield the faults of the word index; ``connection`` must be a writing one."""

    def missing_indexes(self, connection: sa.Connection) -> dict[str, sa.Executable]:
        """Return the CREATE statements of missing indexes by name."""

    def translate_error(self, error: BaseException) -> KeyposeError:
        """Return the KeyposeError for an error of the driver."""
