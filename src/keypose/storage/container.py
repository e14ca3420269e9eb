"""The layout of a ``.kps`` file: magic, version, header, checksums, groups, blocks. See docs/kps.md."""

from __future__ import annotations

import binascii
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from keypose.errors import FormatError, LimitError, ModelError
from keypose.limits import Limits, limit_hint
from keypose.storage.byte_source import ByteReader
from keypose.storage.groups import CodedFrames, CodingError, group_bounds
from keypose.storage.header.clip_header import ClipHeader, code_header
from keypose.storage.header.coder import Coder, Decoder, Encoder, LimitExceeded
from keypose.swings.block.byte_io import escape_message

MAGIC = b"KPS"
VERSION = 1
HEADER_CHECKSUM_BYTES, CHECKSUM_BYTES = 4, 3
FIRST_READ_BYTES = 4096  # the complete header in most files
MAX_QUOTED_BYTES = 12  # bytes of a file of another format, in a message
MAX_LENGTH_BYTES = 4  # of the header length: up to 256 MB
MIN_SECTION_LIMIT_BYTES, MAX_SECTION_BYTES_PER_JOINT = 1 << 16, 512  # more than any encoder writes for a frame
DescribeContent = Callable[[bytes], str | None]  # first bytes of a file of another format -> such as "is BVH"
_NO_LIMITS = Limits(joints=1 << 31, depth=1 << 31, frames=1 << 53)  # limits are only for reading


@dataclass(frozen=True, eq=False)
class FileContents:
    """The parsed header of a file, and the positions of its sections."""

    header: ClipHeader
    coding_parameters: bytes  # shared by all groups
    checksums: tuple[bytes, ...]  # of each group, then of the keys and the swings
    start_byte: int  # of the first group

    @cached_property
    def _starts(self) -> list[int]:
        """Return the start of each pose, body and block, and the end of the file."""
        sections = zip(self.header.pose_bytes, self.header.body_bytes, strict=True)
        lengths = [length for pair in sections for length in pair]
        blocks = [self.header.keys_bytes or 0, self.header.swings_bytes or 0]
        return list(accumulate((*lengths, *blocks), initial=self.start_byte))

    @property
    def n_bytes(self) -> int:
        """Return the size of the file in bytes."""
        return self._starts[-1]

    def group_range(self, g: int) -> tuple[int, int]:
        """Return the byte range needed to decode group ``g``: its pose and body, and the pose of the next group."""
        last = g == self.header.n_groups - 1
        return self._starts[2 * g], self._starts[2 * g + (2 if last else 3)]

    def keys_range(self) -> tuple[int, int, bytes]:
        """Return the byte range of the keys, and their checksum."""
        n = self.header.n_groups
        return self._starts[2 * n], self._starts[2 * n + 1], self.checksums[n]

    def swings_range(self) -> tuple[int, int, bytes]:
        """Return the byte range of the swings, and their checksum."""
        n = self.header.n_groups
        return self._starts[2 * n + 1], self._starts[2 * n + 2], self.checksums[-1]


def compute_checksum(data: bytes) -> bytes:
    """Return the checksum of a group or block: CRC-16, which detects bursts of up to 16 bits, and a byte of CRC-32."""
    return binascii.crc_hqx(data, 0xFFFF).to_bytes(2, "little") + bytes((zlib.crc32(data) & 0xFF,))


def build_file(header: ClipHeader, coded_frames: CodedFrames, keys: bytes | None, swings: bytes | None) -> bytes:
    """Return the bytes of a file; ``header`` has the lengths of all sections and blocks."""
    sections = [section for pair in zip(coded_frames.poses, coded_frames.bodies, strict=True) for section in pair]
    blocks = [block for block in (keys, swings) if block is not None]
    checksums = [compute_checksum(b"".join(sections[2 * g : 2 * g + 3])) for g in range(header.n_groups)]
    header_bytes, texts, min_bytes = _encode_header(header, 0)
    if texts:  # their length precedes the other parts of the header
        header_bytes, texts, min_bytes = _encode_header(header, len(texts))
    others = b"".join((coded_frames.parameters, *checksums, *map(compute_checksum, blocks), texts))
    body = header_bytes + bytes(max(0, min_bytes - len(header_bytes) - len(others))) + others
    if len(body) >> 7 * MAX_LENGTH_BYTES:
        raise CodingError(f"a header of {len(body)} bytes")
    prefix = MAGIC + bytes((VERSION,)) + _encode_varint(len(body)) + body
    return b"".join((prefix, zlib.crc32(prefix).to_bytes(HEADER_CHECKSUM_BYTES, "little"), *sections, *blocks))


def _encode_header(header: ClipHeader, texts: int) -> tuple[bytes, bytes, int]:
    """Return the coded header, its deflated long texts, and the minimum header size that a decoder accepts."""
    c = Encoder()
    _code_texts_length(c, texts)
    code_header(c, header, _NO_LIMITS, header.n_groups)
    return c.finish(), c.deflate_texts(), c.min_bytes


def _code_texts_length(c: Coder, length: int | None) -> int:
    has_texts = c.code_flag("texts", None if length is None else length > 0)
    return c.code_natural("bytes of texts", length) if has_texts else 0


def _encode_varint(number: int) -> bytes:
    """Encode seven bits per byte, the lowest first; every byte but the last has bit 7 set."""
    low, high = number & 0x7F, number >> 7
    return bytes((low | 0x80,)) + _encode_varint(high) if high else bytes((low,))


def read_contents(
    source: ByteReader, limits: Limits, describe_content: DescribeContent = lambda start: None
) -> FileContents:
    """Read and check only the header of a file; ``describe_content`` is for errors about other formats."""
    start = source.read(0, FIRST_READ_BYTES)
    _check_start(source, start, describe_content)
    length, at = _read_header_length(source, start)
    if source.size is not None and at + length + HEADER_CHECKSUM_BYTES > source.size:
        raise FormatError(
            source.name,
            f"cut short: its header has {length} bytes, {source.size} is all there is",
            code="truncated",
            value=length,
        )
    end = at + length
    if len(start) == FIRST_READ_BYTES:
        start += source.read(FIRST_READ_BYTES, end + HEADER_CHECKSUM_BYTES)
    if len(start) < end + HEADER_CHECKSUM_BYTES:
        raise FormatError(
            source.name,
            f"cut short: it ends after {len(start)} bytes, in its header of {length} bytes",
            code="truncated",
        )
    checksum = int.from_bytes(start[end : end + HEADER_CHECKSUM_BYTES], "little")
    if zlib.crc32(start[:end]) != checksum:
        raise FormatError(
            source.name,
            "the header is damaged: its checksum is not that of its bytes",
            code="damaged",
            hint="without it nothing can be read",
        )
    if start[len(MAGIC)] != VERSION:
        raise FormatError(source.name, f"version is {start[len(MAGIC)]}", code="unsupported", expected=f"{VERSION}")
    try:
        contents = _parse_header(start[at:end], limits, end + HEADER_CHECKSUM_BYTES)
    except LimitExceeded as error:
        key = error.unit.split()[-1].strip("()")
        raise LimitError(
            source.name,
            f"{error.count} {error.unit}, more than the limit of {getattr(limits, key)}",
            value=error.count,
            hint=limit_hint(key),
        ) from None
    except (CodingError, ModelError) as error:
        raise FormatError(
            source.name, f"the header is not what an encoder writes: {escape_message(str(error))}", code="damaged"
        ) from None
    return contents


def _check_start(source: ByteReader, start: bytes, describe_content: DescribeContent) -> None:
    if not start:
        raise FormatError(source.name, "is empty", code="missing_data", expected="a .kps file")
    if not start.startswith(MAGIC[: len(start)]):
        description = describe_content(start) or f"starts with {start[:MAX_QUOTED_BYTES]!r}"
        raise FormatError(source.name, f"is no .kps file: it {description}", code="unknown_format")
    if len(start) <= len(MAGIC):
        raise FormatError(
            source.name, f"cut short: it ends after {len(start)} bytes, before its version", code="truncated"
        )
    version = start[len(MAGIC)]
    if version > VERSION:
        raise FormatError(
            source.name,
            f"version is {version}: it is of a newer Keypose than this one, which reads version {VERSION}",
            code="unsupported",
            hint="update Keypose to read it",
        )


def _read_header_length(source: ByteReader, start: bytes) -> tuple[int, int]:
    """Return the length of the header's body, and its start."""
    length, at = 0, len(MAGIC) + 1
    for k in range(MAX_LENGTH_BYTES):
        if at + k >= len(start):
            raise FormatError(
                source.name, f"cut short: it ends after {len(start)} bytes, before its header", code="truncated"
            )
        length |= (start[at + k] & 0x7F) << 7 * k
        if start[at + k] < 0x80:
            return length, at + k + 1
    raise FormatError(source.name, "the length of the header is damaged", code="damaged", byte=at)


def _parse_header(body: bytes, limits: Limits, start: int) -> FileContents:
    c = Decoder(body)
    texts = _code_texts_length(c, None)
    if texts > len(body):
        raise CodingError(f"texts of {texts} bytes")
    c.set_deflated_texts(body[len(body) - texts :] if texts else b"")
    header = code_header(c, None, limits, len(body) // CHECKSUM_BYTES)
    n_checksums = header.n_groups + (header.keys_bytes is not None) + (header.swings_bytes is not None)
    end = len(body) - texts
    middle = end - CHECKSUM_BYTES * n_checksums
    if header.parameters_bytes > middle:
        raise CodingError(f"{len(body)} bytes are too few for what it says")
    checksums = tuple(body[at : at + CHECKSUM_BYTES] for at in range(middle, end, CHECKSUM_BYTES))
    _check_sections(header)
    return FileContents(header, body[middle - header.parameters_bytes : middle], checksums, start)


def _check_sections(header: ClipHeader) -> None:
    """Raise ``CodingError`` if a group has more bytes than an encoder writes for its frames."""
    if not header.n_groups:
        return
    bounds = group_bounds(header.n_frames, header.fps)
    joints = header.skeleton.n_joints
    for (first, after), pose, body in zip(bounds, header.pose_bytes, header.body_bytes, strict=True):
        if pose + body > MIN_SECTION_LIMIT_BYTES + MAX_SECTION_BYTES_PER_JOINT * joints * (after - first):
            raise CodingError(f"a group of {pose + body} bytes for {after - first} frames of {joints} joints")
