"""The header and parameters of a C3D file, and its three number formats.

The file is untrusted: each pointer and length is checked against the file's size before it is followed. Integers of
the Intel and DEC processors are little-endian, those of MIPS big-endian; DEC floats are in the VAX F format.
"""

from __future__ import annotations

import itertools
import math
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.errors import format_count
from keypose.formats.base import Source

BLOCK_BYTES = 512
MAGIC = 0x50  # the second byte of every C3D file
PROCESSORS = {84: "Intel", 85: "DEC", 86: "MIPS"}
MAX_RECORD_BYTES = 65_535  # a record's length is a 16-bit number
MAX_PARAMETER_BLOCKS = 1024  # the format allows 255; real files slightly exceed that


@dataclass(frozen=True)
class Header:
    """The first block of the file."""

    points: int
    analog_words: int  # per frame, all channels
    first_frame: int  # 1-based
    last_frame: int
    scale: float  # file units per integer step; negative: the data are floats
    data_block: int  # 1-based
    analog_samples: int  # per frame and channel
    rate: float  # frames per second


@dataclass(frozen=True)
class _Parameter:
    kind: int  # -1 text, 1 byte, 2 integer, 4 float
    dimensions: tuple[int, ...]
    start: int  # the byte of its first value


class Contents:
    """The header and the parameters of a C3D file; the key of a parameter is ``"GROUP:NAME"``."""

    def __init__(self, source: Source) -> None:
        self.source = source
        data = source.data
        if len(data) < 2 * BLOCK_BYTES:
            raise source.error(
                format_count(len(data), "byte"),
                code="truncated",
                expected=f"{2 * BLOCK_BYTES} or more for header and parameters",
            )
        start = (data[0] - 1) * BLOCK_BYTES
        if data[1] != MAGIC or data[0] < 2 or start + 4 > len(data):
            expected = f"expected {MAGIC:#x} and a block from 2 to {len(data) // BLOCK_BYTES}"
            raise source.error(
                f"mark {data[1]:#x}, parameters in block {data[0]}; {expected}", code="bad_number", byte=0
            )
        if data[start + 3] not in PROCESSORS:
            processors = ", ".join(f"{byte} ({name})" for byte, name in PROCESSORS.items())
            raise source.error(
                f"processor {data[start + 3]}", code="bad_number", byte=start + 3, expected=f"one of {processors}"
            )
        self.processor = PROCESSORS[data[start + 3]]
        self.byte_order = ">" if self.processor == "MIPS" else "<"
        self.header = self._read_header()
        # The end of the parameters is stated twice. If both differ, the later one is used, which is rarely wrong.
        stop = max(start + data[start + 2] * BLOCK_BYTES, (self.header.data_block - 1) * BLOCK_BYTES)
        stop = min(stop, start + MAX_PARAMETER_BLOCKS * BLOCK_BYTES, len(data))
        self._parameters = self._find_parameters(start + 4, stop)

    def _read_header(self) -> Header:
        shorts = struct.unpack_from(f"{self.byte_order}9H", self.source.data, 2)
        points, analog_words, first, last, _, _, _, data_block, analog_samples = shorts
        (scale,), (rate,) = self._floats_at(12, 1), self._floats_at(20, 1)
        return Header(points, analog_words, first, last, scale, data_block, analog_samples, rate)

    # Parameters

    def _find_parameters(self, at: int, stop: int) -> dict[str, _Parameter]:
        """Locate each parameter; values are decoded on access, so overlapping ones need no memory."""
        groups: dict[int, str] = {}
        parameters: dict[tuple[int, str], _Parameter] = {}
        data = self.source.data
        while at + 2 <= stop and data[at] != 0:  # a name of length 0 ends the list
            name_bytes, group = struct.unpack_from("bb", data, at)
            link = at + 2 + abs(name_bytes)  # a negative length marks a locked record
            name = data[at + 2 : link].decode("latin-1").strip().upper()
            if group == 0 or link + 4 > stop or not (name.isascii() and name.isprintable()):
                self._warn_damaged(at, f"a record {name[:16]!r} of group {group}")
                break
            (distance,) = struct.unpack_from(f"{self.byte_order}H", data, link)
            if group < 0:
                groups.setdefault(-group, name)
            else:
                kind, n_dimensions = struct.unpack_from("bB", data, link + 2)
                values = link + 4 + n_dimensions
                parameter = _Parameter(kind, tuple(data[link + 4 : values]), values)
                size = math.prod(parameter.dimensions) * abs(kind)
                end = min(link + (distance or MAX_RECORD_BYTES), stop)
                if kind not in (-1, 1, 2, 4) or values + size > end:
                    self._warn_damaged(at, f"{name} with {size} bytes of kind {kind} in {end - link}")
                    break
                parameters.setdefault((group, name), parameter)
            if distance == 0:  # a record without a successor also ends it
                break
            at = link + distance
        if at > stop:
            self.source.note(f"the last parameter leads past the parameters' end at byte {stop}")
        by_key: dict[str, _Parameter] = {}
        for (group, name), parameter in parameters.items():
            by_key.setdefault(f"{groups.get(group, '')}:{name}", parameter)
        return by_key

    def _warn_damaged(self, byte: int, problem: str) -> None:
        self.source.warn(
            f"the parameters are damaged at byte {byte} ({problem}); those from there on are not read",
            code="damaged_parameters",
            value=byte,
        )

    def numbers(self, key: str) -> list[float]:
        """Return the values of a parameter, integers as unsigned; empty if it is absent or text."""
        p = self._parameters.get(key)
        if p is None or p.kind == -1:
            return []
        count = math.prod(p.dimensions)
        if p.kind == 4:
            return self._floats_at(p.start, count)
        letter = "B" if p.kind == 1 else "H"
        return [float(n) for n in struct.unpack_from(f"{self.byte_order}{count}{letter}", self.source.data, p.start)]

    def number(self, key: str) -> float | None:
        """Return the first value of a parameter; None if there is none or it is not finite."""
        values = self.numbers(key)
        return values[0] if values and math.isfinite(values[0]) else None

    def count(self, key: str) -> int:
        """Return a parameter as a count; 0 if it is absent or no valid count."""
        value = self.number(key)
        return int(value) if value is not None and 0 <= value < 2**53 else 0

    def frame_number(self, key: str) -> int | None:
        """Return a frame number that is stored as two 16-bit halves, the lower first; None if it is absent."""
        halves = self.numbers(key)
        if len(halves) != 2 or not all(0 <= half < 65_536 for half in halves):
            return None
        return int(halves[0]) + 65_536 * int(halves[1])

    def texts(self, key: str) -> list[str]:
        """Return the stripped strings of a parameter and its continuations KEY2, KEY3, ..."""
        texts: list[str] = []
        for number in itertools.count(1):
            p = self._parameters.get(key if number == 1 else f"{key}{number}")
            if p is None or p.kind != -1:
                break
            width = p.dimensions[0] if p.dimensions else 1
            starts = range(p.start, p.start + math.prod(p.dimensions), width or 1)
            texts += [_text(self.source.data[at : at + width]) for at in starts]
        return texts

    # Numbers

    def _floats_at(self, byte: int, count: int) -> list[float]:
        return [float(x) for x in self.floats(np.frombuffer(self.source.data, f"{self.byte_order}u4", count, byte))]

    def floats(self, words: NDArray[Any]) -> Floats:
        """Convert 32-bit ``words`` in the file's number format to float64."""
        with np.errstate(invalid="ignore"):  # a signalling NaN is still a NaN
            if self.processor != "DEC":
                return words.view(f"{self.byte_order}f4").astype(np.float64)
        # VAX F: 16-bit halves swapped, exponent excess 128, mantissa from 0.5 up. Exponent 0 means zero or, with the
        # sign set, the VAX equivalent of NaN.
        halves = words.astype(np.uint32)
        bits = (halves << 16) | (halves >> 16)
        negative, exponent = bits >> 31 != 0, ((bits >> 23) & 0xFF).astype(np.int32)
        size = np.ldexp(((bits & 0x7FFFFF) | 0x800000).astype(np.float64), exponent - 152)
        size[exponent == 0] = 0.0
        size[negative] *= -1.0
        size[negative & (exponent == 0)] = np.nan
        return size


def _text(raw: bytes) -> str:
    """Decode text up to a zero byte and strip it: as UTF-8 if valid, else as Latin-1."""
    raw = raw.split(b"\0", 1)[0]
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return "".join(c if c.isprintable() else "_" for c in text.strip())


def looks_like_c3d(head: bytes) -> bool:
    """Return whether ``head`` starts a C3D file: its magic number, and a known processor at the start of the
    parameters."""
    if len(head) < 2 or head[1] != MAGIC or head[0] < 2:
        return False
    processor_at = (head[0] - 1) * BLOCK_BYTES + 3
    return head[0] == 2 or (processor_at < len(head) and head[processor_at] in PROCESSORS)
