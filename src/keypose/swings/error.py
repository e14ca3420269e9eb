"""The error of played swings, measured as in the thesis."""

from __future__ import annotations

from typing import Literal

import numpy as np

from keypose.arrays import Floats
from keypose.cache import cache_weakly
from keypose.curves.edit.directions import nearest_angles
from keypose.model import Motion
from keypose.swings.model import Swings, check_same_clip
from keypose.validation import check_choice


def segmentation_error(
    motion: Motion,
    swings: Swings,
    *,
    per: Literal["frame", "angle"] = "frame",
    rests: bool = True,
    played: Motion | None = None,
) -> float:
    """Return, in degrees, the mean length of the differences of all angles or, per angle, their root mean square.

    ``played``: the result of ``swings.play(rests=rests)``, if it is at hand.
    """
    check_choice("per", per, ("frame", "angle"))
    check_same_clip(motion, swings)
    differences = _angle_differences(motion, swings.play(rests=rests) if played is None else played)
    squares = np.einsum("ta,ta->t", differences, differences)
    return float(np.sqrt(squares.mean() / differences.shape[1])) if per == "angle" else float(np.sqrt(squares).mean())


def _angle_differences(motion: Motion, played: Motion) -> Floats:
    """Return differences (T, A) of the played angles from those of ``motion``, in degrees, by rotation channel.

    A rotation has many Euler triples; the one nearest to the original is used.
    """
    original = _euler_angles(motion)
    columns = []
    for j, (order, channels) in enumerate(zip(motion.skeleton.rotation_orders, motion.skeleton.channels, strict=True)):
        channel_indices = [order.index(name[0]) for name in channels if name.endswith("rotation")]
        if not channel_indices:
            continue
        if np.array_equal(played.rotations[:, j], motion.rotations[:, j]):  # a joint that is left out
            columns.append(np.zeros((motion.n_frames, len(channel_indices))))
            continue
        differences = nearest_angles(played.rotations[:, j], order, original[:, j]) - original[:, j]
        columns.append(np.rad2deg(differences[:, channel_indices]))
    return np.concatenate(columns or [np.zeros((motion.n_frames, 1))], axis=1)


@cache_weakly
def _euler_angles(motion: Motion) -> Floats:
    """Return the angles (T, J, 3) of ``motion`` in radians; thresholds are compared with the same ones."""
    return np.deg2rad(motion.euler_curves())
