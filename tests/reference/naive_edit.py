"""Slow, obvious twins of edits."""

from __future__ import annotations

import math

import numpy as np

from keypose.model import KeyedMotion, Pose, Skeleton
from keypose.rotations import exp, from_euler, from_matrix, multiply, to_matrix


def world(skeleton: Skeleton, pose: Pose) -> tuple[np.ndarray, np.ndarray]:
    """Return world positions (J, 3) and rotation matrices (J, 3, 3), joint by joint."""
    positions, matrices = np.zeros((skeleton.n_joints, 3)), np.zeros((skeleton.n_joints, 3, 3))
    for j, parent in enumerate(skeleton.parents.tolist()):
        local = to_matrix(pose.rotations[j])
        if parent < 0:
            positions[j], matrices[j] = pose.translations[j], local
        else:
            positions[j] = positions[parent] + matrices[parent] @ pose.translations[j]
            matrices[j] = matrices[parent] @ local
    return positions, matrices


def two_bone_positions(upper, middle, end, goal) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the positions of the middle joint and the end of a bent limb, by triangles in its plane, and the remaining
    distance."""
    a, b = math.dist(middle, upper), math.dist(end, middle)
    reach = math.dist(goal, upper)
    length = min(max(reach, abs(a - b)), a + b)
    x = (end - upper) / math.dist(end, upper)
    normal = np.cross(middle - upper, end - middle)
    normal /= np.linalg.norm(normal)
    towards = (goal - upper) / reach
    # the shortest rotation from x to towards, after Rodrigues
    axis, cosine = np.cross(x, towards), x @ towards
    skew = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    swung = (np.eye(3) + skew + skew @ skew / (1 + cosine)) @ normal
    along = (a * a - b * b + length * length) / (2 * length)
    aside = math.sqrt(max(0.0, a * a - along * along))
    elbow = upper + along * towards + aside * np.cross(towards, swung)
    return elbow, upper + length * towards, abs(reach - length)


def mirror_pose(skeleton: Skeleton, pose: Pose, up: int) -> Pose:
    """Return the mirrored pose, by matrices. The middle plane of the rest pose must be orthogonal to x, and the root
    the hips."""
    partners = skeleton.anatomy.mirror_partners()
    _, matrices = world(skeleton, pose)
    left = matrices[0] @ np.array([1.0, 0.0, 0.0])
    left[up] = 0.0
    left /= np.linalg.norm(left)
    mirror, rest_reflection = np.eye(3) - 2 * np.outer(left, left), np.diag([-1.0, 1.0, 1.0])
    mirrored_matrices = [mirror @ matrices[partners[j]] @ rest_reflection for j in range(skeleton.n_joints)]
    local = [
        m if parent < 0 else mirrored_matrices[parent].T @ m
        for m, parent in zip(mirrored_matrices, skeleton.parents.tolist(), strict=True)
    ]
    return Pose(pose.translations, from_matrix(np.array(local)))


def spread_value_and_tangent(keyed: KeyedMotion, key: int, joint: int, turn, at: int, spread_s: float, *, side: str):
    """Return a quaternion key value and tangent after a spread rotation, by numeric differentiation."""
    window = spread_s * keyed.fps
    centre, frame = float(keyed.keys[key]), float(keyed.keys[at])
    value = keyed.rotations.values[at, joint]
    tangent = (keyed.rotations.out_tangents if side == "out_tangents" else keyed.rotations.in_tangents)[at, joint]

    def edited_value(step: float) -> np.ndarray:
        x = min(1.0, abs(frame + step - centre) / window)
        share = (1 - x * x) ** 2
        return multiply(value + step * tangent, exp(share * np.asarray(turn)))

    h = 1e-5
    return edited_value(0.0), (edited_value(h) - edited_value(-h)) / (2 * h)


def euler_quaternion_tangent(angles, tangents, order: str) -> np.ndarray:
    """Return the tangent of the quaternion, by numeric differentiation."""
    h = 1e-6
    return (from_euler(angles + h * tangents, order) - from_euler(angles - h * tangents, order)) / (2 * h)


def retimed_source(before: list[int], after: list[int], frame: float) -> float:
    """Return the old frame of a new frame, key by key."""
    for k in range(len(after) - 1):
        if after[k] <= frame <= after[k + 1]:
            part = (frame - after[k]) / (after[k + 1] - after[k])
            return before[k] + part * (before[k + 1] - before[k])
    raise AssertionError(f"{frame} lies outside {after}")
