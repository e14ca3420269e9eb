"""Motion -> Features: kind of features, joints, weights, smoothing.

A weight multiplies the squared distance, so columns are multiplied by its square root.

    kind              columns                                              joints by default
    world             positions in the world                               all
    root_matched      positions relative to the hips; of the hips only     the nine major ones
                      their height, with weight 5
    unmatched         positions, with the hips at one point                the nine major ones
    parent_relative   positions relative to the parent; of a root its own  all
    euler             unwrapped Euler angles in degrees, in file order     all
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from keypose.arrays import Bools, Floats, Ints, freeze, freeze_floats
from keypose.errors import Hint, OptionError
from keypose.kinematics import up_axis
from keypose.model import Column, Features, Motion, Skeleton
from keypose.options import FeatureOptions, check_option_number
from keypose.validation import check_choice, check_items, check_number

__all__ = [
    "FEATURE_KINDS",
    "JointNames",
    "body_root",
    "build_array_features",
    "compute_features",
    "gaussian_filter",
    "joint_weights",
    "resolve_joints",
]


MAX_WEIGHT = 1e12
ROOT_WEIGHT = 5.0  # of the height of the hips in "root_matched": Tanuwijaya & Ohno
JointNames: TypeAlias = str | Iterable[str]
ROOT_HEIGHT_ONLY = ("root_matched", "unmatched")

MAX_DIRECT_TAPS = 64  # up to here direct convolution is faster than an FFT
BLOCK_FRAMES = 2048  # a block of a few dozen columns fits into the cache of a core

# Off-diagonal entries are at most half of the diagonal, and each cyclic reduction at least squares that ratio: after
# six reductions it is below 2^-64, less than the precision of a double. Therefore the time is linear in the length.
REDUCTIONS = 6


def _compute_world(motion: Motion, joints: Ints) -> Floats:
    return motion.world_positions()[:, joints]


def _compute_root_matched(motion: Motion, joints: Ints) -> Floats:
    world = motion.world_positions()
    root = body_root(motion.skeleton)
    positions = world[:, joints] - world[:, root, None]
    positions[:, joints == root] = world[:, root, None]
    return positions


def _compute_unmatched(motion: Motion, joints: Ints) -> Floats:
    world = motion.world_positions()
    travel = world[:, body_root(motion.skeleton), None].copy()
    travel[..., up_axis(motion.up)[0]] = 0.0
    return world[:, joints] - travel


def _compute_parent_relative(motion: Motion, joints: Ints) -> Floats:
    world, parents = motion.world_positions(), motion.skeleton.parents[joints]
    return world[:, joints] - np.where((parents < 0)[:, None], 0.0, world[:, parents])


def _compute_euler(motion: Motion, joints: Ints) -> Floats:
    return motion.euler_curves()[:, joints]


FEATURE_KINDS: Mapping[str, Callable[[Motion, Ints], Floats]] = {
    "world": _compute_world,
    "root_matched": _compute_root_matched,
    "unmatched": _compute_unmatched,
    "parent_relative": _compute_parent_relative,
    "euler": _compute_euler,
}


def compute_features(
    motion: Motion,
    kind: str,
    joints: JointNames,
    weights: Mapping[str, float] | None = None,
    smoothing_s: float = 0.0,
) -> Features:
    """Return the features of ``joints`` (names, body parts or groups), weighted by joint and smoothed in time.

    ``smoothing_s`` is the sigma of a Gaussian filter in seconds; 0: no smoothing.
    """
    check_choice("features", kind, tuple(FEATURE_KINDS))
    indices = resolve_joints(motion.skeleton, joints)
    root_weight = {body_root(motion.skeleton): ROOT_WEIGHT} if kind == "root_matched" else {}
    values = FEATURE_KINDS[kind](motion, indices)
    if kind == "euler" and not np.ptp(motion.rotations, axis=0).any() and np.ptp(motion.translations, axis=0).any():
        raise OptionError(
            "no joint turns, only positions move (markers?)",
            subject=motion.name,
            hint=Hint("choose features='world'", "choose --features world"),
        )
    factors = np.sqrt(joint_weights(motion.skeleton, indices, weights, root_weight))
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

    An array (T,) is one column. The default of ``fps`` is one frame per second.
    """
    rate = 1.0 if fps is None else check_number("fps", fps, above=0)
    array = freeze_floats(values, (None,) * _count_dimensions(values), "array of frames and columns")
    if fps is None and check_number("smoothing_s", smoothing_s, min_value=0):
        raise OptionError("needs fps= to know how many frames a second has", option="smoothing_s", value=smoothing_s)
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
    expected = "names of joints, body parts or groups, at least one"
    name_list = names if isinstance(names, str) else check_items("joints", names, expected)
    if not name_list:
        raise OptionError(option="joints", value=names, expected=expected)
    return np.array(skeleton.joints(name_list), np.int32)


def _channels(skeleton: Skeleton, kind: str, joint: int) -> tuple[str, ...]:
    if kind == "euler":
        return tuple(f"{axis}rotation" for axis in skeleton.rotation_orders[joint])
    return ("x", "y", "z")


def check_weights(weights: Mapping[str, float] | None) -> Mapping[str, float]:
    """Return ``weights``; None: none. Raise OptionError if they are no mapping."""
    if weights is not None and not isinstance(weights, Mapping):
        raise OptionError(option="weights", value=weights, expected="a mapping such as {'hands': 3.0}")
    return weights or {}


def joint_weights(
    skeleton: Skeleton,
    joints: Ints,
    weights: Mapping[str, float] | None,
    default_weights: Mapping[int, float] | None = None,
) -> Floats:
    """Return the weight of each of ``joints``; if two names mean the same joint, the later one counts."""
    weight_of = dict(default_weights or {})
    for name, weight in check_weights(weights).items():
        if not isinstance(name, str):
            raise OptionError(f"{name!r}", option="weights", expected="names of joints, body parts or groups")
        try:
            check_number("weights", weight, min_value=0, max_value=MAX_WEIGHT)
        except OptionError as error:
            raise error.with_fields(value={name: weight}) from None
        indices = skeleton.joints(name)
        if weight and not set(indices) & set(joints.tolist()):
            used = ", ".join(skeleton.names[j] for j in joints[:12])
            raise OptionError(
                f"has no effect: the joints in use are {used}",
                option="weights",
                value={name: weight},
                hint=Hint("name more in joints=", "name more with --joints"),
            )
        weight_of.update(dict.fromkeys(indices, float(weight)))
    return np.array([weight_of.get(j, 1.0) for j in joints.tolist()])


def _smooth(values: Floats, smoothing_s: float, fps: float) -> Floats:
    sigma = check_option_number(FeatureOptions, "smoothing_s", smoothing_s) * fps
    return gaussian_filter(values, sigma) if sigma else values


def gaussian_filter(values: Floats, sigma_frames: float, cut_sigmas: float = 4.0) -> Floats:
    """Return ``values`` (T, ...) convolved with a Gaussian of ``sigma_frames``, truncated at ``cut_sigmas``.

    At the ends of the clip the weights inside are scaled to sum to 1.
    """
    reach = int(min(cut_sigmas * sigma_frames + 1e-9, len(values)))  # at most the length of the clip
    if reach < 1:
        return values.copy()
    taps = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma_frames) ** 2)
    flat = values.reshape(len(values), -1)
    weight_sums = _convolve(np.ones((len(flat), 1)), taps)
    mean = flat.mean(axis=0)  # far from the origin an FFT would lose precision
    smooth: Floats = _convolve(flat - mean, taps) / weight_sums + mean
    return smooth.reshape(values.shape)


def _convolve(values: Floats, taps: Floats) -> Floats:
    """Return the convolution, cropped to the length of ``values``."""
    frames, reach = len(values), len(taps) // 2
    if len(taps) <= MAX_DIRECT_TAPS:
        padded = np.pad(values, ((reach, reach), (0, 0)))
        out = np.zeros_like(values)
        for start in range(0, frames, BLOCK_FRAMES):
            end = min(start + BLOCK_FRAMES, frames)
            for shift, tap in enumerate(taps):
                out[start:end] += tap * padded[start + shift : end + shift]
        return out
    length = 1 << (frames + 2 * reach - 1).bit_length()
    spectrum = np.fft.rfft(values, length, axis=0) * np.fft.rfft(taps, length)[:, None]
    return np.fft.irfft(spectrum, length, axis=0)[reach : reach + frames]


def natural_spline(keys: Floats, values: Floats, at: Floats) -> Floats:
    """Return the natural cubic spline through ``values`` (K, ...) at increasing ``keys`` (K,), at times ``at`` (N,).

    Columns are independent. Before the first and after the last key the curve is constant. O(K + N log K) per column.
    """
    times = np.asarray(keys, np.float64)
    if len(times) == 1:
        return np.repeat(values, len(at), axis=0)
    inside = np.clip(np.asarray(at, np.float64), times[0], times[-1])
    before = np.clip(np.searchsorted(times, inside, side="right") - 1, 0, len(times) - 2)
    columns = values.reshape(len(values), -1)
    return evaluate_spline(inside, before, times, columns, curvatures(times, columns)).reshape(-1, *values.shape[1:])


def curvatures(keys: Floats, values: Floats, ends: Bools | None = None) -> Floats:
    """Return second derivatives (K, ...) at the keys of natural splines through ``values`` (K, ...).

    ``ends`` (K,) flags first and last keys where several curves are concatenated; None: one curve.
    """
    if len(keys) < 3:
        return np.zeros(values.shape)
    rows = (slice(None),) + (None,) * (values.ndim - 1)
    gaps = np.diff(keys)
    secants = np.diff(values, axis=0) / gaps[rows]
    diagonal = 2 * (gaps[:-1] + gaps[1:])
    below, above, right = np.zeros(len(keys)), np.zeros(len(keys)), np.zeros(values.shape)
    below[1:-1] = gaps[:-1] / diagonal
    above[1:-1] = gaps[1:] / diagonal
    right[1:-1] = 6 * np.diff(secants, axis=0) / diagonal[rows]
    if ends is not None:
        below[ends], above[ends], right[ends] = 0.0, 0.0, 0.0
    return _solve_tridiagonal(below, above, right, REDUCTIONS)


def evaluate_spline(times: Floats, before: NDArray[np.intp], keys: Floats, values: Floats, second: Floats) -> Floats:
    """Return the cubics after keys ``before`` (N,) at ``times`` (N,); ``values``, ``second``: (K, ...)."""
    rows = (slice(None),) + (None,) * (values.ndim - 1)
    gap = keys[before + 1] - keys[before]
    fraction = ((times - keys[before]) / gap)[rows]
    rest = 1 - fraction
    bend = (rest + 1) * second[before] + (fraction + 1) * second[before + 1]
    # part^3 - part = -part * rest * (1 + part), and likewise with the two exchanged
    return rest * values[before] + fraction * values[before + 1] - (fraction * rest / 6) * (gap * gap)[rows] * bend


def _solve_tridiagonal(below: Floats, above: Floats, right: Floats, reductions: int) -> Floats:
    """Solve ``below[i] x[i-1] + x[i] + above[i] x[i+1] = right[i]`` for x: eliminate odd rows, solve the even ones."""
    n = len(below)
    if n == 1 or reductions == 0:
        return right
    rows = (slice(None),) + (None,) * (right.ndim - 1)
    odd_below, odd_above, odd_right = below[1::2], above[1::2], right[1::2]
    left, after = below[2::2], above[: n - 1 : 2]  # of the even rows with an odd row before them, after them
    to_left, to_right = len(left), len(after)
    diagonal, even_right = np.ones((n + 1) // 2), right[::2].copy()
    even_below, even_above = np.zeros(len(diagonal)), np.zeros(len(diagonal))
    diagonal[1:] -= left * odd_above[:to_left]
    diagonal[:to_right] -= after * odd_below
    even_below[1:] = -left * odd_below[:to_left]
    even_above[:to_right] = -after * odd_above
    even_right[1:] -= left[rows] * odd_right[:to_left]
    even_right[:to_right] -= after[rows] * odd_right
    even = _solve_tridiagonal(even_below / diagonal, even_above / diagonal, even_right / diagonal[rows], reductions - 1)
    x = np.empty_like(right)
    x[::2] = even
    x[1::2] = odd_right - odd_below[rows] * even[: len(odd_below)]
    x[1 : 2 * to_left : 2] -= odd_above[:to_left][rows] * even[1:]
    return x
