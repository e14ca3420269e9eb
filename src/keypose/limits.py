"""Limits on the size of input files."""

from __future__ import annotations

from dataclasses import dataclass

from keypose.errors import Hint

MOTION_BYTES_PER_JOINT = 200  # per joint and frame: 56 in the motion, the others while it is read
SMALL_MOTION_BYTES = 512 << 20  # allowed for any file, as a few keys can be a long motion


@dataclass(frozen=True)
class Limits:
    """Maximum sizes of an input file. Real files are far smaller; hostile ones are rejected early.

    With the defaults, reading needs at most ``expansion`` times the size of the (decompressed) file, or 512 MB, of
    memory. For these limits end sites are joints.
    """

    joints: int = 10_000
    depth: int = 1_000  # joints from a root to the deepest joint
    frames: int = 5_000_000  # 11 hours at 120 fps
    bytes: int = 4 << 30  # of the file, after decompression
    expansion: int = 100  # memory of the motion per byte of the file


def limit_hint(limit: str) -> Hint:
    """Return the hint how to raise the limit of this name."""
    return Hint(
        python=f"if the file is sound, raise it: limits=Limits({limit}=...)",
        command=f"if the file is sound, raise it: --limit {limit}=NUMBER",
    )
