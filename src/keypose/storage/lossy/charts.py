"""How each joint of a motion is best spelled: hinges in one number, pairs of axes in two, the rest in three."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats
from keypose.kinematics import up_axis
from keypose.model import Motion
from keypose.rotations import angle_between, conjugate, exp, log, multiply, rotate
from keypose.storage.lossy.bones import bone_frames
from keypose.storage.lossy.grid import direction, quaternion, to_grid
from keypose.storage.lossy.plan import COARSE_BITS, JointPlan, Turn
from keypose.swings.block.turns import angles_about, two_axes

NEGLIGIBLE = 0.02  # part of the tolerance that a simpler spelling may cost
LEAST_BONE_MM, SPARE_ARM_MM, PART_OF_CHAIN = 30.0, 200.0, 0.5  # what a turn reaches beyond its bone
USUAL_DEPTH = 10  # joints from the root to a leaf
LEAST_FRAMES = 12  # for two axes to show


def fine_bits(tolerance_mm: float) -> int:
    """Bits of directions and turns that stay the same: they cost a hundredth of the tolerance at half a metre."""
    return int(np.clip(np.ceil(17 - np.log2(tolerance_mm)), 8, 36))


def spelled(motion: Motion, tolerance_mm: float, mm_per_unit: float) -> tuple[tuple[JointPlan, ...], Floats]:
    """The plan of each joint, and the numbers (T, tracks) that its frames are in it, radians and file units."""
    bits = fine_bits(tolerance_mm)
    bones = bone_frames(motion.skeleton)
    arms = _arms_mm(motion, mm_per_unit)
    plans, columns = [], []
    for joint in range(motion.n_joints):
        near = NEGLIGIBLE * tolerance_mm / arms[joint]
        plan, numbers = _turn(motion, joint, bits, near, bones[joint])
        shifts = motion.translations[:, joint]
        offset = motion.skeleton.offsets[joint]
        if float(np.ptp(shifts, axis=0).max()) * mm_per_unit > NEGLIGIBLE * tolerance_mm:
            plan = JointPlan(plan.turn, plan.base, plan.axes, plan.up, moves=True)
            columns.append(shifts)
        elif float(np.abs(shifts - offset).max()) * mm_per_unit > 0:
            x, y, z = (float(c) for c in 0.5 * (shifts.min(axis=0) + shifts.max(axis=0)))
            plan = JointPlan(plan.turn, plan.base, plan.axes, plan.up, place=(x, y, z))
        plans.append(plan)
        columns.append(numbers)
    return tuple(plans), np.ascontiguousarray(np.concatenate(columns, axis=1))


def _arms_mm(motion: Motion, mm_per_unit: float) -> Floats:
    """How far a turn of each joint reaches, about: its bone and some of what hangs on it."""
    s = motion.skeleton
    bones, chains = np.full(s.n_joints, LEAST_BONE_MM), np.zeros(s.n_joints)
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
    crowd = max(1.0, float(depths.max()) / USUAL_DEPTH)  # of joints in a row, whose errors add up
    return np.asarray(crowd * np.maximum(bones + SPARE_ARM_MM, PART_OF_CHAIN * chains))


def _turn(motion: Motion, joint: int, bits: int, near: float, bone: Floats) -> tuple[JointPlan, Floats]:
    rotations = motion.rotations[:, joint]
    mean = _mean(rotations)
    for find in (_fixed, _hinge, _pair):
        found = find(rotations, mean, bits)
        if found is not None and angle_between(found[2], rotations).max() <= near:
            return found[0], found[1]
    free = _free(rotations, mean, bone)
    if motion.skeleton.parents[joint] >= 0:
        return free
    upright = _upright(rotations, up_axis(motion.up)[0])
    return min((free, upright), key=lambda spelling: _roughness(spelling[1]))


_Found = tuple[JointPlan, Floats, Floats]  # the plan, the numbers, the rotations that they stand for


def _fixed(rotations: Floats, mean: Floats, bits: int) -> _Found:
    base = to_grid(mean, bits)
    return JointPlan(base=base), np.zeros((len(rotations), 0)), quaternion(base, bits)[None]


def _hinge(rotations: Floats, mean: Floats, bits: int) -> _Found:
    base = to_grid(mean, bits)
    start = quaternion(base, bits)
    turns = log(multiply(conjugate(start)[None], rotations))
    axis = to_grid(np.linalg.svd(turns, full_matrices=False)[2][0], bits)
    about = direction(axis, bits)
    angles = np.unwrap(turns @ about)[:, None]
    return JointPlan(Turn.HINGE, base, (axis,)), angles, multiply(start[None], exp(angles * about))


def _pair(rotations: Floats, mean: Floats, bits: int) -> _Found | None:
    if len(rotations) < LEAST_FRAMES:
        return None
    numbers = two_axes(rotations)
    axes = to_grid(numbers[3:6], bits), to_grid(numbers[6:9], bits)
    u, v = direction(axes[0], bits), direction(axes[1], bits)
    base = to_grid(rotations[int(np.argmin(angle_between(rotations, mean[None])))], bits)
    start = quaternion(base, bits)
    swung = rotate(rotations, np.broadcast_to(v, (len(rotations), 3)))
    back = rotate(conjugate(rotations), np.broadcast_to(u, (len(rotations), 3)))
    from_swung, to_back = rotate(start[None], v[None]), rotate(conjugate(start)[None], u[None])
    first = np.unwrap(angles_about(u, from_swung, swung))
    second = np.unwrap(angles_about(v, back, to_back))
    made = multiply(exp(first[:, None] * u), multiply(start[None], exp(second[:, None] * v)))
    return JointPlan(Turn.PAIR, base, axes), np.stack((first, second), axis=1), made


def _free(rotations: Floats, mean: Floats, bone: Floats) -> tuple[JointPlan, Floats]:
    base = to_grid(mean, COARSE_BITS)
    turns = _unwrapped(log(multiply(conjugate(quaternion(base, COARSE_BITS))[None], rotations)))
    return JointPlan(Turn.FREE, base), turns @ bone.T


def _upright(rotations: Floats, up: int) -> tuple[JointPlan, Floats]:
    axis = np.eye(3)[up]
    heading = np.unwrap(2 * np.arctan2(rotations[:, 1 + up], rotations[:, 0]))
    tilt = log(multiply(exp(-heading[:, None] * axis), rotations))
    axes = np.roll(np.eye(3), -up, axis=0)
    return JointPlan(Turn.UPRIGHT, up=up), np.column_stack((heading, tilt @ axes[1], tilt @ axes[2]))


def _mean(rotations: Floats) -> Floats:
    """The rotation nearest to all, wxyz."""
    mean = np.linalg.eigh(rotations.T @ rotations)[1][:, -1]
    return np.asarray(mean if mean @ rotations[0] >= 0 else -mean)


def _unwrapped(turns: Floats) -> Floats:
    """Rotation vectors (T, 3) without jumps where they pass half a turn: they may be longer than that."""
    steps = np.linalg.norm(np.diff(turns, axis=0), axis=1)
    if not len(steps) or steps.max() <= np.pi:
        return turns
    smooth = turns.copy()
    for t in range(1, len(smooth)):
        length = float(np.linalg.norm(smooth[t]))
        if length < 1e-6:
            continue
        around = smooth[t] * (1 + np.outer((-2, -1, 0, 1, 2), (1, 1, 1)) * 2 * np.pi / length)
        smooth[t] = around[np.argmin(np.linalg.norm(around - smooth[t - 1], axis=1))]
    return smooth


def _roughness(numbers: Floats) -> float:
    return float(np.abs(np.diff(numbers, n=2, axis=0)).sum()) + float(np.abs(np.diff(numbers, axis=0)).sum()) * 1e-3
