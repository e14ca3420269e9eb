"""Move a figure in the world at a key."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from keypose.curves.edit.arguments import check_vector, find_key
from keypose.curves.edit.change import Change
from keypose.curves.edit.offset import offset_key
from keypose.curves.edit.poses import base_joints, key_world_pose
from keypose.errors import OptionError
from keypose.model import KeyedMotion


def shift(
    keyed: KeyedMotion,
    frame: Any,
    *,
    by: ArrayLike | None = None,
    to: ArrayLike | None = None,
    spread_s: float = 0.0,
) -> Change:
    """Move the pose of the key at ``frame`` ``by`` an offset (3,), or so that the hips are at ``to`` (3,).

    Both are in the world, in file units.
    """
    key = find_key(keyed, frame)
    if (by is None) == (to is None):
        raise OptionError("say where the figure goes in one way: by= or to=")
    if by is not None:
        offset = check_vector("by", by)
    else:
        offset = check_vector("to", [] if to is None else to) - key_world_pose(keyed, key).positions[
            base_joints(keyed.skeleton)
        ].mean(axis=0)
    shifts = np.zeros((keyed.n_joints, 3))
    shifts[list(keyed.skeleton.roots)] = offset
    return offset_key(keyed, key, shifts=shifts, spread_s=spread_s)
