"""The very numbers of a BVH file: taken along from the file, and written again."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from keypose import _core
from keypose.errors import OptionError
from keypose.formats import bvh
from keypose.formats.base import SNIFF_BYTES, Limits, Source
from keypose.formats.bvh.write import hierarchy_lines
from keypose.formats.files import read_bytes
from keypose.model import Motion
from keypose.storage.lossless import ChannelTable


def file_channels(path: str | PathLike[str], motion: Motion, *, limits: Limits | None = None) -> ChannelTable | None:
    """The numbers of the BVH file that ``motion`` was read from, as they stand there.

    With them (``keypose.storage.stored_bytes(motion, lossless=True, channels=...)``) a stored motion keeps also angles
    beyond 180 degrees and those in gimbal lock. None: the file is no BVH file.
    """
    limits = limits or Limits()
    source = _Quiet(Path(path), read_bytes(Path(path), limits), limits)
    if not bvh.FORMAT.sniff(source.data[:SNIFF_BYTES]):
        return None
    values, frame_time = bvh.channel_values(source)
    table = ChannelTable(values, frame_time, int(motion.reference_pose is not None))
    if not table.is_of(motion):
        raise OptionError(f"{path}: {motion.name} is not what this file holds; read it again or leave out channels=")
    return table


@dataclass
class _Quiet(Source):
    """A file that was read before: what is wrong with it has been said."""

    def note(self, text: str) -> None:
        """Nothing."""

    def warn(self, text: str, *, line: int | None = None) -> None:
        """Nothing."""


def write_verbatim(motion: Motion, channels: ChannelTable, *, reference_pose: bool) -> bytes:
    """The text of a BVH file with ``channels`` as its numbers; ``motion`` says the rest.

    The row that was kept apart as the reference pose comes first again where ``reference_pose`` says so.
    """
    if not channels.is_of(motion):
        raise OptionError(f"{motion.name}: channels= are not the numbers of this motion")
    rows = channels.values if reference_pose else channels.values[channels.apart :]
    lines = ["HIERARCHY", *hierarchy_lines(motion, list(motion.skeleton.channels), exact=True), "MOTION"]
    lines += [f"Frames: {len(rows)}", f"Frame Time: {channels.frame_time}", ""]
    return "\n".join(lines).encode("utf-8", "surrogateescape") + _core.format_columns(rows, channels.decimals())
