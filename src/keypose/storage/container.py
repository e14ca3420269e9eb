"""The bytes of a ``.kps`` file: magic, version, header, checksums, groups, blocks. docs/kps.md has each of them."""

from __future__ import annotations

import binascii
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from keypose.errors import FormatError, LimitError, ModelError
from keypose.limits import Limits
from keypose.storage.groups import Coded, CodingError, group_bounds
from keypose.storage.head.clips import Clip, clip
from keypose.storage.head.coder import Coder, Decoder, Encoder, TooMuch
from keypose.storage.sources import Ranges
from keypose.swings.block.reader import shown

MAGIC = b"KPS"
VERSION = 1
HEAD_CHECK_BYTES, CHECK_BYTES = 4, 3
FIRST_READ = 4096  # mostly the whole header
SHOWN_BYTES = 12  # of a file that is something else
LONGEST_LENGTH = 4  # bytes: a header of up to 256 MB
SECTION_BYTES, SECTION_BYTES_PER_JOINT = 1 << 16, 512  # more than any encoder writes for a frame

Namer = Callable[[bytes], str | None]  # of the first bytes: "is BVH"
_NAMERS: list[Namer] = []


@dataclass(frozen=True, eq=False)
class Contents:
    """What a file holds, and where."""

    clip: Clip
    coding: bytes  # what all groups need
    checks: tuple[bytes, ...]  # of each group, then of the keys and the swings
    start: int  # of the first group

    @cached_property
    def _starts(self) -> list[int]:
        """Where each pose, each body and each block starts, and where the file ends."""
        sections = zip(self.clip.pose_bytes, self.clip.body_bytes, strict=True)
        lengths = [length for pair in sections for length in pair]
        blocks = [self.clip.keys_bytes or 0, self.clip.swings_bytes or 0]
        return list(accumulate((*lengths, *blocks), initial=self.start))

    @property
    def size(self) -> int:
        """How many bytes the file has."""
        return self._starts[-1]

    def group(self, g: int) -> tuple[int, int]:
        """The bytes that group ``g`` is decoded from: its pose and body, and the pose of the next group."""
        last = g == self.clip.n_groups - 1
        return self._starts[2 * g], self._starts[2 * g + (2 if last else 3)]

    def keys(self) -> tuple[int, int, bytes]:
        """Where the keys are, and their checksum."""
        n = self.clip.n_groups
        return self._starts[2 * n], self._starts[2 * n + 1], self.checks[n]

    def swings(self) -> tuple[int, int, bytes]:
        """Where the swings are, and their checksum."""
        n = self.clip.n_groups
        return self._starts[2 * n + 1], self._starts[2 * n + 2], self.checks[-1]


_NO_LIMITS = Limits(joints=1 << 31, depth=1 << 31, frames=1 << 53)  # whoever writes a motion has it already


def check(data: bytes) -> bytes:
    """The checksum of a group or block: CRC-16, which no damage of 16 bits escapes, and a byte of CRC-32."""
    return binascii.crc_hqx(data, 0xFFFF).to_bytes(2, "little") + bytes((zlib.crc32(data) & 0xFF,))


def written(made: Clip, coded: Coded, keys: bytes | None, swings: bytes | None) -> bytes:
    """A whole file; ``made`` knows the lengths of all that goes into it."""
    sections = [section for pair in zip(coded.poses, coded.bodies, strict=True) for section in pair]
    blocks = [block for block in (keys, swings) if block is not None]
    checks = [check(b"".join(sections[2 * g : 2 * g + 3])) for g in range(made.n_groups)]
    answers, texts, least = _answers(made, 0)
    if texts:  # how long they are is said before they are
        answers, texts, least = _answers(made, len(texts))
    others = b"".join((coded.clip, *checks, *map(check, blocks), texts))
    body = answers + bytes(max(0, least - len(answers) - len(others))) + others
    if len(body) >> 7 * LONGEST_LENGTH:
        raise CodingError(f"a header of {len(body)} bytes")
    head = MAGIC + bytes((VERSION,)) + _whole(len(body)) + body
    return b"".join((head, zlib.crc32(head).to_bytes(HEAD_CHECK_BYTES, "little"), *sections, *blocks))


def _answers(made: Clip, texts: int) -> tuple[bytes, bytes, int]:
    """What the header says, the texts that are kept apart from it, and how long it must be at least to be read."""
    c = Encoder()
    _length_of_texts(c, texts)
    clip(c, made, _NO_LIMITS, made.n_groups)
    return c.finish(), c.deflated_apart(), c.least_bytes


def _length_of_texts(c: Coder, length: int | None) -> int:
    has_some = c.flag("texts", None if length is None else length > 0)
    return c.whole("bytes of texts", length) if has_some else 0


def _whole(number: int) -> bytes:
    """Seven bits in each byte, the lowest first; every byte but the last has bit 7 set."""
    low, rest = number & 0x7F, number >> 7
    return bytes((low | 0x80,)) + _whole(rest) if rest else bytes((low,))


def contents_of(source: Ranges, limits: Limits) -> Contents:
    """What a file holds; its header is read and checked, nothing else."""
    start = source.read(0, FIRST_READ)
    _check_start(source, start)
    length, at = _length(source, start)
    if source.size is not None and at + length + HEAD_CHECK_BYTES > source.size:
        raise FormatError(source.name, f"cut short: its header has {length} bytes, {source.size} is all there is")
    end = at + length
    if len(start) == FIRST_READ:
        start += source.read(FIRST_READ, end + HEAD_CHECK_BYTES)
    if len(start) < end + HEAD_CHECK_BYTES:
        raise FormatError(source.name, f"cut short: it ends after {len(start)} bytes, in its header of {length} bytes")
    stated = int.from_bytes(start[end : end + HEAD_CHECK_BYTES], "little")
    if zlib.crc32(start[:end]) != stated:
        raise FormatError(source.name, "the header is damaged: its checksum is not that of its bytes; without it "
                                       "nothing can be read")  # fmt: skip
    if start[len(MAGIC)] != VERSION:
        raise FormatError(source.name, f"version is {start[len(MAGIC)]}, expected {VERSION}")
    try:
        found = _parsed(start[at:end], limits, end + HEAD_CHECK_BYTES)
    except TooMuch as error:
        key = error.what.split()[-1].strip("()")
        raise LimitError(source.name, f"{error.found} {error.what}, more than the limit of {getattr(limits, key)}; if "
                                      f"the file is sound, raise it: limits=Limits({key}=...)") from None  # fmt: skip
    except (CodingError, ModelError) as error:
        raise FormatError(source.name, f"the header is not what an encoder writes: {shown(str(error))}") from None
    return found


def _check_start(source: Ranges, start: bytes) -> None:
    if not start:
        raise FormatError(source.name, "is empty, expected a .kps file")
    if not start.startswith(MAGIC[: len(start)]):
        what = next((found for namer in _NAMERS if (found := namer(start))), f"starts with {start[:SHOWN_BYTES]!r}")
        raise FormatError(source.name, f"is no .kps file: it {what}")
    if len(start) <= len(MAGIC):
        raise FormatError(source.name, f"cut short: it ends after {len(start)} bytes, before its version")
    version = start[len(MAGIC)]
    if version > VERSION:
        raise FormatError(source.name, f"version is {version}: it is of a newer Keypose than this one, which reads "
                                       f"version {VERSION}; update Keypose to read it")  # fmt: skip


def name_others_with(namer: Namer) -> None:
    """Says who knows what a file is that is none of these: formats, which are above this room."""
    _NAMERS[:] = [namer]


def _length(source: Ranges, start: bytes) -> tuple[int, int]:
    """The length of the header's body, and where it starts."""
    length, at = 0, len(MAGIC) + 1
    for k in range(LONGEST_LENGTH):
        if at + k >= len(start):
            raise FormatError(source.name, f"cut short: it ends after {len(start)} bytes, before its header")
        length |= (start[at + k] & 0x7F) << 7 * k
        if start[at + k] < 0x80:
            return length, at + k + 1
    raise FormatError(source.name, "the length of the header is damaged", byte=at)


def _parsed(body: bytes, limits: Limits, start: int) -> Contents:
    c = Decoder(body)
    texts = _length_of_texts(c, None)
    if texts > len(body):
        raise CodingError(f"texts of {texts} bytes")
    c.set_apart(body[len(body) - texts :] if texts else b"")
    found = clip(c, None, limits, len(body) // CHECK_BYTES)
    n_checks = found.n_groups + (found.keys_bytes is not None) + (found.swings_bytes is not None)
    end = len(body) - texts
    middle = end - CHECK_BYTES * n_checks
    if found.coding_bytes > middle:
        raise CodingError(f"{len(body)} bytes are too few for what it says")
    checks = tuple(body[at : at + CHECK_BYTES] for at in range(middle, end, CHECK_BYTES))
    _check_sections(found)
    return Contents(found, body[middle - found.coding_bytes : middle], checks, start)


def _check_sections(found: Clip) -> None:
    """No group has more bytes than any encoder could make of its frames."""
    if not found.n_groups:
        return
    bounds = group_bounds(found.n_frames, found.fps)
    joints = found.skeleton.n_joints
    for (first, after), pose, body in zip(bounds, found.pose_bytes, found.body_bytes, strict=True):
        if pose + body > SECTION_BYTES + SECTION_BYTES_PER_JOINT * joints * (after - first):
            raise CodingError(f"a group of {pose + body} bytes for {after - first} frames of {joints} joints")
