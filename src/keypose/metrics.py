"""How far one motion is from another, on one scale for every figure and file: millimetres on a body of 1.7 m."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Frozen, frozen_floats, give_away
from keypose.errors import OptionError
from keypose.inbetween import linear
from keypose.model import Motion, Selection


@dataclass(frozen=True, eq=False)
class Score(Frozen):
    """Distances of joints from where they were in the original; end sites do not count."""

    mean_mm: float
    p95_mm: float
    max_mm: float
    per_joint_mm: Floats  # (J,) mean over frames
    per_frame_mm: Floats  # (T,) mean over joints

    def __post_init__(self) -> None:
        for field in ("per_joint_mm", "per_frame_mm"):
            self._put(field, frozen_floats(getattr(self, field), (None,), field))

    def __repr__(self) -> str:
        return f"Score(mean {self.mean_mm:.3g} mm, 95 % within {self.p95_mm:.3g} mm, max {self.max_mm:.3g} mm)"


def score(original: Motion, other: Motion | Selection) -> Score:
    """``other`` against ``original``: a motion of the same joints and frames, or keys with straight in-betweens."""
    if not isinstance(original, Motion):
        raise OptionError(f"{type(original).__name__}, expected a Motion as the original")
    if isinstance(other, Selection):
        other = linear(original, other.frames)
    if not isinstance(other, Motion):
        raise OptionError(f"{type(other).__name__}, expected a Motion or a Selection to compare {original.name!r} with")
    errors = position_errors_mm(original, other)
    return Score(
        mean_mm=float(errors.mean()),
        p95_mm=float(np.percentile(errors, 95.0)),
        max_mm=float(errors.max()),
        per_joint_mm=give_away(errors.mean(axis=0)),
        per_frame_mm=give_away(errors.mean(axis=1)),
    )


def position_errors_mm(original: Motion, other: Motion) -> Floats:
    """How far each joint is off in each frame (T, J), in mm on the original's figure scaled to 1.7 m."""
    if other.skeleton.names != original.skeleton.names:
        raise OptionError(f"{original.name!r} and {other.name!r} have different joints")
    if other.n_frames != original.n_frames:
        raise OptionError(f"{original.name!r} has {original.n_frames} frames, {other.name!r} {other.n_frames}")
    return original.mm_per_unit * distances(original.world_positions(), other.world_positions())


def distances(points: Floats, others: Floats) -> Floats:
    """The distance of each point (..., 3) from its partner."""
    off = others - points
    lengths: Floats = np.sqrt(np.einsum("...k,...k->...", off, off))
    return lengths
