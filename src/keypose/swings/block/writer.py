"""Bytes on their way out, counted by what they are for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats
from keypose.swings.block import numbers


class Writer:
    """Collects bytes; ``sizes`` tells how many went into each part."""

    def __init__(self) -> None:
        self.sizes: Counter[str] = Counter()
        self._pieces: list[bytes] = []
        self._part = "header"

    @contextmanager
    def counted_as(self, part: str) -> Iterator[None]:
        """Counts what is written meanwhile as ``part``."""
        before, self._part = self._part, part
        yield
        self._part = before

    def data(self) -> bytes:
        """All of it."""
        return b"".join(self._pieces)

    def put(self, piece: bytes) -> None:
        """Bytes as they are."""
        self._pieces.append(piece)
        self.sizes[self._part] += len(piece)

    def byte(self, value: int) -> None:
        """A number from 0 to 255."""
        self.put(bytes((value,)))

    def whole(self, value: int) -> None:
        """One whole number, not negative."""
        self.put(numbers.written_one(value))

    def wholes(self, values: ArrayLike) -> None:
        """Several whole numbers up to 2**31 - 1; how many is known to the reader."""
        self.put(numbers.written(values))

    def floats(self, values: ArrayLike) -> None:
        """Numbers of 32 bits."""
        self.put(np.asarray(values).astype("<f4").tobytes())

    def doubles(self, values: Iterable[float]) -> None:
        """Numbers of 64 bits."""
        self.put(np.array([*values], "<f8").tobytes())

    def text(self, value: str) -> None:
        """A text and its length; names of other encodings hold halves of characters, which are kept."""
        encoded = value.encode("utf-8", "surrogatepass")
        self.whole(len(encoded))
        self.put(encoded)

    def texts(self, values: tuple[str, ...]) -> None:
        """Several texts and their number."""
        self.whole(len(values))
        for value in values:
            self.text(value)

    def rows_unlike(self, rows: Floats, usual: Floats) -> None:
        """Rows (N, 3), only those that are not the ``usual`` ones (N, 3)."""
        unlike = np.flatnonzero((np.float32(rows) != np.float32(usual)).any(axis=1))
        self.whole(len(unlike))
        self.wholes(np.diff(unlike, prepend=0))
        self.floats(rows[unlike])
