"""The exact numbers of a BVH file: read for lossless storage, and written again."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from keypose import _core
from keypose.errors import UNSET, OptionError
from keypose.formats import bvh
from keypose.formats.base import SNIFF_BYTES, Limits, Source, read_bytes
from keypose.formats.bvh.write import hierarchy_lines
from keypose.model import Motion
from keypose.storage.lossless import ChannelTable


def read_channel_table(
    path: str | PathLike[str], motion: Motion, *, limits: Limits | None = None
) -> ChannelTable | None:
    """Return the exact channel values of the BVH file from which ``motion`` was read; None if it is no BVH file.

    With them (``keypose.storage.encode_kps(motion, lossless=True, channels=...)``) angles beyond 180 degrees and in
    gimbal lock are stored, too.
    """
    limits = limits or Limits()
    source = _SilentSource(Path(path), read_bytes(Path(path), limits), limits)
    if not bvh.FORMAT.sniff(source.data[:SNIFF_BYTES]):
        return None
    values, frame_time = bvh.channel_values(source)
    table = ChannelTable(values, frame_time, int(motion.reference_pose is not None))
    if not table.matches_motion(motion):
        raise OptionError(
            f"{motion.name} is not what this file holds", path=path, hint="read it again or leave out channels="
        )
    return table


@dataclass
class _SilentSource(Source):
    """A file that was read before, so its notes and warnings are not repeated."""

    def note(self, text: str, *, code: str | None = None) -> None:
        """Do nothing."""

    def warn(self, problem: str, *, code: str, line: int | None = None, value: Any = UNSET) -> None:
        """Do nothing."""


def write_verbatim(motion: Motion, channels: ChannelTable, *, reference_pose: bool) -> bytes:
    """Return the text of a BVH file with ``channels`` as its numbers and the skeleton of ``motion``.

    With ``reference_pose`` the row of the reference pose is the first frame.
    """
    if not channels.matches_motion(motion):
        raise OptionError("not the numbers of this motion", subject=motion.name, option="channels")
    rows = channels.values if reference_pose else channels.values[channels.n_reference_rows :]
    lines = ["HIERARCHY", *hierarchy_lines(motion, list(motion.skeleton.channels), exact=True), "MOTION"]
    lines += [f"Frames: {len(rows)}", f"Frame Time: {channels.frame_time}", ""]
    return "\n".join(lines).encode("utf-8", "surrogateescape") + _core.format_columns(rows, channels.decimals())
