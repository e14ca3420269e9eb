"""How far what is shown strays from the capture."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.metrics import Score, position_errors_mm, score
from keypose.model import KeyedMotion, Motion


@dataclass(frozen=True, eq=False)
class Straying:
    """What ``kp.score`` tells, in mm on a figure of 1.7 m; None: not measured while one browses, or there is none."""

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
        """All but the arrays."""
        return {each.name: getattr(self, each.name) for each in fields(self) if not each.name.startswith("per_")}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays."""
        return {"per_frame_mm": self.per_frame_mm, "per_joint_mm": self.per_joint_mm}


def straying(capture: Motion, dense: Motion, keyed: KeyedMotion | None, *, quick: bool = False) -> Straying | None:
    """How far ``dense`` is off ``capture``; ``keyed`` is what it was sampled from as its curves are, if it was.

    None where it cannot be told: frames were added or taken away, or the figure has no height. ``quick`` leaves out
    turns, feet and keys.
    """
    if dense.n_frames != capture.n_frames or capture.height <= 0:
        return None
    if not quick:
        return _of(score(capture, dense if keyed is None else keyed))
    errors = position_errors_mm(capture, dense)
    frame, joint = np.unravel_index(int(errors.argmax()), errors.shape)
    return Straying(
        mean_mm=float(errors.mean()),
        p95_mm=float(np.percentile(errors, 95.0)),
        max_mm=float(errors.max()),
        worst_frame=int(frame),
        worst_joint=capture.skeleton.names[int(joint)],
        per_joint_mm=errors.mean(axis=0),
        per_frame_mm=errors.mean(axis=1),
    )


def _of(found: Score) -> Straying:
    return Straying(**{each.name: getattr(found, each.name) for each in fields(Straying)})
