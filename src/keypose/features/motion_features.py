"""Features of a motion or of a plain array."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats, Ints, freeze, freeze_floats
from keypose.errors import OptionError
from keypose.features.smoothing import gaussian_filter
from keypose.kinematics import up_axis
from keypose.model import Column, Features, Motion, Skeleton
from keypose.validation import check_choice, check_number

MAX_WEIGHT = 1e12
MAX_SMOOTHING_S = 3600.0
ROOT_WEIGHT = 5.0  # of the height of the hips in "root_matched": Tanuwijaya & Ohno
JointNames: TypeAlias = str | Iterable[str]


def _world(motion: Motion, joints: Ints) -> Floats:
    return motion.world_positions()[:, joints]


def _root_matched(motion: Motion, joints: Ints) -> Floats:
    world = motion.world_positions()
    root = body_root(motion.skeleton)
    positions = world[:, joints] - world[:, root, None]
    positions[:, joints == root] = world[:, root, None]
    return positions


def _unmatched(motion: Motion, joints: Ints) -> Floats:
    world = motion.world_positions()
    travel = world[:, body_root(motion.skeleton), None].copy()
    travel[..., up_axis(motion.up)[0]] = 0.0
    return world[:, joints] - travel


def _parent_relative(motion: Motion, joints: Ints) -> Floats:
    world, parents = motion.world_positions(), motion.skeleton.parents[joints]
    return world[:, joints] - np.where((parents < 0)[:, None], 0.0, world[:, parents])


def _euler(motion: Motion, joints: Ints) -> Floats:
    return motion.euler_curves()[:, joints]


FEATURE_KINDS: Mapping[str, Callable[[Motion, Ints], Floats]] = {
    "world": _world,
    "root_matched": _root_matched,
    "unmatched": _unmatched,
    "parent_relative": _parent_relative,
    "euler": _euler,
}
ROOT_HEIGHT_ONLY = ("root_matched", "unmatched")


def compute_features(
    motion: Motion,
    kind: str,
    joints: JointNames,
    weights: Mapping[str, float] | None = None,
    smoothing_s: float = 0.0,
) -> Features:
    """Return the features of ``joints`` (names, body parts or groups), weighted by joint and smoothed in time.

    ``smoothing_s`` is the sigma of a Gaussian in seconds; 0: no smoothing.
    """
    check_choice("features", kind, tuple(FEATURE_KINDS))
    indices = resolve_joints(motion.skeleton, joints)
    root_weight = {body_root(motion.skeleton): ROOT_WEIGHT} if kind == "root_matched" else {}
    values = FEATURE_KINDS[kind](motion, indices)
    if kind == "euler" and not np.ptp(motion.rotations, axis=0).any() and np.ptp(motion.translations, axis=0).any():
        raise OptionError(f"{motion.name}: no joint turns, only positions move (markers?): choose features='world'")
    factors = np.sqrt(joint_weights(motion.skeleton, indices, {} if weights is None else weights, root_weight))
    columns = [Column(motion.skeleton.names[j], c) for j in indices for c in _channels(motion.skeleton, kind, j)]
    values = (values * factors[:, None]).reshape(motion.n_frames, -1)
    if kind in ROOT_HEIGHT_ONLY:
        axis, _ = up_axis(motion.up)
        root = np.flatnonzero(np.repeat(indices == body_root(motion.skeleton), 3))
        dropped_columns = np.delete(root, axis) if root.size else root
        values = np.delete(values, dropped_columns, axis=1)
        columns = [column for d, column in enumerate(columns) if d not in dropped_columns]
    return Features(freeze(_smooth(values, smoothing_s, motion.fps)), motion.fps, tuple(columns))


def build_array_features(values: ArrayLike, fps: float | None, smoothing_s: float = 0.0) -> Features:
    """Return a plain array as features: (T, D) with a joint per column, or (T, J, C) with C columns per joint.

    (T,) is one column. Without ``fps`` a frame lasts a second.
    """
    rate = 1.0 if fps is None else check_number("fps", fps, above=0)
    array = freeze_floats(values, (None,) * _count_dimensions(values), "array of frames and columns")
    if fps is None and check_number("smoothing_s", smoothing_s, min_value=0):
        raise OptionError("smoothing_s needs fps= to know how many frames a second has")
    columns = () if array.ndim < 3 else (Column(f"joint {j}", f"{c}") for j, c in np.ndindex(array.shape[1:]))
    flat = _smooth(array.reshape(len(array), math.prod(array.shape[1:])), smoothing_s, rate)
    return Features(flat, rate, tuple(columns))


def _count_dimensions(values: ArrayLike) -> int:
    try:
        return min(max(np.ndim(values), 1), 3)
    except ValueError:  # rows of different lengths: reported by freeze_floats
        return 2


def body_root(skeleton: Skeleton) -> int:
    """Return the index of the hips, or of the first root if no hips are recognised."""
    body_parts = skeleton.anatomy.body_parts
    return body_parts.index("hips") if "hips" in body_parts else skeleton.roots[0]


def resolve_joints(skeleton: Skeleton, names: JointNames) -> Ints:
    """Return joint indices in file order. ``"body"`` and ``"major"`` are all joints if no body part is recognised."""
    if isinstance(names, str) and names in ("major", "body"):
        group = skeleton.anatomy.major() if names == "major" else skeleton.anatomy.groups.get("body", ())
        return np.array(sorted(group) or range(skeleton.n_joints), np.int32)
    name_list = names if isinstance(names, str) else list(names) if isinstance(names, Iterable) else []
    if not name_list:
        raise OptionError(f"joints={names!r}, expected names of joints, body parts or groups, at least one")
    return np.array(skeleton.joints(name_list), np.int32)


def _channels(skeleton: Skeleton, kind: str, joint: int) -> tuple[str, ...]:
    if kind == "euler":
        return tuple(f"{axis}rotation" for axis in skeleton.rotation_orders[joint])
    return ("x", "y", "z")


def joint_weights(
    skeleton: Skeleton, joints: Ints, weights: Mapping[str, float], default_weights: Mapping[int, float] | None = None
) -> Floats:
    """Return the weight of each of ``joints``; if two names mean the same joint, the later one counts."""
    if not isinstance(weights, Mapping):
        raise OptionError(f"weights={weights!r}, expected a mapping such as {{'hands': 3.0}}")
    weight_of = dict(default_weights or {})
    for name, weight in weights.items():
        if not isinstance(name, str):
            raise OptionError(f"weights: {name!r}, expected names of joints, body parts or groups")
        check_number(f"weight {name}", weight, min_value=0, max_value=MAX_WEIGHT)
        indices = skeleton.joints(name)
        if weight and not set(indices) & set(joints.tolist()):
            used = ", ".join(skeleton.names[j] for j in joints[:12])
            raise OptionError(
                f"weight {name}={weight:g} has no effect: the joints in use are {used}; name more in joints="
            )
        weight_of.update(dict.fromkeys(indices, float(weight)))
    return np.array([weight_of.get(j, 1.0) for j in joints.tolist()])


def _smooth(values: Floats, smoothing_s: float, fps: float) -> Floats:
    sigma = check_number("smoothing_s", smoothing_s, min_value=0, max_value=MAX_SMOOTHING_S) * fps
    return gaussian_filter(values, sigma) if sigma else values
