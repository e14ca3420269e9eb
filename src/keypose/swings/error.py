"""How far played swings are off their motion, as the thesis measures it."""

from __future__ import annotations

from typing import Literal

import numpy as np

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.inbetween.editing.euler import nearest_angles
from keypose.model import Motion
from keypose.options import one_of
from keypose.swings.noun import Swings


def segmentation_error(motion: Motion, swings: Swings, *, per: Literal["frame", "angle"] = "frame") -> float:
    """In degrees: the mean length of the differences of all angles or, per angle, their root mean square."""
    one_of("per", per, ("frame", "angle"))
    off = angle_differences(motion, swings)
    squares = np.einsum("ta,ta->t", off, off)
    return float(np.sqrt(squares.mean() / off.shape[1])) if per == "angle" else float(np.sqrt(squares).mean())


def angle_differences(motion: Motion, swings: Swings) -> Floats:
    """Differences (T, A) of the played angles from those of ``motion``, in degrees, a column for each rotation channel.

    A turn has many Euler triples; the one nearest to the original's is taken.
    """
    check_same(motion, swings)
    played = swings.play().rotations
    original = np.deg2rad(motion.euler_curves())
    columns = []
    for j, (order, channels) in enumerate(zip(motion.skeleton.rotation_orders, motion.skeleton.channels, strict=True)):
        written = [order.index(name[0]) for name in channels if name.endswith("rotation")]
        if written:
            off = nearest_angles(played[:, j], order, original[:, j]) - original[:, j]
            columns.append(np.rad2deg(off[:, written]))
    return np.concatenate(columns or [np.zeros((motion.n_frames, 1))], axis=1)


def check_same(motion: Motion, swings: Swings) -> None:
    """Refuses a motion of other joints or frames than the swings."""
    if not isinstance(motion, Motion):
        raise OptionError(f"{type(motion).__name__}, expected the Motion that the swings were found in")
    if motion.skeleton.names != swings.skeleton.names:
        raise OptionError(f"{motion.name!r} and the swings of {swings.name!r} have different joints")
    if motion.n_frames != swings.n_frames:
        raise OptionError(f"{motion.name!r} has {motion.n_frames} frames, its swings {swings.n_frames}")
