"""Swings as a compact block of bytes, the one that a ``.kps`` file holds; docs/swings-packed.md has every byte.

Plain coding: frames as differences in as few bytes as they need, numbers of 32 bits, what is usual costs next to
nothing, a checksum. Playback of what is read back is within 32-bit rounding of the original.
"""

from __future__ import annotations

import zlib
from collections import Counter

import numpy as np

from keypose.errors import FormatError, ModelError, OptionError
from keypose.rotations import log
from keypose.swings.block.head import read_head, write_head
from keypose.swings.block.reader import Reader, shown
from keypose.swings.block.tracks import read_path, read_track, write_path, write_track
from keypose.swings.block.writer import Writer
from keypose.swings.noun import Swings

MAGIC = b"KPsw"
VERSION = 1
CHECKSUM_BYTES = 4
MOST_BYTES = 512 << 20  # of memory that a block of any size may be unfolded to


def pack(swings: Swings) -> bytes:
    """Swings as bytes."""
    return packed_parts(swings)[0]


def packed_parts(swings: Swings) -> tuple[bytes, Counter[str]]:
    """The same with how many of the bytes are for what: header, swings, rests, keys, left_out, translation."""
    if not isinstance(swings, Swings):
        raise OptionError(f"{type(swings).__name__}, expected Swings, as kp.swings gives them")
    out = Writer()
    out.put(MAGIC + bytes((VERSION,)))
    write_head(out, swings)
    means = np.array([log(track.mean_rotation) for track in swings.tracks])
    out.rows_unlike(means, np.zeros(means.shape))
    for j, track in enumerate(swings.tracks):
        write_track(out, track, left_out=swings.is_left_out(j))
    with out.counted_as("translation"):
        index = {joint: j for j, joint in enumerate(swings.skeleton.names)}
        moving = np.array([index[path.joint] for path in swings.paths], np.int64)
        usual = swings.skeleton.offsets.copy()
        usual[moving] = swings.places[moving]  # a path says where its joint is
        out.rows_unlike(swings.places, usual)
        out.whole(len(moving))
        out.wholes(np.diff(moving, prepend=0))
        for path in swings.paths:
            write_path(out, path)
    out.put(zlib.crc32(out.data()).to_bytes(CHECKSUM_BYTES, "little"))
    return out.data(), out.sizes


def unpack(data: bytes, *, where: str = "packed swings", most_bytes: int = MOST_BYTES) -> Swings:
    """Swings of such bytes; anything that is not right is a ``FormatError``, which starts with ``where``.

    What takes next to nothing there, as a key on every frame of a joint that keeps still, may take up to ``most_bytes``
    of memory here, or 100 times the size of the block.
    """
    body = _checked(_bytes_of(data), where)
    block = Reader(body, where, max(most_bytes, 100 * len(body)))
    block.take(len(MAGIC) + 1, "the magic")
    try:
        swings = _read(block)
    except (ModelError, OptionError) as error:  # numbers that each alone may stand there, but make no swings together
        raise FormatError(where, shown(str(error))) from None
    if block.left:
        raise block.error(f"{block.left} bytes behind the end")
    return swings


def _bytes_of(data: bytes) -> bytes:
    try:
        return bytes(memoryview(data))  # of a number, bytes() would make as many
    except TypeError:
        raise OptionError(f"{type(data).__name__}, expected bytes, as pack gives them") from None


def _checked(data: bytes, where: str) -> bytes:
    """The block without its checksum, which fits."""
    least = len(MAGIC) + 1 + CHECKSUM_BYTES
    if data[: len(MAGIC)] != MAGIC:
        raise FormatError(where, f"starts with {data[: len(MAGIC)]!r}, expected {MAGIC!r}", byte=0)
    if len(data) < least:
        raise FormatError(where, f"{len(data)} bytes, expected at least {least}")
    if data[len(MAGIC)] > VERSION:
        raise FormatError(where, f"version is {data[len(MAGIC)]}: it is of a newer Keypose than this one, which reads "
                                 f"version {VERSION}; update Keypose to read it")  # fmt: skip
    body, stated = data[:-CHECKSUM_BYTES], int.from_bytes(data[-CHECKSUM_BYTES:], "little")
    if zlib.crc32(body) != stated:
        raise FormatError(where, f"damaged: the checksum of its bytes is {zlib.crc32(body)}, not {stated}")
    if data[len(MAGIC)] != VERSION:
        raise FormatError(where, f"version is {data[len(MAGIC)]}, expected {VERSION}")
    return body


def _read(block: Reader) -> Swings:
    head = read_head(block)
    skeleton, n_frames = head["skeleton"], head["n_frames"]
    turned = block.rows_unlike(np.zeros((skeleton.n_joints, 3)), "mean rotations")
    means = block.as_rotations(turned, "mean rotations")
    tracks = tuple(read_track(block, joint, mean, n_frames) for joint, mean in zip(skeleton.names, means, strict=True))
    places = block.rows_unlike(skeleton.offsets, "places of joints")
    at = block.at
    moving = np.cumsum(block.wholes(block.count("paths", 15), "joints that move about"))
    if len(moving) and (moving[-1] >= skeleton.n_joints or (np.diff(moving) <= 0).any()):
        raise block.error(f"joints that move about: expected increasing ones up to {skeleton.n_joints - 1}", at)
    paths = tuple(read_path(block, skeleton.names[j], n_frames) for j in moving.tolist())
    for j, path in zip(moving.tolist(), paths, strict=True):
        places[j] = path.sample(np.zeros(1))[0]
    return Swings(tracks=tracks, places=places, paths=paths, **head)
