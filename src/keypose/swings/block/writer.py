"""A writer of packed swings that counts bytes by section."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats
from keypose.swings.block import varint


class Writer:
    """Collects bytes; ``sizes`` has the number of bytes of each section."""

    def __init__(self) -> None:
        self.sizes: Counter[str] = Counter()
        self._chunks: list[bytes] = []
        self._section = "header"

    @contextmanager
    def section(self, name: str) -> Iterator[None]:
        """Count the bytes written in this context as section ``name``."""
        before, self._section = self._section, name
        yield
        self._section = before

    def data(self) -> bytes:
        """Return all bytes."""
        return b"".join(self._chunks)

    def write_bytes(self, chunk: bytes) -> None:
        """Write plain bytes."""
        self._chunks.append(chunk)
        self.sizes[self._section] += len(chunk)

    def write_byte(self, value: int) -> None:
        """Write a number from 0 to 255."""
        self.write_bytes(bytes((value,)))

    def write_varint(self, value: int) -> None:
        """Write one non-negative number."""
        self.write_bytes(varint.encode_one(value))

    def write_varints(self, values: ArrayLike) -> None:
        """Write numbers up to 2**31 - 1 without their count."""
        self.write_bytes(varint.encode(values))

    def write_floats(self, values: ArrayLike) -> None:
        """Write 32-bit numbers."""
        self.write_bytes(np.asarray(values).astype("<f4").tobytes())

    def write_doubles(self, values: Iterable[float]) -> None:
        """Write 64-bit numbers."""
        self.write_bytes(np.array([*values], "<f8").tobytes())

    def write_text(self, value: str) -> None:
        """Write the length and bytes of a text; lone surrogates (names of unknown encodings) are preserved."""
        encoded = value.encode("utf-8", "surrogatepass")
        self.write_varint(len(encoded))
        self.write_bytes(encoded)

    def write_texts(self, values: tuple[str, ...]) -> None:
        """Write the number of texts and each of them."""
        self.write_varint(len(values))
        for value in values:
            self.write_text(value)

    def write_changed_rows(self, rows: Floats, defaults: Floats) -> None:
        """Write only those of rows (N, 3) that differ from ``defaults`` (N, 3)."""
        changed = np.flatnonzero((np.float32(rows) != np.float32(defaults)).any(axis=1))
        self.write_varint(len(changed))
        self.write_varints(np.diff(changed, prepend=0))
        self.write_floats(rows[changed])
