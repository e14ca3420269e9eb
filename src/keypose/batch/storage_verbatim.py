"""The very numbers of a BVH file through a lossless one: taken along, checked, and written again."""

from __future__ import annotations

import gzip
from pathlib import Path

from keypose.errors import FormatError
from keypose.formats import Limits
from keypose.formats.bvh.verbatim import file_channels, write_verbatim
from keypose.formats.files import write_atomically
from keypose.model import Motion
from keypose.storage import StoredMotion, open_kps
from keypose.storage.lossless import ChannelTable
from keypose.storage.lossless.spelling import same_bits


def numbers_of(path: Path, motion: Motion, limits: Limits, *, stored: bool) -> ChannelTable | None:
    """The numbers of the BVH file that a motion was read from; None: it is no such file, nor does it keep those of one.

    ``stored``: the file is a compressed one, which may.
    """
    if not stored:
        return file_channels(path, motion, limits=limits)
    with open_kps(path, limits=limits) as source:
        channels = source.channels()
    return channels if channels is not None and channels.is_of(motion) else None


def check_numbers(stored: StoredMotion, channels: ChannelTable | None, path: Path) -> None:
    """That the numbers of the original came back, bit for bit."""
    if channels is None:
        return
    back = stored.channels()
    if back is None or back.values.shape != channels.values.shape or back.frame_time != channels.frame_time:
        raise FormatError(path, "read back, it has not the numbers of the original although it is lossless")
    if not same_bits(back.values, channels.values).all():
        raise FormatError(path, "read back, some numbers of the original differ although it is lossless")


def save_numbers(motion: Motion, channels: ChannelTable, path: Path, *, reference_pose: bool) -> None:
    """Writes a BVH file with these very numbers, whole or not at all."""
    data = write_verbatim(motion, channels, reference_pose=reference_pose)
    write_atomically(path, gzip.compress(data, 6, mtime=0) if path.name.lower().endswith(".gz") else data)
