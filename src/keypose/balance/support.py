"""The ground under feet: outlines of feet, their convex hull, and how far a point is from its border."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Bools, Floats, Ints
from keypose.balance.body import foot_of, forwards
from keypose.kinematics import up_axis
from keypose.model import FootContacts, Motion

# Of a foot, on a figure of 1.7 m.
WIDTH_MM = 90.0
HEEL_BEHIND_MM = 60.0  # the ankle
TOES_AHEAD_MM = 60.0  # of the ball, where the skeleton does not say


def level_axes(motion: Motion) -> list[int]:
    """The two axes of the ground, in an order that turns the same way seen from above for every axis that is up."""
    axis, sign = up_axis(motion.up)
    return [(axis + 1) % 3, (axis + 2) % 3] if sign > 0 else [(axis + 2) % 3, (axis + 1) % 3]


def outlines(motion: Motion, side: str) -> Floats:
    """(T, 4, 2) corners of a foot on the ground: beside heel and toes.

    Lengths shorten as the foot is raised: the shadow that it throws from above.
    """
    level = level_axes(motion)
    mm = 1.0 / motion.mm_per_unit
    foot = foot_of(motion, side)
    ankle = foot.ankle[:, level]
    known = foot.ball if foot.tip is None else foot.tip
    length = np.linalg.norm(known - foot.ankle, axis=-1, keepdims=True)
    along = (known - foot.ankle)[:, level] / np.where(length > 0, length, 1.0)  # shorter than 1 as it is raised
    heel = ankle - HEEL_BEHIND_MM * mm * along
    toes = known[:, level] + (TOES_AHEAD_MM * mm * along if foot.tip is None else 0.0)
    flat = np.linalg.norm(along, axis=-1, keepdims=True)
    ahead = np.where(flat > 1e-6, along / np.where(flat > 1e-6, flat, 1.0), forwards(motion)[:, level])
    aside = WIDTH_MM / 2 * mm * np.stack((-ahead[:, 1], ahead[:, 0]), axis=-1)
    return np.stack((heel - aside, toes - aside, toes + aside, heel + aside), axis=1)


def supports(motion: Motion, contacts: FootContacts) -> tuple[Floats, Ints]:
    """Convex hulls (T, 8, 2) of the feet in contact, and how many corners each has (T,); 0 in flight."""
    if not contacts.feet:
        return np.zeros((motion.n_frames, 8, 2)), np.zeros(motion.n_frames, np.int32)
    corners = np.stack([outlines(motion, side) for side in contacts.feet], axis=1)  # (T, F, 4, 2)
    lands: Bools = np.asarray(contacts.touching.any(axis=1))
    # a foot in the air is put upon one that stands, where it changes nothing
    stands = corners[np.arange(len(corners)), contacts.touching.argmax(axis=1)]
    points = np.where(contacts.touching[:, :, None, None], corners, stands[:, None]).reshape(len(corners), -1, 2)
    return convex_hulls(points, lands)


def convex_hulls(points: Floats, wanted: Bools) -> tuple[Floats, Ints]:
    """The convex hulls of ``points`` (T, N, 2), all wrapped at the same time, and the numbers of their corners (T,).

    Hulls (T, N, 2) go round as the axes do (counter-clockwise); rows beyond the last corner
    repeat the first one. Where none is ``wanted`` (T,) there are no corners.
    """
    count = points.shape[1]
    # differences below rounding of the coordinates are none: such points lie on the line
    least = 1e-12 * np.maximum(np.abs(points).max(axis=(1, 2)) * np.ptp(points, axis=1).max(axis=1), 1e-300)
    # what is farthest from the middle is a corner; the lowest point might lie on an edge, but for rounding
    off = points - points.mean(axis=1, keepdims=True)
    first = points[np.arange(len(points)), np.sum(off * off, axis=-1).argmax(axis=1)]
    hulls = np.repeat(first[:, None], count, axis=1)
    corners = np.where(wanted, 1, 0)
    here, is_open = first, wanted.copy()
    for corner in range(1, count):
        following = _next_corners(points, here, least)
        is_open = is_open & (following != first).any(axis=1)
        hulls[is_open, corner] = following[is_open]
        corners += is_open
        here = np.where(is_open[:, None], following, here)
    return hulls, corners.astype(np.int32)


def _next_corners(points: Floats, here: Floats, least: Floats) -> Floats:
    """The points (T, 2) that have all ``points`` (T, N, 2) to the left of the way to them from ``here`` (T, 2).

    Of several on one line, as far as ``least`` (T,) tells, the farthest.
    """
    following = here.copy()
    for n in range(points.shape[1]):
        tried, best = points[:, n] - here, following - here
        side = best[:, 0] * tried[:, 1] - best[:, 1] * tried[:, 0]
        farther = np.sum(tried * tried, axis=-1) > np.sum(best * best, axis=-1)
        takes = (side < -least) | ((np.abs(side) <= least) & farther)
        following = np.where(takes[:, None], points[:, n], following)
    return following


def margins(points: Floats, hulls: Floats, corners: Ints) -> Floats:
    """(T,) how far ``points`` (T, 2) are inside convex ``hulls``, negative outside; NaN where there is no corner."""
    edges = np.roll(hulls, -1, axis=1) - hulls
    squares = np.sum(edges * edges, axis=-1)
    off = points[:, None] - hulls
    is_edge = squares > 0
    safe = np.where(is_edge, squares, 1.0)
    part = np.clip(np.sum(off * edges, axis=-1) / safe, 0.0, 1.0)
    away = np.linalg.norm(off - part[..., None] * edges, axis=-1).min(axis=1)
    left = edges[..., 0] * off[..., 1] - edges[..., 1] * off[..., 0]
    inside = (left >= 0).all(axis=1) & (corners > 2)
    signed: Floats = np.where(corners > 0, np.where(inside, away, -away), np.nan)
    return signed
