"""The reference pose without any loss: it was mostly set up by hand, in whole degrees."""

from __future__ import annotations

import numpy as np

from keypose import _core
from keypose.arrays import Floats
from keypose.model import Pose, Skeleton
from keypose.rotations import AXES, IDENTITY, to_euler
from keypose.storage.head import cmu
from keypose.storage.head.coder import EVEN, RARE, Coder
from keypose.storage.head.numbers import as_bits, decimals, number
from keypose.storage.head.vectors import vectors

MOST_DECIMALS = 6  # of angles in degrees
Angles = tuple[float, ...]


def pose(c: Coder, skeleton: Skeleton, given: Pose | None) -> Pose:
    """A pose of the skeleton."""
    return Pose(_translations(c, skeleton, given), _rotations(c, skeleton, given))


def _translations(c: Coder, skeleton: Skeleton, given: Pose | None) -> Floats:
    """Joints are where their offsets say, but for some, as the hips."""
    found = skeleton.offsets.copy()
    off = None if given is None else (given.translations != skeleton.offsets).any(axis=1)
    moved = []
    for j, parent in enumerate(skeleton.parents.tolist()):
        start = EVEN if parent < 0 else RARE
        if c.flag(("moved", parent < 0), None if off is None else bool(off[j]), start):
            moved.append(j)
    rows = None if given is None else [tuple(row) for row in given.translations[moved].tolist()]
    if moved:
        found[moved] = vectors(c, len(moved), rows)
    return found


def _rotations(c: Coder, skeleton: Skeleton, given: Pose | None) -> Floats:
    """Turns as angles in degrees, where these give the very rotations; as quaternions where not."""
    angles = None if given is None else angles_of(given.rotations, skeleton.rotation_orders)
    if cmu.numbers_of(skeleton) is not None and c.flag(
        "usual turns", None if angles is None else angles == cmu.t_pose(), EVEN
    ):
        return from_angles(cmu.t_pose(), skeleton.rotation_orders)
    places = decimals(c, None if angles is None else [x for row in angles if row is not None for x in row])
    found: list[Angles | None] = []
    exact: dict[int, Angles] = {}
    turned = False
    for j in range(skeleton.n_joints):
        own = None if angles is None else angles[j]
        turned = c.flag(("turned", turned), None if angles is None else own is None or any(own), EVEN)
        if not turned:
            found.append((0.0, 0.0, 0.0))
        elif c.flag("as quaternion", None if angles is None else own is None):
            wanted = None if given is None else given.rotations[j].tolist()
            exact[j] = tuple(as_bits(c, "quaternion", None if wanted is None else wanted[k]) for k in range(4))
            found.append(None)
        else:
            found.append(tuple(number(c, ("angle", k), None if own is None else own[k], places) for k in range(3)))
    rotations = from_angles([(0.0, 0.0, 0.0) if row is None else row for row in found], skeleton.rotation_orders)
    for j, quaternion in exact.items():
        rotations[j] = quaternion
    return rotations


def angles_of(rotations: Floats, orders: tuple[str, ...]) -> list[Angles | None]:
    """Angles in degrees (J, 3), with as few decimals as give the very ``rotations`` (J, 4); None: none do."""
    exact = [np.rad2deg(to_euler(q, order)) for q, order in zip(rotations, orders, strict=True)]
    found: list[Angles | None] = [(0.0, 0.0, 0.0) if (q == IDENTITY).all() else None for q in rotations]
    for places in range(MOST_DECIMALS + 1):
        rounded: list[Angles] = [tuple((np.round(row, places) + 0.0).tolist()) for row in exact]
        same = (from_angles(rounded, orders) == rotations).all(axis=1)
        for j in np.flatnonzero(same).tolist():
            found[j] = found[j] or rounded[j]
    return found


def from_angles(angles: list[Angles], orders: tuple[str, ...]) -> Floats:
    """Rotations (J, 4) of angles in degrees (J, 3), as the reader of BVH files makes them."""
    joints = len(orders)
    columns = np.arange(3 * joints, dtype=np.int32).reshape(joints, 3)
    axes = np.array([[AXES.index(axis) for axis in order] for order in orders], np.int32)
    row = np.array(angles, np.float64).reshape(1, -1)
    _, rotations = _core.poses_from_channels(row, np.full_like(columns, -1), columns, axes, np.zeros((joints, 3)))
    return np.array(rotations[0])
