"""The error of played swings, measured as in the thesis."""

from __future__ import annotations

from typing import Literal

import numpy as np

from keypose.arrays import Floats
from keypose.curves.edit.directions import nearest_angles
from keypose.errors import OptionError, format_count
from keypose.model import Motion
from keypose.swings.model import Swings
from keypose.validation import check_choice


def segmentation_error(
    motion: Motion, swings: Swings, *, per: Literal["frame", "angle"] = "frame", rests: bool = True
) -> float:
    """Return, in degrees, the mean length of the differences of all angles or, per angle, their root mean square."""
    check_choice("per", per, ("frame", "angle"))
    differences = angle_differences(motion, swings, rests=rests)
    squares = np.einsum("ta,ta->t", differences, differences)
    return float(np.sqrt(squares.mean() / differences.shape[1])) if per == "angle" else float(np.sqrt(squares).mean())


def angle_differences(motion: Motion, swings: Swings, *, rests: bool = True) -> Floats:
    """Return differences (T, A) of the played angles from those of ``motion``, in degrees, by rotation channel.

    A rotation has many Euler triples; the one nearest to the original is used.
    """
    check_same_clip(motion, swings)
    played = swings.play(rests=rests).rotations
    original = np.deg2rad(motion.euler_curves())
    columns = []
    for j, (order, channels) in enumerate(zip(motion.skeleton.rotation_orders, motion.skeleton.channels, strict=True)):
        channel_indices = [order.index(name[0]) for name in channels if name.endswith("rotation")]
        if channel_indices:
            differences = nearest_angles(played[:, j], order, original[:, j]) - original[:, j]
            columns.append(np.rad2deg(differences[:, channel_indices]))
    return np.concatenate(columns or [np.zeros((motion.n_frames, 1))], axis=1)


def check_same_clip(motion: Motion, swings: Swings) -> None:
    """Raise an OptionError for a motion of other joints or frames than the swings."""
    if not isinstance(motion, Motion):
        raise OptionError(type(motion).__name__, expected="the Motion that the swings were found in")
    if motion.skeleton.names != swings.skeleton.names:
        raise OptionError(f"{motion.name!r} and the swings of {swings.name!r}", expected="the same joints")
    if motion.n_frames != swings.n_frames:
        raise OptionError(
            f"{motion.name!r} has {format_count(motion.n_frames, 'frame')}, its swings {swings.n_frames}",
            expected="the same number",
        )
