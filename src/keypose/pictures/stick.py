"""Stick figures: poses of a motion -> SVG elements. Pure functions, no page around them.

A figure is drawn from its joints and end sites: limbs as strokes, joints without any limb (markers) as
dots, the head as a circle where anatomy knows it. Left is solid and orange, right dashed and blue, the
middle takes the colour of the text around it, so that all of it reads on light and on dark pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from keypose.arrays import Bools, Floats, Ints
from keypose.kinematics import Up, up_axis
from keypose.model import Motion, Skeleton

MOST_MARKS = 350  # limbs and dots of a figure: beyond that the smaller ones are left out, and counted
LEAST_STROKE_PX = 0.3  # a limb that looks shorter cannot be seen
STROKE_PX = 3.0
STANDING_SPREAD = 0.1  # how much the mere width of a pose counts beside what moves, when choosing a view
LEAST_TRAVEL = 0.1  # of the whole extent: a figure that goes less far stays in its place
STYLES = {
    "left": 'stroke="#e8590c"',
    "middle": 'stroke="currentColor"',
    "right": 'stroke="#1c7ed6" stroke-dasharray="4 4.5"',
}


@dataclass(frozen=True)
class Figure:
    """What is drawn of a skeleton; points are its joints followed by its end sites."""

    limbs: dict[str, Ints]  # side -> (N, 2) points that strokes join
    dots: tuple[int, ...]  # points that no stroke reaches
    head: int | None
    crown: int | None  # the one point that hangs on the head, if there is one
    neck: int | None  # what the head hangs on
    left_out: int  # limbs and dots beyond MOST_MARKS


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
    """Which strokes, dots and head to draw."""
    parts = skeleton.anatomy.parts
    parents = np.concatenate((skeleton.parents, skeleton.end_joints))
    sides = np.array([_side(part) for part in parts])
    sides = np.concatenate((sides, sides[skeleton.end_joints]))
    drawn = parents >= 0
    if "hips" in parts:  # a scene's root lies on the floor, not in the body
        drawn[_line_above(parents, parts.index("hips"))] = False
    head = parts.index("head") if "head" in parts else None
    crown = neck = None
    if head is not None:
        on_head = np.flatnonzero(parents == head)
        crown = int(on_head[0]) if len(on_head) == 1 else None
        neck = int(parents[head]) if parents[head] >= 0 else None
        drawn &= ~_below(parents, head)
    dots = np.setdiff1d(np.arange(len(parents)), np.concatenate((parents, np.flatnonzero(parents >= 0))))
    strokes = np.flatnonzero(drawn)
    left_out = max(0, len(strokes) + len(dots) - MOST_MARKS)
    if len(strokes) > MOST_MARKS:
        lengths = np.abs(np.concatenate((skeleton.offsets, skeleton.end_offsets))).max(axis=1)
        strokes = strokes[np.argsort(-lengths[strokes], kind="stable")[:MOST_MARKS]]
    limbs = {side: strokes[sides[strokes] == side] for side in STYLES}
    return Figure(
        {side: np.stack((parents[ends], ends), axis=1) for side, ends in limbs.items() if len(ends)},
        tuple(dots[: MOST_MARKS - len(strokes)].tolist()),
        head,
        crown,
        neck,
        left_out,
    )


def view_of(points: Floats, up: Up, left: Floats | None = None) -> View:
    """The level view of poses (F, N, 3) that shows most: across what moves, else across the width.

    The figure travels to the right; one that stays in its place is seen from the front, if the direction
    to its ``left`` (3,) is known.
    """
    axis, sign = up_axis(up)
    upward = np.zeros(3)
    upward[axis] = sign
    level = [(axis + 1) % 3, (axis + 2) % 3]
    within = points[..., level] - points[..., level].mean(axis=1, keepdims=True)
    moving = within - within.mean(axis=0)
    spread = np.einsum("fni,fnj->ij", moving, moving)
    spread += STANDING_SPREAD * np.einsum("fni,fnj->ij", within, within)
    right = np.zeros(3)
    right[level] = np.linalg.eigh(spread)[1][:, 1]
    middles = points.mean(axis=1)
    way = float((middles[-1] - middles[0]) @ right)
    if abs(way) < LEAST_TRAVEL * float(np.ptp(points, axis=(0, 1)).max()):
        way = float(right.sum() if left is None else np.cross(left, upward) @ np.cross(right, upward))
    if way < 0:
        right = -right
    return View(right, upward, np.cross(right, upward))


def leftward(points: Floats, skeleton: Skeleton) -> Floats | None:
    """The mean direction (3,) to the figure's left in poses (F, J + E, 3); None for one without sides."""
    sides = np.array([_side(part) for part in skeleton.anatomy.parts])
    left, right = np.flatnonzero(sides == "left"), np.flatnonzero(sides == "right")
    if not (len(left) and len(right)):
        return None
    direction: Floats = (points[:, left].mean(axis=1) - points[:, right].mean(axis=1)).mean(axis=0)
    return direction


def draw(figure: Figure, xy: Floats, depth: Floats, head_px: tuple[float, float]) -> str:
    """SVG elements of one pose: points ``xy`` (N, 2) in px with y down, ``depth`` (N,) towards the viewer."""
    strokes = []
    for side, limbs in figure.limbs.items():
        ends = xy[limbs]
        seen = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) >= LEAST_STROKE_PX
        path = "".join(f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" for (a, b), (c, d) in ends[seen].tolist())
        if path:
            strokes.append((float(depth[limbs].mean()), f'<path d="{path}" {STYLES[side]}/>'))
    elements = [element for _, element in sorted(strokes)]  # what is nearer covers what is behind
    if figure.dots:
        dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in xy[list(figure.dots)].tolist())
        elements.append(f'<path d="{dots}" stroke="currentColor"/>')
    if figure.head is not None:
        (x, y), radius = _head_circle(figure, xy, head_px)
        elements.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" stroke="currentColor"/>')
    return f'<g fill="none" stroke-width="{STROKE_PX}" stroke-linecap="round">{"".join(elements)}</g>'


def bounds(figure: Figure, xy: Floats, head_px: tuple[float, float]) -> Floats:
    """The corners (2, 2), least and greatest x and y in px, of all that ``draw`` draws of points ``xy`` (N, 2)."""
    corners = np.stack((xy.min(axis=0), xy.max(axis=0)))
    if figure.head is not None:
        centre, radius = _head_circle(figure, xy, head_px)
        corners = np.stack((np.minimum(corners[0], centre - radius), np.maximum(corners[1], centre + radius)))
    return corners + 0.5 * STROKE_PX * np.array(((-1.0,), (1.0,)))


def _head_circle(figure: Figure, xy: Floats, head_px: tuple[float, float]) -> tuple[Floats, float]:
    """Centre and radius: from the head joint towards the crown, else on from the neck, else up."""
    joint = xy[figure.head]
    way, radius = np.array((0.0, -1.0)), head_px[1]
    if figure.neck is not None:
        way = joint - xy[figure.neck]
    if figure.crown is not None:
        to_crown = xy[figure.crown] - joint
        radius = float(np.clip(0.5 * np.linalg.norm(to_crown), *head_px))
        way = to_crown if np.linalg.norm(to_crown) > head_px[0] else way
    centre: Floats = joint + radius * way / max(float(np.linalg.norm(way)), 1e-9)
    return centre, radius


def _side(part: str | None) -> str:
    return next((side for side in ("left", "right") if (part or "").startswith(f"{side}_")), "middle")


def _line_above(parents: Ints, point: int) -> list[int]:
    """The point and all that it hangs on."""
    line = [point]
    while parents[line[-1]] >= 0:
        line.append(int(parents[line[-1]]))
    return line


def _below(parents: Ints, point: int) -> Bools:
    """Whether each point hangs on ``point``, itself not counted."""
    below = np.zeros(len(parents), bool)
    for child, parent in enumerate(parents.tolist()):
        below[child] = parent == point or (parent >= 0 and below[parent])
    return below
