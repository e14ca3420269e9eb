"""The numbers of a C3D file: points, and the segments of its ROTATION group.

Header and parameters state most things twice. Where they disagree, the statement with which the data
fill the file is taken and a warning says so; the file's size bounds whatever is allocated.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.formats.base import Source
from keypose.formats.c3d.contents import BLOCK_BYTES, Contents

WORDS_PER_POINT = 4  # x, y, z, and the residual with the cameras: negative where the point was not seen
WORDS_PER_SEGMENT = 17  # a 4x4 matrix by columns, and a residual
MOST_SHORT_FRAMES = 65_535  # the largest count that 16 bits can say


@dataclass(frozen=True)
class Layout:
    """Where the points are and how they are written."""

    data_block: int  # 1-based
    points: int
    analog_words: int  # per frame, after the points
    scale: float  # file units per integer step; negative: the data are floats
    frames: int

    @property
    def integers(self) -> bool:
        """Whether the numbers are 16-bit integers to be scaled, else 32-bit floats."""
        return self.scale > 0

    @property
    def frame_words(self) -> int:
        """Numbers in one frame."""
        return WORDS_PER_POINT * self.points + self.analog_words

    @property
    def start(self) -> int:
        """The byte of the first frame."""
        return (self.data_block - 1) * BLOCK_BYTES

    @property
    def frame_bytes(self) -> int:
        """Bytes of one frame."""
        return self.frame_words * (2 if self.integers else 4)

    def misfit(self, file_bytes: int) -> int:
        """0 where the data end in the file's last block, 1 where more follows, 2 where they do not fit."""
        left = file_bytes - self.start - self.frames * self.frame_bytes
        return 2 if left < 0 else int(left >= BLOCK_BYTES)


def frame_counts(contents: Contents) -> list[int]:
    """All statements of how many frames there are, the most trustworthy first."""
    start = contents.frame_number("TRIAL:ACTUAL_START_FIELD")
    end = contents.frame_number("TRIAL:ACTUAL_END_FIELD")
    stated = (
        contents.count("POINT:FRAMES"),
        contents.count("POINT:LONG_FRAMES"),
        end - start + 1 if start is not None and end is not None else 0,
        contents.header.last_frame - contents.header.first_frame + 1,
    )
    # A 16-bit count stops at 65535 or starts over, so a greater one knows more.
    return sorted(_different(stated), key=lambda n: n <= MOST_SHORT_FRAMES)


def find_layout(contents: Contents) -> Layout | None:
    """How the points are written; None where there are none."""
    source, header = contents.source, contents.header
    points = _different((contents.count("POINT:USED"), header.points))
    if not points:
        return None
    blocks = _different((contents.count("POINT:DATA_START"), header.data_block))
    blocks = [b for b in blocks if b >= 2 and (b - 1) * BLOCK_BYTES < len(source.data)]
    if not blocks:
        last = -(-len(source.data) // BLOCK_BYTES)
        raise source.error(f"data start in block {header.data_block}, expected 2 to {last}", byte=16)
    scales = [s for s in (header.scale, contents.number("POINT:SCALE") or 0.0) if math.isfinite(s) and s != 0]
    if not scales:
        raise source.error(f"scale {header.scale:g}, expected above 0 (integers) or below 0 (floats)", byte=12)
    frames = frame_counts(contents)
    if not frames:
        raise source.error(f"frames {header.first_frame} to {header.last_frame}, expected at least one", byte=6)
    by_channel = contents.count("ANALOG:USED") * header.analog_samples
    analogs = list(dict.fromkeys((header.analog_words, by_channel)))
    # The first candidate is what a sound file means: parameters before the header, except for the scale,
    # where the header has been right (Motion Analysis writes a stale POINT:SCALE).
    candidates = [Layout(*c) for c in itertools.product(blocks, points, analogs, scales, frames)]
    best = min(candidates, key=lambda candidate: candidate.misfit(len(source.data)))
    if len(points) > 1:
        source.warn(f"POINT:USED says {points[0]} points, the header {points[1]}; {best.points} are read")
    if len(blocks) > 1:
        source.warn(f"POINT:DATA_START says block {blocks[0]}, the header {blocks[1]}; {best.data_block} is taken")
    if best.analog_words != analogs[0]:
        source.warn(f"the header says {analogs[0]} analog numbers a frame; {best.analog_words} fit and are skipped")
    if len(scales) > 1 and max(scales) > 0 and abs(scales[0] - scales[1]) > 1e-3 * abs(scales[0]):
        source.warn(f"the header's scale is {scales[0]:g}, POINT:SCALE is {scales[1]:g}; {best.scale:g} is taken")
    if best.frames != frames[0]:
        source.warn(f"{frames[0]} frames are stated, but also {best.frames}, which fit the file and are read")
    return best


def read_points(contents: Contents, layout: Layout) -> tuple[Floats, Bools]:
    """Positions (T, P, 3) in file units, and which of them (T, P) were seen."""
    source = contents.source
    frames = _frames_there(source, layout.start, layout.frame_bytes, layout.frames)
    source.check_joints(layout.points)
    source.check_size(frames, layout.points)
    kind = f"{contents.byte_order}{'i2' if layout.integers else 'u4'}"
    rows = np.frombuffer(source.data, kind, frames * layout.frame_words, layout.start)
    rows = rows.reshape(frames, layout.frame_words)[:, : WORDS_PER_POINT * layout.points]
    values = rows.astype(np.float64) if layout.integers else contents.floats(rows)
    values = values.reshape(frames, layout.points, WORDS_PER_POINT)
    seen = np.isfinite(values[..., :3]).all(axis=2) & ~(values[..., 3] < 0)
    # All zero in some frames only: lost, not a leap to the origin. All zero in every frame: it stands there.
    zero = (values == 0).all(axis=2)
    seen &= ~zero | zero.all(axis=0)
    positions = values[..., :3] * (layout.scale if layout.integers else 1.0)
    return positions, seen


def read_segments(contents: Contents) -> tuple[Floats, Bools]:
    """Matrices (T, S, 4, 4) from segment to lab coordinates, and which of them (T, S) were seen; S may be 0.

    The ROTATION group, as Theia3D and Visual3D write it, has a data section of its own, always floats.
    """
    source, used = contents.source, contents.count("ROTATION:USED")
    if not used:
        return np.zeros((0, 0, 4, 4)), np.zeros((0, 0), bool)
    block, frame_words = contents.count("ROTATION:DATA_START"), used * WORDS_PER_SEGMENT
    start = (block - 1) * BLOCK_BYTES
    if block < 2 or start >= len(source.data):
        last = -(-len(source.data) // BLOCK_BYTES)
        raise source.error(f"ROTATION:DATA_START is block {block}, expected 2 to {last}")
    stated = contents.count("ROTATION:FRAMES")
    if not stated:
        stated = max(contents.count("ROTATION:RATIO"), 1) * max(frame_counts(contents)[:1], default=0)
    if not stated:
        raise source.error("a ROTATION group but no number of frames, expected ROTATION:FRAMES or POINT:FRAMES")
    frames = _frames_there(source, start, 4 * frame_words, stated)
    source.check_joints(used)
    source.check_size(frames, used)
    words = np.frombuffer(source.data, f"{contents.byte_order}u4", frames * frame_words, start)
    values = contents.floats(words).reshape(frames, used, WORDS_PER_SEGMENT)
    seen = np.isfinite(values[..., :16]).all(axis=2) & ~(values[..., 16] < 0)
    return values[..., :16].reshape(frames, used, 4, 4).swapaxes(2, 3), seen


def _frames_there(source: Source, start: int, frame_bytes: int, stated: int) -> int:
    there = (len(source.data) - start) // frame_bytes
    if there == 0:
        found = len(source.data) - start
        raise source.error(f"{found} bytes of data, expected {frame_bytes} for the first frame", byte=start)
    if there < stated:
        source.warn(f"{stated} frames are stated, the file ends after {there} (cut short?); these are read")
    return min(stated, there)


def _different(statements: tuple[int, ...]) -> list[int]:
    """The different ones, without those that state nothing."""
    return [n for n in dict.fromkeys(statements) if n > 0]
