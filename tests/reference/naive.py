"""Slow, obvious twins of fast functions: loops and matrices."""

from __future__ import annotations

import math

import numpy as np

from reference.naive_selection import (
    chord_costs,
    curve_saliency,
    decimate,
    extremum_frames,
    farthest_first,
    gaussian,
    inbetween_errors,
    natural_spline,
    preferred_penalty,
    refine_curve,
    refine_extrema,
    refine_joint,
    refine_ranking,
    refine_reduce,
    refine_samples,
    refine_sections,
    rounding_error,
    saliency_candidates,
    saliency_keys,
    salient_costs,
    simplify,
    spread_keys,
    streaming_saliency_keys,
    synopsis_distances,
    thin_keys,
)


def axis_rotation_matrix(axis: str, degrees: float) -> np.ndarray:
    """Return the rotation matrix about one axis."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array(
        {
            "X": [[1, 0, 0], [0, c, -s], [0, s, c]],
            "Y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
            "Z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
        }[axis]
    )


def euler_matrix(angles_deg, order: str) -> np.ndarray:
    """Return the product of the axis rotations in the given order."""
    m = np.eye(3)
    for axis, angle in zip(order, angles_deg, strict=True):
        m = m @ axis_rotation_matrix(axis, angle)
    return m


def quaternion_matrix(q) -> np.ndarray:
    """Return the rotation matrix of a quaternion by rotating the three unit vectors: v' = q v q*."""

    def product(a, b):
        (aw, ax, ay, az), (bw, bx, by, bz) = a, b
        return (
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        )

    inverse = (q[0], -q[1], -q[2], -q[3])
    return np.array([product(product(q, (0.0, *v)), inverse)[1:] for v in np.eye(3)]).T


def forward(parents, translations, rotations):
    """Return world positions and rotation matrices by multiplying 4x4 matrices down the tree."""
    frames, joints = translations.shape[:2]
    positions = np.zeros((frames, joints, 3))
    matrices = np.zeros((frames, joints, 3, 3))
    for t in range(frames):
        world = []
        for j in range(joints):
            local = np.eye(4)
            local[:3, :3] = quaternion_matrix(rotations[t, j])
            local[:3, 3] = translations[t, j]
            world.append(local if parents[j] < 0 else world[parents[j]] @ local)
            positions[t, j], matrices[t, j] = world[j][:3, 3], world[j][:3, :3]
    return positions, matrices


def poses_from_channels(rows, channels, offsets):
    """Return local translations and rotation matrices from BVH rows, channel by channel."""
    translations = np.zeros((len(rows), len(channels), 3))
    matrices = np.zeros((len(rows), len(channels), 3, 3))
    for t, row in enumerate(rows):
        values = iter(row)
        for j, own in enumerate(channels):
            translations[t, j], matrices[t, j] = offsets[j], np.eye(3)
            for channel in own:
                value = next(values)
                if channel.endswith("position"):
                    translations[t, j, "XYZ".index(channel[0])] = value
                else:
                    matrices[t, j] = matrices[t, j] @ axis_rotation_matrix(channel[0], value)
    return translations, matrices


def parse_rows(text: str, columns: int) -> np.ndarray:
    """Parse rows of numbers by split and float."""
    rows = [[float(word) for word in line.split()] for line in text.splitlines() if line.strip()]
    assert all(len(row) == columns for row in rows)
    return np.array(rows).reshape(-1, columns)


def unwrap_euler(angles: np.ndarray) -> np.ndarray:
    """Return the nearest of both Euler triples of each rotation with every full rotation nearby."""
    out = angles.copy()
    rotations = (-4 * np.pi, -2 * np.pi, 0.0, 2 * np.pi, 4 * np.pi)
    for t in range(1, len(out)):
        for j in range(out.shape[1]):
            a, b, c = angles[t, j]
            best = None
            for triple in ((a, b, c), (a + np.pi, np.pi - b, c + np.pi)):
                near = [
                    min((x + k for k in rotations), key=lambda y, p=p: abs(y - p))
                    for x, p in zip(triple, out[t - 1, j], strict=True)
                ]
                distance = sum((x - p) ** 2 for x, p in zip(near, out[t - 1, j], strict=True))
                if best is None or distance < best[0]:
                    best = distance, near
            out[t, j] = best[1]
    return out


__all__ = [
    "axis_rotation_matrix",
    "chord_costs",
    "curve_saliency",
    "decimate",
    "euler_matrix",
    "extremum_frames",
    "farthest_first",
    "forward",
    "gaussian",
    "inbetween_errors",
    "natural_spline",
    "parse_rows",
    "poses_from_channels",
    "preferred_penalty",
    "quaternion_matrix",
    "refine_curve",
    "refine_extrema",
    "refine_joint",
    "refine_ranking",
    "refine_reduce",
    "refine_samples",
    "refine_sections",
    "rounding_error",
    "saliency_candidates",
    "saliency_keys",
    "salient_costs",
    "simplify",
    "spread_keys",
    "streaming_saliency_keys",
    "synopsis_distances",
    "thin_keys",
    "unwrap_euler",
]
