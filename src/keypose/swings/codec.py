"""Swings as a compact block of bytes, as in a ``.kps`` file; docs/swings-packed.md describes every byte.

Frames are varint-coded differences, numbers have 32 bits, defaults are omitted, and there is a checksum. Playback of
unpacked swings is within 32-bit rounding of the original.
"""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import dataclass

import numpy as np

from keypose.errors import FormatError, ModelError, OptionError, format_count
from keypose.rotations import log
from keypose.swings.block.byte_io import Reader, Writer, escape_message
from keypose.swings.block.header import read_header, write_header
from keypose.swings.block.tracks import read_path, read_track, write_path, write_track
from keypose.swings.model import Swings

MAGIC = b"KPsw"
VERSION = 1
CHECKSUM_BYTES = 4
MAX_BYTES = 512 << 20  # memory to which a block of any size may expand

NUMBER_BYTES = 4
SECTIONS = ("swings", "rests", "keys", "left_out", "translation", "header")


def pack(swings: Swings) -> bytes:
    """Return swings as bytes."""
    return pack_with_sizes(swings)[0]


def pack_with_sizes(swings: Swings) -> tuple[bytes, Counter[str]]:
    """Return the same, and the number of bytes by section: header, swings, rests, keys, left_out, translation."""
    if not isinstance(swings, Swings):
        raise OptionError(type(swings).__name__, expected="Swings, as kp.swings gives them")
    out = Writer()
    out.write_bytes(MAGIC + bytes((VERSION,)))
    write_header(out, swings)
    means = np.array([log(track.mean_rotation) for track in swings.tracks])
    out.write_changed_rows(means, np.zeros(means.shape))
    for j, track in enumerate(swings.tracks):
        write_track(out, track, left_out=swings.is_left_out(j))
    with out.section("translation"):
        index = {joint: j for j, joint in enumerate(swings.skeleton.names)}
        moving_joints = np.array([index[path.joint] for path in swings.paths], np.int64)
        defaults = swings.skeleton.offsets.copy()
        defaults[moving_joints] = swings.translations[moving_joints]  # stored in the path
        out.write_changed_rows(swings.translations, defaults)
        out.write_varint(len(moving_joints))
        out.write_varints(np.diff(moving_joints, prepend=0))
        for path in swings.paths:
            write_path(out, path)
    out.write_bytes(zlib.crc32(out.data()).to_bytes(CHECKSUM_BYTES, "little"))
    return out.data(), out.sizes


def unpack(data: bytes, *, where: str = "packed swings", max_bytes: int = MAX_BYTES) -> Swings:
    """Return the swings of packed bytes; raise a ``FormatError`` that starts with ``where`` if they are invalid.

    Data that expand, such as a key on every frame of a constant joint, may need up to ``max_bytes`` of memory, or 100
    times the size of the block if that is more.
    """
    body = _check_block(_to_bytes(data), where)
    block = Reader(body, where, max(max_bytes, 100 * len(body)))
    block.read_bytes(len(MAGIC) + 1, "the magic")
    try:
        swings = _read_swings(block)
    except (ModelError, OptionError) as error:  # the values are valid one by one, but not together
        raise FormatError(where, escape_message(str(error)), value=error.value) from None
    if block.n_left:
        raise block.error(f"{format_count(block.n_left, 'byte')} behind the end", code="damaged")
    return swings


def _to_bytes(data: bytes) -> bytes:
    try:
        return bytes(memoryview(data))  # bytes(number) would return that many zeros
    except TypeError:
        raise OptionError(type(data).__name__, expected="bytes, as pack gives them") from None


def _check_block(data: bytes, where: str) -> bytes:
    """Return the block without its checksum, after checking magic, version and checksum."""
    min_bytes = len(MAGIC) + 1 + CHECKSUM_BYTES
    if data[: len(MAGIC)] != MAGIC:
        raise FormatError(
            where, f"starts with {data[: len(MAGIC)]!r}", code="unknown_format", byte=0, expected=f"{MAGIC!r}"
        )
    if len(data) < min_bytes:
        raise FormatError(where, format_count(len(data), "byte"), code="truncated", expected=f"at least {min_bytes}")
    if data[len(MAGIC)] > VERSION:
        raise FormatError(
            where,
            f"version is {data[len(MAGIC)]}: it is of a newer Keypose than this one, which reads version {VERSION}",
            code="unsupported",
            hint="update Keypose to read it",
        )
    body, checksum = data[:-CHECKSUM_BYTES], int.from_bytes(data[-CHECKSUM_BYTES:], "little")
    if zlib.crc32(body) != checksum:
        raise FormatError(
            where, f"damaged: the checksum of its bytes is {zlib.crc32(body)}, not {checksum}", code="damaged"
        )
    if data[len(MAGIC)] != VERSION:
        raise FormatError(where, f"version is {data[len(MAGIC)]}", code="unsupported", expected=f"{VERSION}")
    return body


def _read_swings(block: Reader) -> Swings:
    head = read_header(block)
    skeleton, n_frames = head["skeleton"], head["n_frames"]
    mean_vectors = block.read_changed_rows(np.zeros((skeleton.n_joints, 3)), "mean rotations")
    means = block.decode_rotations(mean_vectors, "mean rotations")
    tracks = tuple(read_track(block, joint, mean, n_frames) for joint, mean in zip(skeleton.names, means, strict=True))
    translations = block.read_changed_rows(skeleton.offsets, "places of joints")
    at = block.at
    moving_joints = np.cumsum(block.read_varints(block.read_count("paths", 15), "joints that move about"))
    if len(moving_joints) and (moving_joints[-1] >= skeleton.n_joints or (np.diff(moving_joints) <= 0).any()):
        raise block.error(
            f"joints that move about: expected increasing ones up to {skeleton.n_joints - 1}", at, code="inconsistent"
        )
    paths = tuple(read_path(block, skeleton.names[j], n_frames) for j in moving_joints.tolist())
    for j, path in zip(moving_joints.tolist(), paths, strict=True):
        translations[j] = path.sample(np.zeros(1))[0]
    return Swings(tracks=tracks, translations=translations, paths=paths, **head)


@dataclass(frozen=True)
class SwingSize:
    """The bytes of packed swings by section, and those of the raw motion.

    The raw motion is 4 bytes for each number of the file per frame: 62 in AMC files of CMU, 96 in BVH files made of
    them.
    """

    swings: int
    rests: int
    keys: int  # where swings are inaccurate
    left_out: int  # joints stored frame by frame: fingers, toes
    translation: int  # paths and changed translations
    header: int  # the clip, its skeleton, foot contacts, flags of tracks
    raw_bytes: int
    left_out_raw_bytes: int  # of the joints stored frame by frame

    @property
    def sections(self) -> dict[str, int]:
        """The bytes of each section by name."""
        return {part: getattr(self, part) for part in SECTIONS}

    @property
    def total(self) -> int:
        """The total number of bytes."""
        return sum(self.sections.values())

    @property
    def ratio(self) -> float:
        """The packed bytes over the raw bytes."""
        return self.total / max(1, self.raw_bytes)

    @property
    def swinging_ratio(self) -> float:
        """The same without the joints stored frame by frame, on both sides."""
        return (self.total - self.left_out) / max(1, self.raw_bytes - self.left_out_raw_bytes)


def measure_size(swings: Swings) -> SwingSize:
    """Return the packed size of ``swings``."""
    sizes = pack_with_sizes(swings)[1]
    raw_bytes = NUMBER_BYTES * swings.n_frames * swings.skeleton.channel_counts
    left_out = [j for j in range(swings.n_joints) if swings.is_left_out(j)]
    return SwingSize(
        **{part: sizes[part] for part in SECTIONS},
        raw_bytes=int(raw_bytes.sum()),
        left_out_raw_bytes=int(raw_bytes[left_out].sum()),
    )
