"""The named recipes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats, Ints, frozen_floats, give_away
from keypose.errors import OptionError
from keypose.features.smoothing import gaussian
from keypose.kinematics import up_axis
from keypose.model import Column, Features, Motion, Skeleton
from keypose.options import number, one_of

GREATEST_WEIGHT = 1e12
LONGEST_SMOOTHING_S = 3600.0
ROOT_WEIGHT = 5.0  # of the hips' height where the root is matched: Tanuwijaya & Ohno
JointNames: TypeAlias = str | Iterable[str]


def _world(motion: Motion, joints: Ints) -> Floats:
    return motion.world_positions()[:, joints]


def _root_matched(motion: Motion, joints: Ints) -> Floats:
    world = motion.world_positions()
    root = body_root(motion.skeleton)
    matched = world[:, joints] - world[:, root, None]
    matched[:, joints == root] = world[:, root, None]
    return matched


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


RECIPES: Mapping[str, Callable[[Motion, Ints], Floats]] = {
    "world": _world,
    "root_matched": _root_matched,
    "unmatched": _unmatched,
    "parent_relative": _parent_relative,
    "euler": _euler,
}
ONLY_HEIGHT_OF_ROOT = ("root_matched", "unmatched")


def features_of(
    motion: Motion,
    recipe: str,
    joints: JointNames,
    weights: Mapping[str, float] | None = None,
    smoothing_s: float = 0.0,
) -> Features:
    """The features of chosen joints (names, body parts or groups), weighted by joint and smoothed in time.

    ``smoothing_s`` is the sigma of a Gaussian in seconds; 0 leaves the numbers as they are.
    """
    one_of("features", recipe, tuple(RECIPES))
    chosen = chosen_joints(motion.skeleton, joints)
    root_weight = {body_root(motion.skeleton): ROOT_WEIGHT} if recipe == "root_matched" else {}
    values = RECIPES[recipe](motion, chosen)
    if recipe == "euler" and not np.ptp(motion.rotations, axis=0).any() and np.ptp(motion.translations, axis=0).any():
        raise OptionError(f"{motion.name}: no joint turns, only positions move (markers?): choose features='world'")
    factors = np.sqrt(joint_weights(motion.skeleton, chosen, {} if weights is None else weights, root_weight))
    columns = [Column(motion.skeleton.names[j], c) for j in chosen for c in _channels(motion.skeleton, recipe, j)]
    values = (values * factors[:, None]).reshape(motion.n_frames, -1)
    if recipe in ONLY_HEIGHT_OF_ROOT:
        axis, _ = up_axis(motion.up)
        root = np.flatnonzero(np.repeat(chosen == body_root(motion.skeleton), 3))
        beside = np.delete(root, axis) if root.size else root
        values = np.delete(values, beside, axis=1)
        columns = [column for d, column in enumerate(columns) if d not in beside]
    return Features(give_away(_smoothed(values, smoothing_s, motion.fps)), motion.fps, tuple(columns))


def features_of_array(values: ArrayLike, fps: float | None, smoothing_s: float = 0.0) -> Features:
    """A plain array (T, D) as features, each column a joint of its own, or (T, J, C), C columns for each joint.

    One dimension is one column. Without ``fps`` a frame lasts a second.
    """
    rate = 1.0 if fps is None else number("fps", fps, above=0)
    array = frozen_floats(values, (None,) * _dimensions(values), "array of frames and columns")
    if fps is None and number("smoothing_s", smoothing_s, least=0):
        raise OptionError("smoothing_s needs fps= to know how many frames a second has")
    columns = () if array.ndim < 3 else (Column(f"joint {j}", f"{c}") for j, c in np.ndindex(array.shape[1:]))
    flat = _smoothed(array.reshape(len(array), math.prod(array.shape[1:])), smoothing_s, rate)
    return Features(flat, rate, tuple(columns))


def _dimensions(values: ArrayLike) -> int:
    try:
        return min(max(np.ndim(values), 1), 3)
    except ValueError:  # rows of different lengths: the error comes with two dimensions
        return 2


def body_root(skeleton: Skeleton) -> int:
    """The hips, or the first root of a figure without recognised hips."""
    parts = skeleton.anatomy.parts
    return parts.index("hips") if "hips" in parts else skeleton.roots[0]


def chosen_joints(skeleton: Skeleton, names: JointNames) -> Ints:
    """Joint indices in file order. Of a figure of which no body part is known, the body is every joint."""
    if isinstance(names, str) and names in ("major", "body"):
        known = skeleton.anatomy.major() if names == "major" else skeleton.anatomy.groups.get("body", ())
        return np.array(sorted(known) or range(skeleton.n_joints), np.int32)
    wanted = names if isinstance(names, str) else list(names) if isinstance(names, Iterable) else []
    if not wanted:
        raise OptionError(f"joints={names!r}, expected names of joints, body parts or groups, at least one")
    return np.array(skeleton.joints(wanted), np.int32)


def _channels(skeleton: Skeleton, recipe: str, joint: int) -> tuple[str, ...]:
    if recipe == "euler":
        return tuple(f"{axis}rotation" for axis in skeleton.rotation_orders[joint])
    return ("x", "y", "z")


def joint_weights(
    skeleton: Skeleton, chosen: Ints, weights: Mapping[str, float], usual: Mapping[int, float] | None = None
) -> Floats:
    """The weight of each chosen joint; of two names that mean the same joint the later one counts."""
    if not isinstance(weights, Mapping):
        raise OptionError(f"weights={weights!r}, expected a mapping such as {{'hands': 3.0}}")
    weight_of = dict(usual or {})
    for name, weight in weights.items():
        if not isinstance(name, str):
            raise OptionError(f"weights: {name!r}, expected names of joints, body parts or groups")
        number(f"weight {name}", weight, least=0, most=GREATEST_WEIGHT)
        meant = skeleton.joints(name)
        if weight and not set(meant) & set(chosen.tolist()):
            used = ", ".join(skeleton.names[j] for j in chosen[:12])
            raise OptionError(
                f"weight {name}={weight:g} has no effect: the joints in use are {used}; name more in joints="
            )
        weight_of.update(dict.fromkeys(meant, float(weight)))
    return np.array([weight_of.get(j, 1.0) for j in chosen.tolist()])


def _smoothed(values: Floats, smoothing_s: float, fps: float) -> Floats:
    sigma = number("smoothing_s", smoothing_s, least=0, most=LONGEST_SMOOTHING_S) * fps
    return gaussian(values, sigma) if sigma else values
