"""What a page shows of a motion: where its joints and end sites are, frame by frame."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.errors import OptionError
from keypose.model import Motion
from keypose.options import number, whole
from keypose.workbench.face import Face
from keypose.workbench.space import PageSpace

MOST_POINTS = 40_000_000  # joints and end sites of all frames in one answer: 480 MB


@dataclass(frozen=True, eq=False)
class Shown:
    """Places on the page of every ``step``-th frame, from frame 0 on."""

    positions: NDArray[np.float32]  # (N, J, 3) metres
    ends: NDArray[np.float32]  # (N, E, 3)
    face: NDArray[np.float32]  # (N, 1, 3) a point before the face; (N, 0, 3) where there is none
    fps: float  # of what is shown
    n_frames: int  # of the motion
    step: int

    def header(self) -> dict[str, Any]:
        """What is to be known beside the numbers."""
        return {"fps": self.fps, "n_frames": self.n_frames, "step": self.step}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The numbers."""
        return {"positions": self.positions, "ends": self.ends, "face": self.face}


def shown(motion: Motion, space: PageSpace, step: int = 1, face: Face | None = None) -> Shown:
    """Where joints, end sites and the ``face`` of ``motion`` are on the page, in every ``step``-th frame."""
    whole("step", step, least=1)
    thin = motion if step == 1 else Motion(
        motion.name, motion.skeleton, motion.fps, motion.translations[::step], motion.rotations[::step], motion.up
    )  # fmt: skip
    points = thin.n_frames * (motion.n_joints + len(motion.skeleton.end_joints))
    if points > MOST_POINTS:
        least = math.ceil(step * points / MOST_POINTS)
        raise OptionError(f"{points:,} places, expected at most {MOST_POINTS:,} at once: show every {least}th frame")
    looks = np.empty((thin.n_frames, 0, 3)) if face is None else face.places(thin)
    positions, ends, before = (
        space.places(each).astype(np.float32) for each in (thin.world_positions(), thin.end_positions(), looks)
    )
    return Shown(positions, ends, before, motion.fps / step, motion.n_frames, step)


def step_of(motion: Motion, fps: float | None = None, most_frames: int | None = None) -> int:
    """Every how many frames are shown at about ``fps``, and at most ``most_frames`` of them."""
    step = 1 if fps is None else max(1, round(min(motion.fps / number("fps", fps, above=0.0), motion.n_frames)))
    if most_frames is not None:
        step = max(step, math.ceil(motion.n_frames / whole("most_frames", most_frames, least=1)))
    return step
