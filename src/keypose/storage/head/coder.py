"""A range coder for small things: each answer costs what it surprises, and surprises less when it comes again.

The header of a short clip would outweigh its motion if every number took whole bytes. Writing and reading share one
description: both coders have the same methods, which give back the value that stands in the file; an ``Encoder`` is
told it, a ``Decoder`` (told None) finds it. docs/kps.md has the arithmetic.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Hashable

from keypose.storage.groups import CodingError

ONE = 1 << 16  # probabilities are parts of this
LEAST = 64  # the smallest probability
SLOWEST = 30  # how often a question was asked counts up to here
Start = tuple[int, int]  # a probability of 1, and how often its question seems to have been asked
EVEN: Start = (ONE // 2, 0)  # nothing is known of the answer
RARE: Start = (ONE // 32, 4)  # 1 is unusual
NEAR: Start = (3 * ONE // 8, 4)  # 0 is likelier
FAR = 6  # so many steps of a number near 0 go in ones
PADDING = 4  # so many bytes behind the end are read as 0
MOST_ANSWERS, MOST_ANSWERS_PER_BYTE = 300_000, 500  # what a hostile header may ask for
MOST_APART = 64 << 20  # bytes of all long texts together


class TooMuch(CodingError):  # noqa: N818 - reads better without "Error"
    """More of something than the limits allow; whoever reads the file says which limit may be raised."""

    def __init__(self, found: int, what: str) -> None:
        super().__init__(f"{found} {what}")
        self.found, self.what = found, what


class Coder(ABC):
    """What both ways have in common: questions are known by a context, and each context learns by itself."""

    def __init__(self) -> None:
        self._range = 0xFFFFFFFF
        self._known: dict[Hashable, Start] = {}

    def bit(self, context: Hashable, value: int | None, start: Start = EVEN) -> int:
        """0 or 1."""
        p, asked = self._known.get(context, start)
        answer = self._split((self._range >> 16) * p, value)
        self._known[context] = learnt(p, asked, answer)
        return answer

    def flag(self, context: Hashable, value: bool | None, start: Start = RARE) -> bool:
        """False, or true, which by default is unusual."""
        return bool(self.bit(context, None if value is None else int(value), start))

    def plain(self, count: int, value: int | None) -> int:
        """A number of ``count`` bits of which nothing is known, the highest bit first."""
        found = 0
        for k in reversed(range(count)):
            found = 2 * found + self._split(self._range >> 1, None if value is None else value >> k & 1)
        return found

    def choice(self, context: Hashable, count: int, value: int | None) -> int:
        """A number of ``count`` bits, the highest first, each in the context of those before it."""
        found = 1
        for k in reversed(range(count)):
            found = 2 * found + self.bit((context, found), None if value is None else value >> k & 1)
        return found - (1 << count)

    def whole(self, context: Hashable, value: int | None, sizes: int = 5) -> int:
        """A number from 0 to 2**(2**sizes) - 2: how many bits it and 1 have behind the first, then these."""
        if value is not None and (value + 1).bit_length() > 1 << sizes:
            raise CodingError(f"{value}, a number that is too large for its place")
        size = self.choice(context, sizes, None if value is None else (value + 1).bit_length() - 1)
        if size == 0:
            return 0
        low = None if value is None else value + 1 - (1 << size)
        second = self.bit((context, "second", size), None if low is None else low >> (size - 1))
        rest = self.plain(size - 1, None if low is None else low & ((1 << (size - 1)) - 1))
        return (1 << size) + (second << (size - 1)) + rest - 1

    def signed(self, context: Hashable, value: int | None, sizes: int = 5) -> int:
        """A whole number, then its sign."""
        size = self.whole(context, None if value is None else abs(value), sizes)
        if size == 0:
            return 0
        return -size if self.bit((context, "minus"), None if value is None else int(value < 0)) else size

    def near(self, context: Hashable, bits: int, value: int | None, start: Start = NEAR) -> int:
        """A number that is mostly near 0: of its size all but the low ``bits`` in ones, then these, then its sign."""
        size = None if value is None else abs(value)
        high = 0
        while high < FAR and self.flag((context, high), None if size is None else size >> bits > high, start):
            high += 1
        if high == FAR:
            high += self.whole((context, "far"), None if size is None else (size >> bits) - FAR)
        found = (high << bits) + self.plain(bits, None if size is None else size & ((1 << bits) - 1))
        return -found if found and self.plain(1, None if value is None else int(value < 0)) else found

    def learn(self, known: dict[Hashable, Start]) -> None:
        """Takes over what is known of some questions."""
        self._known.update(known)

    @abstractmethod
    def apart(self, count: int, value: bytes | None) -> bytes:
        """Bytes that are kept apart from the answers, all together deflated."""

    @abstractmethod
    def _split(self, bound: int, value: int | None) -> int:
        """Narrows the range to its lowest ``bound`` numbers for 1, to the others for 0."""


def learnt(p: int, asked: int, answer: int) -> Start:
    """What is known of a question after its answer."""
    p += ((ONE if answer else 0) - p) // (asked + 2)
    return min(max(p, LEAST), ONE - LEAST), min(asked + 1, SLOWEST)


class Encoder(Coder):
    """Answers to bytes."""

    def __init__(self) -> None:
        super().__init__()
        self._low = 0
        self._out = bytearray()
        self._apart = bytearray()
        self._asked = 0

    def apart(self, count: int, value: bytes | None) -> bytes:
        """Keeps bytes apart."""
        if value is None:
            raise TypeError("an encoder must be told the bytes")
        if len(self._apart) + count > MOST_APART:
            raise CodingError(f"texts of more than {MOST_APART >> 20} MB")
        self._apart += value
        return value

    def deflated_apart(self) -> bytes:
        """What was kept apart, deflated; nothing if there is nothing."""
        deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
        return deflate.compress(bytes(self._apart)) + deflate.flush() if self._apart else b""

    def _split(self, bound: int, value: int | None) -> int:
        if value is None:
            raise TypeError("an encoder must be told the answer")
        self._asked += 1
        if value:
            self._range = bound
        else:
            self._low += bound
            self._range -= bound
        while self._range < 1 << 24:
            self._shift()
            self._range <<= 8
        return value

    @property
    def least_bytes(self) -> int:
        """How long the header must be that a decoder answers as many questions."""
        return max(0, -(-(self._asked - MOST_ANSWERS) // MOST_ANSWERS_PER_BYTE))

    def _shift(self) -> None:
        """The highest byte of the range's start goes out; what it carries goes into the bytes before."""
        if self._low >> 32:
            at = len(self._out) - 1
            while self._out[at] == 0xFF:
                self._out[at] = 0
                at -= 1
            self._out[at] += 1
        self._out.append(self._low >> 24 & 0xFF)
        self._low = self._low << 8 & 0xFFFFFFFF

    def finish(self) -> bytes:
        """All bytes; of the last ones only those that tell the range from others, whatever may follow them."""
        spare = 32
        while (end := (self._low + (1 << spare) - 1) >> spare << spare) + (1 << spare) > self._low + self._range:
            spare -= 8
        self._low = end
        for _ in range((32 - spare) // 8):
            self._shift()
        return bytes(self._out)


class Decoder(Coder):
    """Bytes to answers. Whoever asks for more than the bytes hold gets a ``CodingError``."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._data = data + bytes(PADDING)
        self._at = 4
        self._code = int.from_bytes(self._data[:4], "big")
        self._left = MOST_ANSWERS + MOST_ANSWERS_PER_BYTE * len(data)
        self._inflate = zlib.decompressobj(-15)
        self._deflated = b""
        self._apart_left = MOST_APART

    def set_apart(self, deflated: bytes) -> None:
        """Where what is kept apart is found."""
        self._deflated = deflated

    def apart(self, count: int, value: bytes | None) -> bytes:
        """The next so many bytes of those that are kept apart."""
        self._apart_left -= count
        if self._apart_left < 0:
            raise CodingError(f"texts of more than {MOST_APART >> 20} MB")
        found = b""
        try:
            while len(found) < count and not self._inflate.eof:
                more = self._inflate.decompress(self._deflated, count - len(found))
                self._deflated = self._inflate.unconsumed_tail
                if not more and not self._deflated:
                    break
                found += more
        except zlib.error as error:
            raise CodingError(f"texts that cannot be inflated ({error})") from None
        if len(found) < count:
            raise CodingError(f"a text of {count} bytes, but {len(found)} are left")
        return found

    def _split(self, bound: int, value: int | None) -> int:
        if self._code < bound:
            self._range = bound
            answer = 1
        else:
            self._code -= bound
            self._range -= bound
            answer = 0
        self._left -= 1
        while self._range < 1 << 24:
            if self._at >= len(self._data) or self._left < 0:
                raise CodingError("it asks for more than it holds")
            self._code = (self._code << 8 | self._data[self._at]) & 0xFFFFFFFF
            self._range <<= 8
            self._at += 1
        return answer
