"""Positions of joints and end sites in display space, frame by frame."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.clip_edit.display_space import DisplaySpace
from keypose.clip_edit.face import Face
from keypose.errors import OptionError
from keypose.model import Motion
from keypose.validation import check_int, check_number

MAX_POINTS = 40_000_000  # joints and end sites of all frames in one response: 480 MB


@dataclass(frozen=True, eq=False)
class FrameData:
    """Positions in display space of every ``stride``-th frame, from frame 0 on."""

    positions: NDArray[np.float32]  # (N, J, 3) metres
    ends: NDArray[np.float32]  # (N, E, 3)
    face: NDArray[np.float32]  # (N, 1, 3) a point in front of the face; (N, 0, 3): no face
    fps: float  # of the rows
    n_frames: int  # of the motion
    stride: int

    def header(self) -> dict[str, Any]:
        """Return the scalar fields."""
        return {"fps": self.fps, "n_frames": self.n_frames, "stride": self.stride}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays."""
        return {"positions": self.positions, "ends": self.ends, "face": self.face}


def build_frame_data(motion: Motion, space: DisplaySpace, stride: int = 1, face: Face | None = None) -> FrameData:
    """Return the positions of joints, end sites and ``face`` of ``motion`` in every ``stride``-th frame."""
    check_int("stride", stride, min_value=1)
    strided = motion if stride == 1 else Motion(
        motion.name, motion.skeleton, motion.fps, motion.translations[::stride], motion.rotations[::stride], motion.up
    )  # fmt: skip
    points = strided.n_frames * (motion.n_joints + len(motion.skeleton.end_joints))
    if points > MAX_POINTS:
        min_stride = math.ceil(stride * points / MAX_POINTS)
        raise OptionError(
            f"{points:,} places, expected at most {MAX_POINTS:,} at once: show every {min_stride}th frame"
        )
    face_positions = np.empty((strided.n_frames, 0, 3)) if face is None else face.world_positions(strided)
    positions, ends, face_points = (
        space.to_display(each).astype(np.float32)
        for each in (strided.world_positions(), strided.end_positions(), face_positions)
    )
    return FrameData(positions, ends, face_points, motion.fps / stride, motion.n_frames, stride)


def choose_stride(motion: Motion, fps: float | None = None, max_frames: int | None = None) -> int:
    """Return the stride that gives about ``fps`` frames per second, and at most ``max_frames`` frames."""
    stride = 1 if fps is None else max(1, round(min(motion.fps / check_number("fps", fps, above=0.0), motion.n_frames)))
    if max_frames is not None:
        stride = max(stride, math.ceil(motion.n_frames / check_int("max_frames", max_frames, min_value=1)))
    return stride
