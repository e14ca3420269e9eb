"""Bytes on their way in: every count is held against what is left before anything is made of it."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import GREATEST_NUMBER, Floats
from keypose.errors import FormatError
from keypose.rotations import exp
from keypose.swings.block import numbers

GREATEST_WHOLE = 1 << 54  # one that stands alone
GREATEST_FRAME = (1 << 31) - 1
LONGEST_MESSAGE = 600  # characters
LONGEST_TURN = 3.1416  # of a rotation: pi, rounded up


def shown(problem: str) -> str:
    """A message with names that a stranger chose: no control characters, not endless."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in problem[:LONGEST_MESSAGE])


class Reader:
    """Takes a block of bytes apart. ``room`` is how many bytes of memory may still be made of what takes none here."""

    def __init__(self, data: bytes, where: str, room: int) -> None:
        self.where = where
        self.at = 0
        self._data = data
        self._bytes = np.frombuffer(data, np.uint8)
        self._room = room

    @property
    def left(self) -> int:
        """How many bytes there are still."""
        return len(self._data) - self.at

    def error(self, problem: str, at: int | None = None) -> FormatError:
        """An error at a byte, by default where the reader is."""
        return FormatError(self.where, shown(problem), byte=self.at if at is None else at)

    def take(self, count: int, what: str) -> bytes:
        """The next bytes as they are."""
        if count > self.left:
            self._too_short(count, what)
        self.at += count
        return self._data[self.at - count : self.at]

    def _too_short(self, count: int, what: str) -> NoReturn:
        raise self.error(f"{what} of {count} bytes, but {self.left} are left")

    def claim(self, count: int, bytes_each: int, what: str) -> None:
        """Refuses what would take more memory than there is room for; call before making it."""
        self._room -= count * bytes_each
        if self._room < 0:
            raise self.error(f"{count} {what} take more memory than such a small block may ask for")

    def byte(self, what: str, most: int = 255) -> int:
        """A number from 0 to ``most``."""
        value = self.take(1, what)[0]
        if value > most:
            raise self.error(f"{what} is {value}, expected at most {most}", self.at - 1)
        return value

    def whole(self, what: str, most: int = GREATEST_WHOLE) -> int:
        """One whole number from 0 to ``most``."""
        start, value, shift = self.at, 0, 0
        while True:
            digit = self.byte(what)
            value |= (digit & 0x7F) << shift
            shift += 7
            if value > most or shift > 63:
                raise self.error(f"{what} is {value} or more, expected at most {most}", start)
            if digit < 0x80:
                return value

    def count(self, what: str, bytes_each: int) -> int:
        """How many there are of something that takes at least so many bytes each."""
        start = self.at
        count = self.whole(f"the number of {what}")
        if count * bytes_each > self.left:
            raise self.error(f"{count} {what}, but {self.left} bytes are left", start)
        return count

    def wholes(self, count: int, what: str) -> NDArray[np.int64]:
        """Several whole numbers (N,) up to 2**31 - 1."""
        values, taken = numbers.read(self._bytes[self.at :], count)
        if len(values) < count:
            raise self.error(f"{what}: {count} numbers, but only {len(values)} are sound")
        if count and values.max() > GREATEST_FRAME:
            raise self.error(f"{what}: {values.max()}, expected at most {GREATEST_FRAME}")
        self.at += taken
        return values

    def floats(self, count: int, width: int, what: str) -> Floats:
        """Rows (N, width) of numbers of 32 bits, all sane."""
        return self._numbers("<f4", 4, count, width, what)

    def doubles(self, count: int, what: str) -> list[float]:
        """Numbers of 64 bits, all sane."""
        row: list[float] = self._numbers("<f8", 8, 1, count, what)[0].tolist()
        return row

    def _numbers(self, kind: str, size: int, count: int, width: int, what: str) -> Floats:
        start = self.at
        with np.errstate(invalid="ignore"):  # one kind of NaN is loud
            values = np.frombuffer(self.take(size * count * width, what), kind).astype(np.float64)
        sound = np.abs(values) <= GREATEST_NUMBER  # nor NaN
        if not sound.all():
            n = int(np.argmin(sound))
            raise self.error(
                f"{what}: {values[n]:g}, expected finite numbers up to {GREATEST_NUMBER:g}", start + size * n
            )
        return values.reshape(count, width)

    def rotations(self, count: int, what: str) -> Floats:
        """Unit quaternions (N, 4) of exponential maps."""
        return self.as_rotations(self.floats(count, 3, what), what)

    def as_rotations(self, turns: Floats, what: str) -> Floats:
        """Unit quaternions (N, 4) of exponential maps (N, 3), none longer than half a turn."""
        if (np.linalg.norm(turns, axis=1) > LONGEST_TURN).any():
            raise self.error(f"{what}: a rotation by more than 180 degrees")
        return exp(turns)

    def text(self, what: str) -> str:
        """A text."""
        start, length = self.at, self.count(f"bytes of {what}", 1)
        try:
            return self.take(length, what).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise self.error(f"{what} is no UTF-8 ({error.reason})", start) from None

    def texts(self, what: str) -> tuple[str, ...]:
        """Several texts."""
        return tuple(self.text(what) for _ in range(self.count(f"{what}s", 1)))

    def rows_unlike(self, usual: Floats, what: str) -> Floats:
        """Rows (N, 3): the ``usual`` ones (N, 3) but for those that are given."""
        start, count = self.at, self.count(what, 13)
        which = np.cumsum(self.wholes(count, what))
        if count and (which[-1] >= len(usual) or (np.diff(which) <= 0).any()):
            raise self.error(f"{what}: expected increasing numbers of joints up to {len(usual) - 1}", start)
        rows = usual.copy()
        rows[which] = self.floats(count, 3, what)
        return rows
