"""Error measures of a motion against the capture; some are left out while a slider moves."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.metrics import Score, position_errors_mm, score
from keypose.model import KeyedMotion, Motion


@dataclass(frozen=True, eq=False)
class PartialScore:
    """The measures of ``kp.score``, in mm on a figure of 1.7 m; None: not measured, or not defined."""

    mean_mm: float
    p95_mm: float
    max_mm: float
    worst_frame: int
    worst_joint: str
    per_joint_mm: Floats  # (J,) mean over frames
    per_frame_mm: Floats  # (T,) mean over joints
    mean_deg: float | None = None
    max_deg: float | None = None
    foot_slide_mm: float | None = None
    original_foot_slide_mm: float | None = None
    key_acceleration: float | None = None
    stored_values: int | None = None
    bytes: int | None = None

    def header(self) -> dict[str, Any]:
        """Return all fields but the arrays."""
        return {each.name: getattr(self, each.name) for each in fields(self) if not each.name.startswith("per_")}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays."""
        return {"per_frame_mm": self.per_frame_mm, "per_joint_mm": self.per_joint_mm}


def compute_score(
    capture: Motion, dense: Motion, keyed: KeyedMotion | None, *, positions_only: bool = False
) -> PartialScore | None:
    """Return the error of ``dense`` against ``capture``; ``keyed`` are the curves it was sampled from, if unchanged.

    None if it is not defined: the number of frames differs, or the figure has no height. ``positions_only`` leaves out
    rotations, feet and keys.
    """
    if dense.n_frames != capture.n_frames or capture.height <= 0:
        return None
    if not positions_only:
        return _from_score(score(capture, dense if keyed is None else keyed))
    errors = position_errors_mm(capture, dense)
    frame, joint = np.unravel_index(int(errors.argmax()), errors.shape)
    return PartialScore(
        mean_mm=float(errors.mean()),
        p95_mm=float(np.percentile(errors, 95.0)),
        max_mm=float(errors.max()),
        worst_frame=int(frame),
        worst_joint=capture.skeleton.names[int(joint)],
        per_joint_mm=errors.mean(axis=0),
        per_frame_mm=errors.mean(axis=1),
    )


def _from_score(full_score: Score) -> PartialScore:
    return PartialScore(**{each.name: getattr(full_score, each.name) for each in fields(PartialScore)})
