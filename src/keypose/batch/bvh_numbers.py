"""The exact numbers of a BVH file in a lossless .kps file: load, check, and write them again."""

from __future__ import annotations

import gzip
from pathlib import Path

from keypose.errors import FormatError
from keypose.formats import Limits
from keypose.formats.bvh.verbatim import read_channel_table, write_verbatim
from keypose.formats.files import write_atomically
from keypose.model import Motion
from keypose.storage import StoredMotion, open_kps
from keypose.storage.lossless import ChannelTable
from keypose.storage.lossless.number_format import same_bits


def load_channel_table(path: Path, motion: Motion, limits: Limits, *, is_kps: bool) -> ChannelTable | None:
    """Return the numbers of the BVH file that a motion was read from; None if there are none.

    ``is_kps``: ``path`` is a .kps file, which may hold the numbers of a BVH file.
    """
    if not is_kps:
        return read_channel_table(path, motion, limits=limits)
    with open_kps(path, limits=limits) as source:
        channels = source.channels()
    return channels if channels is not None and channels.matches_motion(motion) else None


def check_channel_table(stored: StoredMotion, channels: ChannelTable | None, path: Path) -> None:
    """Raise a FormatError unless the decoded numbers equal those of the original, bit for bit."""
    if channels is None:
        return
    decoded = stored.channels()
    if decoded is None or decoded.values.shape != channels.values.shape or decoded.frame_time != channels.frame_time:
        raise FormatError(path, "read back, it has not the numbers of the original although it is lossless")
    if not same_bits(decoded.values, channels.values).all():
        raise FormatError(path, "read back, some numbers of the original differ although it is lossless")


def save_channel_table(motion: Motion, channels: ChannelTable, path: Path, *, reference_pose: bool) -> None:
    """Write a BVH file with exactly these numbers, atomically."""
    data = write_verbatim(motion, channels, reference_pose=reference_pose)
    write_atomically(path, gzip.compress(data, 6, mtime=0) if path.name.lower().endswith(".gz") else data)
