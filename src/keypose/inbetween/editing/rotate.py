"""Turn a joint at a key."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from keypose.inbetween.editing.arguments import key_at, turn_of
from keypose.inbetween.editing.change import Change
from keypose.inbetween.editing.nudging import nudged
from keypose.inbetween.editing.poses import world_of
from keypose.model import KeyedMotion
from keypose.options import one_of
from keypose.rotations import conjugate, rotate

Space: TypeAlias = Literal["local", "parent", "world"]
SPACES: tuple[Space, ...] = get_args(Space)


def rotate_joint(
    keyed: KeyedMotion,
    frame: Any,
    joint: str,
    *,
    euler_degrees: ArrayLike | None = None,
    order: str = "XYZ",
    axis: ArrayLike | None = None,
    degrees: float | None = None,
    quaternion: ArrayLike | None = None,
    space: Space = "local",
    spread_s: float = 0.0,
) -> Change:
    """A joint turned at the key at ``frame``, about its own axes, its parent's or the world's, the shorter way round.

    The turn is ``euler_degrees`` (3,) in intrinsic ``order``, ``degrees`` about ``axis`` (3,), or a ``quaternion``
    (4,). A turn in the world is spread as the turn in the parent's frame that it is at the key.
    """
    one_of("space", space, SPACES)
    key, j = key_at(keyed, frame), keyed.skeleton.joint(joint)
    turn = turn_of(euler_degrees, order, axis, degrees, quaternion)
    parent = int(keyed.skeleton.parents[j])
    if space == "world" and parent >= 0:
        turn = rotate(conjugate(world_of(keyed, key).rotations[parent]), turn)
    turns = np.zeros((keyed.n_joints, 3))
    turns[j] = turn
    return nudged(keyed, key, turns=turns, in_parent=space != "local", spread_s=spread_s)
