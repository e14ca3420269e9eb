"""Move a figure in the world at a key."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from keypose.errors import OptionError
from keypose.inbetween.editing.arguments import key_at, vector
from keypose.inbetween.editing.change import Change
from keypose.inbetween.editing.nudging import nudged
from keypose.inbetween.editing.poses import spot, world_of
from keypose.model import KeyedMotion


def shift(
    keyed: KeyedMotion,
    frame: Any,
    *,
    by: ArrayLike | None = None,
    to: ArrayLike | None = None,
    spread_s: float = 0.0,
) -> Change:
    """The whole pose of the key at ``frame`` moved ``by`` a way (3,), or so that the hips come ``to`` a place (3,).

    Both are in the world, in file units.
    """
    key = key_at(keyed, frame)
    if (by is None) == (to is None):
        raise OptionError("say where the figure goes in one way: by= or to=")
    if by is not None:
        way = vector("by", by)
    else:
        way = vector("to", [] if to is None else to) - world_of(keyed, key).positions[spot(keyed.skeleton)].mean(axis=0)
    shifts = np.zeros((keyed.n_joints, 3))
    shifts[list(keyed.skeleton.roots)] = way
    return nudged(keyed, key, shifts=shifts, spread_s=spread_s)
