"""Stick figures: poses of a motion -> SVG elements. Pure functions, no page around them.

A figure is drawn from its joints and end sites: limbs as strokes, joints without any limb (markers) as
dots, the head as a circle where anatomy knows it. Left is solid and orange, right dashed and blue, the
middle takes the colour of the text around it, so that it reads on light and on dark pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from keypose.arrays import Floats
from keypose.kinematics import Up, up_axis
from keypose.model import Motion, Skeleton

MOST_LIMBS = 400  # beyond that only the longest are drawn, so that a picture stays small
LEAST_STROKE_PX = 0.3  # a limb shorter than this cannot be seen
HEAD_RADIUS = (0.045, 0.075)  # of the figure's height: least and greatest
STYLES = {
    "left": 'stroke="#e8590c" stroke-width="3.2"',
    "middle": 'stroke="currentColor" stroke-width="3.2"',
    "right": 'stroke="#1c7ed6" stroke-width="3.2" stroke-dasharray="4.5 4.5"',
}


@dataclass(frozen=True)
class Limb:
    """A stroke between two points of a figure."""

    start: int
    end: int
    side: str  # "left", "middle", "right"


@dataclass(frozen=True)
class Figure:
    """What is drawn of a skeleton; points are its joints followed by its end sites."""

    limbs: tuple[Limb, ...]
    dots: tuple[int, ...]
    head: tuple[int, int] | None  # the head joint, and the point that tells where the head lies
    left_out: int  # limbs beyond MOST_LIMBS


@dataclass(frozen=True)
class View:
    """A camera without perspective: unit vectors (3,) that point right, up and towards the viewer."""

    right: Floats
    up: Floats
    towards: Floats


def points_of(motion: Motion, frames: Sequence[int]) -> Floats:
    """World positions (F, J + E, 3) of joints, then end sites, at ``frames``; only these are computed."""
    rows = np.asarray(frames, dtype=int)
    few = replace(motion, translations=motion.translations[rows], rotations=motion.rotations[rows])
    return np.concatenate((few.world_positions(), few.end_positions()), axis=1)


def figure_of(skeleton: Skeleton) -> Figure:
    """Which limbs, dots and head to draw."""
    parts = skeleton.anatomy.parts
    parents = [*skeleton.parents.tolist(), *skeleton.end_joints.tolist()]  # of every point
    sides = [_side(part) for part in parts]
    sides += [sides[joint] for joint in skeleton.end_joints.tolist()]
    hidden = _above(parents, parts.index("hips")) if "hips" in parts else set()
    head = _head(parents, parts)
    if head is not None:
        hidden |= _below(parents, head[0])
    limbs = [Limb(p, c, sides[c]) for c, p in enumerate(parents) if p >= 0 and c not in hidden]
    with_limb = {point for p, c in enumerate(parents) if c >= 0 for point in (p, c)}
    dots = tuple(j for j in range(skeleton.n_joints) if j not in with_limb)
    if len(limbs) <= MOST_LIMBS:
        return Figure(tuple(limbs), dots[:MOST_LIMBS], head, max(0, len(dots) - MOST_LIMBS))
    lengths = np.linalg.norm(np.concatenate((skeleton.offsets, skeleton.end_offsets)), axis=1)
    longest = sorted(limbs, key=lambda limb: -lengths[limb.end])[:MOST_LIMBS]
    return Figure(tuple(longest), dots[:MOST_LIMBS], head, len(limbs) - MOST_LIMBS)
