"""Frames in groups of about one second, each of which is read without the others."""

from __future__ import annotations

from dataclasses import dataclass

MOST_GROUP_FRAMES = 480  # however fast the camera: what is decoded together stays small
NO_FRAMES, WITHIN_TOLERANCE, LOSSLESS = 0, 1, 2  # kinds of files


class CodingError(ValueError):
    """Coded bytes that no encoder writes; whoever reads the file says which file and which group."""


@dataclass(frozen=True)
class Coded:
    """What a codec makes of the frames of a motion."""

    kind: int  # 0 no frames of its own (plays from keys or swings), 1 within a tolerance, 2 lossless
    clip: bytes  # what all groups need (charts, steps); goes into the header
    poses: tuple[bytes, ...]  # the first frame of each group, coded alone; may be empty
    bodies: tuple[bytes, ...]  # the other frames of each group


def group_frames(fps: float) -> int:
    """How many frames a group has: the whole number nearest to ``fps`` (of two, the even one), from 1 to 480."""
    return min(max(1, round(fps)), MOST_GROUP_FRAMES)


def group_bounds(n_frames: int, fps: float) -> list[tuple[int, int]]:
    """First frame and the one after the last, for each group; a short rest goes to the last group.

    So the last group has half a second to one and a half, or the whole of a clip that is shorter.
    """
    size = group_frames(fps)
    count = group_count(n_frames, fps)
    return [(g * size, n_frames if g == count - 1 else (g + 1) * size) for g in range(count)]


def group_count(n_frames: int, fps: float) -> int:
    """How many groups ``n_frames`` frames make."""
    size = group_frames(fps)
    return max(1, (2 * n_frames + size) // (2 * size))
