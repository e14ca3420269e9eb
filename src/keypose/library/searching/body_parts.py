"""Parts of the body that matter in a search, by the names that the rest of the package knows them by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from keypose.anatomy import Anatomy
from keypose.arrays import Bools, Floats
from keypose.errors import OptionError
from keypose.library.canonical import INDEX, JOINTS, LIMBS
from keypose.library.rankers.sheets import PARTS
from keypose.options import shown

_CANONICAL = Anatomy(JOINTS, tuple("spine" if joint == "chest" else joint for joint in JOINTS))
_SWUNG = Anatomy(PARTS, tuple("spine1" if part == "chest" else part for part in PARTS))


def named(joints: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """The names, checked: groups (``arms``), parts (``left_forearm``), places (``left_elbow``); None: the body."""
    if joints is None:
        return None
    names = (joints,) if isinstance(joints, str) else tuple(joints) if isinstance(joints, Iterable) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise OptionError(f"joints={shown(joints)}, expected names of body parts such as 'left_arm' or 'legs'")
    for name in names:
        _CANONICAL.joints(name)  # UnknownJoint says what there is
    return names


def canonical_joints(names: Sequence[str]) -> tuple[int, ...]:
    """Which of the seventeen canonical joints are meant, rising."""
    return tuple(sorted({joint for name in names for joint in _CANONICAL.joints(name)}))


def swung_parts(names: Sequence[str]) -> Bools:
    """Which of the parts that swings are kept of are meant, (P,)."""
    meant = np.zeros(len(PARTS), bool)
    known = {*_SWUNG.groups, *PARTS}
    for name in names:
        here = _SWUNG.joints(name) if name in known else [PARTS.index(JOINTS[j]) for j in _CANONICAL.joints(name)]
        meant[list(here)] = True
    return meant


def part_groups(names: Sequence[str]) -> tuple[str, ...]:
    """Which groups of tracks are meant: a whole arm for a hand, the trunk for hips, chest or head."""
    return tuple(dict.fromkeys(_group(JOINTS[joint]) for joint in canonical_joints(names)))


def _group(joint: str) -> str:
    side, _, limb = joint.partition("_")
    if limb not in LIMBS:
        return "trunk"
    return f"{side}_{'arm' if limb in LIMBS[:3] else 'leg'}"


def pose_scales(names: Sequence[str] | None) -> Floats:
    """(17 x 3 + 1,): 1 for each number of a stored pose that counts, else 0.

    The height above the floor counts where hips or feet do.
    """
    if names is None:
        return np.ones(3 * len(JOINTS) + 1)
    joints = canonical_joints(names)
    scales = np.zeros(3 * len(JOINTS) + 1)
    scales[[3 * joint + axis for joint in joints for axis in range(3)]] = 1.0
    grounded = {INDEX["hips"], *(INDEX[f"{side}_{end}"] for side in ("left", "right") for end in ("foot", "toes"))}
    scales[-1] = float(not grounded.isdisjoint(joints))
    return scales
