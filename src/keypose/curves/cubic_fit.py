"""In-betweens of the values of a motion: fitted cubic curves, natural splines, and linear ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from keypose.arrays import Floats, Ints, freeze, freeze_ints
from keypose.curves.capture_faults import bridge_rotations, find_turnovers, leaf_joints
from keypose.errors import OptionError
from keypose.features import JointNames, curvatures, joint_weights, resolve_joints
from keypose.model import Curves, InbetweenCosts, Motion
from keypose.options import RotationKind
from keypose.rotations import ORDERS, align_signs, normalise, slerp, to_euler, unwrap_euler
from keypose.validation import check_choice

# Weight of a span, times the cubed gap; tangents that the frames do not determine become those of the chord.
RIDGE = 1e-9
Frames = NDArray[np.integer[Any]]

ROTATION_KINDS: tuple[RotationKind, ...] = get_args(RotationKind)

LOCAL_INTERPOLATIONS = ("bezier", "linear")  # a span depends only on its two keys


def fit_cubics(values: Floats, keys: Ints, *, shared: bool = False, jump_penalty: float = 0.0) -> Curves:
    """Return the cubics through ``values`` (T, J, C) at ``keys`` that are closest to all frames between them.

    Each span has its own two tangents. With ``shared`` a key has the same tangent on both sides; otherwise
    ``jump_penalty`` times the cubed mean of the two gaps is the weight of the squared difference between the two.
    """
    columns = values.reshape(len(values), -1)
    key_values = columns[keys]
    out_tangents, in_tangents = np.zeros(key_values.shape), np.zeros(key_values.shape)
    if len(keys) > 1:
        if shared or jump_penalty:
            tangents = _fit_coupled_tangents(columns, keys, np.inf if shared else jump_penalty)
        else:
            tangents = _fit_separate_tangents(columns, keys)
        out_tangents[:-1], in_tangents[1:] = tangents
    shape = (len(keys), *values.shape[1:])
    return Curves(key_values.reshape(shape), in_tangents.reshape(shape), out_tangents.reshape(shape))


def fit_natural_spline(values: Floats, keys: Ints) -> Curves:
    """Return the natural cubic spline through ``values`` (T, J, C) at ``keys``."""
    key_values = values[keys]
    tangents = np.zeros(key_values.shape)
    if len(keys) > 1:
        times = keys.astype(np.float64)
        curvature = curvatures(times, key_values)
        gaps = np.diff(times)[:, None, None]
        chords = np.diff(key_values, axis=0) / gaps
        tangents[:-1] = chords - gaps / 6 * (2 * curvature[:-1] + curvature[1:])
        tangents[-1] = chords[-1] + gaps[-1] / 6 * (curvature[-2] + 2 * curvature[-1])
    return Curves(key_values, tangents, tangents)


def hermite_basis(gap: int) -> tuple[Floats, Floats, Floats]:
    """Return the Hermite basis (gap - 1,) at the inner frames of a span: of the rise, the start and the end tangent."""
    s = np.arange(1, gap) / gap
    return s * s * (3 - 2 * s), gap * s * (1 - s) ** 2, -gap * s * s * (1 - s)


def _fit_separate_tangents(columns: Floats, keys: Ints) -> tuple[Floats, Floats]:
    """Return the start and end tangents (K - 1, D) of all spans, each span fitted alone."""
    gaps = np.diff(keys)
    rise = np.diff(columns[keys], axis=0)
    chords = rise / gaps[:, None]
    starts, ends = chords.copy(), chords.copy()
    for gap in np.unique(gaps).tolist():
        spans = np.flatnonzero(gaps == gap)
        if gap > 1:
            _, a, b = hermite_basis(gap)
            by_a, by_b = _project_residuals(columns, keys, spans, gap, chords)
            if gap == 2:  # one frame for two tangents: the parabola through it
                starts[spans] += by_a / (a @ a - a @ b)
                ends[spans] += by_b / (b @ b - a @ b)
            else:
                aa, ab, bb = a @ a, a @ b, b @ b
                determinant = aa * bb - ab * ab
                starts[spans] += (bb * by_a - ab * by_b) / determinant
                ends[spans] += (aa * by_b - ab * by_a) / determinant
    return starts, ends


def _project_residuals(
    columns: Floats, keys: Ints, spans: NDArray[np.intp], gap: int, chords: Floats
) -> tuple[Floats, Floats]:
    """Return the residuals of inner frames from the chord, projected on the two tangent functions: (S, D) each."""
    _, a, b = hermite_basis(gap)
    inner_values = columns[keys[spans, None] + np.arange(1, gap)]  # (S, gap - 1, D)
    residuals = inner_values - columns[keys[spans]][:, None] - np.arange(1, gap)[:, None] * chords[spans][:, None]
    return np.einsum("t,std->sd", a, residuals), np.einsum("t,std->sd", b, residuals)


def _fit_coupled_tangents(columns: Floats, keys: Ints, jump_penalty: float) -> tuple[Floats, Floats]:
    """Return the same tangents with a penalty for the difference of the two at one key; an infinite penalty makes them
    equal."""
    gaps = np.diff(keys)
    n = len(gaps)
    chords = np.diff(columns[keys], axis=0) / gaps[:, None]
    # unknowns: deviations from the chord, in the order start 0, end 0, start 1, end 1, ...
    diagonal, off_diagonal = np.zeros(2 * n), np.zeros(2 * n - 1)
    right = np.zeros((2 * n, columns.shape[1]))
    for gap in np.unique(gaps).tolist():
        spans = np.flatnonzero(gaps == gap)
        _, a, b = hermite_basis(gap)
        ridge = RIDGE * gap**3
        diagonal[2 * spans], diagonal[2 * spans + 1], off_diagonal[2 * spans] = a @ a + ridge, b @ b + ridge, a @ b
        if gap > 1:
            right[2 * spans], right[2 * spans + 1] = _project_residuals(columns, keys, spans, gap, chords)
    jump = np.diff(chords, axis=0)  # at inner keys: the next chord minus the previous one
    if np.isinf(jump_penalty):
        return _fit_shared_tangents(diagonal, off_diagonal, right, chords, jump)
    weights = jump_penalty * ((gaps[:-1] + gaps[1:]) / 2.0) ** 3
    diagonal[1:-1:2] += weights
    diagonal[2::2] += weights
    off_diagonal[1::2] = -weights
    right[1:-1:2] += weights[:, None] * jump
    right[2::2] -= weights[:, None] * jump
    x = _solve_tridiagonal(diagonal, off_diagonal, right)
    return chords + x[::2], chords + x[1::2]


def _fit_shared_tangents(
    diagonal: Floats, off_diagonal: Floats, right: Floats, chords: Floats, jump: Floats
) -> tuple[Floats, Floats]:
    """Return the tangents with one unknown at each key."""
    n = len(chords)
    rows, out = np.zeros(n + 1), np.zeros((n + 1, chords.shape[1]))
    aa, bb, ab = diagonal[::2], diagonal[1::2], off_diagonal[::2]
    rows[:-1] += aa
    rows[1:] += bb
    out[:-1] += right[::2] + (aa + ab)[:, None] * chords
    out[1:] += right[1::2] + (bb + ab)[:, None] * chords
    tangents = _solve_tridiagonal(rows, ab, out)
    return tangents[:-1], tangents[1:]


def _solve_tridiagonal(diagonal: Floats, off_diagonal: Floats, right: Floats) -> Floats:
    """Return x (N, D) of a symmetric positive definite tridiagonal system."""
    d, x = diagonal.copy(), right.copy()
    for i in range(1, len(d)):
        factor = off_diagonal[i - 1] / d[i - 1]
        d[i] -= factor * off_diagonal[i - 1]
        x[i] -= factor * x[i - 1]
    x[-1] /= d[-1]
    for i in range(len(d) - 2, -1, -1):
        x[i] = (x[i] - off_diagonal[i] * x[i + 1]) / d[i]
    return x


class FrameSpans(NamedTuple):
    """Positions of frames between keys; a frame before the first or after the last key has the position of that key."""

    before: Frames  # (N,) the key at or before each frame
    after: Frames  # (N,) the next key
    fraction: Floats  # (N,) of the span, 0 at a key


def interpolate_linear(motion: Motion, keys: ArrayLike) -> Motion:
    """Return ``motion`` rebuilt from its poses at ``keys`` (increasing frames); at the keys it is unchanged.

    Before the first and after the last key the pose is constant.
    """
    frames = freeze_ints(keys, (None,), "keys")
    if not len(frames) or frames[0] < 0 or frames[-1] >= motion.n_frames or (np.diff(frames) <= 0).any():
        raise OptionError(f"keys {frames.tolist()[:12]}", expected=f"increasing frames from 0 to {motion.n_frames - 1}")
    translations, rotations = interpolate_poses(motion, locate_frames(frames, np.arange(motion.n_frames)))
    return replace(motion, translations=freeze(translations), rotations=freeze(rotations))


def locate_frames(keys: Ints, frames: Frames) -> FrameSpans:
    """Return the positions of ``frames`` (N,) between increasing ``keys``."""
    clipped_frames = np.clip(frames, keys[0], keys[-1])
    span = np.searchsorted(keys, clipped_frames, side="right") - 1
    before, after = keys[span], keys[np.minimum(span + 1, len(keys) - 1)]
    return FrameSpans(before, after, (clipped_frames - before) / np.maximum(1, after - before))


def interpolate_poses(motion: Motion, spans: FrameSpans) -> tuple[Floats, Floats]:
    """Return local translations (N, J, 3) and rotations (N, J, 4); those at keys, before the first and after the last
    key are exact copies."""
    translations, rotations = motion.translations[spans.before], motion.rotations[spans.before]
    is_between = spans.fraction > 0
    a, b, fraction = spans.before[is_between], spans.after[is_between], spans.fraction[is_between, None, None]
    translations[is_between] = motion.translations[a] * (1 - fraction) + motion.translations[b] * fraction
    rotations[is_between] = normalise(slerp(motion.rotations[a], motion.rotations[b], fraction))
    return translations, rotations


@dataclass(frozen=True)
class Channels:
    """The local values of every frame of a motion, continuous in each column."""

    translations: Floats  # (T, J, 3)
    rotations: Floats  # (T, J, 4) quaternions, or (T, J, 3) Euler angles in radians
    rotation_orders: tuple[str, ...] | None


def build_channels(
    motion: Motion, rotation_kind: RotationKind = "quaternion", rotation_orders: tuple[str, ...] | None = None
) -> Channels:
    """Return the channels of a motion, without the flips of leaf joints (thumbs, finger tips).

    Euler angles are in ``rotation_orders`` (J,) or, by default, in the best order of each joint.
    """
    is_leaf = leaf_joints(motion.skeleton)
    flips = [flip for flip in find_turnovers(motion.rotations, motion.fps) if is_leaf[flip.joint]]
    rotations = bridge_rotations(motion.rotations, flips) if flips else motion.rotations
    if rotation_kind == "quaternion":
        return Channels(motion.translations, align_signs(rotations), None)
    if rotation_orders is not None:
        angles = replace(motion, rotations=freeze(rotations)).euler_curves(rotation_orders)
        return Channels(motion.translations, np.deg2rad(angles), rotation_orders)
    orders, angles = choose_rotation_orders(rotations)
    return Channels(motion.translations, angles, orders)


def choose_rotation_orders(rotations: Floats) -> tuple[tuple[str, ...], Floats]:
    """Return for each joint the Euler order with the middle angle farthest from gimbal lock, and the angles.

    The angles (T, J, 3) are in radians and unwrapped.
    """
    candidates = np.stack([to_euler(rotations, order) for order in ORDERS])  # (6, T, J, 3)
    best = np.abs(candidates[..., 1]).max(axis=1).argmin(axis=0)  # (J,)
    angles = np.stack([candidates[order, :, j] for j, order in enumerate(best.tolist())], axis=1)
    return tuple(ORDERS[order] for order in best.tolist()), unwrap_euler(angles)


def error_scale(motion: Motion) -> float:
    """Return millimetres per unit on a figure of 1.7 m; 1 for one without height (errors are then in file units)."""
    return motion.mm_per_unit if motion.height > 0 else 1.0


def compute_inbetween_costs(
    motion: Motion,
    joints: JointNames = "all",
    weights: Mapping[str, float] | None = None,
    *,
    interpolation: str = "bezier",
    measure: str = "max",
) -> InbetweenCosts:
    """Return the costs of pairs of neighbouring keys, in mm on a figure of 1.7 m; in file units if it has no height.

    Only the errors of ``joints`` are measured; ``weights`` multiply their squares.
    """
    if isinstance(interpolation, str) and interpolation == "natural":
        raise OptionError(
            "has no cost of its own between two keys, since every key bends the whole spline",
            option="interpolation",
            value="natural",
            hint="choose keys by cost inbetween with interpolation bezier or linear, or by cost chord",
        )
    check_choice("interpolation", interpolation, LOCAL_INTERPOLATIONS)
    check_choice("measure", measure, ("max", "mean"))
    mm, channels = error_scale(motion), build_channels(motion)
    return InbetweenCosts(
        fps=motion.fps,
        parents=motion.skeleton.parents,
        translations=freeze(channels.translations * mm),
        rotations=freeze(channels.rotations),
        world_positions=freeze(motion.world_positions() * mm),
        weights=freeze(_joint_weights(motion, joints, weights)),
        is_straight=interpolation == "linear",
        use_mean=measure == "mean",
    )


def _joint_weights(motion: Motion, joints: JointNames, weights: Mapping[str, float] | None) -> Floats:
    factors = np.zeros(motion.n_joints)
    indices = resolve_joints(motion.skeleton, joints)
    factors[indices] = joint_weights(motion.skeleton, indices, weights)
    if not factors.any():
        raise OptionError("with these weights leave no joint that counts", option="joints", value=joints)
    return factors
