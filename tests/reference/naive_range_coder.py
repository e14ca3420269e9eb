"""Reference range coder of bits and integers after docs/kps-coding.md; no checks, only plain values."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

EVEN = 32768


class BitModel:
    """The adaptive probability of a 1 bit, in 1 / 65536."""

    def __init__(self, probability: int = EVEN, count: int = 0, limit: int = 28) -> None:
        self.probability, self.count, self.limit = probability, count, limit

    def learn(self, bit: int) -> None:
        share = Fraction(65536) / (Fraction(4 + self.count, 2) if self.count < 5 else self.count)
        difference = (65504 if bit else 32) - self.probability
        self.probability += int(Fraction(difference * int(share + Fraction(1, 2)), 65536))  # towards zero
        self.count = min(self.count + 1, self.limit)


class Interval:
    """The current interval of the range coder."""

    def __init__(self) -> None:
        self.low, self.high = 0, 2**32 - 1

    def middle(self, probability: int) -> int:
        return self.low + (self.high - self.low) * probability // 65536

    def narrow(self, bit: int, middle: int) -> list[int]:
        """Narrow the interval to that of a bit; return the bytes that are final."""
        if bit:
            self.high = middle
        else:
            self.low = middle + 1
        final_bytes = []
        while self.low >> 24 == self.high >> 24:
            final_bytes.append(self.low >> 24)
            self.low = self.low % 2**24 * 256
            self.high = self.high % 2**24 * 256 + 255
        return final_bytes


class RangeEncoder:
    def __init__(self) -> None:
        self.range, self.data = Interval(), bytearray()

    def write_bit(self, bit: int, model: BitModel | None = None) -> None:
        middle = self.range.middle(model.probability if model else EVEN)
        self.data += bytes(self.range.narrow(bit, middle))
        if model:
            model.learn(bit)

    def finish(self) -> bytes:
        for count in range(5):  # the fewest bytes that, followed by zeros, are between low and high
            unit = 256 ** (4 - count)
            number = -(-self.range.low // unit) * unit
            if number <= self.range.high:
                return bytes(self.data + number.to_bytes(4, "big")[:count].rstrip(b"\0"))
        raise AssertionError("four bytes are always enough")


class RangeDecoder:
    def __init__(self, data: bytes) -> None:
        self.range, self.data = Interval(), iter(data)
        self.value = self.n_missing = 0
        for _ in range(4):
            self._shift()

    def _shift(self) -> None:
        byte = next(self.data, None)
        self.n_missing += byte is None  # more than 4: invalid data
        self.value = self.value % 2**24 * 256 + (byte or 0)

    def read_bit(self, model: BitModel | None = None) -> int:
        middle = self.range.middle(model.probability if model else EVEN)
        bit = int(self.value <= middle)
        for _ in self.range.narrow(bit, middle):
            self._shift()
        if model:
            model.learn(bit)
        return bit


class NumberModel:
    """The models of one kind of integers, and the last of them."""

    def __init__(self) -> None:
        self.longer, self.second, self.third, self.negative = ([BitModel() for _ in range(n)] for n in (16, 8, 16, 3))
        self.last = 0

    def sign_model(self) -> BitModel:
        return self.negative[0 if self.last == 0 else 1 if self.last > 0 else 2]


class IntegerWriter:
    def __init__(self) -> None:
        self.writer, self.kinds = RangeEncoder(), defaultdict(NumberModel)

    def write(self, kind: int, number: int) -> None:
        write_bit, models = self.writer.write_bit, self.kinds[kind]
        digits = [int(digit) for digit in f"{abs(number):b}"] if number else []
        length = len(digits)
        for index in range(length):
            write_bit(1, models.longer[min(index, 15)])
        if length < 64:
            write_bit(0, models.longer[min(length, 15)])
        if length >= 2:
            write_bit(digits[1], models.second[min(length, 7)])
        if length >= 3:
            write_bit(digits[2], models.third[2 * min(length, 7) + digits[1]])
        for digit in digits[3:]:
            write_bit(digit)
        if number:
            write_bit(int(number < 0), models.sign_model())
        models.last = number

    def finish(self) -> bytes:
        self.writer.write_bit(0)
        return self.writer.finish()


class IntegerReader:
    def __init__(self, data: bytes) -> None:
        self.reader, self.kinds = RangeDecoder(data), defaultdict(NumberModel)

    def read(self, kind: int) -> int:
        read_bit, models = self.reader.read_bit, self.kinds[kind]
        length = 0
        while length < 64 and read_bit(models.longer[min(length, 15)]):
            length += 1
        digits = [1] * (length > 0)
        if length >= 2:
            digits.append(read_bit(models.second[min(length, 7)]))
        if length >= 3:
            digits.append(read_bit(models.third[2 * min(length, 7) + digits[1]]))
        digits += [read_bit() for _ in range(length - 3)]
        size = int("".join(map(str, digits)) or "0", 2)
        models.last = wrap_int64(-size if size and read_bit(models.sign_model()) else size)
        return models.last

    def is_finished(self) -> bool:
        """Return whether this is the end of the bytes."""
        return self.reader.read_bit() == 0 and self.reader.n_missing <= 4


def wrap_int64(number: int) -> int:
    """Wrap a number to 64 bits, signed."""
    return (number + 2**63) % 2**64 - 2**63
