"""Body parts that matter in a search, by the names of the anatomy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from keypose.anatomy import Anatomy
from keypose.arrays import Bools, Floats
from keypose.errors import OptionError
from keypose.library.canonical import INDEX, JOINTS, LIMBS
from keypose.library.rankers.swing_table import BODY_PARTS
from keypose.validation import format_value

_CANONICAL = Anatomy(JOINTS, tuple("spine" if joint == "chest" else joint for joint in JOINTS))
_SWING_PARTS = Anatomy(BODY_PARTS, tuple("spine1" if part == "chest" else part for part in BODY_PARTS))


def parse_joint_names(joints: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the checked names: groups (``arms``), parts (``left_forearm``), joints (``left_elbow``); None: all."""
    if joints is None:
        return None
    names = (joints,) if isinstance(joints, str) else tuple(joints) if isinstance(joints, Iterable) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise OptionError(f"joints={format_value(joints)}, expected names of body parts such as 'left_arm' or 'legs'")
    for name in names:
        _CANONICAL.joints(name)  # raises UnknownJoint
    return names


def canonical_joints(names: Sequence[str]) -> tuple[int, ...]:
    """Return the canonical joints of these names, ascending."""
    return tuple(sorted({joint for name in names for joint in _CANONICAL.joints(name)}))


def select_swing_parts(names: Sequence[str]) -> Bools:
    """Return which body parts of swing tables these names mean, (P,)."""
    is_selected = np.zeros(len(BODY_PARTS), bool)
    swing_names = {*_SWING_PARTS.groups, *BODY_PARTS}
    for name in names:
        indices = (
            _SWING_PARTS.joints(name)
            if name in swing_names
            else [BODY_PARTS.index(JOINTS[j]) for j in _CANONICAL.joints(name)]
        )
        is_selected[list(indices)] = True
    return is_selected


def track_groups(names: Sequence[str]) -> tuple[str, ...]:
    """Return the groups of tracks: a whole arm for a hand, the trunk for hips, chest or head."""
    return tuple(dict.fromkeys(_track_group(JOINTS[joint]) for joint in canonical_joints(names)))


def _track_group(joint: str) -> str:
    side, _, limb = joint.partition("_")
    if limb not in LIMBS:
        return "trunk"
    return f"{side}_{'arm' if limb in LIMBS[:3] else 'leg'}"


def pose_scales(names: Sequence[str] | None) -> Floats:
    """Return (17 x 3 + 1,): 1 for each number of a stored pose that counts, else 0.

    The height above the floor counts if hips or feet do.
    """
    if names is None:
        return np.ones(3 * len(JOINTS) + 1)
    joints = canonical_joints(names)
    scales = np.zeros(3 * len(JOINTS) + 1)
    scales[[3 * joint + axis for joint in joints for axis in range(3)]] = 1.0
    grounded = {INDEX["hips"], *(INDEX[f"{side}_{end}"] for side in ("left", "right") for end in ("foot", "toes"))}
    scales[-1] = float(not grounded.isdisjoint(joints))
    return scales
