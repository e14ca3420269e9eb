"""Groups of frames of about one second, which are decoded separately."""

from __future__ import annotations

from dataclasses import dataclass

MAX_GROUP_FRAMES = 480  # limits the memory of decoding, at any frame rate
NO_FRAMES, WITHIN_TOLERANCE, LOSSLESS = 0, 1, 2  # kinds of files


class CodingError(ValueError):
    """Coded bytes are invalid; the caller adds the file and the group to the message."""


@dataclass(frozen=True)
class CodedFrames:
    """The frames of a motion as coded by a codec."""

    kind: int  # NO_FRAMES (played from keys or swings), WITHIN_TOLERANCE or LOSSLESS
    parameters: bytes  # shared by all groups (charts, steps); stored in the header
    poses: tuple[bytes, ...]  # the first frame of each group, coded separately; may be empty
    bodies: tuple[bytes, ...]  # the other frames of each group


def group_frames(fps: float) -> int:
    """Return the frames per group: ``fps`` rounded to the nearest integer (half to even), from 1 to 480."""
    return min(max(1, round(fps)), MAX_GROUP_FRAMES)


def group_bounds(n_frames: int, fps: float) -> list[tuple[int, int]]:
    """Return the (start, stop) of each group; a short remainder is added to the last group.

    Therefore the last group is half a second to one and a half long, or the complete clip if that is shorter.
    """
    size = group_frames(fps)
    count = group_count(n_frames, fps)
    return [(g * size, n_frames if g == count - 1 else (g + 1) * size) for g in range(count)]


def group_count(n_frames: int, fps: float) -> int:
    """Return the number of groups of ``n_frames`` frames."""
    size = group_frames(fps)
    return max(1, (2 * n_frames + size) // (2 * size))
