"""How much a file may ask for before it is refused."""

from __future__ import annotations

from dataclasses import dataclass

MOTION_BYTES_PER_JOINT = 200  # one joint in one frame: 56 in the motion, the rest on the way to it
SMALL_MOTION_BYTES = 512 << 20  # this much is fine however small the file was: a few keys may last long


@dataclass(frozen=True)
class Limits:
    """How much a file may ask for. Real files stay far below; a hostile one is refused early.

    With the defaults, reading takes at most ``expansion`` times the size of the (decompressed) file, or
    512 MB, of memory. End sites count as joints.
    """

    joints: int = 10_000
    depth: int = 1_000  # joints from the root to the deepest one
    frames: int = 5_000_000  # 11 hours at 120 fps
    bytes: int = 4 << 30  # of the file, after decompression
    expansion: int = 100  # memory of the motion per byte of the file
