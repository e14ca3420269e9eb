"""An adaptive binary range coder for the header.

If every number were stored in whole bytes, the header of a short clip would be larger than its motion. The same
functions describe encoding and decoding: both coders have the same methods, which return the coded value. The argument
of an ``Encoder`` is the value; that of a ``Decoder`` is None, and it reads the value. docs/kps.md describes the
arithmetic.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Hashable

from keypose.storage.groups import CodingError

ONE = 1 << 16  # probabilities are in 1 / ONE
MIN_PROBABILITY = 64  # the smallest probability
MAX_COUNT = 30  # limit of the count of a model
BitModel = tuple[int, int]  # the probability of a 1 bit, and the count of bits learnt from
EVEN_START: BitModel = (ONE // 2, 0)  # both values equally likely
RARE_START: BitModel = (ONE // 32, 4)  # 1 is rare
NEAR_START: BitModel = (3 * ONE // 8, 4)  # 0 is more likely
MAX_UNARY = 6  # limit of the unary code of a number near 0
PADDING = 4  # zero bytes appended to the data
MAX_FREE_BITS, MAX_BITS_PER_BYTE = 300_000, 500  # limits for decoding a header, which may be hostile
MAX_TEXT_BYTES = 64 << 20  # of all long texts together


class LimitExceeded(CodingError):  # noqa: N818 - reads better without "Error"
    """A count exceeds the limits; the caller adds which limit may be raised."""

    def __init__(self, count: int, unit: str) -> None:
        super().__init__(f"{count} {unit}")
        self.count, self.unit = count, unit


class Coder(ABC):
    """Common part of encoder and decoder: each context has its own adaptive bit model."""

    def __init__(self) -> None:
        self._range = 0xFFFFFFFF
        self._models: dict[Hashable, BitModel] = {}

    def code_bit(self, context: Hashable, value: int | None, start: BitModel = EVEN_START) -> int:
        """Code 0 or 1."""
        p, count = self._models.get(context, start)
        bit = self._code_interval((self._range >> 16) * p, value)
        self._models[context] = update_model(p, count, bit)
        return bit

    def code_flag(self, context: Hashable, value: bool | None, start: BitModel = RARE_START) -> bool:
        """Code a boolean; true is rare by default."""
        return bool(self.code_bit(context, None if value is None else int(value), start))

    def code_plain(self, count: int, value: int | None) -> int:
        """Code a number of ``count`` equiprobable bits, the highest first."""
        result = 0
        for k in reversed(range(count)):
            result = 2 * result + self._code_interval(self._range >> 1, None if value is None else value >> k & 1)
        return result

    def code_symbol(self, context: Hashable, count: int, value: int | None) -> int:
        """Code a number of ``count`` bits, the highest first; the bits before a bit are its context."""
        prefix = 1
        for k in reversed(range(count)):
            prefix = 2 * prefix + self.code_bit((context, prefix), None if value is None else value >> k & 1)
        return prefix - (1 << count)

    def code_natural(self, context: Hashable, value: int | None, length_bits: int = 5) -> int:
        """Code a number n from 0 to 2**(2**length_bits) - 2: the count of bits of n + 1 after the first, then these."""
        if value is not None and (value + 1).bit_length() > 1 << length_bits:
            raise CodingError(f"{value}, a number that is too large for its place")
        size = self.code_symbol(context, length_bits, None if value is None else (value + 1).bit_length() - 1)
        if size == 0:
            return 0
        low = None if value is None else value + 1 - (1 << size)
        second = self.code_bit((context, "second", size), None if low is None else low >> (size - 1))
        rest = self.code_plain(size - 1, None if low is None else low & ((1 << (size - 1)) - 1))
        return (1 << size) + (second << (size - 1)) + rest - 1

    def code_signed(self, context: Hashable, value: int | None, length_bits: int = 5) -> int:
        """Code a magnitude, then its sign."""
        size = self.code_natural(context, None if value is None else abs(value), length_bits)
        if size == 0:
            return 0
        return -size if self.code_bit((context, "minus"), None if value is None else int(value < 0)) else size

    def code_near_zero(self, context: Hashable, bits: int, value: int | None, start: BitModel = NEAR_START) -> int:
        """Code a number near 0: its magnitude without the low ``bits`` in unary, then these bits, then its sign."""
        size = None if value is None else abs(value)
        high = 0
        while high < MAX_UNARY and self.code_flag(
            (context, high), None if size is None else size >> bits > high, start
        ):
            high += 1
        if high == MAX_UNARY:
            high += self.code_natural((context, "far"), None if size is None else (size >> bits) - MAX_UNARY)
        result = (high << bits) + self.code_plain(bits, None if size is None else size & ((1 << bits) - 1))
        return -result if result and self.code_plain(1, None if value is None else int(value < 0)) else result

    def set_models(self, models: dict[Hashable, BitModel]) -> None:
        """Set the models of some contexts."""
        self._models.update(models)

    @abstractmethod
    def code_text_bytes(self, count: int, value: bytes | None) -> bytes:
        """Code bytes of a long text; the bytes of all long texts are deflated together, separately from the header."""

    @abstractmethod
    def _code_interval(self, bound: int, value: int | None) -> int:
        """Narrow the range to its lowest ``bound`` numbers for 1, to the others for 0."""


def update_model(p: int, count: int, bit: int) -> BitModel:
    """Return the model after a bit."""
    p += ((ONE if bit else 0) - p) // (count + 2)
    return min(max(p, MIN_PROBABILITY), ONE - MIN_PROBABILITY), min(count + 1, MAX_COUNT)


class Encoder(Coder):
    """Encodes values to bytes."""

    def __init__(self) -> None:
        super().__init__()
        self._low = 0
        self._out = bytearray()
        self._text_bytes = bytearray()
        self._n_bits = 0

    def code_text_bytes(self, count: int, value: bytes | None) -> bytes:
        """Append bytes of a long text."""
        if value is None:
            raise TypeError("an encoder needs the bytes")
        if len(self._text_bytes) + count > MAX_TEXT_BYTES:
            raise CodingError(f"texts of more than {MAX_TEXT_BYTES >> 20} MB")
        self._text_bytes += value
        return value

    def deflate_texts(self) -> bytes:
        """Return all long texts, deflated; empty if there are none."""
        compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
        return compressor.compress(bytes(self._text_bytes)) + compressor.flush() if self._text_bytes else b""

    def _code_interval(self, bound: int, value: int | None) -> int:
        if value is None:
            raise TypeError("an encoder needs the answer")
        self._n_bits += 1
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
    def min_bytes(self) -> int:
        """Return the minimum header size with which a decoder accepts this number of bits."""
        return max(0, -(-(self._n_bits - MAX_FREE_BITS) // MAX_BITS_PER_BYTE))

    def _shift(self) -> None:
        """Output the highest byte of the start of the range; propagate its carry into the bytes before."""
        if self._low >> 32:
            last = len(self._out) - 1
            while self._out[last] == 0xFF:
                self._out[last] = 0
                last -= 1
            self._out[last] += 1
        self._out.append(self._low >> 24 & 0xFF)
        self._low = self._low << 8 & 0xFFFFFFFF

    def finish(self) -> bytes:
        """Return all bytes, with as few final bytes as are unambiguous whatever follows them."""
        spare = 32
        while (end := (self._low + (1 << spare) - 1) >> spare << spare) + (1 << spare) > self._low + self._range:
            spare -= 8
        self._low = end
        for _ in range((32 - spare) // 8):
            self._shift()
        return bytes(self._out)


class Decoder(Coder):
    """Decodes bytes to values; raises ``CodingError`` beyond the end of the bytes."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._data = data + bytes(PADDING)
        self._position = 4
        self._code = int.from_bytes(self._data[:4], "big")
        self._bits_left = MAX_FREE_BITS + MAX_BITS_PER_BYTE * len(data)
        self._decompressor = zlib.decompressobj(-15)
        self._deflated_texts = b""
        self._text_bytes_left = MAX_TEXT_BYTES

    def set_deflated_texts(self, data: bytes) -> None:
        """Set the deflated long texts."""
        self._deflated_texts = data

    def code_text_bytes(self, count: int, value: bytes | None) -> bytes:
        """Return the next ``count`` bytes of the long texts."""
        self._text_bytes_left -= count
        if self._text_bytes_left < 0:
            raise CodingError(f"texts of more than {MAX_TEXT_BYTES >> 20} MB")
        result = b""
        try:
            while len(result) < count and not self._decompressor.eof:
                more = self._decompressor.decompress(self._deflated_texts, count - len(result))
                self._deflated_texts = self._decompressor.unconsumed_tail
                if not more and not self._deflated_texts:
                    break
                result += more
        except zlib.error as error:
            raise CodingError(f"texts that cannot be inflated ({error})") from None
        if len(result) < count:
            raise CodingError(f"a text of {count} bytes, but {len(result)} are left")
        return result

    def _code_interval(self, bound: int, value: int | None) -> int:
        if self._code < bound:
            self._range = bound
            bit = 1
        else:
            self._code -= bound
            self._range -= bound
            bit = 0
        self._bits_left -= 1
        while self._range < 1 << 24:
            if self._position >= len(self._data) or self._bits_left < 0:
                raise CodingError("it asks for more than it holds")
            self._code = (self._code << 8 | self._data[self._position]) & 0xFFFFFFFF
            self._range <<= 8
            self._position += 1
        return bit
