"""The body of a figure: hulls of balls around the points of a skeleton, as arrays, and their outlines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats, Frozen, Ints
from keypose.kinematics import end_positions, forward
from keypose.model import Motion
from keypose.rotations import rotate

Side = Literal["left", "middle", "right"]
# core: neck and waist, painted behind the larger solids next to them
Kind = Literal["limb", "trunk", "core", "hand", "foot", "head", "nose", "marker"]

# Depth offsets in heights for painting: a hand is in front of what it touches, the neck behind the chest.
DEPTH_BIAS: dict[Kind, float] = {"trunk": -0.012, "core": -0.05, "nose": 0.03, "hand": 0.012}
STRIPED_KINDS: tuple[Kind, ...] = ("limb", "hand", "foot", "marker")

MAX_MARKERS = 150  # with more markers comparing all pairs takes too long
MAX_LENGTH = 0.3  # heights
MAX_VARIATION = 0.012  # heights; maximum standard deviation of a distance
VARIATION_WEIGHT = 8.0  # of variation relative to length
Indices = NDArray[np.intp]

MAX_ARC_SHARE = 0.6  # of a circle
ABSENT = -1e12  # radius of an absent circle


@dataclass(frozen=True)
class Hull:
    """The hull of balls: one is a ball, two a tapered limb, more a trunk, hand or foot."""

    points: tuple[int, ...]  # indices of points of the body
    radii: tuple[float, ...]  # file units
    side: Side
    kind: Kind


@dataclass(frozen=True, eq=False)
class Body(Frozen):
    """Drawn hulls of a skeleton. Points are the joints, the end sites, then points carried by joints."""

    hulls: tuple[Hull, ...]
    carriers: Ints  # (V,) joints of the carried points
    offsets: Floats  # (V, 3) in the frame of the carrier, file units
    size: float  # approximate height of the figure, file units; above 0
    n_omitted: int  # limbs or markers beyond the maximum

    def points_at(self, motion: Motion, frames: Sequence[int] | Ints) -> Floats:
        """Return world positions (F, P, 3) of all points at ``frames``; only these frames are computed."""
        rows, s = np.asarray(frames, dtype=int), motion.skeleton
        world, rotations = forward(s.parents, motion.translations[rows], motion.rotations[rows])
        if len(s.end_joints):
            world = np.concatenate((world, end_positions(world, rotations, s.end_joints, s.end_offsets)), axis=1)
        return self.add_carried_points(world, rotations)

    def add_carried_points(self, world: Floats, rotations: Floats) -> Floats:
        """Return all points (F, P, 3), given ``world`` positions of joints and end sites and joint rotations."""
        if not len(self.carriers):
            return world
        carried_points = world[:, self.carriers] + rotate(rotations[:, self.carriers], self.offsets)
        return np.concatenate((world, carried_points), axis=1)


@dataclass(frozen=True, eq=False)
class Solids(Frozen):
    """Parts of a body, padded to the same number of balls; in heights of the figure."""

    points: Ints  # (N, C)
    radii: Floats  # (N, C), ABSENT beyond the balls of a hull
    counts: Ints  # (N,) number of balls
    bias: Floats  # (N,) towards the viewer
    styles: tuple[tuple[str, bool], ...]  # side, and whether it is striped

    @property
    def ball_radii(self) -> Floats:
        """Radii (N, C), 0 for absent balls."""
        return np.maximum(self.radii, 0.0)

    def boxes(self, points_2d: Floats) -> Floats:
        """Return min and max x and y (F, 2, 2) of figures with points ``points_2d`` (F, P, 2 or more)."""
        centres, radii = points_2d[:, self.points, :2], self.ball_radii[..., None]
        return np.stack(((centres - radii).min(axis=(1, 2)), (centres + radii).max(axis=(1, 2))), axis=1)

    def lowest(self, heights: Floats) -> Floats:
        """Return the lowest height (F,) of figures from the ``heights`` (F, P) of their points."""
        low: Floats = (heights[:, self.points] - self.ball_radii).min(axis=(1, 2))
        return low


def build_solids(body: Body) -> Solids:
    """Return the hulls of ``body`` in heights."""
    max_balls = max(len(hull.points) for hull in body.hulls)
    return Solids(
        points=np.array([_pad(hull.points, max_balls, hull.points[0]) for hull in body.hulls], np.int32),
        radii=np.array([_pad([r / body.size for r in hull.radii], max_balls, ABSENT) for hull in body.hulls]),
        counts=np.array([len(hull.points) for hull in body.hulls], np.int32),
        bias=np.array([DEPTH_BIAS.get(hull.kind, 0.0) for hull in body.hulls]),
        styles=tuple((hull.side, _is_striped(hull)) for hull in body.hulls),
    )


def _pad(values: list[float] | tuple[int, ...], length: int, filler: float) -> list[float]:
    return [*values, *[filler] * (length - len(values))]


def _is_striped(hull: Hull) -> bool:
    return hull.side == "right" and hull.kind in STRIPED_KINDS


def find_links(world: Floats, size: float) -> list[tuple[int, int]]:
    """Return pairs of markers of positions ``world`` (F, P, 3): a forest of the shortest and most rigid connections.

    Empty for a single pose, in which every distance is constant.
    """
    frames, markers = world.shape[:2]
    if frames < 2 or not 2 <= markers <= MAX_MARKERS:
        return []
    first, second = np.triu_indices(markers, 1)
    distances = np.linalg.norm(world[:, first] - world[:, second], axis=-1) / size  # (F, pairs)
    mean, variation = distances.mean(axis=0), distances.std(axis=0)
    near = np.flatnonzero((mean < MAX_LENGTH) & (variation < MAX_VARIATION))
    order = near[np.argsort((mean + VARIATION_WEIGHT * variation)[near], kind="stable")]
    group = list(range(markers))
    pairs = []
    for a, b in zip(first[order].tolist(), second[order].tolist(), strict=True):
        if group[a] != group[b]:
            pairs.append((a, b))
            old_group, new_group = group[b], group[a]
            group = [new_group if each == old_group else each for each in group]
    return pairs


def hull_paths(centres: Floats, radii: Floats, n_directions: int = 48) -> list[str]:
    """Return closed paths around circles: ``centres`` (N, C, 2) and ``radii`` (N, C), rounded to integers.

    The radii of missing circles of a hull are ``ABSENT``. All paths have the same orientation, so that several in one
    path are filled as one shape.
    """
    if not len(centres):
        return []
    vectors = _direction_vectors(n_directions)
    reach = centres[..., 0, None] * vectors[0] + centres[..., 1, None] * vectors[1] + radii[..., None]  # (N, C, D)
    farthest = reach.argmax(axis=1)  # (N, D)
    is_start = farthest != np.roll(farthest, 1, axis=1)
    is_start[~is_start.any(axis=1), 0] = True  # one circle contains the others
    hulls, starts, span, _, _ = _find_arcs(is_start)
    # An almost complete circle is split into two arcs, as its ends are so close that rounding would move it.
    long = span > MAX_ARC_SHARE * n_directions
    is_start[hulls[long], (starts[long] + n_directions // 2) % n_directions] = True
    hulls, starts, span, first, last = _find_arcs(is_start)
    circles = farthest[hulls, starts]
    middle, radius = centres[hulls, circles], np.maximum(radii[hulls, circles], 0.0)
    begin = np.rint(middle + radius[:, None] * vectors[:, starts].T)
    end = np.rint(middle + radius[:, None] * vectors[:, (starts + span) % n_directions].T)
    step, chord = begin.copy(), end - begin
    step[1:] -= np.where(first[1:, None], 0.0, end[:-1])
    # A radius and two rounded ends determine the bulge of a half circle imprecisely, so the radius is fitted to the
    # bulge.
    half = np.sqrt(np.einsum("rk,rk->r", chord, chord)) / 2
    bulge = radius * (1 - np.cos(span * (np.pi / n_directions)))
    arc_radius = np.where(bulge > 0, (half * half + bulge * bulge) / (2 * np.maximum(bulge, 1e-9)), 0.0)
    integer, tenth = np.divmod(np.rint(10 * arc_radius), 10)
    arcs = np.column_stack((step, integer, tenth, integer, tenth, bulge > half, chord))
    return _format_paths(arcs.astype(int).tolist(), first, last)


def _find_arcs(is_start: Bools) -> tuple[Indices, Indices, Indices, Bools, Bools]:
    """Return the runs of directions that start at ``is_start`` (N, D): hull, start, number of steps to the end, and
    whether each is the first and the last of its hull.
    """
    hulls, starts = np.nonzero(is_start)
    last = np.append(hulls[1:] != hulls[:-1], True)
    first = np.append(True, last[:-1])
    next_starts = np.append(starts[1:], 0)
    next_starts[last] = starts[first] + is_start.shape[1]
    return hulls, starts, next_starts - starts - 1, first, last


@lru_cache
def _direction_vectors(n_directions: int) -> Floats:
    angles = np.arange(n_directions) * (2 * np.pi / n_directions)
    return np.stack((np.cos(angles), np.sin(angles)))


def _format_paths(arcs: list[list[int]], first: Bools, last: Bools) -> list[str]:
    """Return arcs as paths: start, two radii (integer part and tenth), large-arc flag, end.

    They are formatted by a single call with integers, as there are thousands of numbers.
    """
    kinds = [f"{start}%d %da%d.%d %d.%d 0 %d 1 %d %d{end}" for end in ("", "z\n") for start in "lM"]
    rows = "".join([kinds[kind] for kind in (first + 2 * last).tolist()])
    return (rows % tuple(chain.from_iterable(arcs))).split("\n")[:-1]
