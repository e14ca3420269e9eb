"""Bits and whole numbers through the range coder, one by one, as docs/kps-coding.md says; no checks, only plain values."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

EVEN = 32768


class Model:
    """How likely a bit is 1, in parts of 65536."""

    def __init__(self, one: int = EVEN, seen: int = 0, limit: int = 28) -> None:
        self.one, self.seen, self.limit = one, seen, limit

    def learn(self, bit: int) -> None:
        share = Fraction(65536) / (Fraction(4 + self.seen, 2) if self.seen < 5 else self.seen)
        way = (65504 if bit else 32) - self.one
        self.one += int(Fraction(way * int(share + Fraction(1, 2)), 65536))  # towards zero
        self.seen = min(self.seen + 1, self.limit)


class Range:
    """The numbers that are still possible, from low to high."""

    def __init__(self) -> None:
        self.low, self.high = 0, 2**32 - 1

    def middle(self, one: int) -> int:
        return self.low + (self.high - self.low) * one // 65536

    def keep(self, bit: int, middle: int) -> list[int]:
        """Takes the half of a bit; the bytes that are certain now."""
        if bit:
            self.high = middle
        else:
            self.low = middle + 1
        certain = []
        while self.low >> 24 == self.high >> 24:
            certain.append(self.low >> 24)
            self.low = self.low % 2**24 * 256
            self.high = self.high % 2**24 * 256 + 255
        return certain


class Writer:
    def __init__(self) -> None:
        self.range, self.data = Range(), bytearray()

    def bit(self, bit: int, model: Model | None = None) -> None:
        middle = self.range.middle(model.one if model else EVEN)
        self.data += bytes(self.range.keep(bit, middle))
        if model:
            model.learn(bit)

    def finish(self) -> bytes:
        for count in range(5):  # the fewest bytes that, with zeros behind them, are between low and high
            unit = 256 ** (4 - count)
            number = -(-self.range.low // unit) * unit
            if number <= self.range.high:
                return bytes(self.data + number.to_bytes(4, "big")[:count].rstrip(b"\0"))
        raise AssertionError("four bytes are always enough")


class Reader:
    def __init__(self, data: bytes) -> None:
        self.range, self.data = Range(), iter(data)
        self.value = self.missing = 0
        for _ in range(4):
            self._shift()

    def _shift(self) -> None:
        byte = next(self.data, None)
        self.missing += byte is None  # more than 4: nobody wrote these bytes
        self.value = self.value % 2**24 * 256 + (byte or 0)

    def bit(self, model: Model | None = None) -> int:
        middle = self.range.middle(model.one if model else EVEN)
        bit = int(self.value <= middle)
        for _ in self.range.keep(bit, middle):
            self._shift()
        if model:
            model.learn(bit)
        return bit


class Kind:
    """The models of one kind of whole numbers, and which way the last of them was."""

    def __init__(self) -> None:
        self.longer, self.second, self.third, self.negative = ([Model() for _ in range(n)] for n in (16, 8, 16, 3))
        self.last = 0

    def side(self) -> Model:
        return self.negative[0 if self.last == 0 else 1 if self.last > 0 else 2]


class WholesOut:
    def __init__(self) -> None:
        self.writer, self.kinds = Writer(), defaultdict(Kind)

    def put(self, kind: int, number: int) -> None:
        write, models = self.writer.bit, self.kinds[kind]
        digits = [int(digit) for digit in f"{abs(number):b}"] if number else []
        length = len(digits)
        for place in range(length):
            write(1, models.longer[min(place, 15)])
        if length < 64:
            write(0, models.longer[min(length, 15)])
        if length >= 2:
            write(digits[1], models.second[min(length, 7)])
        if length >= 3:
            write(digits[2], models.third[2 * min(length, 7) + digits[1]])
        for digit in digits[3:]:
            write(digit)
        if number:
            write(int(number < 0), models.side())
        models.last = number

    def finish(self) -> bytes:
        self.writer.bit(0)
        return self.writer.finish()


class WholesIn:
    def __init__(self, data: bytes) -> None:
        self.reader, self.kinds = Reader(data), defaultdict(Kind)

    def take(self, kind: int) -> int:
        read, models = self.reader.bit, self.kinds[kind]
        length = 0
        while length < 64 and read(models.longer[min(length, 15)]):
            length += 1
        digits = [1] * (length > 0)
        if length >= 2:
            digits.append(read(models.second[min(length, 7)]))
        if length >= 3:
            digits.append(read(models.third[2 * min(length, 7) + digits[1]]))
        digits += [read() for _ in range(length - 3)]
        size = int("".join(map(str, digits)) or "0", 2)
        models.last = signed(-size if size and read(models.side()) else size)
        return models.last

    def finished(self) -> bool:
        """Whether the bytes end here."""
        return self.reader.bit() == 0 and self.reader.missing <= 4


def signed(number: int) -> int:
    """Wrapped around at 2^64."""
    return (number + 2**63) % 2**64 - 2**63
