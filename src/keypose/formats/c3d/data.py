"""The data of a C3D file: points, and the segments of its ROTATION group.

Most values are stated twice, in the header and in the parameters. If they differ, the value with which the data fill
the file is used, with a warning; the size of the file limits what is allocated.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.errors import format_count
from keypose.formats.base import Source
from keypose.formats.c3d.contents import BLOCK_BYTES, Contents

WORDS_PER_POINT = 4  # x, y, z, and the residual with the cameras: negative if the point is missing
WORDS_PER_SEGMENT = 17  # a 4x4 matrix by columns, and a residual
MAX_SHORT_FRAMES = 65_535  # the largest 16-bit count


@dataclass(frozen=True)
class Layout:
    """Where the points are and how they are encoded."""

    data_block: int  # 1-based
    points: int
    analog_words: int  # per frame, after the points
    scale: float  # file units per integer step; negative: the data are floats
    frames: int

    @property
    def integers(self) -> bool:
        """Whether the numbers are scaled 16-bit integers, else 32-bit floats."""
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
        """Return 0 if the data end in the last block of the file, 1 if more follows, 2 if they do not fit."""
        n_bytes_left = file_bytes - self.start - self.frames * self.frame_bytes
        return 2 if n_bytes_left < 0 else int(n_bytes_left >= BLOCK_BYTES)


def frame_counts(contents: Contents) -> list[int]:
    """Return all stated numbers of frames, the most reliable first."""
    start = contents.frame_number("TRIAL:ACTUAL_START_FIELD")
    end = contents.frame_number("TRIAL:ACTUAL_END_FIELD")
    counts = (
        contents.count("POINT:FRAMES"),
        contents.count("POINT:LONG_FRAMES"),
        end - start + 1 if start is not None and end is not None else 0,
        contents.header.last_frame - contents.header.first_frame + 1,
    )
    # A 16-bit count saturates at 65535 or wraps, so a larger one is more reliable.
    return sorted(_distinct_positive(counts), key=lambda n: n <= MAX_SHORT_FRAMES)


def find_layout(contents: Contents) -> Layout | None:
    """Return the layout of the points; None if there are none."""
    source, header = contents.source, contents.header
    points = _distinct_positive((contents.count("POINT:USED"), header.points))
    if not points:
        return None
    blocks = _distinct_positive((contents.count("POINT:DATA_START"), header.data_block))
    blocks = [b for b in blocks if b >= 2 and (b - 1) * BLOCK_BYTES < len(source.data)]
    if not blocks:
        last = -(-len(source.data) // BLOCK_BYTES)
        raise source.error(
            f"data start in block {header.data_block}", code="bad_number", byte=16, expected=f"2 to {last}"
        )
    scales = [s for s in (header.scale, contents.number("POINT:SCALE") or 0.0) if math.isfinite(s) and s != 0]
    if not scales:
        raise source.error(
            f"scale {header.scale:g}", code="bad_number", byte=12, expected="above 0 (integers) or below 0 (floats)"
        )
    frames = frame_counts(contents)
    if not frames:
        raise source.error(
            f"frames {header.first_frame} to {header.last_frame}", code="bad_number", byte=6, expected="at least one"
        )
    by_channel = contents.count("ANALOG:USED") * header.analog_samples
    analogs = list(dict.fromkeys((header.analog_words, by_channel)))
    # The first candidate is that of a correct file: values of the parameters have precedence over the header, except
    # for the scale, as Motion Analysis writes a stale POINT:SCALE.
    candidates = [Layout(*c) for c in itertools.product(blocks, points, analogs, scales, frames)]
    best = min(candidates, key=lambda candidate: candidate.misfit(len(source.data)))
    if len(points) > 1:
        source.warn(
            f"POINT:USED says {points[0]} points, the header {points[1]}; {best.points} are read",
            code="header_mismatch",
            value=points,
        )
    if len(blocks) > 1:
        source.warn(
            f"POINT:DATA_START says block {blocks[0]}, the header {blocks[1]}; {best.data_block} is used",
            code="header_mismatch",
            value=blocks,
        )
    if best.analog_words != analogs[0]:
        source.warn(
            f"the header says {analogs[0]} analog numbers a frame; {best.analog_words} fit and are skipped",
            code="header_mismatch",
            value=analogs[0],
        )
    if len(scales) > 1 and max(scales) > 0 and abs(scales[0] - scales[1]) > 1e-3 * abs(scales[0]):
        source.warn(
            f"the header's scale is {scales[0]:g}, POINT:SCALE is {scales[1]:g}; {best.scale:g} is used",
            code="header_mismatch",
            value=scales,
        )
    if best.frames != frames[0]:
        source.warn(
            f"{frames[0]} and {best.frames} frames are declared; {best.frames} match the size of the file and are read",
            code="frame_count",
            value=frames[0],
        )
    return best


def read_points(contents: Contents, layout: Layout) -> tuple[Floats, Bools]:
    """Return positions (T, P, 3) in file units and a mask (T, P) of visible ones."""
    source = contents.source
    frames = _count_frames(source, layout.start, layout.frame_bytes, layout.frames)
    source.check_joints(layout.points)
    source.check_size(frames, layout.points)
    kind = f"{contents.byte_order}{'i2' if layout.integers else 'u4'}"
    rows = np.frombuffer(source.data, kind, frames * layout.frame_words, layout.start)
    rows = rows.reshape(frames, layout.frame_words)[:, : WORDS_PER_POINT * layout.points]
    values = rows.astype(np.float64) if layout.integers else contents.floats(rows)
    values = values.reshape(frames, layout.points, WORDS_PER_POINT)
    is_visible = np.isfinite(values[..., :3]).all(axis=2) & ~(values[..., 3] < 0)
    # A point that is zero in some frames is missing there. One that is zero in every frame is at the origin.
    zero = (values == 0).all(axis=2)
    is_visible &= ~zero | zero.all(axis=0)
    positions = values[..., :3] * (layout.scale if layout.integers else 1.0)
    return positions, is_visible


def read_segments(contents: Contents) -> tuple[Floats, Bools]:
    """Return matrices (T, S, 4, 4) from segment to lab coordinates and a mask (T, S) of visible ones; S may be 0.

    The ROTATION group, as Theia3D and Visual3D write it, has a data section of its own, always floats.
    """
    source, n_segments = contents.source, contents.count("ROTATION:USED")
    if not n_segments:
        return np.zeros((0, 0, 4, 4)), np.zeros((0, 0), bool)
    block, frame_words = contents.count("ROTATION:DATA_START"), n_segments * WORDS_PER_SEGMENT
    start = (block - 1) * BLOCK_BYTES
    if block < 2 or start >= len(source.data):
        last = -(-len(source.data) // BLOCK_BYTES)
        raise source.error(f"ROTATION:DATA_START is block {block}", code="bad_number", expected=f"2 to {last}")
    n_stated = contents.count("ROTATION:FRAMES")
    if not n_stated:
        n_stated = max(contents.count("ROTATION:RATIO"), 1) * max(frame_counts(contents)[:1], default=0)
    if not n_stated:
        raise source.error(
            "a ROTATION group but no number of frames", code="missing_data", expected="ROTATION:FRAMES or POINT:FRAMES"
        )
    frames = _count_frames(source, start, 4 * frame_words, n_stated)
    source.check_joints(n_segments)
    source.check_size(frames, n_segments)
    words = np.frombuffer(source.data, f"{contents.byte_order}u4", frames * frame_words, start)
    values = contents.floats(words).reshape(frames, n_segments, WORDS_PER_SEGMENT)
    is_visible = np.isfinite(values[..., :16]).all(axis=2) & ~(values[..., 16] < 0)
    return values[..., :16].reshape(frames, n_segments, 4, 4).swapaxes(2, 3), is_visible


def _count_frames(source: Source, start: int, frame_bytes: int, n_stated: int) -> int:
    n_available = (len(source.data) - start) // frame_bytes
    if n_available == 0:
        n_bytes = len(source.data) - start
        raise source.error(
            f"{format_count(n_bytes, 'byte')} of data",
            code="truncated",
            byte=start,
            expected=f"{frame_bytes} for the first frame",
        )
    if n_available < n_stated:
        source.warn(
            f"{n_stated} frames are declared, but the file ends after {n_available} (truncated file?); these are read",
            code="frame_count",
            value=n_stated,
        )
    return min(n_stated, n_available)


def _distinct_positive(numbers: tuple[int, ...]) -> list[int]:
    """Return the distinct positive numbers, in order."""
    return [n for n in dict.fromkeys(numbers) if n > 0]
