"""Choose a chart for the rotation of each joint: one number for a hinge, two for a pair of axes, three for others."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats
from keypose.kinematics import up_axis
from keypose.model import Motion
from keypose.rotations import angle_between, conjugate, exp, log, multiply, rotate
from keypose.storage.lossy.plan import (
    COARSE_BITS,
    JointPlan,
    RotationKind,
    compute_bone_axes,
    dequantize_direction,
    dequantize_quaternion,
    quantize,
)
from keypose.swings.block.tracks import angles_about, fit_two_axes

NEGLIGIBLE_RATIO = 0.02  # maximum error of a simpler chart, relative to the tolerance
MIN_BONE_MM, EXTRA_ARM_MM, CHAIN_RATIO = 30.0, 200.0, 0.5  # estimate of the lever arm of a rotation
TYPICAL_DEPTH = 10  # joints from the root to a leaf
MIN_PAIR_FRAMES = 12  # minimum number of frames for fitting two axes
_ChartFit = tuple[JointPlan, Floats, Floats]  # the plan, the numbers, the rotations that they represent


def fine_bits(tolerance_mm: float) -> int:
    """Return the bits of constant directions and rotations, such that their error is 1 % of the tolerance at half a
    metre."""
    return int(np.clip(np.ceil(17 - np.log2(tolerance_mm)), 8, 36))


def choose_charts(motion: Motion, tolerance_mm: float, mm_per_unit: float) -> tuple[tuple[JointPlan, ...], Floats]:
    """Return the plan of each joint, and the numbers (T, tracks) of its frames in radians and file units."""
    bits = fine_bits(tolerance_mm)
    bones = compute_bone_axes(motion.skeleton)
    arms = _arms_mm(motion, mm_per_unit)
    plans, columns = [], []
    for joint in range(motion.n_joints):
        max_angle = NEGLIGIBLE_RATIO * tolerance_mm / arms[joint]
        plan, numbers = _choose_chart(motion, joint, bits, max_angle, bones[joint])
        translations = motion.translations[:, joint]
        offset = motion.skeleton.offsets[joint]
        if float(np.ptp(translations, axis=0).max()) * mm_per_unit > NEGLIGIBLE_RATIO * tolerance_mm:
            plan = JointPlan(plan.rotation, plan.base, plan.axes, plan.up, moves=True)
            columns.append(translations)
        elif float(np.abs(translations - offset).max()) * mm_per_unit > 0:
            x, y, z = (float(c) for c in 0.5 * (translations.min(axis=0) + translations.max(axis=0)))
            plan = JointPlan(plan.rotation, plan.base, plan.axes, plan.up, position=(x, y, z))
        plans.append(plan)
        columns.append(numbers)
    return tuple(plans), np.ascontiguousarray(np.concatenate(columns, axis=1))


def _arms_mm(motion: Motion, mm_per_unit: float) -> Floats:
    """Return the approximate lever arm of each joint's rotation (J,), mm: its bone and part of the chain below it."""
    s = motion.skeleton
    bones, chains = np.full(s.n_joints, MIN_BONE_MM), np.zeros(s.n_joints)
    lengths = mm_per_unit * np.linalg.norm(s.offsets, axis=1)
    for joint, offset in zip(s.end_joints.tolist(), s.end_offsets, strict=True):
        bones[joint] = max(bones[joint], mm_per_unit * float(np.linalg.norm(offset)))
    chains += bones
    depths = np.ones(s.n_joints)
    for joint in range(s.n_joints - 1, -1, -1):
        if (parent := int(s.parents[joint])) >= 0:
            bones[parent] = max(bones[parent], lengths[joint])
            chains[parent] = max(chains[parent], lengths[joint] + chains[joint])
            depths[parent] = max(depths[parent], depths[joint] + 1)
    depth_factor = max(1.0, float(depths.max()) / TYPICAL_DEPTH)  # as errors add up along long chains
    return np.asarray(depth_factor * np.maximum(bones + EXTRA_ARM_MM, CHAIN_RATIO * chains))


def _choose_chart(
    motion: Motion, joint: int, bits: int, max_angle: float, bone_axes: Floats
) -> tuple[JointPlan, Floats]:
    rotations = motion.rotations[:, joint]
    mean = _mean_rotation(rotations)
    for fit in (_fit_fixed, _fit_hinge, _fit_pair):
        fitted = fit(rotations, mean, bits)
        if fitted is not None and angle_between(fitted[2], rotations).max() <= max_angle:
            return fitted[0], fitted[1]
    free = _fit_free(rotations, mean, bone_axes)
    if motion.skeleton.parents[joint] >= 0:
        return free
    upright = _fit_upright(rotations, up_axis(motion.up)[0])
    return min((free, upright), key=lambda spelling: _roughness(spelling[1]))


def _fit_fixed(rotations: Floats, mean: Floats, bits: int) -> _ChartFit:
    base = quantize(mean, bits)
    return JointPlan(base=base), np.zeros((len(rotations), 0)), dequantize_quaternion(base, bits)[None]


def _fit_hinge(rotations: Floats, mean: Floats, bits: int) -> _ChartFit:
    base = quantize(mean, bits)
    start = dequantize_quaternion(base, bits)
    vectors = log(multiply(conjugate(start)[None], rotations))
    axis = quantize(np.linalg.svd(vectors, full_matrices=False)[2][0], bits)
    direction_vector = dequantize_direction(axis, bits)
    angles = np.unwrap(vectors @ direction_vector)[:, None]
    return JointPlan(RotationKind.HINGE, base, (axis,)), angles, multiply(start[None], exp(angles * direction_vector))


def _fit_pair(rotations: Floats, mean: Floats, bits: int) -> _ChartFit | None:
    if len(rotations) < MIN_PAIR_FRAMES:
        return None
    numbers = fit_two_axes(rotations)
    axes = quantize(numbers[3:6], bits), quantize(numbers[6:9], bits)
    u, v = dequantize_direction(axes[0], bits), dequantize_direction(axes[1], bits)
    base = quantize(rotations[int(np.argmin(angle_between(rotations, mean[None])))], bits)
    start = dequantize_quaternion(base, bits)
    swung = rotate(rotations, np.broadcast_to(v, (len(rotations), 3)))
    back = rotate(conjugate(rotations), np.broadcast_to(u, (len(rotations), 3)))
    from_swung, to_back = rotate(start[None], v[None]), rotate(conjugate(start)[None], u[None])
    first = np.unwrap(angles_about(u, from_swung, swung))
    second = np.unwrap(angles_about(v, back, to_back))
    fitted_rotations = multiply(exp(first[:, None] * u), multiply(start[None], exp(second[:, None] * v)))
    return JointPlan(RotationKind.PAIR, base, axes), np.stack((first, second), axis=1), fitted_rotations


def _fit_free(rotations: Floats, mean: Floats, bone_axes: Floats) -> tuple[JointPlan, Floats]:
    base = quantize(mean, COARSE_BITS)
    vectors = _unwrap_vectors(log(multiply(conjugate(dequantize_quaternion(base, COARSE_BITS))[None], rotations)))
    return JointPlan(RotationKind.FREE, base), vectors @ bone_axes.T


def _fit_upright(rotations: Floats, up: int) -> tuple[JointPlan, Floats]:
    axis = np.eye(3)[up]
    heading = np.unwrap(2 * np.arctan2(rotations[:, 1 + up], rotations[:, 0]))
    tilt = log(multiply(exp(-heading[:, None] * axis), rotations))
    axes = np.roll(np.eye(3), -up, axis=0)
    return JointPlan(RotationKind.UPRIGHT, up=up), np.column_stack((heading, tilt @ axes[1], tilt @ axes[2]))


def _mean_rotation(rotations: Floats) -> Floats:
    """Return the mean rotation, wxyz."""
    mean = np.linalg.eigh(rotations.T @ rotations)[1][:, -1]
    return np.asarray(mean if mean @ rotations[0] >= 0 else -mean)


def _unwrap_vectors(vectors: Floats) -> Floats:
    """Return continuous rotation vectors (T, 3), which may be longer than half a turn."""
    steps = np.linalg.norm(np.diff(vectors, axis=0), axis=1)
    if not len(steps) or steps.max() <= np.pi:
        return vectors
    smooth = vectors.copy()
    for t in range(1, len(smooth)):
        length = float(np.linalg.norm(smooth[t]))
        if length < 1e-6:
            continue
        around = smooth[t] * (1 + np.outer((-2, -1, 0, 1, 2), (1, 1, 1)) * 2 * np.pi / length)
        smooth[t] = around[np.argmin(np.linalg.norm(around - smooth[t - 1], axis=1))]
    return smooth


def _roughness(numbers: Floats) -> float:
    return float(np.abs(np.diff(numbers, n=2, axis=0)).sum()) + float(np.abs(np.diff(numbers, axis=0)).sum()) * 1e-3
