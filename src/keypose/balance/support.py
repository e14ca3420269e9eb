"""Support polygons: outlines of feet, their convex hull, and the distance of a point to its border."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Bools, Floats, Ints
from keypose.balance.body import find_foot, forward_directions
from keypose.kinematics import up_axis
from keypose.model import FootContacts, Motion

# Of a foot, on a figure of 1.7 m.
WIDTH_MM = 90.0
HEEL_BEHIND_MM = 60.0  # the ankle
TOES_AHEAD_MM = 60.0  # of the ball, if the skeleton has no tip


def ground_axes(motion: Motion) -> list[int]:
    """Return the two horizontal axes, in an order with the same orientation seen from above for every up axis."""
    axis, sign = up_axis(motion.up)
    return [(axis + 1) % 3, (axis + 2) % 3] if sign > 0 else [(axis + 2) % 3, (axis + 1) % 3]


def foot_outlines(motion: Motion, side: str) -> Floats:
    """Return the corners (T, 4, 2) of a foot on the ground: beside heel and toes.

    The outline is the vertical projection: it shortens as the foot tilts.
    """
    axes = ground_axes(motion)
    mm = 1.0 / motion.mm_per_unit
    foot = find_foot(motion, side)
    ankle = foot.ankle[:, axes]
    front = foot.ball if foot.tip is None else foot.tip
    length = np.linalg.norm(front - foot.ankle, axis=-1, keepdims=True)
    along = (front - foot.ankle)[:, axes] / np.where(length > 0, length, 1.0)  # shorter than 1 if it tilts
    heel = ankle - HEEL_BEHIND_MM * mm * along
    toes = front[:, axes] + (TOES_AHEAD_MM * mm * along if foot.tip is None else 0.0)
    flat = np.linalg.norm(along, axis=-1, keepdims=True)
    ahead = np.where(flat > 1e-6, along / np.where(flat > 1e-6, flat, 1.0), forward_directions(motion)[:, axes])
    aside = WIDTH_MM / 2 * mm * np.stack((-ahead[:, 1], ahead[:, 0]), axis=-1)
    return np.stack((heel - aside, toes - aside, toes + aside, heel + aside), axis=1)


def support_hulls(motion: Motion, contacts: FootContacts) -> tuple[Floats, Ints]:
    """Return convex hulls (T, 8, 2) of the feet in contact, and their numbers of corners (T,); 0 in flight."""
    if not contacts.feet:
        return np.zeros((motion.n_frames, 8, 2)), np.zeros(motion.n_frames, np.int32)
    corners = np.stack([foot_outlines(motion, side) for side in contacts.feet], axis=1)  # (T, F, 4, 2)
    is_supported: Bools = np.asarray(contacts.in_contact.any(axis=1))
    # a foot in the air is replaced by one in contact, which does not change the hull
    standing_foot = corners[np.arange(len(corners)), contacts.in_contact.argmax(axis=1)]
    points = np.where(contacts.in_contact[:, :, None, None], corners, standing_foot[:, None]).reshape(
        len(corners), -1, 2
    )
    return convex_hulls(points, is_supported)


def convex_hulls(points: Floats, is_wanted: Bools) -> tuple[Floats, Ints]:
    """Return the convex hulls (T, N, 2) of ``points`` (T, N, 2), by gift wrapping, and their numbers of corners (T,).

    Hulls are counter-clockwise; rows beyond the last corner repeat the first one. Frames that are not ``is_wanted``
    (T,) have no corners.
    """
    count = points.shape[1]
    # below the rounding of the coordinates points are collinear
    tolerance = 1e-12 * np.maximum(np.abs(points).max(axis=(1, 2)) * np.ptp(points, axis=1).max(axis=1), 1e-300)
    # the point farthest from the mean is a corner; the lowest point might lie on an edge within rounding
    off = points - points.mean(axis=1, keepdims=True)
    first = points[np.arange(len(points)), np.sum(off * off, axis=-1).argmax(axis=1)]
    hulls = np.repeat(first[:, None], count, axis=1)
    corners = np.where(is_wanted, 1, 0)
    current, is_open = first, is_wanted.copy()
    for corner in range(1, count):
        next_corner = _next_corners(points, current, tolerance)
        is_open = is_open & (next_corner != first).any(axis=1)
        hulls[is_open, corner] = next_corner[is_open]
        corners += is_open
        current = np.where(is_open[:, None], next_corner, current)
    return hulls, corners.astype(np.int32)


def _next_corners(points: Floats, current: Floats, tolerance: Floats) -> Floats:
    """Return the points (T, 2) such that all ``points`` (T, N, 2) lie to the left of the line from ``current`` (T, 2).

    Of several on one line within ``tolerance`` (T,) the farthest.
    """
    next_corner = current.copy()
    for n in range(points.shape[1]):
        candidate, best = points[:, n] - current, next_corner - current
        side = best[:, 0] * candidate[:, 1] - best[:, 1] * candidate[:, 0]
        farther = np.sum(candidate * candidate, axis=-1) > np.sum(best * best, axis=-1)
        is_better = (side < -tolerance) | ((np.abs(side) <= tolerance) & farther)
        next_corner = np.where(is_better[:, None], points[:, n], next_corner)
    return next_corner


def margins(points: Floats, hulls: Floats, corners: Ints) -> Floats:
    """Return how far ``points`` (T, 2) are inside convex ``hulls``, (T,): negative outside, NaN without corners."""
    edges = np.roll(hulls, -1, axis=1) - hulls
    squares = np.sum(edges * edges, axis=-1)
    off = points[:, None] - hulls
    is_edge = squares > 0
    safe = np.where(is_edge, squares, 1.0)
    fraction = np.clip(np.sum(off * edges, axis=-1) / safe, 0.0, 1.0)
    distances = np.linalg.norm(off - fraction[..., None] * edges, axis=-1).min(axis=1)
    left = edges[..., 0] * off[..., 1] - edges[..., 1] * off[..., 0]
    inside = (left >= 0).all(axis=1) & (corners > 2)
    signed_distances: Floats = np.where(corners > 0, np.where(inside, distances, -distances), np.nan)
    return signed_distances
