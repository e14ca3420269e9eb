"""What databases do not have in common: how one is opened, its indexes of words and vectors, its checks and errors."""

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

    where: str  # the database as it may be shown: no password
    raises: tuple[type[Exception], ...]  # what its driver and SQLAlchemy raise
    writing: Mapping[str, Any]  # options of connections that write
    has_vector_index: bool  # whether ``index_vectors`` keeps anything

    @property
    def path(self) -> Path | None:
        """The file, where there is one."""

    def open(self, *, create: bool) -> sa.Engine:
        """Connections that keep foreign keys and wait for other writers."""

    def insert_new(self, table: sa.Table, rows: list[dict[str, Any]]) -> sa.Insert:
        """An insert that leaves rows out that are there already."""

    def make_word_index(self, connection: sa.Connection) -> None:
        """Makes the index of words, empty, also where one is that is broken; readers see the old one until the end."""

    def index_words(self, connection: sa.Connection, clip: int, words: tuple[str, ...]) -> None:
        """Makes a clip findable by these words and no others."""

    def forget_words(self, connection: sa.Connection, clip: int) -> None:
        """Makes a clip unfindable."""

    def clips_with(self, words: tuple[str, ...]) -> sa.TextualSelect:
        """The numbers of the clips that have a word that begins so, for each of ``words``."""

    def indexed_words(self, connection: sa.Connection) -> dict[int, tuple[str, ...]]:
        """The words by which each clip is found."""

    def make_vector_index(self, connection: sa.Connection) -> None:
        """Makes the index of vectors, empty; one that is there is dropped."""

    def index_vectors(self, connection: sa.Connection, clip: int, vectors: Mapping[str, Vectors]) -> None:
        """Makes a clip findable by these vectors, by descriptor, and by no others."""

    def unindexed(self, connection: sa.Connection, clip: int, vectors: Mapping[str, Vectors]) -> tuple[str, ...]:
        """The descriptors of ``vectors`` by which the clip is not found as ``index_vectors`` would have made it."""

    def count_change(self, connection: sa.Connection) -> None:
        """Tells those who keep parts of the library in memory that it is another one now."""

    def problems(self, connection: sa.Connection) -> Iterator[str]:
        """What the database itself finds wrong in its files."""

    @property
    def may_write(self) -> bool:
        """Whether this user can change anything, as far as that can be known before."""

    def as_they_are(self, connection: sa.Connection) -> AbstractContextManager[None]:
        """While it lasts, texts that are none are no error: they come as bytes."""

    def word_problems(self, connection: sa.Connection) -> Iterator[str]:
        """What it finds wrong in the index of words; ``connection`` must be one that writes."""

    def lost_indexes(self, connection: sa.Connection) -> dict[str, sa.Executable]:
        """The names of indexes that are not there, each with what makes it."""

    def error(self, error: BaseException) -> KeyposeError:
        """The error of ours that an error of the database is."""
