"""Read and write the numbers of packed swings.

Every count is checked against the number of remaining bytes before memory is allocated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from keypose.arrays import MAX_MAGNITUDE, Floats
from keypose.errors import UNSET, FormatError
from keypose.rotations import exp

MAX_VARINT = 1 << 54  # for single numbers
MAX_FRAME = (1 << 31) - 1
MAX_MESSAGE_LENGTH = 600  # characters
MAX_ROTATION = 3.1416  # length of a rotation vector: pi, rounded up

MAX_BYTES = 5  # per number in arrays, where numbers are frames or counts
_SHIFTS = 7 * np.arange(MAX_BYTES)


def escape_message(problem: str) -> str:
    """Return a message, which may contain untrusted names, without control characters and with limited length."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in problem[:MAX_MESSAGE_LENGTH])


class Reader:
    """Reads a block of bytes. ``max_memory`` limits the memory of data that are stored in few bytes."""

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

    def error(
        self,
        problem: str,
        at: int | None = None,
        *,
        code: str | None = None,
        value: Any = UNSET,
        expected: str | None = None,
    ) -> FormatError:
        """Return an error at a byte, by default the current one."""
        byte = self.at if at is None else at
        return FormatError(self.where, escape_message(problem), code=code, byte=byte, value=value, expected=expected)

    def read_bytes(self, count: int, label: str) -> bytes:
        """Return the next bytes."""
        if count > self.n_left:
            self._raise_too_short(count, label)
        self.at += count
        return self._data[self.at - count : self.at]

    def _raise_too_short(self, count: int, label: str) -> NoReturn:
        raise self.error(f"{label} of {count} bytes, but {self.n_left} are left", code="truncated")

    def claim_memory(self, count: int, bytes_each: int, label: str) -> None:
        """Raise an error if an allocation would exceed the memory limit; call before allocating."""
        self._memory_left -= count * bytes_each
        if self._memory_left < 0:
            raise self.error(
                f"{count} {label} take more memory than such a small block may ask for", code="inconsistent"
            )

    def read_byte(self, label: str, max_value: int = 255) -> int:
        """Return a number from 0 to ``max_value``."""
        value = self.read_bytes(1, label)[0]
        if value > max_value:
            raise self.error(f"{label} is {value}", self.at - 1, code="bad_number", expected=f"at most {max_value}")
        return value

    def read_varint(self, label: str, max_value: int = MAX_VARINT) -> int:
        """Return one varint from 0 to ``max_value``."""
        start, value, shift = self.at, 0, 0
        while True:
            digit = self.read_byte(label)
            value |= (digit & 0x7F) << shift
            shift += 7
            if value > max_value or shift > 63:
                raise self.error(
                    f"{label} is {value} or more", start, code="bad_number", expected=f"at most {max_value}"
                )
            if digit < 0x80:
                return value

    def read_count(self, label: str, bytes_each: int) -> int:
        """Return the count of items that take at least ``bytes_each`` bytes."""
        start = self.at
        count = self.read_varint(f"the number of {label}")
        if count * bytes_each > self.n_left:
            raise self.error(f"{count} {label}, but {self.n_left} bytes are left", start, code="truncated")
        return count

    def read_varints(self, count: int, label: str) -> NDArray[np.int64]:
        """Return varints (N,) up to 2**31 - 1."""
        values, n_bytes = decode(self._bytes[self.at :], count)
        if len(values) < count:
            raise self.error(f"{label}: {count} numbers, but only {len(values)} are sound", code="inconsistent")
        if count and values.max() > MAX_FRAME:
            raise self.error(f"{label}: {values.max()}", code="bad_number", expected=f"at most {MAX_FRAME}")
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
        sound = np.abs(values) <= MAX_MAGNITUDE  # also false for NaN
        if not sound.all():
            n = int(np.argmin(sound))
            raise self.error(
                f"{label}: {values[n]:g}",
                start + size * n,
                code="bad_number",
                expected=f"finite numbers up to {MAX_MAGNITUDE:g}",
            )
        return values.reshape(count, width)

    def read_rotations(self, count: int, label: str) -> Floats:
        """Return unit quaternions (N, 4) of stored rotation vectors."""
        return self.decode_rotations(self.read_floats(count, 3, label), label)

    def decode_rotations(self, rotation_vectors: Floats, label: str) -> Floats:
        """Return unit quaternions (N, 4) of rotation vectors (N, 3), none longer than half a turn."""
        if (np.linalg.norm(rotation_vectors, axis=1) > MAX_ROTATION).any():
            raise self.error(f"{label}: a rotation by more than 180 degrees", code="bad_number")
        return exp(rotation_vectors)

    def read_text(self, label: str) -> str:
        """Return a text."""
        start, length = self.at, self.read_count(f"bytes of {label}", 1)
        try:
            return self.read_bytes(length, label).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise self.error(f"{label} is no UTF-8 ({error.reason})", start, code="damaged") from None

    def read_texts(self, label: str) -> tuple[str, ...]:
        """Return a list of texts."""
        return tuple(self.read_text(label) for _ in range(self.read_count(f"{label}s", 1)))

    def read_changed_rows(self, defaults: Floats, label: str) -> Floats:
        """Return rows (N, 3): ``defaults`` (N, 3) with the stored rows replaced."""
        start, count = self.at, self.read_count(label, 13)
        indices = np.cumsum(self.read_varints(count, label))
        if count and (indices[-1] >= len(defaults) or (np.diff(indices) <= 0).any()):
            raise self.error(
                f"{label}: expected increasing numbers of joints up to {len(defaults) - 1}", start, code="inconsistent"
            )
        rows = defaults.copy()
        rows[indices] = self.read_floats(count, 3, label)
        return rows


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
        self.write_bytes(encode_one(value))

    def write_varints(self, values: ArrayLike) -> None:
        """Write numbers up to 2**31 - 1 without their count."""
        self.write_bytes(encode(values))

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


def encode(values: ArrayLike) -> bytes:
    """Return the bytes of numbers (N,) from 0 to 2**31 - 1."""
    digits = np.asarray(values, np.int64)[:, None] >> _SHIFTS
    last = np.maximum((digits > 0).sum(axis=1) - 1, 0)[:, None]
    byte_index = np.arange(MAX_BYTES)
    digits = (digits & 0x7F) | np.where(byte_index < last, 0x80, 0)
    return bytes(digits[byte_index <= last].astype(np.uint8))


def decode(data: NDArray[np.uint8], count: int) -> tuple[NDArray[np.int64], int]:
    """Return ``count`` numbers from the start of ``data``, and the number of bytes read.

    If the data end early or a number is too long, only the numbers before it are returned.
    """
    window = data[: MAX_BYTES * count]
    lasts = np.flatnonzero(window < 0x80)[:count]
    firsts = np.concatenate((np.zeros(min(1, len(lasts)), lasts.dtype), lasts[:-1] + 1))
    lengths = lasts - firsts + 1
    if (lengths > MAX_BYTES).any():
        first_long = int(np.argmax(lengths > MAX_BYTES))
        firsts, lasts, lengths = firsts[:first_long], lasts[:first_long], lengths[:first_long]
    values = np.zeros(len(lasts), np.int64)
    for k in range(MAX_BYTES):
        longer = np.flatnonzero(lengths > k)
        values[longer] |= (window[firsts[longer] + k].astype(np.int64) & 0x7F) << 7 * k
    return values, int(lasts[-1]) + 1 if len(lasts) else 0


def encode_one(value: int) -> bytes:
    """Return the bytes of one number of any size."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode_sign(value: int) -> int:
    """Return a signed number as an unsigned one (zigzag): 0, -1, 1, -2, ... become 0, 1, 2, 3, ..."""
    return 2 * value if value >= 0 else -2 * value - 1


def decode_sign(value: int) -> int:
    """Return the signed number of a zigzag-coded one."""
    return value // 2 if value % 2 == 0 else -(value // 2) - 1
