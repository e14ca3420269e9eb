"""A reader of packed swings: every count is checked against the bytes left before memory is allocated."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import MAX_MAGNITUDE, Floats
from keypose.errors import FormatError
from keypose.rotations import exp
from keypose.swings.block import varint

MAX_VARINT = 1 << 54  # for single numbers
MAX_FRAME = (1 << 31) - 1
MAX_MESSAGE_LENGTH = 600  # characters
MAX_ROTATION = 3.1416  # length of a rotation vector: pi, rounded up


def escape_message(problem: str) -> str:
    """Return a message that may hold untrusted names without control characters and with limited length."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in problem[:MAX_MESSAGE_LENGTH])


class Reader:
    """Reads a block of bytes. ``max_memory`` limits the memory for data that take few bytes in the block."""

    def __init__(self, data: bytes, where: str, max_memory: int) -> None:
        self.where = where
        self.at = 0
        self._data = data
        self._bytes = np.frombuffer(data, np.uint8)
        self._memory_left = max_memory

    @property
    def n_left(self) -> int:
        """The number of bytes left."""
        return len(self._data) - self.at

    def error(self, problem: str, at: int | None = None) -> FormatError:
        """Return an error at a byte, by default the current one."""
        return FormatError(self.where, escape_message(problem), byte=self.at if at is None else at)

    def read_bytes(self, count: int, label: str) -> bytes:
        """Return the next bytes."""
        if count > self.n_left:
            self._raise_too_short(count, label)
        self.at += count
        return self._data[self.at - count : self.at]

    def _raise_too_short(self, count: int, label: str) -> NoReturn:
        raise self.error(f"{label} of {count} bytes, but {self.n_left} are left")

    def claim_memory(self, count: int, bytes_each: int, label: str) -> None:
        """Raise an error if an allocation would exceed the memory limit; call before allocating."""
        self._memory_left -= count * bytes_each
        if self._memory_left < 0:
            raise self.error(f"{count} {label} take more memory than such a small block may ask for")

    def read_byte(self, label: str, max_value: int = 255) -> int:
        """Return a number from 0 to ``max_value``."""
        value = self.read_bytes(1, label)[0]
        if value > max_value:
            raise self.error(f"{label} is {value}, expected at most {max_value}", self.at - 1)
        return value

    def read_varint(self, label: str, max_value: int = MAX_VARINT) -> int:
        """Return one varint from 0 to ``max_value``."""
        start, value, shift = self.at, 0, 0
        while True:
            digit = self.read_byte(label)
            value |= (digit & 0x7F) << shift
            shift += 7
            if value > max_value or shift > 63:
                raise self.error(f"{label} is {value} or more, expected at most {max_value}", start)
            if digit < 0x80:
                return value

    def read_count(self, label: str, bytes_each: int) -> int:
        """Return the count of items that take at least ``bytes_each`` bytes."""
        start = self.at
        count = self.read_varint(f"the number of {label}")
        if count * bytes_each > self.n_left:
            raise self.error(f"{count} {label}, but {self.n_left} bytes are left", start)
        return count

    def read_varints(self, count: int, label: str) -> NDArray[np.int64]:
        """Return varints (N,) up to 2**31 - 1."""
        values, n_bytes = varint.decode(self._bytes[self.at :], count)
        if len(values) < count:
            raise self.error(f"{label}: {count} numbers, but only {len(values)} are sound")
        if count and values.max() > MAX_FRAME:
            raise self.error(f"{label}: {values.max()}, expected at most {MAX_FRAME}")
        self.at += n_bytes
        return values

    def read_floats(self, count: int, width: int, label: str) -> Floats:
        """Return rows (N, width) of 32-bit numbers, all finite."""
        return self._read_numbers("<f4", 4, count, width, label)

    def read_doubles(self, count: int, label: str) -> list[float]:
        """Return 64-bit numbers, all finite."""
        row: list[float] = self._read_numbers("<f8", 8, 1, count, label)[0].tolist()
        return row

    def _read_numbers(self, kind: str, size: int, count: int, width: int, label: str) -> Floats:
        start = self.at
        with np.errstate(invalid="ignore"):  # signalling NaNs
            values = np.frombuffer(self.read_bytes(size * count * width, label), kind).astype(np.float64)
        sound = np.abs(values) <= MAX_MAGNITUDE  # nor NaN
        if not sound.all():
            n = int(np.argmin(sound))
            raise self.error(
                f"{label}: {values[n]:g}, expected finite numbers up to {MAX_MAGNITUDE:g}", start + size * n
            )
        return values.reshape(count, width)

    def read_rotations(self, count: int, label: str) -> Floats:
        """Return unit quaternions (N, 4) of stored rotation vectors."""
        return self.decode_rotations(self.read_floats(count, 3, label), label)

    def decode_rotations(self, rotation_vectors: Floats, label: str) -> Floats:
        """Return unit quaternions (N, 4) of rotation vectors (N, 3), none longer than half a turn."""
        if (np.linalg.norm(rotation_vectors, axis=1) > MAX_ROTATION).any():
            raise self.error(f"{label}: a rotation by more than 180 degrees")
        return exp(rotation_vectors)

    def read_text(self, label: str) -> str:
        """Return a text."""
        start, length = self.at, self.read_count(f"bytes of {label}", 1)
        try:
            return self.read_bytes(length, label).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise self.error(f"{label} is no UTF-8 ({error.reason})", start) from None

    def read_texts(self, label: str) -> tuple[str, ...]:
        """Return a list of texts."""
        return tuple(self.read_text(label) for _ in range(self.read_count(f"{label}s", 1)))

    def read_changed_rows(self, defaults: Floats, label: str) -> Floats:
        """Return rows (N, 3): ``defaults`` (N, 3) with the stored rows replaced."""
        start, count = self.at, self.read_count(label, 13)
        indices = np.cumsum(self.read_varints(count, label))
        if count and (indices[-1] >= len(defaults) or (np.diff(indices) <= 0).any()):
            raise self.error(f"{label}: expected increasing numbers of joints up to {len(defaults) - 1}", start)
        rows = defaults.copy()
        rows[indices] = self.read_floats(count, 3, label)
        return rows
